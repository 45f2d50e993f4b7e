"""Measure: a session in, the four signals of every turn out. It runs the four and blends none.

The deterministic three are computed for the whole session at once; the judge is asked turn by turn, by whoever
decides which turns are worth it. The session's verdict and the efficiency counts stand beside the signals, never
inside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

from fuzzturn.checkers import SessionState, holds
from fuzzturn.clock import time
from fuzzturn.context import Evidence
from fuzzturn.drive import Meter
from fuzzturn.ledger import Ledger, opening, speak, use
from fuzzturn.memo import Memo
from fuzzturn.milestones import Graph, graph
from fuzzturn.ports import Judge
from fuzzturn.protected import Block, commitments, protect
from fuzzturn.registry import Registry
from fuzzturn.rubric import Rubric
from fuzzturn.scenario import Assertion, Goal, Milestone, Scenario
from fuzzturn.scores import Check, JudgeContext, Progress, TurnScores
from fuzzturn.session import Commitment, Session, ToolCall, Turn
from fuzzturn.signals.adherence import adherence
from fuzzturn.signals.assertions import assertions
from fuzzturn.signals.judge import judge
from fuzzturn.signals.progress import progress
from fuzzturn.visibility import summaries

__all__ = [
    "Efficiency", "Jury", "Measured", "Reader", "called_tools", "evidence_of", "guarded_turns", "judged",
    "measure",
]  # fmt: skip

LANGUAGE = "en"
"""The language of the commitment rules; a scenario cannot name another one yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Efficiency:
    """Counts that cost nothing extra and are no signal."""

    turns_to_completion: int | None = None
    """The turn after which every milestone stood; None = never."""
    tool_calls: tuple[int, ...]
    """Per turn."""
    user_corrections: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A session with its scores. `ledgers` and `scores` have one entry a turn."""

    spoken: Scenario
    session: Session
    scores: tuple[TurnScores, ...]
    ledgers: tuple[Ledger, ...]
    promises: tuple[Commitment, ...] | None
    """All commitments; None = no rule exists for the language."""
    goal_reached: bool = False
    """The session verdict: every decidable milestone stands at the end."""
    efficiency: Efficiency
    rendered: dict[int, str] = field(default_factory=dict, repr=False, compare=False)
    """Turns as a judge's prompt has them, by number, once one was asked."""

    def promised(self, n: int) -> list[Commitment] | None:
        """The commitments of the turns before turn `n`; None = no rule exists for the language."""
        return None if self.promises is None else [promise for promise in self.promises if promise.turn < n]

    def block(self, n: int) -> Block:
        """The protected block of turn `n`."""
        return protect(self.ledgers[n - 1], self.promised(n))

    def concluded(self, complete: Sequence[bool]) -> Measured:
        """The same with the session's verdict; `complete` tells of every turn whether the goal stands after it."""
        after = complete.index(True) + 1 if True in complete else None
        efficiency = replace(self.efficiency, turns_to_completion=after)
        return replace(self, goal_reached=bool(complete) and complete[-1], efficiency=efficiency)


class Jury:
    """A judge, its rubric and the contexts it is asked in."""

    def __init__(
        self,
        judge: Judge | None,
        name: str,
        rubric: Rubric,
        contexts: Sequence[JudgeContext],
        meter: Meter,
        sample: int = 0,
    ) -> None:
        self.name = name
        self.rubric = rubric
        self.contexts = tuple(contexts) if judge is not None else ()
        self.judge = judge
        self._asked = Memo(judge, meter) if judge is not None else None
        self.sample = sample
        self.meter = meter

    def afresh(self, sample: int = 0) -> Jury:
        """The same jury with no answer remembered. `sample`: which of a judge's answers it asks for."""
        return Jury(self.judge, self.name, self.rubric, self.contexts, self.meter, sample)

    async def ask(self, measured: Measured, n: int, contexts: Iterable[JudgeContext] | None = None) -> TurnScores:
        """The scores of turn `n` with the judge's, in every context of the jury's or in the `contexts` given."""
        scores = measured.scores[n - 1]
        missing = [c for c in (self.contexts if contexts is None else contexts) if c not in scores.judge]
        if self._asked is None or not missing:
            return scores
        failed = scores.adherence.failed
        ask = partial(judge, judge=self._asked, name=self.name, sample=self.sample)
        evidence = evidence_of(measured, n, self.rubric, failed[0] if failed else None)
        found = [await ask(evidence, context) for context in missing]
        scores = replace(scores, judge={**scores.judge, **{j.context: j for j in found}})
        if "agent" not in missing or len(failed) < 2:
            return scores
        each = {check.constraint: await ask(evidence_of(measured, n, self.rubric, check), "agent") for check in failed}
        return replace(scores, seen_by_check=each)


async def judged(
    measured: Measured, turns: Iterable[int], jury: Jury, contexts: Sequence[JudgeContext] | None = None
) -> Measured:
    """The same session with the judge's scores at those turns, in the jury's contexts or in those given."""
    scores = list(measured.scores)
    for n in turns:
        scores[n - 1] = await jury.ask(measured, n, contexts)
    return replace(measured, scores=tuple(scores))


def measure(spoken: Scenario, session: Session, registry: Registry) -> Measured:
    """The deterministic signals of every turn. Raises PortError where a check misbehaves."""
    reader = Reader(spoken, registry)
    for turn in session.turns:
        reader.read(turn, session.initial_state)
    return reader.measured(session)


_ALWAYS: dict[str, Any] = {"supersedes": None, "uses": None, "when": None, "expires": None, "spare": False}


