"""Sampled: shrinking for an agent that does not repeat itself, each candidate played in as many samples as it takes.

A run is (variant, seed, sample). Runs of one sample that begin alike share their beginning, as all sessions do; nothing
is run twice, whichever candidate, attempt or pass asks for it. What is measured afresh uses samples of its own, shares
nothing, and has no part in any decision but one: a result that was luck is given up.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from fuzzturn.case import Case, as_case
from fuzzturn.evidence import Rate, rate
from fuzzturn.finding import BLIND_SCORE, Failure, Pinned
from fuzzturn.samples import FRESH, Samples
from fuzzturn.sequential import Decision, Rule, Tally, TwoStage, certain_runs, rule_for
from fuzzturn.shrink import Problem, shrink
from fuzzturn.trial import Bench, OutOfAllowance, Trial, together
from fuzzturn.variant import Edit, Variant

__all__ = ["CONFIRM", "Fresh", "Nothing", "Shrunk", "shrink_sampled"]

CONFIRM = TwoStage(p1=0.2, first=8)
"""Whether a session fails more often than unrelated failures do; nothing is known of its rate yet."""
ATTEMPTS = 3
"""How often a result may turn out to be luck before it is left undecided."""
ASKED_AGAIN = 5
"""Questions to the judge about one turn, to tell its noise from the agent's: a question is far cheaper than a run."""
TURNS_ASKED = 10
"""Violating runs whose turn the judge is asked about so often; about the others once."""


@dataclass(slots=True)
class _Runs:
    """The evidence for one session."""

    tally: Tally = field(default_factory=Tally)
    hit: Trial | None = None
    """The one that failed latest in the session: cut there, all the others fail as well."""
    miss: Trial | None = None


@dataclass(slots=True)
class _Evidence:
    """All that was played for decisions."""

    runs: dict[tuple[str, tuple[Edit, ...]], _Runs] = field(default_factory=dict)
    """By words and edits. Other edits to the same words are other turns to the reducer; playing them anew is free."""
    disowned: set[str] = field(default_factory=set)
    """Words of sessions that were accepted, while runs that had no part in that say otherwise."""

    def of(self, variant: Variant) -> _Runs:
        return self.runs.setdefault((variant.key, variant.edits), _Runs())


@dataclass(frozen=True)
class _Doubtful(Problem):
    """A problem whose candidates are decided by a rule, run by run."""

    samples: Samples = field(kw_only=True)
    rule: Rule = field(kw_only=True)
    evidence: _Evidence = field(kw_only=True)

    async def try_all(self, variants: Sequence[Variant]) -> list[Trial]:
        """For each candidate a run that failed, where the rule accepts it, else one that did not."""
        deciding = [asyncio.ensure_future(self.decided(variant)) for variant in variants]
        shown: list[Trial] = []
        for variant, verdict in zip(variants, await asyncio.gather(*deciding, return_exceptions=True), strict=True):
            if isinstance(verdict, BaseException):
                raise verdict
            shown.append(self._shown(variant, verdict))
        return shown

    async def decided(self, variant: Variant) -> Decision:
        """Play the session until the rule decides. Raises OutOfAllowance where it may not be played again."""
        runs = self.evidence.of(variant)
        while count := certain_runs(self.rule, runs.tally):
            first = runs.tally.n + 1
            played = [self.samples.of(first + i).run(variant, self.contexts) for i in range(count)]
            for trial in await together(played, self.bench.allowance):
                self._note(runs, trial)
        return "reject" if variant.key in self.evidence.disowned else self.rule.decide(runs.tally)

    def _note(self, runs: _Runs, trial: Trial) -> None:
        failure = self.pinned.among(trial.failures)
        runs.tally = runs.tally.plus(failure is not None)
        if failure is None:
            runs.miss = runs.miss or trial
        elif runs.hit is None or failure.turn > _turn(runs.hit, self.pinned):
            runs.hit = trial

    def _shown(self, variant: Variant, verdict: Decision) -> Trial:
        runs = self.evidence.of(variant)
        if verdict == "accept":
            assert runs.hit is not None
            return runs.hit
        shown = runs.miss or runs.hit
        assert shown is not None
        return replace(shown, failures=())


@dataclass(frozen=True, slots=True)
class Fresh:
    """What runs that had no part in any decision say of a session."""

    trial: Trial
    """One that fails as pinned."""
    failing: Rate
    """How often the agent does what is wrong, whatever the judge makes of it."""
    judged: Rate | None
    """Of how many of these runs the judge, asked once about each, gives a 4; None = the judge has no part in it."""
    flips: Rate | None
    """How often the judge contradicts its own commonest score of the same turn."""


