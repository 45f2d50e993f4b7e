"""Repeats: several runs of one script, summed up turn by turn. Each signal by itself.

Turns are aligned by their id in the script; automatic answers, which come where the agent asks, stand apart. A run in
which a signal was not scored is left out of that signal's figures and counted, never taken for 0 or for a pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean, stdev
from typing import Literal, TypeAlias

from fuzzturn.evidence import Cliff, Rate, cliff, rate
from fuzzturn.measure import Measured
from fuzzturn.scores import JudgeContext, TurnScores

__all__ = ["Alike", "Fall", "Repeats", "Signal", "Span", "Spread", "TurnSummary", "Violation", "Wrong", "repeats"]

Alike: TypeAlias = Literal["everything", "scores"]
Signal: TypeAlias = Literal["adherence", "assertions", "progress", "judge"]
Span: TypeAlias = tuple[int, int]
"""The lowest and the highest count of all runs."""
_Aligned: TypeAlias = Mapping[str, TurnScores]
_Values: TypeAlias = Callable[[TurnScores], float | None]


@dataclass(frozen=True, slots=True)
class Spread:
    """A signal at one turn over the `runs` runs in which it was scored; units are the signal's, to 4 places.

    `spread` is the standard deviation between runs; None where one run alone was scored.
    """

    mean: float
    spread: float | None
    runs: int


@dataclass(frozen=True, slots=True)
class Wrong:
    """What was wrong at one turn in `runs` runs: a constraint, expectation or milestone, by name."""

    signal: Signal
    what: str
    runs: int
    detail: str
    """As most of those runs had it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSummary:
    """The four signals at one turn, side by side. None = scored in no run."""

    turn: int | None
    """The place in the script, from 1; None = an automatic answer."""
    id: str
    """The id in the script. Of an automatic answer: `ask+1` is the first one after the scripted turn `ask`."""
    runs: int
    """Runs that came to it."""
    adherence: Spread | None
    exercised: int
    """Runs in which a checker had something to look at; in the others adherence is idle."""
    assertions: Spread | None
    progress: Spread | None
    falling: int
    """Runs in which fewer milestones stood than one turn before."""
    judge: Mapping[JudgeContext, Spread | None]
    wrong: tuple[Wrong, ...]


@dataclass(frozen=True, slots=True)
class Violation:
    """How often a constraint is broken, at whatever turn."""

    constraint: str
    broken: Rate | None
    """Of the runs in which its checker had something to look at; None = there was none."""
    untested: int
    """Runs in which it had not, or in which the constraint never bound: they say nothing."""


@dataclass(frozen=True, slots=True)
class Fall:
    """A cliff: `cliff.turn` is the place in the script of the turn `id`."""

    signal: Signal
    of: str | None
    """The constraint, or the judge's context; None for progress."""
    id: str
    cliff: Cliff


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """All runs of one script. What is no signal stands beside the turns, never inside them."""

    scenario: str
    runs: int
    alike: Alike | None
    """Whether all runs are the same in everything said, done and scored, or in the scores alone; None = they differ."""
    turns: tuple[TurnSummary, ...]
    answers: tuple[TurnSummary, ...]
    cliffs: tuple[Fall, ...]
    """Only drops that are larger than the spread between runs; none where all runs are one and the same."""
    completed: Rate
    """Runs that ended with the goal reached."""
    completed_after: Span | None
    """Turns until every milestone stood; None = in no run."""
    tool_calls: Span
    user_corrections: Span
    violations: tuple[Violation, ...]
    off_script: int
    """Runs in which the agent asked something that the script has no answer for."""
    errors: Mapping[str, int]
    """What the agent raised, and in how many runs."""


def repeats(runs: Sequence[Measured]) -> Repeats:
    """Sum up runs of one script; their order does not matter. Raises ValueError for none, or for several scripts."""
    if not runs or any(run.spoken != runs[0].spoken for run in runs):
        raise ValueError("what is summed up are the runs of one script, one at least")
    alike, script = _alike(runs), [line.id for line in runs[0].spoken.turns]
    aligned = [_aligned(run) for run in runs]
    contexts = tuple(dict.fromkeys(c for run in runs for scores in run.scores for c in scores.judge))
    answers = sorted({id for turns in aligned for id in turns} - {*script}, key=lambda id: _place(id, script))
    completed = [after for run in runs if (after := run.efficiency.turns_to_completion) is not None]
    return Repeats(
        scenario=runs[0].spoken.scenario,
        runs=len(runs),
        alike=alike,
        turns=tuple(_summary(id, n, aligned, contexts) for n, id in enumerate(script, start=1)),
        answers=tuple(_summary(id, None, aligned, contexts) for id in answers),
        cliffs=() if alike == "everything" else tuple(_cliffs(runs[0], script, aligned, contexts)),
        completed=rate(sum(run.goal_reached for run in runs), len(runs)),
        completed_after=_span(completed) if completed else None,
        tool_calls=_span([sum(run.efficiency.tool_calls) for run in runs]),
        user_corrections=_span([run.efficiency.user_corrections for run in runs]),
        violations=tuple(_violation(constraint.id, runs) for constraint in runs[0].spoken.constraints),
        off_script=sum(run.session.off_script for run in runs),
        errors=dict(sorted(Counter(run.session.error for run in runs if run.session.error is not None).items())),
    )


