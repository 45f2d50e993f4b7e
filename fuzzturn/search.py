"""Search: a scenario and operators in, findings out. The property loop.

Hypothesis draws the variants, all of them before the first is played and in one place; our scheduler plays them in
cells of 25 with a prefix tree each; our reducer shrinks. A cell's result depends on nothing outside it, cells merge in
order, batches have a fixed size, so neither workers nor timing can change a finding or a count (decision 0003).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from fuzzturn.bound import least_turns
from fuzzturn.campaign import Campaign, Plan, campaign_bench
from fuzzturn.case import Case, as_case
from fuzzturn.cells import Played
from fuzzturn.drive import Meter
from fuzzturn.errors import Halted
from fuzzturn.evidence import Rate, rate
from fuzzturn.finding import KINDS, Failure, Kind, Pinned, finding_order, signature_id
from fuzzturn.scenario import Scenario
from fuzzturn.shrink import Problem, shrink
from fuzzturn.threshold import Gauge, Threshold
from fuzzturn.tree import Tree
from fuzzturn.trial import Allowance, Bench, OutOfAllowance, Trial
from fuzzturn.variant import Variant
from fuzzturn.why import Why, explain

__all__ = ["Effort", "Finding", "Outcome", "search", "shrink_failure"]

Hear: TypeAlias = Callable[[Trial], None]


@dataclass(frozen=True, slots=True)
class Effort:
    """The agent turns that shrinking took, and the fewest in which its result could be shown to be minimal.

    It may take fewer than that where the search had played some of them already.
    """

    agent_turns: int
    at_least: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding, shrunk. `trial` was played afresh, from the first turn, and judged in every context."""

    scenario: Scenario
    trial: Trial
    failure: Failure
    original: Variant
    """The smallest variant in which the search saw it."""
    in_base: bool
    """The unedited script breaks the same thing, whatever the judge made of it there."""
    failing: Rate
    minimal: bool
    shrinking: Effort
    why: Why
    signature: Mapping[str, Any]
    identity: str | None = None
    """What the agent says of itself."""

    @property
    def id(self) -> str:
        return signature_id(self.signature)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a campaign found and what it spent."""

    base: Trial
    found: tuple[Finding, ...]
    spent: Meter
    sessions: int
    exercised: Mapping[str, int]
    """For each checker: the turns at which it had something to look at."""
    skipped: Mapping[str, str]
    off_script: int
    agent_errors: Mapping[str, int]
    """The distinct errors that agents raised, and how many sessions each ended."""
    judge_unscored: int
    unscored_because: Mapping[str, int]
    """The judge's reasons for giving no score, and how often each."""
    threshold: Threshold | None
    undecided: int = 0
    """Failures that did not show again, or could not be played again: nothing is claimed of them."""
    notes: tuple[str, ...] = ()
    """What a user should know of how it was played."""


@dataclass
class _Tally:
    """What a campaign counts while it goes; and the smallest case of every predicate seen."""

    kinds: Sequence[Kind]
    gauge: Gauge = field(default_factory=Gauge)
    sessions: int = 0
    exercised: Counter[str] = field(default_factory=Counter)
    off_script: int = 0
    unscored: int = 0
    unscored_because: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    smallest: dict[Pinned, tuple[Case, Tree, Variant]] = field(default_factory=dict)
    """With the tree it was played in and the whole variant that it was cut from."""

    def add(self, played: Played) -> None:
        trial, session = played.trial, played.trial.measured.session
        self.sessions += 1
        self.gauge.add(session.turns)
        self.off_script += session.off_script
        if session.error is not None:
            self.errors[session.error] += 1
        for scores in trial.measured.scores:
            self.exercised.update(check.checker for check in scores.adherence.exercised)
            for judgement in scores.judge.values():
                if judgement.score is None:
                    self.unscored += 1
                    self.unscored_because[judgement.reason] += 1
        for failure in trial.failures:
            if failure.kind in self.kinds:
                self._keep_smaller(trial, failure.pinned(), played.tree)

    def _keep_smaller(self, trial: Trial, pinned: Pinned, tree: Tree) -> None:
        case = as_case(trial, pinned, None)
        known = self.smallest.get(pinned)
        if case is not None and (known is None or finding_order(case.variant) < finding_order(known[0].variant)):
            self.smallest[pinned] = (case, tree, trial.variant)


