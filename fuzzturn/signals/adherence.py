"""Adherence: does this turn honour every constraint that binds?

Deterministic. The value is a share, passes / binding, and None exactly while nothing binds: a full mark there would not
depend on what the agent did (essay, "Two lines carry the design").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fuzzturn.checkers import CheckResult, SessionState
from fuzzturn.errors import PortError
from fuzzturn.ledger import Ledger
from fuzzturn.registry import Registered, Registry
from fuzzturn.scenario import Constraint
from fuzzturn.scores import Adherence, Check, Visibility
from fuzzturn.session import Chat, Message, ModelCall, ToolCall, Turn
from fuzzturn.visibility import visibility

__all__ = ["adherence"]


def adherence(turn: Turn, state: SessionState, registry: Registry, known_summaries: Sequence[str] = ()) -> Adherence:
    """Run the checker of every binding constraint on this turn. Raises PortError where a checker misbehaves."""
    binding = state.ledger.binding
    if not binding:
        return Adherence(None)
    checks = tuple(_check(constraint, turn, state, registry, known_summaries) for constraint in binding)
    return Adherence(sum(check.result.passed for check in checks) / len(checks), checks)


def _check(
    constraint: Constraint, turn: Turn, state: SessionState, registry: Registry, known_summaries: Sequence[str]
) -> Check:
    piece = registry.get("checker", constraint.checker)
    result = _run(piece, constraint, turn, state)
    call = None if result.passed else _failing_call(piece, constraint, turn, state)
    each = _visibilities(constraint, turn, known_summaries, state.ledger)
    return Check(constraint.id, constraint.checker, result, call, _deciding(turn, call, each), each)


def _visibilities(
    constraint: Constraint, turn: Turn, known_summaries: Sequence[str], ledger: Ledger
) -> tuple[Visibility, ...]:
    """For each model call. One whose context goes on where the last one's ended has in view what that one had."""
    found: list[Visibility] = []
    last: Sequence[Chat] | None = None
    for call in turn.model_calls:
        if not (found and found[-1] == "verbatim" and last and call.context and call.context[: len(last)] == last):
            found.append(visibility(constraint, call.context, known_summaries, ledger))
        else:
            found.append("verbatim")
        last = call.context
    return tuple(found)


def _deciding(turn: Turn, call: int | None, seen: Sequence[Visibility]) -> Visibility:
    """How it stood for the model call that issued tool call number `call`; None = for the last one."""
    at, tools = -1, -1
    for event in turn.events:
        if isinstance(event, ModelCall):
            at += 1
        elif isinstance(event, ToolCall):
            tools += 1
            if tools == call:
                break
    return seen[at] if 0 <= at < len(seen) else "unknown"


def _run(piece: Registered, constraint: Constraint, turn: Turn, state: SessionState) -> CheckResult:
    entry = state.ledger.entry(constraint.id)
    excluding = {"excluding": entry.excluding} if entry is not None and entry.parts else {}
    result = piece.run(turn, state, **constraint.args, **excluding)
    if not isinstance(result, CheckResult):
        raise PortError(f"checker {piece.tag.name!r} ({piece.file}) returned {result!r}; it returns a CheckResult")
    return result


def _failing_call(piece: Registered, constraint: Constraint, turn: Turn, state: SessionState) -> int | None:
    """The first tool call with which the check fails: found by showing the checker the turn call by call."""
    for count in range(len(turn.tool_calls) + 1):
        shown = replace(turn, events=_until(turn, count))
        if not _run(piece, constraint, shown, replace(state, turns=(*state.turns[:-1], shown))).passed:
            return count - 1 if count else None
    return None


def _until(turn: Turn, calls: int) -> tuple[Message | ModelCall | ToolCall, ...]:
    seen = 0
    kept: list[Message | ModelCall | ToolCall] = []
    for event in turn.events:
        if isinstance(event, ToolCall):
            seen += 1
            if seen > calls:
                continue
            kept.append(event)
        elif isinstance(event, Message):
            kept.append(event)
    return tuple(kept)
