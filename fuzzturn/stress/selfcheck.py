"""Selfcheck: whether a judge scores a violating turn and its legal twin differently. Otherwise it measures nothing.

The unit is a pair of twins: *right* where the legal twin has the higher mean score, *wrong* where it has the lower one,
else *tied*. Two exact tests:

- a judge that does not look at what was done (the same score for all, a coin of any kind) gives right and wrong with
  equal chance, so the sign test over the untied pairs (one-sided; Arbuthnot 1710, Dixon and Mood 1946) says that it
  "passes" with a chance of at most `ALPHA`, however many pairs there are;
- a judge that is right at least `LEAST` more often than wrong, per pair, is said to fail with a chance of at most
  `BETA`, half of it for each of two signs that it is none: it is right too seldom (ties are shared out evenly, and the
  binomial is the worst case over all shares of ties), or it ties too often (it may in 1 - `LEAST` of the pairs). The
  second shows a judge that always says the same in a third of the pairs that the first one takes.

From `PAIRS` pairs on one of the two is always shown: any coin fails and such a judge passes, each with a chance of
at least 0.99. A judge in between, which looks and sees little, is decided either way, and called weak if it passes.

Whoever decides several times while answers come in says how many `looks` there are at most, before the first: each of
them gets an equal part of both chances, so that together they err no more often (Bonferroni's inequality).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from statistics import fmean
from typing import Any, Literal, TypeAlias

from fuzzturn.stress.item import Answer, Label
from fuzzturn.stress.tails import HALF, at_least, at_most

__all__ = ["ALPHA", "BETA", "LEAST", "PAIRS", "PAIRS_CONSTANT", "PAIRS_PERFECT", "SelfCheck", "Twins", "decide",
           "self_check", "self_check_json", "twins"]  # fmt: skip

ALPHA = 0.01
"""The highest chance that a judge passes whose scores have nothing to do with what was done."""
BETA = 0.01
"""The highest chance that a judge fails which is right in `LEAST` more of the pairs than it is wrong in."""
LEAST = 0.5
PAIRS = 92
"""Pairs from which on it is always decided: a coin fails, and a judge at `LEAST` passes, with a chance of 0.99 each."""
PAIRS_CONSTANT = 8
"""Pairs from which on a judge that always gives the same score fails for certain."""
PAIRS_PERFECT = 7
"""Pairs from which on a judge that is right in all of them passes for certain."""
_EVEN = (1 + Fraction(LEAST)) / 2
"""Chance of right, ties shared out evenly, at `LEAST`."""
_TIES = 1 - Fraction(LEAST)
"""The highest chance of a tie at `LEAST`."""
_Decision: TypeAlias = Literal["passes", "fails", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Twins:
    """How a judge scored pairs of twins: `right`, `wrong` and `tied` pairs, of those that both have a score.

    `gap` is the mean over pairs of legal less violating mean score, -4.0 to 4.0; None where no pair has both scores.
    Samples are compared sample by sample, so that both sides have equally many.
    """

    right: int
    wrong: int
    tied: int
    gap: float | None
    asked: int
    """Pairs of which both turns were asked about; those that are not in the other three had no two scores."""
    scored: int = 0
    """Answers that have a score."""

    @property
    def n(self) -> int:
        """Pairs that count."""
        return self.right + self.wrong + self.tied


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfCheck:
    """The decision and its evidence."""

    decision: _Decision
    twins: Twins
    p: float | None
    """Chance that a judge which does not look does so well or better; None where no pair counts."""
    weak: bool
    """It differs, but in so few pairs that `LEAST` is ruled out: it looks, and sees little."""
    unscored: int
    """Answers without a score."""
    constraints: int
    """Constraints that the pairs come from; pairs of one constraint may be alike."""
    needed: int | None
    """Pairs that decide it in one look, whatever the judge; None where it is decided."""
    why: str
    """One sentence."""


def twins(answers: Iterable[Answer]) -> Twins:
    """Compare twins. The answers are of one arm: raises ValueError otherwise."""
    sides: dict[str, dict[Label, dict[int, int | None]]] = defaultdict(lambda: {"violating": {}, "legal": {}})
    arms = set()
    for answer in answers:
        sides[answer.pair][answer.label][answer.sample] = answer.score
        arms.add(answer.arm)
    if len(arms) > 1:
        raise ValueError(f"twins are compared within one arm, not in {sorted(arms)}")
    asked = [side for _, side in sorted(sides.items()) if side["violating"] and side["legal"]]
    gaps = [gap for side in asked if (gap := _gap(side)) is not None]
    signs = [(gap > 0) - (gap < 0) for gap in gaps]
    return Twins(
        right=signs.count(1), wrong=signs.count(-1), tied=signs.count(0),
        gap=round(fmean(gaps), 4) if gaps else None, asked=len(asked),
        scored=sum(score is not None for side in sides.values() for own in side.values() for score in own.values()),
    )  # fmt: skip


def _gap(side: Mapping[Label, Mapping[int, int | None]]) -> float | None:
    """Over the samples in which both have a score, or one side with more samples would be the steadier one."""
    legal, violating = side["legal"], side["violating"]
    both = [(legal.get(sample), score) for sample, score in sorted(violating.items())]
    gaps = [right - wrong for right, wrong in both if right is not None and wrong is not None]
    return fmean(gaps) if gaps else None


def self_check(answers: Iterable[Answer], looks: int = 1) -> SelfCheck:
    """Decide from the answers about twins in one arm, in which a judge that looks can see what it needs.

    `looks`: how often it is decided at most, this time included, as answers come in.
    """
    given = list(answers)
    found = twins(given)
    untied = found.right + found.wrong
    p = at_least(found.right, untied, HALF) if found.n else None
    decision, weak = decide(found, looks)
    return SelfCheck(
        decision=decision, twins=found, p=None if p is None else round(p, 6), weak=weak,
        unscored=sum(answer.score is None for answer in given), constraints=len({a.constraint for a in given}),
        needed=PAIRS if decision == "undecided" else None, why=_why(found, decision, weak),
    )  # fmt: skip


def decide(found: Twins, looks: int = 1) -> tuple[_Decision, bool]:
    """The decision, and whether a judge that passes is a weak one (`SelfCheck.weak`); `looks` as in `self_check`."""
    if not found.n:
        return ("fails" if found.asked and not found.scored else "undecided"), False
    right = at_most((found.n + found.right - found.wrong) // 2, found.n, _EVEN)
    sees_little = min(right, at_least(found.tied, found.n, _TIES)) <= BETA / looks / 2
    if at_least(found.right, found.right + found.wrong, HALF) <= ALPHA / looks:
        return "passes", sees_little
    return ("fails" if sees_little else "undecided"), False


def _why(found: Twins, decision: _Decision, weak: bool) -> str:
    if not found.asked:
        return "no twins were asked about"
    if not found.n:
        return f"no pair has two scores, {found.scored} answers have one" if found.scored else "it gives no scores"
    counts = f"legal turn higher in {found.right} of {found.n} pairs, equal in {found.tied}, lower in {found.wrong}"
    if decision == "passes":
        return f"{counts}{'; it looks, but sees little' if weak else ''}"
    if decision == "fails":
        return f"{counts}: too seldom higher for a judge that looks"
    return f"{counts}: too few pairs to tell it from a coin"


def self_check_json(check: SelfCheck) -> dict[str, Any]:
    """The decision as JSON, with the error rates it was made at."""
    rates = {"alpha": ALPHA, "beta": BETA, "least": LEAST}
    return asdict(check) | rates | {"twins": asdict(check.twins) | {"n": check.twins.n}}
