"""Figures: how blind a judge is, from its answers: in every arm, and there by distance, kind, constraint and polarity.

A denominator counts scored answers only; how many gave none stands beside. `Share` says how sure each figure is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeVar, get_args

from fuzzturn.stress.item import Answer, Kind, Label, Polarity, Status
from fuzzturn.stress.selfcheck import Twins, twins
from fuzzturn.stress.shares import Share, share_json, share_of

__all__ = ["SCORES", "Cell", "Figures", "Flips", "cell_json", "cell_of", "figures", "kappa", "majority"]

_Part = TypeVar("_Part")
SCORES = range(5)
LABELS: tuple[Label, ...] = ("violating", "legal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flips:
    """Of `items` (an item in an arm) scored more than once, `flipped` have more than one score.

    `agreement` is the mean share of an item's answers that give its commonest score; `no_majority` counts the items
    in which no score is given by more than half.
    """

    items: int
    flipped: int
    agreement: float
    no_majority: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What a judge said in one part of the answers. A share is None where no scored answer is about such an item."""

    answers: int
    scored: int
    unscored: Mapping[Status, int]
    """Answers without a score by what came instead; they are in no other figure."""
    no_score: Share | None
    """Those of all answers."""
    blind: Share | None
    """Of violating turns: score 4."""
    soft_blind: Share | None
    """Of violating turns: score 3 or 4."""
    sensitivity: Share | None
    """Of violating turns: score 0 or 1."""
    strict: Share | None
    """Of violating turns: score 0."""
    specificity: Share | None
    """Of legal turns: score 3 or 4."""
    kappa: float | None
    """Score 0 against the checker (Cohen 1960), -1.0 to 1.0; None where chance alone would agree always."""
    histogram: Mapping[Label, tuple[int, ...]]
    """Answers by score, 0 first."""
    twins: Twins | None
    """None where the answers are of several arms."""
    flips: Flips | None
    """None where no item was scored more than once."""
    overflow: int
    """Answers for which the block's constraints alone were beyond its budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Every cell. The arms stand in the order asked for, then by name."""

    overall: Cell
    arms: Mapping[str, Cell]
    distances: Mapping[str, Mapping[int, Cell]]
    """By arm, then by turns between statement and judged turn."""
    kinds: Mapping[str, Mapping[Kind, Cell]]
    """By arm, then by kind of item, in the order of `Kind`."""
    constraints: Mapping[str, Mapping[str, Cell]]
    """By arm, then by scenario and constraint."""
    polarities: Mapping[str, Mapping[Polarity, Cell]]
    """By arm, then by whether the constraint is worded as a prohibition or as a requirement."""


def figures(answers: Iterable[Answer], order: Sequence[str] = ()) -> Figures:
    """The figures of all answers, whatever their order."""
    given = list(answers)
    by_arm: dict[str, list[Answer]] = defaultdict(list)
    for answer in given:
        by_arm[answer.arm].append(answer)
    names = [*(name for name in order if name in by_arm), *sorted(by_arm.keys() - set(order))]
    return Figures(
        overall=cell_of(given),
        arms={name: cell_of(by_arm[name]) for name in names},
        distances={name: dict(sorted(_by(by_arm[name], lambda a: a.distance).items())) for name in names},
        kinds={name: _in_order(_by(by_arm[name], lambda a: a.kind), get_args(Kind)) for name in names},
        constraints={
            name: dict(sorted(_by(by_arm[name], lambda a: f"{a.scenario}.{a.constraint}").items())) for name in names
        },
        polarities={name: _in_order(_by(by_arm[name], lambda a: a.polarity), get_args(Polarity)) for name in names},
    )


def _by(answers: Sequence[Answer], part: Callable[[Answer], _Part]) -> dict[_Part, Cell]:
    parts: dict[_Part, list[Answer]] = defaultdict(list)
    for answer in answers:
        parts[part(answer)].append(answer)
    return {key: cell_of(own) for key, own in parts.items()}


def _in_order(cells: Mapping[_Part, Cell], order: Sequence[_Part]) -> dict[_Part, Cell]:
    return {part: cells[part] for part in order if part in cells}


