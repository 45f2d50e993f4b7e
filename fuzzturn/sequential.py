"""Sequential: whether a stochastic failure is still there, decided run by run, and what such a rule costs and risks.

A *hit* is a run that fails as pinned. A rule looks at hits and runs so far and accepts, rejects or wants one run more.
What a rule does is computed exactly, by going through all (hits, runs) that can occur; nothing is simulated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

__all__ = [
    "ALPHA",
    "BACKGROUND",
    "ONCE",
    "RATE_MIN",
    "RETAIN",
    "SCREEN_LOSS",
    "Conclusion",
    "Count",
    "Decision",
    "Rule",
    "Tally",
    "TwoStage",
    "accept_probability",
    "certain_runs",
    "conclude",
    "expected_runs",
    "rule_for",
    "stops",
]

Decision = Literal["accept", "reject", "more"]
Conclusion = Literal["accept", "reject", "undecided"]

BACKGROUND = 0.05
"""A rate that unrelated failures do not exceed. What fails no more often than that has not got the fault."""
ALPHA = 0.003
"""The chance that a candidate at that rate is accepted. For one at 3 % it is below 0.0002 (decision 0012)."""
RETAIN = 0.5
"""The share of its origin's rate that an accepted candidate must show."""
RATE_MIN = 0.2
"""The lowest `p1` of `rule_for`: to tell a rate nearer to the background takes too many runs."""
RATE_MAX = 0.9
"""The highest: beyond it, a single miss would be proof against a candidate."""
SCREEN_LOSS = 0.2
"""The highest chance that a candidate at rate `p1` is lost to the first stage; at twice that rate it is 2 % or less."""


@dataclass(frozen=True, slots=True)
class Tally:
    """`k` hits in `n` runs of one candidate, all runs counted, in whatever order they ended."""

    k: int = 0
    n: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.k <= self.n:
            raise ValueError(f"{self.k} of {self.n} is no tally")

    def plus(self, hits: int, runs: int = 1) -> Tally:
        """The tally after `runs` more runs, `hits` of which were hits."""
        if not 0 <= hits <= runs:
            raise ValueError(f"{hits} of {runs} is no tally")
        return Tally(self.k + hits, self.n + runs)


class Rule(Protocol):
    """When to stop, and what then. With more hits in as many runs, a rule never turns from accept towards reject."""

    @property
    def most(self) -> int:
        """The number of runs after which `decide` never says "more"."""

    def decide(self, tally: Tally) -> Decision:
        """What to do at `tally`. It depends on hits and runs only; what came first matters by having ended the test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """Accept at the hit number `hits`; reject as soon as `most` runs can no longer hold as many.

    Cheap, but no guard: the more runs it may take, the surer a background rate gets through.
    """

    hits: int = 1
    most: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.hits <= self.most:
            raise ValueError(f"{self.hits} hits in {self.most} runs is no rule")

    def decide(self, tally: Tally) -> Decision:
        """Accept, reject or more."""
        if tally.k >= self.hits:
            return "accept"
        return "reject" if tally.k + self.most - tally.n < self.hits else "more"


ONCE = Count()
"""For an agent that is known to be deterministic: one run tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoStage:
    """First a few runs that must not all miss; then Wald's sequential probability ratio test, with an end and a floor.

    - reject after `first` runs without a hit;
    - accept when the likelihood of the runs at rate `p1` is 1/`alpha` times that at `p0`, and the share of hits is at
      least `floor`: not the background, and not much rarer than the origin;
    - reject when that ratio falls to `beta`;
    - reject when no number of hits up to run `most` could lead to acceptance: at the end, not shown is rejected.

    A candidate that fails at `p0` or more rarely is accepted with a chance of at most `alpha`, wherever else the test
    may stop and however many runs come between two looks (Ville 1939). Wald 1947 has (1 - beta)/alpha for 1/alpha, and
    beta/(1 - alpha) for beta: nearly the same, but an approximation, and for a test without an end.

    `p0`, `p1`, `alpha`, `beta` are above 0 and below 1, `p0` below `p1`; `floor` is 0.0-1.0; 1 <= `first` <= `most`.
    Raises ValueError otherwise. A rule whose `most` is too small to accept anything rejects before the first run.
    """

    p1: float
    floor: float = 0.0
    p0: float = BACKGROUND
    alpha: float = ALPHA
    beta: float = 0.1
    first: int = 5
    most: int = 40

    def __post_init__(self) -> None:
        if not 0 < self.p0 < self.p1 < 1 or not 0 <= self.floor <= 1:
            raise ValueError(f"rates must be 0 < p0 < p1 < 1 and 0 <= floor <= 1, not {self}")
        if not (0 < self.alpha < 1 and 0 < self.beta < 1):
            raise ValueError(f"alpha and beta must lie between 0 and 1, not {self}")
        if not 1 <= self.first <= self.most:
            raise ValueError(f"runs must be 1 <= first <= most, not {self}")

    def decide(self, tally: Tally) -> Decision:
        """Accept, reject or more."""
        if self._shown(tally):
            return "accept"
        none_yet = tally.k == 0 and tally.n >= self.first
        left = self.most - tally.n
        if none_yet or self.log_ratio(tally) <= math.log(self.beta) or left <= 0:
            return "reject"
        return "more" if self._shown(tally.plus(left, left)) else "reject"

    def log_ratio(self, tally: Tally) -> float:
        """The natural logarithm of the likelihood ratio of `tally`, `p1` to `p0`."""
        misses = tally.n - tally.k
        return tally.k * math.log(self.p1 / self.p0) + misses * math.log((1 - self.p1) / (1 - self.p0))

    def _shown(self, tally: Tally) -> bool:
        # 1e-9: 3 of 10 is no less than a floor of 0.3, whatever the last binary digit says
        return self.log_ratio(tally) >= -math.log(self.alpha) and tally.k >= self.floor * tally.n - 1e-9


