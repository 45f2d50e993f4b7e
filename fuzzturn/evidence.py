"""Evidence: how sure a figure from several runs is. A rate, the difference of two rates, a drop from turn to turn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

__all__ = [
    "CLIFF_RUNS_MIN", "Z_95", "Cliff", "Difference", "Rate", "cliff", "difference", "rate", "runs_for", "student",
    "wilson",
]  # fmt: skip

Z_95 = 1.959963984540054
CLIFF_RUNS_MIN = 5
"""Runs below which no cliff is claimed: that all of so few fall together has a chance of more than 5 % (1 in 2^4)."""


@dataclass(frozen=True, slots=True)
class Rate:
    """`k` of `n` runs failed; `low` and `high` bound the true rate with 95 % confidence."""

    k: int
    n: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The observed rate, 0.0-1.0."""
        return self.k / self.n


def rate(k: int, n: int) -> Rate:
    """The Wilson score interval (Wilson 1927), clipped to 0.0-1.0 and rounded to 4 places. `n` is at least 1."""
    if not 0 <= k <= n or n < 1:
        raise ValueError(f"{k} of {n} is no rate")
    return Rate(k, n, *(round(bound, 4) for bound in wilson(k / n, n)))


def wilson(share: float, n: float, z: float = Z_95) -> tuple[float, float]:
    """The score interval (Wilson 1927) of a `share` (0.0-1.0) seen in `n` (above 0) independent observations.

    `n` need not be whole: with observations that are alike it is what they are worth. Not rounded.
    """
    z2 = z * z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z * math.sqrt(max(0.0, share * (1 - share)) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def runs_for(width: float, share: float = 0.5) -> int:
    """The fewest fresh runs after which the Wilson interval is at most `width` (0.0-1.0) from end to end.

    `share` is the rate expected; 0.5 needs the most runs, and is right where nothing is known. Wilson's width set equal
    to `width` is a quadratic equation in the number of runs. At the ends of the scale a clipped interval is narrower.
    """
    if not 0 < width <= 1 or not 0 <= share <= 1:
        raise ValueError(f"no number of runs is for a width of {width} at a rate of {share}")
    z2, w2 = Z_95**2, width**2
    b, c = 2 * z2 * (w2 - 2 * share * (1 - share)), z2 * z2 * (w2 - 1)
    root = (-b + math.sqrt(b * b - 4 * w2 * c)) / (2 * w2)
    return max(1, math.ceil(root - 1e-9))


@dataclass(frozen=True, slots=True)
class Difference:
    """`value` is one rate less another, -1.0 to 1.0; `low` and `high` bound the true difference with 95 % confidence.

    `high` below 0: the first is rarer. `low` above 0: it happens more often. Otherwise the runs do not tell.
    """

    value: float
    low: float
    high: float


def difference(first: Rate, second: Rate) -> Difference:
    """`first` less `second`, two rates from runs of their own: Newcombe's hybrid score interval (1998, method 10).

    Rounded to 4 places. Not for rates that share runs.
    """
    (low_1, high_1), (low_2, high_2) = wilson(first.share, first.n), wilson(second.share, second.n)
    value = first.share - second.share
    low = value - math.hypot(first.share - low_1, high_2 - second.share)
    high = value + math.hypot(high_1 - first.share, second.share - low_2)
    return Difference(round(value, 4), round(low, 4), round(high, 4))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cliff:
    """The place where a signal falls most surely: its mean over the turns before `turn` less that from `turn` on.

    `turn` counts from 1. `drop` = `before` - `after` is the mean over `runs` runs, in units of the signal. `spread` is
    the standard deviation of one run's drop. `low` and `high` bound the mean at 95 % confidence for all turns at once.
    """

    turn: int
    before: float
    after: float
    drop: float
    low: float
    high: float
    spread: float
    runs: int

    @property
    def shown(self) -> bool:
        """The drop is larger than the spread between runs, and chance does not explain it."""
        return self.low > 0 and self.drop > self.spread


def cliff(values_by_turn: Sequence[Sequence[float | None]]) -> Cliff | None:
    """Where a signal (higher is better) falls, from several runs of the same script.

    `values_by_turn[t][i]` is run i's value at the base turn t, None where it is unknown or that run had ended. A run is
    one observation, however many turns it has: its turns are not independent. So, for each turn, every run gives one
    drop, and their mean gets Student's interval, with Bonferroni's correction for all turns looked at. The turn whose
    drop has the highest lower bound is given; whether it is a cliff, `Cliff.shown` says.

    None: not known, since at no turn do `CLIFF_RUNS_MIN` runs have values on both sides. Raises ValueError where
    turns have different numbers of runs.
    """
    if len({len(values) for values in values_by_turn}) > 1:
        raise ValueError("every turn has one value for each run, None where it is unknown")
    turns = range(2, len(values_by_turn) + 1)
    splits = [split for turn in turns if (split := _split(values_by_turn, turn, len(turns))) is not None]
    return max(splits, key=lambda split: (split.low, split.drop, -split.turn), default=None)


def _split(values_by_turn: Sequence[Sequence[float | None]], turn: int, looked_at: int) -> Cliff | None:
    """The drop between the turns before `turn` and those from it on; None where too few runs know both."""
    sides = []
    for values in zip(*values_by_turn, strict=True):
        before = [value for value in values[: turn - 1] if value is not None]
        after = [value for value in values[turn - 1 :] if value is not None]
        if before and after:
            sides.append((before, after))
    if len(sides) < CLIFF_RUNS_MIN:
        return None
    before_mean, after_mean = fmean(fmean(before) for before, _ in sides), fmean(fmean(after) for _, after in sides)
    drop, spread = before_mean - after_mean, _spread(sides)
    half = student(1 - 0.05 / looked_at, len(sides) - 1) * spread / math.sqrt(len(sides))
    levels = {"before": round(before_mean, 4), "after": round(after_mean, 4), "drop": round(drop, 4)}
    bounds = {"low": round(drop - half, 4), "high": round(drop + half, 4), "spread": round(spread, 4)}
    return Cliff(turn=turn, runs=len(sides), **levels, **bounds)


def _spread(sides: Sequence[tuple[Sequence[float], Sequence[float]]]) -> float:
    """The standard deviation of the drop from run to run, at least what the scatter from turn to turn makes of it.

    A side of one or two turns may be without a fault in every run by luck, and then the runs agree too well.
    """
    between = stdev(fmean(before) - fmean(after) for before, after in sides)
    squares = sum((value - fmean(side)) ** 2 for both in sides for side in both for value in side)
    freedom = sum(len(side) - 1 for both in sides for side in both)
    within = fmean(1 / len(before) + 1 / len(after) for before, after in sides) * squares / max(1, freedom)
    return max(between, math.sqrt(within))


def student(confidence: float, df: int) -> float:
    """The bound that Student's t with `df` degrees of freedom stays within, both signs, with chance `confidence`."""
    low, high = 0.0, 1.0
    while _student_within(high, df) < confidence:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_within(middle, df) < confidence else (low, middle)
    return high


def _student_within(t: float, df: int) -> float:
    """P(|T| <= t) for whole `df`: the finite sums 26.7.3 and 26.7.4 of Abramowitz and Stegun (1964)."""
    angle = math.atan2(t, math.sqrt(df))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = df % 2
    term, total = cosine if odd else 1.0, 0.0
    for power in range(odd, df - 1, 2):
        total += term
        term *= cosine * cosine * (power + 1) / (power + 2)
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
