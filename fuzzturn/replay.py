"""Replay: speak a corpus entry again and say what became of it.

FAILING   the same finding, at the same turn or another; also where the constraint is broken as it was and nobody
          scored it now: a judge that was not asked, or gave no score, has not changed its mind
FIXED     the constraint (milestone, expectation) was put to the test and is honoured now
CHANGED   still broken, but the judge now scores differently what it scored then; or nothing was tested, which proves
          nothing: the agent did nothing that the checker could look at, never reached the milestone or the turn, or
          had asked something that the script has no answer for and is not to blame for what follows
ERROR     nothing can be said: the agent broke, or the entry cannot be read or played: a name, an option is gone

RARER, MORE OFTEN are for entries that are played several times: see `fuzzturn.rerun`.

A score in a context counts as different only where there are two: one in the entry and one now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from fuzzturn.corpus import Entry, pieces_of
from fuzzturn.errors import FuzzturnError, UnknownName
from fuzzturn.evidence import Rate
from fuzzturn.finding import BLIND_SCORE, Failure
from fuzzturn.registry import Registry
from fuzzturn.scenario import Scenario
from fuzzturn.scores import SERIOUSNESS, JudgeContext
from fuzzturn.trial import Bench, Trial
from fuzzturn.variant import Variant

__all__ = ["SCRIPT", "Outcome", "Replayed", "changed_pieces", "changes_told", "missing", "refused", "replay"]

Outcome: TypeAlias = Literal["FAILING", "FIXED", "RARER", "MORE OFTEN", "CHANGED", "ERROR"]

SCRIPT = "scenario "
"""What the name of a scenario begins with among what has changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What became of an entry. `failure` None = nothing of the kind was seen."""

    outcome: Outcome
    detail: str
    failure: Failure | None = None
    trial: Trial | None = None
    now: Rate | None = None
    """How often it was broken, where it was played several times."""
    changed: tuple[str, ...] = ()
    """What is not as it was when the entry was written: the code of registered names, and the scenario."""


async def replay(entry: Entry, spoken: Scenario, bench: Bench) -> Replayed:
    """Play the entry once, from the first turn, and hold it against its predicate."""
    twin = entry.spoken_twin()
    bench = replace(bench, gaps=entry.kind == "block_gap")
    trial = await bench.run(Variant(spoken), twin=Variant(twin) if twin is not None else None)
    changed = changed_pieces(entry, spoken, bench.registry)
    outcome, detail, failure = _compare(entry, trial)
    error = trial.measured.session.error
    if error is not None and failure is None:  # what it broke before it raised is broken all the same
        return Replayed(outcome="ERROR", detail=f"the agent raised {error}", trial=trial, changed=changed)
    return Replayed(outcome=outcome, detail=detail, failure=failure, trial=trial, changed=changed)


def changed_pieces(entry: Entry, spoken: Scenario, registry: Registry) -> tuple[str, ...]:
    """The names whose file has another digest now. Raises UnknownName where one is gone."""
    now = pieces_of(spoken, registry)
    return tuple(name for name, digest in entry.pieces.items() if now.get(name) != digest)


def changes_told(changed: Sequence[str]) -> list[str]:
    """What has changed, in sentences. Code decides what a replay comes to; the scenario does not."""
    code = [name for name in changed if not name.startswith(SCRIPT)]
    told = [f"changed since this entry was written: {', '.join(code)}"] if code else []
    scripts = (name for name in changed if name.startswith(SCRIPT))
    return told + [f"{name} has changed since (the entry replays its own copy)" for name in scripts]


def missing(entry: Entry, error: UnknownName) -> Replayed:
    """The outcome where a registered name that the entry needs is gone."""
    hint = f"; give it with --{error.kind} path/to/file.py:build" if error.kind in ("agent", "judge") else ""
    return Replayed(outcome="ERROR", detail=f"{entry.finding} needs what is not here: {error}{hint}")


def refused(error: FuzzturnError) -> Replayed:
    """The outcome where an entry cannot be read, or not be played as it stands."""
    return Replayed(outcome="ERROR", detail=str(error))


def _compare(entry: Entry, trial: Trial) -> tuple[Outcome, str, Failure | None]:
    pinned = entry.pinned()
    same = pinned.among(trial.failures)
    if same is not None:
        return "FAILING", f"{same.detail}{_moved(entry, same)}", same
    akin = [failure for failure in trial.failures if entry.constraint is not None and failure.about == pinned.about]
    if akin:
        return _judged_otherwise(entry, akin)
    if (why := _untested(entry, trial)) is not None:
        return "CHANGED", f"{why}, so {_subject(entry)} was not tested", None
    return "FIXED", f"{_subject(entry)} holds{'' if entry.kind == 'assertion' else ' in every turn'}", None


def _judged_otherwise(entry: Entry, akin: Sequence[Failure]) -> tuple[Outcome, str, Failure]:
    """The constraint is broken still, so the kind or the context of it is not what it was: does the judge differ?"""
    for failure in akin:
        if differing := [context for context in SERIOUSNESS if _differs(context, entry, failure)]:
            scores = [f"{_then(context, entry)} in {context}, now {failure.judge[context]}" for context in differing]
            return "CHANGED", f"{failure.detail}; the judge gave {' and '.join(scores)}", failure
    first = akin[0]
    if entry.judge_context is None:
        blind = f"the judge, which gave no score then, is blind in {', '.join(first.blind_in)}"
        return "FAILING", f"{first.detail}{_moved(entry, first)}; {blind}", first
    return "FAILING", f"{first.detail}{_moved(entry, first)}; not judged in {entry.judge_context}", first


def _differs(context: JudgeContext, entry: Entry, failure: Failure) -> bool:
    """Whether the judge saw through it then and is blind now, or the other way round; None is neither."""
    then, now = _then(context, entry), failure.judge.get(context)
    return None not in (then, now) and (then == BLIND_SCORE) != (now == BLIND_SCORE)


def _then(context: JudgeContext, entry: Entry) -> int | None:
    return BLIND_SCORE if context in (entry.judge_context, *entry.blind_in) else entry.why.judge.get(context)


def _untested(entry: Entry, trial: Trial) -> str | None:
    """Why nothing was tested; None where something was."""
    if entry.constraint is not None:
        exercised = (c.constraint for scores in trial.measured.scores for c in scores.adherence.exercised)
        return None if entry.constraint in exercised else f"the agent did nothing that {entry.checker} looks at"
    session = trial.measured.session
    turn = next((turn.n for turn in session.turns if turn.id == entry.turn_id), None)
    if turn is None and entry.kind == "assertion":
        return f"turn {entry.turn_id} was not reached"
    asked = session.off_script_at
    if asked is not None and asked <= (turn or entry.turn):
        return f"the agent asked in turn {asked} what the script has no answer for"
    if entry.milestone is not None and all(entry.milestone not in s.progress.satisfied for s in trial.measured.scores):
        return "the agent never came to it"
    return None


def _subject(entry: Entry) -> str:
    if entry.kind == "assertion":
        return f"{entry.checker} of turn {entry.turn_id}"
    return entry.constraint or entry.milestone or entry.checker


def _moved(entry: Entry, failure: Failure) -> str:
    return "" if failure.turn == entry.turn else f" (at turn {failure.turn}; it was turn {entry.turn})"
