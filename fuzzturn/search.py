"""Search: a scenario and operators in, findings out. The property loop.

Hypothesis draws the variants, all of them before the first is played and in one place; our scheduler plays them in
cells of 25 with a prefix tree each; our reducer shrinks. A cell's result depends on nothing outside it, cells merge in
order, batches have a fixed size, so neither workers nor timing can change a finding or a count (decision 0003).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, get_args

from fuzzturn import exercise
from fuzzturn.bound import least_turns
from fuzzturn.campaign import Campaign, Plan, campaign_bench
from fuzzturn.case import Case, as_case
from fuzzturn.cells import Played
from fuzzturn.errors import Halted
from fuzzturn.evidence import rate
from fuzzturn.finding import Failure, Kind, Pinned, finding_order
from fuzzturn.outcome import Effort, Finding, Outcome
from fuzzturn.sampled import Fresh, Nothing, Shrunk, shrink_sampled
from fuzzturn.scores import Visibility
from fuzzturn.shrink import Problem, shrink
from fuzzturn.threshold import Gauge
from fuzzturn.tree import Tree
from fuzzturn.trial import Allowance, Bench, OutOfAllowance, Trial
from fuzzturn.variant import Variant
from fuzzturn.why import Why, explain

__all__ = ["search", "shrink_failure"]

STARTS = 10
"""Cases of one predicate that are kept where an agent does not repeat itself: the smallest may have been luck."""
Hear: TypeAlias = Callable[[Trial], None]


@dataclass(frozen=True, slots=True)
class _Start:
    """A case, the tree it was played in, and the whole variant that it was cut from."""

    case: Case
    tree: Tree
    original: Variant


@dataclass
class _Tally:
    """What a campaign counts while it goes; and the smallest cases of every predicate seen."""

    kinds: Sequence[Kind]
    kept: int = 1
    """How many cases of one predicate."""
    gauge: Gauge = field(default_factory=Gauge)
    sessions: int = 0
    exercised: Counter[str] = field(default_factory=Counter)
    covered: Counter[tuple[str, str, Visibility]] = field(default_factory=Counter)
    off_script: int = 0
    unscored: int = 0
    unscored_because: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    starts: dict[Pinned, list[_Start]] = field(default_factory=dict)
    """The smallest first."""

    def add(self, played: Played) -> None:
        trial, session = played.trial, played.trial.measured.session
        self.sessions += 1
        self.gauge.add(trial.telling)
        self.off_script += session.off_script
        if session.error is not None:
            self.errors[session.error] += 1
        self.covered.update(exercise.tally(trial.measured))
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
        starts = self.starts.setdefault(pinned, [])
        if case is not None and all(case.variant.key != start.case.variant.key for start in starts):
            starts.append(_Start(case, tree, trial.variant))
            starts.sort(key=lambda start: finding_order(start.case.variant))
            del starts[self.kept :]


async def search(campaign: Campaign, hear: Hear | None = None, allowance: Allowance | None = None) -> Outcome:
    """Run a whole campaign. `hear` is told of every trial, in an order that does not depend on workers.

    Where the allowance ends, no further batch starts; what was found so far is played afresh and returned.
    """
    tell: Hear = hear or (lambda _: None)
    bench = campaign_bench(campaign, allowance)
    begun = replace(bench.tree.meter)
    base = await bench.run(Variant(campaign.scenario))
    distrust = await bench.tree.distrust(campaign.scenario, repeats_itself=campaign.repeats == 1)
    tally = _Tally(campaign.kinds, 1 if campaign.repeats == 1 else STARTS)
    tally.add(Played(base, bench.tree))
    plan = Plan(campaign, bench, base, tally.gauge)
    tell(base)
    try:
        async for played in plan.played(allowance):
            tally.add(played)
            tell(played.trial)
    except OutOfAllowance:
        pass  # what was found so far is what there is
    bench = replace(bench, threshold=tally.gauge.threshold)
    shrunk: list[Finding | Nothing] = []
    for pinned, starts in sorted(tally.starts.items(), key=lambda item: _rank(item[0])):
        known = [replace(start, case=replace(start.case, threshold=bench.threshold)) for start in starts]
        shrunk.append(await _unless_halted(_shrink(known, pinned, bench, campaign, base), allowance))
    found = [one for one in shrunk if isinstance(one, Finding)]
    return Outcome(
        base=base,
        found=tuple(_merged(found)),
        spent=bench.tree.meter.since(begun),
        sessions=tally.sessions,
        exercised=dict(sorted(tally.exercised.items())),
        coverage=exercise.as_table(tally.covered),
        skipped=plan.skipped,
        off_script=tally.off_script,
        agent_errors=dict(tally.errors),
        judge_unscored=tally.unscored,
        unscored_because=dict(tally.unscored_because),
        threshold=bench.threshold,
        notes=() if distrust is None else (distrust,),
        undecided=shrunk.count("undecided"),
        dismissed=shrunk.count("dismissed"),
    )


async def _unless_halted(shrinking: Awaitable[Finding | Nothing], allowance: Allowance | None) -> Finding | Nothing:
    """The finding; undecided where no model could be asked for what proving it takes."""
    try:
        return await shrinking
    except Halted as halted:
        if allowance is None:
            raise
        allowance.halt(halted)
        return "undecided"


async def _shrink(
    starts: Sequence[_Start], pinned: Pinned, bench: Bench, campaign: Campaign, base: Trial
) -> Finding | Nothing:
    first = starts[0]
    if campaign.repeats == 1:
        shrinking = shrink_failure(first.case, pinned, bench.with_tree(first.tree), campaign, first.original, base)
        return await shrinking or "undecided"
    begun = bench.tree.meter.agent_turns
    problem = Problem(pinned, bench, campaign.batch)
    pairs = [(start.case, start.original) for start in starts]
    shrunk = await shrink_sampled(pairs, problem, campaign.repeats, campaign.rule)
    if not isinstance(shrunk, Shrunk):
        return shrunk
    final = as_case(shrunk.fresh.trial, pinned, bench.threshold)
    assert final is not None
    effort = Effort(bench.tree.meter.agent_turns - begun, least_turns(shrunk.case.variant))
    found = _Found(final, shrunk.minimal, effort, shrunk.original, shrunk.fresh)
    return await _finding(found, shrunk.benches, campaign, base)


async def shrink_failure(
    case: Case, pinned: Pinned, bench: Bench, campaign: Campaign, original: Variant, base: Trial | None = None
) -> Finding | None:
    """Shrink a case, play the result afresh, and explain it; None where the fresh run does not show it again.

    `original` is what the case was cut from; `base` None = the unedited script was not played.
    """
    bench = replace(bench, twins=pinned.kind == "metamorphic")
    begun = bench.tree.meter.agent_turns
    small, complete = await shrink(case, Problem(pinned, bench, campaign.batch))
    effort = Effort(bench.tree.meter.agent_turns - begun, least_turns(small.variant))
    fresh = replace(bench, tree=Tree(campaign.cast, campaign.scenario, bench.tree.meter), jury=bench.jury.afresh())
    final = as_case(await fresh.run(small.variant), pinned, bench.threshold)
    if final is None:
        return None
    found = _Found(final, complete, effort, original, Fresh(final.trial, rate(1, 1), None, None))
    return await _finding(found, [fresh], campaign, base)


@dataclass(frozen=True, slots=True)
class _Found:
    final: Case
    minimal: bool
    effort: Effort
    original: Variant
    fresh: Fresh


async def _finding(found: _Found, benches: Sequence[Bench], campaign: Campaign, base: Trial | None) -> Finding:
    """The finding, explained by runs on `benches`, on which nothing else was played."""
    failure = found.final.failure
    why = await explain(found.final, benches)
    return Finding(
        scenario=campaign.scenario,
        trial=found.final.trial,
        failure=failure,
        original=found.original,
        in_base=base is not None and any(failure.akin(other) for other in base.failures),
        failing=found.fresh.failing,
        judged=found.fresh.judged,
        flips=found.fresh.flips,
        minimal=found.minimal,
        shrinking=found.effort,
        why=why,
        signature=_signature(campaign, failure, why),
        identity=benches[0].tree.identity,
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
    return get_args(Kind).index(pinned.kind), repr(pinned)


def _merged(found: Iterable[Finding]) -> Iterator[Finding]:
    """One finding a signature, the smallest."""
    best: dict[str, Finding] = {}
    for one in found:
        known = best.get(one.id)
        if known is None or finding_order(one.trial.variant) < finding_order(known.trial.variant):
            best[one.id] = one
    return iter(best.values())