def cell_of(answers: Sequence[Answer]) -> Cell:
    """The figures of these answers together."""
    scored = [answer for answer in answers if answer.score is not None]
    wrong = [answer for answer in scored if answer.label == "violating"]
    legal = [answer for answer in scored if answer.label == "legal"]
    unscored = Counter(answer.status for answer in answers if answer.score is None)
    return Cell(
        answers=len(answers),
        scored=len(scored),
        unscored=dict(sorted(unscored.items())),
        no_score=share_of(answers, lambda answer: answer.score is None),
        blind=share_of(wrong, _scores(4)),
        soft_blind=share_of(wrong, _scores(3, 4)),
        sensitivity=share_of(wrong, _scores(0, 1)),
        strict=share_of(wrong, _scores(0)),
        specificity=share_of(legal, _scores(3, 4)),
        kappa=kappa(Counter((int(answer.label == "violating"), int(answer.score == 0)) for answer in scored)),
        histogram={label: tuple(sum(a.score == n for a in part) for n in SCORES)
                   for label, part in zip(LABELS, (wrong, legal), strict=True)},
        twins=twins(answers) if len({answer.arm for answer in answers}) == 1 else None,
        flips=_flips(scored),
        overflow=sum(answer.overflow for answer in answers),
    )  # fmt: skip


def _scores(*accepted: int) -> Callable[[Answer], bool]:
    return lambda answer: answer.score in accepted


def kappa(pairs: Mapping[tuple[int, int], int], furthest: int = 1) -> float | None:
    """Agreement beyond chance of two who classified the same: Cohen (1960), weighted by squares for more (1968).

    `pairs` counts how often the first said one class and the second the other, classes 0 to `furthest`. With two
    classes the weights change nothing. None where there is nothing, or both gave one class only: chance agrees always.
    """
    n = sum(pairs.values())
    first, second = Counter[int](), Counter[int]()
    for (one, other), count in pairs.items():
        first[one] += count
        second[other] += count
    seen = sum(count * _apart(one, other, furthest) for (one, other), count in pairs.items())
    chance = sum(a * b * _apart(one, other, furthest) for one, a in first.items() for other, b in second.items())
    return round(1 - seen * n / chance, 4) if chance else None


def _apart(one: int, other: int, furthest: int) -> float:
    return float((one - other) ** 2 / furthest**2)


def majority(scores: Iterable[int]) -> int | None:
    """The score given by more than half; None where there is none."""
    counts = Counter(scores)
    score, times = max(counts.items(), key=lambda found: found[1], default=(0, 0))
    return score if 2 * times > counts.total() else None


def _flips(scored: Iterable[Answer]) -> Flips | None:
    by_item: dict[tuple[str, str], list[int]] = defaultdict(list)
    for answer in scored:
        if answer.score is not None:
            by_item[answer.arm, answer.item].append(answer.score)
    repeated = [Counter(scores) for _, scores in sorted(by_item.items()) if len(scores) > 1]
    if not repeated:
        return None
    return Flips(
        items=len(repeated),
        flipped=sum(len(counts) > 1 for counts in repeated),
        agreement=round(fmean(max(counts.values()) / counts.total() for counts in repeated), 4),
        no_majority=sum(majority(counts.elements()) is None for counts in repeated),
    )


_SHARES = ("no_score", "blind", "soft_blind", "sensitivity", "strict", "specificity")


def cell_json(cell: Cell) -> dict[str, Any]:
    """A cell as JSON; what is not known is null."""
    found, flips = cell.twins, cell.flips
    return {
        "answers": cell.answers,
        "scored": cell.scored,
        "unscored": dict(cell.unscored),
        **{name: share_json(getattr(cell, name)) for name in _SHARES},
        "kappa": cell.kappa,
        "histogram": {label: list(counts) for label, counts in cell.histogram.items()},
        "twins": found and {
            "right": found.right, "wrong": found.wrong, "tied": found.tied, "gap": found.gap, "asked": found.asked,
        },
        "flips": flips and {
            "items": flips.items, "flipped": flips.flipped,
            "agreement": flips.agreement, "no_majority": flips.no_majority,
        },
        "overflow": cell.overflow,
    }  # fmt: skip
