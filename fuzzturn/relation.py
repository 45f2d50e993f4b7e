"""Relation: what must be equal in a session and in its twin, which lacks what should make no difference.

A preserve edit changes neither what binds nor the world, so a correct agent reaches the same milestones with and
without it, and the same action is judged alike. That holds whatever the checkers know of right and wrong: a
metamorphic relation (the twin is the script, less what the reducer took out of both).
"""

from __future__ import annotations

from collections.abc import Iterator

from fuzzturn.finding import RELATIONS, Failure
from fuzzturn.measure import Measured
from fuzzturn.scores import TurnScores
from fuzzturn.session import ToolCall, Turn
from fuzzturn.variant import Drop, Variant, preserves

__all__ = ["differences", "twin_of"]

REACHED, VERDICT = RELATIONS


def twin_of(variant: Variant) -> Variant | None:
    """The variant without its preserve edits; None where there are none, or others, whose sessions cost more turns."""
    varied = [edit for edit in variant.edits if not isinstance(edit, Drop)]
    if not all(preserves(edit) for edit in varied) or variant.plain.key == variant.key:
        return None
    return variant.plain


def differences(measured: Measured, twin: Measured) -> Iterator[Failure]:
    """Where the session is not as its twin is. Nothing where either left the script, or broke."""
    if any(one.session.off_script or one.session.error is not None for one in (measured, twin)):
        return
    yield from _milestones(measured, twin)
    others = {turn.id: (turn, scores) for turn, scores in zip(twin.session.turns, twin.scores, strict=True)}
    for turn, scores in zip(measured.session.turns, measured.scores, strict=True):
        if turn.id in others:
            yield from _verdicts(turn, scores, *others[turn.id])


def _milestones(measured: Measured, twin: Measured) -> Iterator[Failure]:
    last = measured.scores[-1]
    here, there = last.progress.satisfied, twin.scores[-1].progress.satisfied
    for milestone in sorted(here ^ there):
        detail = f"{milestone} stands at the end {'with' if milestone in here else 'without'} the edits, and not else"
        yield Failure(
            kind="metamorphic", turn=last.n, turn_id=last.turn, checker=REACHED, milestone=milestone, detail=detail
        )


def _verdicts(turn: Turn, scores: TurnScores, twin: Turn, others: TurnScores) -> Iterator[Failure]:
    """The same call at the same turn breaks a constraint in one session that it keeps in the other."""
    passed = {check.constraint for check in others.adherence.checks if check.result.passed}
    for check in scores.adherence.failed:
        if check.call is None or check.constraint not in passed:
            continue
        call = turn.tool_calls[check.call]
        if any(_same(call, other) for other in twin.tool_calls):
            yield Failure(
                kind="metamorphic",
                turn=scores.n,
                turn_id=scores.turn,
                checker=VERDICT,
                constraint=check.constraint,
                call=call.name,
                visibility=check.visibility,
                detail=f"{check.result.detail}; the same call keeps {check.constraint} without the edits",
            )


def _same(call: ToolCall, other: ToolCall) -> bool:
    return call.name == other.name and call.args == other.args
