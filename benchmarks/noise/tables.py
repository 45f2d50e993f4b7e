"""Tables: the figures as Markdown, each with what it has to be beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.compare.ranks import median, share

from .figures import (
    blind_spots,
    carrying,
    covered,
    deciding_turns,
    dismissed,
    ending,
    flips,
    fours_covered,
    minimal,
    of,
    ratio,
    same_claims,
    same_rates,
    shrink_turns,
    undecided,
)
from .judges import FLIPPED
from .parts import PARTS, RATES
from .row import Row

__all__ = ["goals", "judged", "planted"]


@dataclass(frozen=True, slots=True)
class _Goal:
    """A figure, and the bound it must keep. `most`: it is an upper bound."""

    what: str
    bound: float
    got: float | None
    most: bool = False

    def cells(self) -> list[str]:
        sign = "≤" if self.most else "≥"
        holds = None if self.got is None else self.got <= self.bound if self.most else self.got >= self.bound
        return [
            self.what,
            f"{sign} {self.bound:g}",
            _number(self.got),
            {None: "-", True: "yes", False: "no"}[holds],
        ]


def goals(rows: Sequence[Row]) -> str:
    """Everything that has a bound."""
    own = of(rows, "planted", "fuzzturn")
    lenient, flipping = of(rows, "lenient judge"), of(rows, "flipping judge", "flipping")
    record = of(rows, "record")
    found = [
        *(
            _Goal(f"minimal sessions that carry the fault, p = {p:g}", 0.97, carrying(of(own, "planted", p=p)))
            for p in RATES
        ),
        *(
            _Goal(f"campaigns that end in a finding, p = {p:g}", 0.8, ending(of(own, "planted", p=p)))
            for p in RATES
            if p >= 0.3
        ),
        _Goal("reported intervals that hold the true rate", 0.93, covered(own)),
        *(
            _Goal(f"turns of {what} : first hit of 5, p = {p:g}", most, ratio(rows, p, figure), most=True)
            for what, figure in (("shrinking", shrink_turns), ("shrinking without the fresh runs", deciding_turns))
            for p, most in ((0.3, 3.5), (0.6, 6))
        ),
        _Goal("lenient judge: blind spots reported", 0, float(blind_spots(lenient)) if lenient else None, most=True),
        _Goal("lenient judge: campaigns that report the violation", 1, share(_violation(row) for row in lenient)),
        _Goal("flipping judge: campaigns that end in a finding", 0.8, ending(flipping)),
        _Goal("flipping judge: the same failures as with the right one", 1, same_claims(rows)),
        _Goal("flipping judge: rates that do not differ beyond chance", 0.93, same_rates(rows)),
        _Goal("the campaign again from its record: the same", 1, share(row.same for row in record)),
        _Goal("calls made by it", 0, _most(row.model_calls for row in record), most=True),
    ]
    return _table(["", "must", "measured", "holds"], [goal.cells() for goal in found])


def _violation(row: Row) -> bool:
    return any(found.kind == "violation" and found.carries for found in row.found)


def _most(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def planted(rows: Sequence[Row]) -> str:
    """Every method at every share."""
    head = [
        "p", "method", "campaigns", "end in a finding", "reported minimal", "carry the fault",
        "interval holds the true rate", "undecided", "dismissed", "final turns", "turns of shrinking", "turns in all",
        "ended as Flaky",
    ]  # fmt: skip
    groups = [(p, method, of(rows, "planted", method, p)) for p in RATES for method in PARTS["planted"].methods]
    return _table(head, [_line(p, method, own) for p, method, own in groups if own])


def _line(p: float, method: str, own: Sequence[Row]) -> list[str]:
    return [
        f"{p:g}",
        method,
        str(len(own)),
        _number(ending(own)),
        str(len(minimal(own))),
        _number(carrying(own)),
        _number(covered(own)),
        *("-" if own[0].undecided is None else _number(share_of(own)) for share_of in (undecided, dismissed)),
        _number(median(found.turns for found in minimal(own))),
        _number(shrink_turns(own)),
        _number(median(row.turns for row in own)),
        _number(share(row.flaky for row in own)),
    ]


def judged(rows: Sequence[Row]) -> str:
    """The campaigns with judges that err."""
    asked = (("lenient judge", "fuzzturn"), ("flipping judge", "right"), ("flipping judge", "flipping"))
    lines = [_judged(part, method, own) for part, method in asked if (own := of(rows, part, method))]
    head = [
        "part", "judge", "campaigns", "end in a finding", "blind spots", "violations", "carry the fault",
        "interval holds the true rate", "undecided", "dismissed", "calls in which the judge was wrong",
        "calls in which it contradicted itself, as reported", "interval holds its share of fours",
    ]  # fmt: skip
    return _table(head, lines)


def _judged(part: str, method: str, own: Sequence[Row]) -> list[str]:
    calls, erred = sum(row.judge_calls for row in own), sum(row.judge_erred for row in own)
    reported = flips(own)
    return [
        part,
        method,
        str(len(own)),
        _number(ending(own)),
        str(blind_spots(own)),
        str(sum(len(row.found) for row in own) - blind_spots(own)),
        _number(carrying(own)),
        _number(covered(own)),
        _number(undecided(own)),
        _number(dismissed(own)),
        _number(erred / calls if calls else None),
        "-" if reported is None else f"{_number(reported.share)} ({reported.low:.2f} to {reported.high:.2f})",
        _number(fours_covered(own, FLIPPED if method == "flipping" else 0.0)),
    ]


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if value == int(value) or value >= 100 else f"{value:.2f}"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