async def search(campaign: Campaign, hear: Hear | None = None, allowance: Allowance | None = None) -> Outcome:
    """Run a whole campaign. `hear` is told of every trial, in an order that does not depend on workers.

    Where the allowance ends, no further batch starts; what was found so far is played afresh and returned.
    """
    tell: Hear = hear or (lambda _: None)
    bench = campaign_bench(campaign, allowance)
    begun = replace(bench.tree.meter)
    base = await bench.run(Variant(campaign.scenario))
    distrust = await bench.tree.distrust(campaign.scenario)
    tally = _Tally(campaign.kinds)
    plan = Plan(campaign, bench, base, tally.gauge)

    def hear_of(played: Played) -> None:
        tally.add(played)
        tell(played.trial)

    hear_of(Played(base, bench.tree, tally.gauge))
    try:
        async for played in plan.played(allowance):
            hear_of(played)
    except OutOfAllowance:
        pass  # what was found so far is what there is
    bench = replace(bench, threshold=tally.gauge.threshold)
    shrunk = []
    for pinned, (case, tree, original) in sorted(tally.smallest.items(), key=lambda item: _rank(item[0])):
        case = replace(case, threshold=bench.threshold)
        shrinking = shrink_failure(case, pinned, bench.with_tree(tree), campaign, original, base)
        shrunk.append(await _unless_halted(shrinking, allowance))
    found = [one for one in shrunk if one is not None]
    return Outcome(
        base=base,
        found=tuple(_merged(found)),
        spent=bench.tree.meter.since(begun),
        sessions=tally.sessions,
        exercised=dict(sorted(tally.exercised.items())),
        skipped=plan.skipped(tally.gauge),
        off_script=tally.off_script,
        agent_errors=dict(tally.errors),
        judge_unscored=tally.unscored,
        unscored_because=dict(tally.unscored_because),
        threshold=bench.threshold,
        notes=() if distrust is None else (distrust,),
        undecided=len(shrunk) - len(found),
    )


async def _unless_halted(shrinking: Awaitable[Finding | None], allowance: Allowance | None) -> Finding | None:
    """The finding; None where no model could be asked for what proving it takes."""
    try:
        return await shrinking
    except Halted as halted:
        if allowance is None:
            raise
        allowance.halt(halted)
        return None


async def shrink_failure(
    case: Case, pinned: Pinned, bench: Bench, campaign: Campaign, original: Variant, base: Trial | None = None
) -> Finding | None:
    """Shrink a case, play the result afresh, and explain it; None where the fresh run does not show it again.

    `original` is what the case was cut from; `base` None = the unedited script was not played.
    """
    begun = bench.tree.meter.agent_turns
    small, complete = await shrink(case, Problem(pinned, bench, campaign.batch))
    shrinking = Effort(bench.tree.meter.agent_turns - begun, least_turns(small.variant))
    fresh = replace(bench, tree=Tree(campaign.cast, campaign.scenario, bench.tree.meter), jury=bench.jury.afresh())
    final = as_case(await fresh.run(small.variant), pinned, bench.threshold)
    if final is None:
        return None
    why = await explain(final, fresh)
    return Finding(
        scenario=campaign.scenario,
        trial=final.trial,
        failure=final.failure,
        original=original,
        in_base=base is not None and any(final.failure.akin(failure) for failure in base.failures),
        failing=rate(1, 1),
        minimal=complete,
        shrinking=shrinking,
        why=why,
        signature=_signature(campaign, final.failure, why),
        identity=fresh.tree.identity,
    )


def _signature(campaign: Campaign, failure: Failure, why: Why) -> dict[str, Any]:
    return {
        "agent": campaign.cast.name,
        "scenario": campaign.scenario.scenario,
        "constraint": failure.subject,
        "checker": failure.checker,
        "kind": failure.kind,
        "judge_context": failure.judge_context,
        "mechanism": why.mechanism,
        "call": failure.call,
    }


def _rank(pinned: Pinned) -> tuple[int, str]:
    return KINDS.index(pinned.kind), repr(pinned)


def _merged(found: Iterable[Finding]) -> Iterator[Finding]:
    """One finding a signature, the smallest."""
    best: dict[str, Finding] = {}
    for one in found:
        known = best.get(one.id)
        if known is None or finding_order(one.trial.variant) < finding_order(known.trial.variant):
            best[one.id] = one
    return iter(best.values())