def rule_for(origin: float, retain: float = RETAIN, background: float = BACKGROUND, most: int = 40) -> TwoStage | None:
    """The rule for candidates that are smaller than an origin which fails at the rate `origin` (above 0, at most 1).

    An accepted candidate has failed in at least `retain` (0.0-1.0) of the share that its origin did; with 0, anything
    that is not the background will do. `origin` is measured by runs that had no part in finding it, or it is too high.
    It is the same for the whole reduction: taken from each accepted candidate in turn, the losses would multiply.

    `background` (above 0) is a rate that unrelated failures stay below.

    None: the origin fails too rarely for `most` runs a candidate; it would itself more likely be rejected than not.
    """
    if not 0 < origin <= 1 or not 0 <= retain <= 1 or not 0 < background < 1:
        raise ValueError(f"no rule retains {retain} of a rate of {origin} above {background}")
    floor = retain * origin
    p1 = min(max(floor, RATE_MIN), RATE_MAX)
    if p1 <= background:
        return None
    first = math.ceil(math.log(SCREEN_LOSS) / math.log(1 - p1))
    rule = TwoStage(p0=background, p1=p1, floor=floor, first=min(first, most), most=most)
    return rule if accept_probability(rule, origin) >= 0.5 else None


def conclude(rule: Rule, tally: Tally) -> Conclusion:
    """The verdict where no run more can be had, since money, time or turns are spent: "undecided" is not a reject."""
    decision = rule.decide(tally)
    return "undecided" if decision == "more" else decision


def certain_runs(rule: Rule, tally: Tally) -> int:
    """The runs to start now, at once: as many as will be needed whatever they give, so that none is for nothing.

    0 where the rule has decided. To play a candidate in such rounds gives the verdict and the runs of playing it run by
    run. More hits never count against a candidate, so the first stop is either by hits only or by misses only.
    """
    if rule.decide(tally) != "more":
        return 0
    runs = 1
    while rule.decide(tally.plus(0, runs)) == "more" and rule.decide(tally.plus(runs, runs)) == "more":
        runs += 1
    return runs


def expected_runs(rule: Rule, p: float) -> float:
    """The mean number of runs until `rule` decides about a candidate that fails at rate `p`, exactly."""
    return math.fsum(tally.n * chance for tally, _, chance in stops(rule, p))


def accept_probability(rule: Rule, p: float) -> float:
    """The chance that `rule` accepts a candidate that fails at rate `p`, exactly: its operating characteristic."""
    return math.fsum(chance for _, decision, chance in stops(rule, p) if decision == "accept")


def stops(rule: Rule, p: float) -> Iterator[tuple[Tally, Decision, float]]:
    """Every tally at which `rule` stops, what it decides there, and the chance to stop there at rate `p`."""
    if not 0 <= p <= 1:
        raise ValueError(f"{p} is no rate")
    reached = {Tally(): 1.0}
    while reached:
        going: dict[Tally, float] = {}
        for tally, chance in reached.items():
            decision = rule.decide(tally)
            if decision != "more":
                yield tally, decision, chance
                continue
            for hits, share in ((0, 1 - p), (1, p)):
                if share > 0:
                    after = tally.plus(hits)
                    going[after] = going.get(after, 0.0) + chance * share
        reached = going
