"""Progress: how many of the goal's milestones stand, and whether that is rising, flat or falling.

Deterministic where a milestone has a check. A fraction and not a verdict: it is what tells a session that works from
one that drifts (essay, "Goal progress is a fraction rather than a verdict"). The end-state verdict stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fuzzturn.checkers import SessionState
from fuzzturn.errors import PortError
from fuzzturn.milestones import Graph, breaches
from fuzzturn.registry import Registry
from fuzzturn.scenario import Goal, Milestone
from fuzzturn.scores import Progress, Trend

__all__ = ["answered", "progress"]


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


def answered(
    goal: Goal, graph: Graph, told: Sequence[Progress], answers: Sequence[Mapping[str, bool | None]]
) -> Iterator[Progress]:
    """The progress of every turn with the judged milestones in it, turn by turn, as `answers` decide them.

    `told` is what code decides alone. A milestone that is None, or has no answer, leaves that turn's denominator; a
    latched one stands from its first True on, whatever is answered later. A turn rises or falls by the milestones that
    are decided in it and in the turn before. A breach that an answer brought to light says so.
    """
    judged = {milestone.id: milestone for milestone in goal.milestones if milestone.check is None}
    before, undecided_before = frozenset[str](), frozenset[str]()  # before the first turn nothing stands
    for found, answer in zip(told, answers, strict=True):
        latched = frozenset(id for id in before & judged.keys() if judged[id].latched)
        satisfied = found.satisfied | latched | {id for id in judged if answer.get(id)}
        undecided = frozenset(id for id in judged if answer.get(id) is None) - latched
        countable = len(goal.milestones) - len(undecided)
        compared = undecided | undecided_before
        yield Progress(
            value=len(satisfied) / countable if countable else None,
            satisfied=satisfied,
            trend=_trend(len(before - compared), len(satisfied - compared)) if countable else None,
            breaches=tuple(
                breach if breach in found.breaches else replace(breach, detail=f"{breach.detail}, as the judge decides")
                for breach in breaches(graph, satisfied, before, undecided)
            ),
        )
        before, undecided_before = satisfied, undecided


def _trend(before: int, now: int) -> Trend:
    return "rising" if now > before else "falling" if now < before else "flat"
