"""Figures: what many campaigns come to. None = there was nothing to take it from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

from benchmarks.compare.ranks import median, share
from fuzzturn.evidence import Rate, difference, rate

from .row import Reported, Row

__all__ = [
    "blind_spots", "carrying", "covered", "deciding_turns", "dismissed", "ending", "flips", "fours_covered", "minimal",
    "of", "ratio", "same_claims", "same_rates", "shrink_turns", "undecided",
]  # fmt: skip


def of(rows: Iterable[Row], part: str, method: str | None = None, p: float | None = None) -> list[Row]:
    """The rows of a part; None = of every method, at every share."""
    return [row for row in rows if row.part == part and method in (None, row.method) and p in (None, row.p)]


def _found(rows: Iterable[Row]) -> list[Reported]:
    return list(chain.from_iterable(row.found for row in rows))


def ending(rows: Sequence[Row]) -> float | None:
    """The share of campaigns that end in a finding."""
    return share(bool(row.found) for row in rows)


def minimal(rows: Sequence[Row]) -> list[Reported]:
    """The sessions reported as minimal."""
    return [found for found in _found(rows) if found.minimal]


def carrying(rows: Sequence[Row]) -> float | None:
    """The share of the sessions reported as minimal that carry the planted fault."""
    return share(found.carries for found in minimal(rows))


def covered(rows: Sequence[Row]) -> float | None:
    """The share of reported intervals in which the true rate lies."""
    return share(_within(found.true_rate, found.failing) for found in _found(rows))


def _within(true: float, reported: Rate | None) -> bool | None:
    # an interval's bounds are reported to 4 places, and so is what is true
    return None if reported is None else reported.low <= true <= reported.high


def undecided(rows: Sequence[Row]) -> float | None:
    """The share of failures followed up of which nothing is claimed in the end."""
    return _of_followed(rows, sum(row.undecided or 0 for row in rows))


def dismissed(rows: Sequence[Row]) -> float | None:
    """The share of failures followed up that are taken for what happens without a fault."""
    return _of_followed(rows, sum(row.dismissed or 0 for row in rows))


def _of_followed(rows: Sequence[Row], count: int) -> float | None:
    followed = len(_found(rows)) + sum((row.undecided or 0) + (row.dismissed or 0) for row in rows)
    return count / followed if followed else None


def shrink_turns(rows: Sequence[Row]) -> float | None:
    """Median agent turns until the result stood: confirming, shrinking, and the fresh runs that measure it."""
    return median(found.shrink_turns for found in _found(rows))


def deciding_turns(rows: Sequence[Row]) -> float | None:
    """The same without the fresh runs, which are as many whatever the rule."""
    return median(map(_deciding, _found(rows)))


def _deciding(found: Reported) -> int | None:
    if found.shrink_turns is None or found.failing is None:
        return None
    return found.shrink_turns - found.failing.n * found.turns


def ratio(rows: Sequence[Row], p: float, figure: Callable[[Sequence[Row]], float | None]) -> float | None:
    """A figure of fuzzturn's at `p` by that of the same engine with "first hit of 5"."""
    own, other = (figure(of(rows, "planted", method, p)) for method in ("fuzzturn", "first hit of 5"))
    return None if own is None or not other else own / other


def blind_spots(rows: Iterable[Row]) -> int:
    """Findings reported as blind spots."""
    return sum(found.kind == "blind_spot" for found in _found(rows))


def _pairs(rows: Sequence[Row]) -> Sequence[tuple[Row, Row]]:
    """Each campaign with the right judge beside the same one with the judge that flips."""
    right: Mapping[tuple[float, int], Row] = {(r.p, r.seed): r for r in of(rows, "flipping judge", "right")}
    flipping = of(rows, "flipping judge", "flipping")
    return [(right[row.p, row.seed], row) for row in flipping if (row.p, row.seed) in right]


def same_claims(rows: Sequence[Row]) -> float | None:
    """Of campaigns that end in a finding with either judge: the share that report the same failures with both."""
    return share(_claims(one) == _claims(other) for one, other in _pairs(rows) if one.found and other.found)


def _claims(row: Row) -> set[tuple[str, str]]:
    return {(found.kind, found.constraint) for found in row.found}


def same_rates(rows: Sequence[Row]) -> float | None:
    """Of failures reported with both judges: the share whose two rates do not differ, as far as the runs tell."""
    return share(
        low <= 0 <= high
        for one, other in _pairs(rows)
        for first in one.found
        for second in other.found
        if (first.kind, first.constraint) == (second.kind, second.constraint)
        for low, high in [_apart(first, second)]
    )


def _apart(one: Reported, other: Reported) -> tuple[float, float]:
    """The interval of the difference between two rates, less what truly differs between two sessions."""
    assert one.failing is not None
    assert other.failing is not None
    between = difference(one.failing, other.failing)
    true = one.true_rate - other.true_rate
    return between.low - true, between.high - true


def flips(rows: Sequence[Row]) -> Rate | None:
    """In how many of the reported calls the judge contradicted itself, over all findings."""
    told = [found.flips for found in _found(rows) if found.flips is not None]
    return rate(sum(one.k for one in told), sum(one.n for one in told)) if told else None


def fours_covered(rows: Sequence[Row], errs: float) -> float | None:
    """The share of reported blind spots whose interval holds the true share of fours of a judge that errs so often."""
    return share(
        _within(found.caused * (1 - errs) + (1 - found.caused) * errs, found.judged)
        for found in _found(rows)
        if found.kind == "blind_spot" and found.caused is not None
    )