def guarded_turns(spoken: Scenario, session: Session, registry: Registry) -> dict[str, frozenset[str]]:
    """For each constraint the turns at which its checker found something to look at, stated or not."""
    always = [c.model_copy(update={"source": "system", **_ALWAYS}) for c in spoken.constraints]
    silent = [line.model_copy(update={"states": (), "lifts": ()}) for line in spoken.turns]
    bound = spoken.model_copy(update={"constraints": tuple(always), "turns": tuple(silent)})
    exercised: dict[str, set[str]] = {}
    for scores in measure(bound, session, registry).scores:
        for check in scores.adherence.exercised:
            exercised.setdefault(check.constraint, set()).add(scores.turn)
    return {constraint: frozenset(turns) for constraint, turns in exercised.items()}


def called_tools(session: Session) -> dict[str, frozenset[str]]:
    """For each turn the tools that were called in it."""
    return {turn.id: frozenset(call.name for call in turn.tool_calls) for turn in session.turns}


@lru_cache(maxsize=64)
def _graph(needs: tuple[tuple[str, tuple[str, ...]], ...]) -> Graph:
    """Closed once for all the variants of a scenario: they have the same goal."""
    return graph(Goal(says="-", milestones=tuple(Milestone(id=id, needs=wanted) for id, wanted in needs)))


class Reader:
    """Goes through a session once, from the first turn to the last: at its end, or turn by turn while it is played."""

    def __init__(self, spoken: Scenario, registry: Registry) -> None:
        rules = registry.of_kind("commitment")
        self.spoken, self.registry = spoken, registry
        self.goal = _graph(tuple((milestone.id, milestone.needs) for milestone in spoken.goal.milestones))
        self.rules = [rule for rule in rules if rule.tag.option("language") == LANGUAGE]
        self.lines = {line.id: line for line in spoken.turns}
        self.scripted: dict[str, list[Assertion]] = {}
        for assertion in spoken.assertions:
            self.scripted.setdefault(assertion.turn, []).append(assertion)
        self.conditional = any(constraint.when for constraint in spoken.constraints)
        self.expiring = any(constraint.expires for constraint in spoken.constraints)
        self.ledger = opening(spoken)
        self.ledgers: list[Ledger] = []
        self.scores: list[TurnScores] = []
        self.promises: tuple[Commitment, ...] = ()
        self.tool_log: tuple[ToolCall, ...] = ()
        self.summaries: tuple[str, ...] = ()
        self.standing: Progress | None = None
        self.turns: tuple[Turn, ...] = ()

    def read(self, turn: Turn, initial_state: Mapping[str, Any]) -> None:
        """The signals of the next turn. Raises PortError where a check misbehaves."""
        before = self.turns[-1].state if self.turns else initial_state
        self.ledger = self._spoken(turn, before, initial_state)
        turn = turn.copied()  # a checker that changes what it is shown must not change what the judge is shown
        self.turns += (turn,)
        n = len(self.turns)
        self.ledgers.append(self.ledger)
        self.tool_log += turn.tool_calls
        self.summaries += summaries((turn,))
        self.promises += commitments(turn, self.rules)
        state = SessionState(
            turns=self.turns,
            environment=turn.state,
            before=before,
            tool_log=self.tool_log,
            ledger=self.ledger,
            commitments=self.promises,
        )
        honoured = adherence(turn, state, self.registry, self.summaries)
        self.standing = progress(self.spoken.goal, self.goal, state, self.registry, self.standing)
        self.scores.append(
            TurnScores(
                n=n,
                turn=turn.id,
                adherence=honoured,
                assertions=assertions(turn, state, self.scripted.get(turn.id, ()), self.registry),
                progress=self.standing,
            )
        )
        self.ledger = use(self.ledger, (check.constraint for check in honoured.exercised), n)

    def _spoken(self, turn: Turn, state: Mapping[str, Any], initial_state: Mapping[str, Any]) -> Ledger:
        """The ledger once the user has spoken; conditions are held against what stood before that."""
        now = time(turn.time) if turn.time and self.expiring else None
        line, n = self.lines.get(turn.id), len(self.turns) + 1
        if not self.conditional:
            return speak(self.ledger, self.spoken, line, n, now=now)
        before = SessionState(
            turns=self.turns,
            environment=state,
            before=self.turns[-2].state if len(self.turns) > 1 else initial_state,
            tool_log=self.tool_log,
            ledger=self.ledger,
            commitments=self.promises,
        )
        return speak(self.ledger, self.spoken, line, n, now=now, holds=lambda when: holds(when, before, self.registry))

    def measured(self, session: Session) -> Measured:
        """The whole session with what was read of it."""
        decidable = {m.id for m in self.spoken.goal.milestones if m.check is not None}
        complete = [bool(decidable) and decidable <= scores.progress.satisfied for scores in self.scores]
        found = Measured(
            spoken=self.spoken,
            session=session,
            scores=tuple(self.scores),
            ledgers=tuple(self.ledgers),
            promises=self.promises if self.rules else None,
            efficiency=Efficiency(
                tool_calls=tuple(len(turn.tool_calls) for turn in self.turns),
                user_corrections=sum(
                    line.correction for turn in self.turns if (line := self.lines.get(turn.id)) is not None
                ),
            ),
        )
        return found.concluded(complete)


def evidence_of(measured: Measured, n: int, rubric: Rubric, failed: Check | None = None) -> Evidence:
    """What a judge of turn `n` is shown from. `failed`: for the `agent` context, the call that broke something."""
    turn = measured.session.turns[n - 1]
    return Evidence(
        scenario=measured.spoken,
        rubric=rubric,
        turns=measured.session.turns[:n],
        ledger=measured.ledgers[n - 1],
        block=measured.block(n),
        seen=turn.seen_by(failed.call if failed else None),
        rendered=measured.rendered,
    )
