"""Progress: how many of the goal's milestones stand, and whether that is rising, flat or falling.

Deterministic where a milestone has a check. A fraction and not a verdict: it is what tells a session that works from
one that drifts (essay, "Goal progress is a fraction rather than a verdict"). The end-state verdict stands beside it.
"""

from __future__ import annotations

from fuzzturn.checkers import SessionState
from fuzzturn.errors import PortError
from fuzzturn.milestones import Graph, breaches
from fuzzturn.registry import Registry
from fuzzturn.scenario import Goal, Milestone
from fuzzturn.scores import Progress, Trend

__all__ = ["progress"]


def progress(goal: Goal, graph: Graph, state: SessionState, registry: Registry, previous: Progress | None) -> Progress:
    """The milestones standing after this turn. `previous` = the turn before; None = this is the first turn."""
    before = previous.satisfied if previous else frozenset()
    satisfied = frozenset(m.id for m in goal.milestones if _stands(m, state, registry, before))
    undecided = frozenset(m.id for m in goal.milestones if m.check is None)
    countable = len(goal.milestones) - len(undecided)
    return Progress(
        value=len(satisfied) / countable if countable else None,
        satisfied=satisfied,
        trend=_trend(len(before), len(satisfied)) if countable else None,
        breaches=breaches(graph, satisfied, before, undecided),
    )


def _stands(milestone: Milestone, state: SessionState, registry: Registry, before: frozenset[str]) -> bool:
    if milestone.check is None:  # judged: nobody decides it here
        return False
    if milestone.latched and milestone.id in before:
        return True
    piece = registry.get("milestone", milestone.check)
    stands = piece.run(state, **milestone.args)
    if not isinstance(stands, bool):
        raise PortError(f"milestone {piece.tag.name!r} ({piece.file}) returned {stands!r}; it returns True or False")
    return stands


def _trend(before: int, now: int) -> Trend:
    return "rising" if now > before else "falling" if now < before else "flat"
