"""Replay: speak a corpus entry again and say what became of it.

FAILING   the same finding, at the same turn or another
FIXED     the constraint (milestone, expectation) is honoured now
CHANGED   still broken, but not as it was: the judge sees it now, or no longer does; or the agent does nothing any more
          that the checker could look at, which proves nothing
ERROR     nothing can be said: the agent broke, or a name that the entry uses is gone
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from fuzzturn.corpus import Entry, pieces_of
from fuzzturn.errors import UnknownName
from fuzzturn.finding import Failure
from fuzzturn.registry import Registry
from fuzzturn.scenario import Scenario
from fuzzturn.trial import Bench, Trial
from fuzzturn.variant import Variant

__all__ = ["Outcome", "Replayed", "changed_pieces", "missing", "replay"]

Outcome: TypeAlias = Literal["FAILING", "FIXED", "CHANGED", "ERROR"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What became of an entry. `failure` None = nothing of the kind was seen."""

    outcome: Outcome
    detail: str
    failure: Failure | None = None
    trial: Trial | None = None
    changed: tuple[str, ...] = ()
    """Registered names whose code is not what it was when the entry was written."""


async def replay(entry: Entry, spoken: Scenario, bench: Bench) -> Replayed:
    """Play the entry once, from the first turn, and hold it against its predicate."""
    trial = await bench.run(Variant(spoken))
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


def _compare(entry: Entry, trial: Trial) -> tuple[Outcome, str, Failure | None]:
    pinned = entry.pinned()
    same = next((failure for failure in trial.failures if pinned.matches(failure)), None)
    if same is not None:
        where = "" if same.turn == entry.turn else f" (at turn {same.turn}; it was turn {entry.turn})"
        return "FAILING", same.detail + where, same
    about = (entry.checker, entry.constraint, entry.milestone)
    akin = [failure for failure in trial.failures if failure.about == about]
    if akin:
        was = ", ".join(entry.blind_in) or "no context"
        now = ", ".join(akin[0].blind_in) or "no context"
        return "CHANGED", f"{akin[0].detail}; the judge was blind in {was}, now in {now}", akin[0]
    if entry.constraint is not None and not _exercised(entry.constraint, trial):
        untested = f"the agent did nothing that {entry.checker} looks at, so {entry.constraint} was not tested"
        return "CHANGED", untested, None
    return "FIXED", f"{entry.constraint or entry.milestone or entry.checker} holds in every turn", None


def _exercised(constraint: str, trial: Trial) -> bool:
    return any(c.constraint == constraint for scores in trial.measured.scores for c in scores.adherence.exercised)


def missing(entry: Entry, error: UnknownName) -> Replayed:
    """The outcome where a registered name that the entry needs is gone."""
    hint = f"; give it with --{error.kind} path/to/file.py:build" if error.kind in ("agent", "judge") else ""
    return Replayed(outcome="ERROR", detail=f"{entry.finding} needs what is not here: {error}{hint}")