def _aligned(run: Measured) -> dict[str, TurnScores]:
    """The run's scores by turn id. A script's ids hold no `+`."""
    found: dict[str, TurnScores] = {}
    scripted, answer = "", 0
    for turn, scores in zip(run.session.turns, run.scores, strict=True):
        scripted, answer = (scripted, answer + 1) if turn.auto else (turn.id, 0)
        found[f"{scripted}+{answer}" if answer else scripted] = scores
    return found


def _place(answer: str, script: Sequence[str]) -> tuple[int, int]:
    scripted, _, number = answer.rpartition("+")
    return script.index(scripted), int(number)


def _summary(id: str, place: int | None, aligned: Sequence[_Aligned], contexts: Sequence[JudgeContext]) -> TurnSummary:
    there = [turns[id] for turns in aligned if id in turns]
    return TurnSummary(
        turn=place,
        id=id,
        runs=len(there),
        adherence=_spread(scores.adherence.value for scores in there),
        exercised=sum(bool(scores.adherence.exercised) for scores in there),
        assertions=_spread(scores.assertions.value for scores in there),
        progress=_spread(scores.progress.value for scores in there),
        falling=sum(scores.progress.trend == "falling" for scores in there),
        judge={context: _spread(scores.judged(context) for scores in there) for context in contexts},
        wrong=tuple(_wrong(there)),
    )


def _spread(values: Iterable[float | None]) -> Spread | None:
    scored = [value for value in values if value is not None]
    if not scored:
        return None
    return Spread(round(fmean(scored), 4), round(stdev(scored), 4) if len(scored) > 1 else None, len(scored))


def _wrong(there: Sequence[TurnScores]) -> Iterator[Wrong]:
    details: dict[tuple[Signal, str], list[str]] = {}
    for scores in there:
        for named, detail in _faults(scores).items():
            details.setdefault(named, []).append(detail)
    for (signal, what), told in sorted(details.items()):
        times = Counter(told)
        yield Wrong(signal, what, len(told), min(times, key=lambda detail: (-times[detail], detail)))


def _faults(scores: TurnScores) -> dict[tuple[Signal, str], str]:
    """Each thing once, however often it went wrong in that turn."""
    found: dict[tuple[Signal, str], str] = {}
    for check in scores.adherence.failed:
        found["adherence", check.constraint] = check.result.detail
    for failed in scores.assertions.failures:
        found["assertions", failed.expectation] = failed.detail
    for breach in scores.progress.breaches:
        found["progress", breach.milestone] = breach.detail
    return found


def _violation(constraint: str, runs: Sequence[Measured]) -> Violation:
    kept = [[value for scores in run.scores if (value := _kept(scores, constraint)) is not None] for run in runs]
    tested = [values for values in kept if values]
    broken = rate(sum(0.0 in values for values in tested), len(tested)) if tested else None
    return Violation(constraint, broken, len(runs) - len(tested))


def _kept(scores: TurnScores, constraint: str) -> float | None:
    """1 = kept, 0 = broken; None where it did not bind, or its checker had nothing to look at.

    An idle pass cannot move, whatever the agent does. Counted as 1 it would hold up every turn before the first one
    that tests the constraint, and the first such turn would look like a fall.
    """
    check = next((check for check in scores.adherence.checks if check.constraint == constraint), None)
    if check is None or (check.result.passed and not check.result.exercised):
        return None
    return float(check.result.passed)


def _cliffs(
    run: Measured, script: Sequence[str], aligned: Sequence[_Aligned], contexts: Sequence[JudgeContext]
) -> Iterator[Fall]:
    """Automatic answers have no part in them: they come at other places in other runs."""
    signals: list[tuple[Signal, str | None, _Values]] = [
        *(("adherence", c.id, partial(_kept, constraint=c.id)) for c in run.spoken.constraints),
        ("progress", None, lambda scores: scores.progress.value),
        *(("judge", context, partial(TurnScores.judged, context=context)) for context in contexts),
    ]
    for signal, of, value in signals:
        by_turn = [[value(turns[id]) if id in turns else None for turns in aligned] for id in script]
        if signal != "adherence" and all(len({*values} - {None}) < 2 for values in by_turn):
            continue  # the course of the script: small talk is no 4, however well it is done
        # a turn that no run scores splits the runs just as the next one does, and would be taken for the place
        places = [n for n, values in enumerate(by_turn, start=1) if values.count(None) < len(values)]
        found = cliff([by_turn[n - 1] for n in places])
        if found is not None and found.shown:
            n = places[found.turn - 1]
            yield Fall(signal, of, script[n - 1], replace(found, turn=n))


def _alike(runs: Sequence[Measured]) -> Alike | None:
    if len(runs) < 2 or any(_scored(run) != _scored(runs[0]) for run in runs):
        return None
    return "scores" if any(_did(run) != _did(runs[0]) for run in runs) else "everything"


def _scored(run: Measured) -> object:
    """Every figure of a run; not the words in which checkers and judges explain it."""
    return [
        (
            scores.turn,
            [(check.constraint, check.result.passed, check.result.exercised) for check in scores.adherence.checks],
            scores.assertions.value,
            scores.progress.value,
            scores.progress.satisfied,
            {context: judgement.score for context, judgement in scores.judge.items()},
        )
        for scores in run.scores
    ]


def _did(run: Measured) -> object:
    """Everything said and done; the ids of calls, tokens and the like may differ."""
    return [
        (
            turn.user,
            turn.text,
            [(call.name, call.args, call.result, call.error) for call in turn.tool_calls],
            turn.state,
            turn.error,
        )
        for turn in run.session.turns
    ]


def _span(counts: Sequence[int]) -> Span:
    return min(counts), max(counts)