Nothing: TypeAlias = Literal["dismissed", "undecided"]
"""No start failed more often than unrelated failures do; or it could not be told, or not be shown again."""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The smallest session that fails about as often as the one it came from."""

    case: Case
    minimal: bool
    fresh: Fresh
    original: Variant
    benches: Sequence[Bench]
    """Benches of samples that nothing was played on, enough of them for the failure to show if it is there."""


async def shrink_sampled(
    starts: Sequence[tuple[Case, Variant]], problem: Problem, runs: int, rule: Rule | None = None
) -> Shrunk | Nothing:
    """The first of `starts` that is shown to fail, shrunk; or why there is none.

    `starts`: cases with the whole variants they were cut from. `runs`: how many fresh runs the final rate is from.
    `rule` None = chosen by the rate of the start. Where the allowance ends while a start is being decided, that is
    undecided; where it ends later, the smallest session so far that was decided is the result, not minimal.
    """
    samples = Samples(problem.bench)
    evidence = _Evidence()
    fresh = _FreshRuns(samples, problem.pinned, runs)

    def doubting(by: Rule) -> _Doubtful:
        return _Doubtful(problem.pinned, problem.bench, problem.batch, samples=samples, rule=by, evidence=evidence)

    nothing: Nothing = "dismissed"
    for start, original in starts:
        try:
            if await doubting(rule or CONFIRM).decided(start.variant) != "accept":
                continue
        except OutOfAllowance:
            return "undecided"
        tally = evidence.of(start.variant).tally
        nothing = "undecided"  # it fails, but too rarely, or what came of it was luck
        if (chosen := rule or rule_for(tally.k / tally.n)) is None:
            continue
        found = await _shrunk(start, doubting(chosen), fresh)
        if not isinstance(found, str):
            return Shrunk(*found, original, fresh.benches(_runs_to_see(found[2].failing.share)))
        nothing = found
    return nothing


async def _shrunk(start: Case, problem: _Doubtful, fresh: _FreshRuns) -> tuple[Case, bool, Fresh] | Nothing:
    """The result that holds afresh. One that was luck is disowned, and the way there gone again, for nothing.

    Dismissed where most runs that go wrong do so in another way than is pinned: then it was the judge that wavered.
    """
    seen = problem.evidence.of(start.variant).hit
    assert seen is not None
    begin = as_case(seen, problem.pinned, start.threshold)
    assert begin is not None
    for attempt in range(ATTEMPTS):
        small, complete = await shrink(begin, problem)
        shown, tally = await fresh.of(small.variant)
        if shown is not None and 2 * tally.k < shown.failing.k:
            return "dismissed"
        if shown is not None and problem.rule.decide(tally) != "reject":
            return small, complete and attempt == 0, shown  # a smaller one was given up, perhaps by bad luck
        if small.variant.key == begin.variant.key:
            return "undecided"
        problem.evidence.disowned.add(small.variant.key)
    return "undecided"


class _FreshRuns:
    """Runs of samples that nothing else uses."""

    def __init__(self, samples: Samples, pinned: Pinned, runs: int) -> None:
        self._samples, self._pinned, self._runs = samples, pinned, runs
        self._next = FRESH

    async def of(self, variant: Variant) -> tuple[Fresh | None, Tally]:
        """What they say; None where none fails as pinned. And how many did."""
        benches = self.benches(self._runs)
        trials = await together([bench.run(variant) for bench in benches], None)
        hits = [trial for trial in trials if self._pinned.among(trial.failures) is not None]
        tally = Tally(len(hits), len(trials))
        if not hits:
            return None, tally
        pairs = [(trial, bench) for trial, bench in zip(trials, benches, strict=True) if _wrong(trial, self._pinned)]
        often = [ASKED_AGAIN] * TURNS_ASKED + [1] * len(pairs)
        scores = [await self._asked(*pair, times) for pair, times in zip(pairs, often, strict=False)]
        asked = [each for each in scores if each]
        judged = _share(each[0] == BLIND_SCORE for each in asked)  # one a turn: its others are not independent
        flips = _share(score != _commonest(each) for each in asked if len(each) > 1 for score in each)
        return Fresh(hits[0], rate(len(pairs), len(trials)), judged, flips), tally

    def benches(self, count: int) -> list[Bench]:
        """Benches of so many samples that nothing else uses."""
        first, self._next = self._next, self._next + count
        return [self._samples.afresh(first + i) for i in range(count)]

    async def _asked(self, trial: Trial, bench: Bench, times: int) -> list[int]:
        """The judge's scores of the turn that is wrong, asked several times. What it gave no score is left out."""
        context, failure = self._pinned.judge_context, _wrong(trial, self._pinned)
        if context is None or failure is None:
            return []
        given: list[int] = []
        for again in range(times):
            jury = bench.jury.afresh(bench.jury.sample + (again + 1) * FRESH)
            measured = replace(trial.measured, scores=tuple(replace(s, judge={}) for s in trial.measured.scores))
            judgement = (await jury.ask(measured, failure.turn, [context])).judge.get(context)
            given += [] if judgement is None or judgement.score is None else [judgement.score]
        return given


def _runs_to_see(share: float) -> int:
    """Runs among which a failure at that rate shows itself with 98 % chance; twelve at the most."""
    return 1 if share >= 1 else min(12, math.ceil(math.log(0.02) / math.log(1 - share)))


def _share(answers: Iterable[bool]) -> Rate | None:
    given = list(answers)
    return rate(sum(given), len(given)) if given else None


def _commonest(scores: Sequence[int]) -> int:
    return Counter(sorted(scores)).most_common(1)[0][0]


def _turn(trial: Trial, pinned: Pinned) -> int:
    failure = pinned.among(trial.failures)
    return 0 if failure is None else failure.turn


def _wrong(trial: Trial, pinned: Pinned) -> Failure | None:
    """What the agent did wrong, whatever the judge makes of it."""
    return next((failure for failure in trial.failures if failure.about == pinned.about), None)
