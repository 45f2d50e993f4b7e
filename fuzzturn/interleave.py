"""Interleave: the tool calls that the harness recorded, put where they belong among what the agent reported."""

from __future__ import annotations

from collections.abc import Sequence

from fuzzturn.session import Event, ModelCall, ToolCall

__all__ = ["interleave"]


def interleave(events: Sequence[Event], recorded: Sequence[ToolCall]) -> tuple[Event, ...]:
    """Put the recorded environment calls where they belong among what the agent reported.

    A reported call with the name and arguments of a recorded one marks its place and is not counted twice. Calls
    that the agent did not report follow the model call of the same ordinal, since a loop of calls alternates so;
    where there are more calls than model calls the rest follow the last one.
    """
    waiting = list(recorded)
    merged: list[Event] = []
    for event in events:
        if not isinstance(event, ToolCall):
            merged.append(event)
            continue
        at = next((i for i, r in enumerate(waiting) if r.name == event.name and r.args == event.args), None)
        if at is None:  # a call of the agent's own tools: it may go on changing what it handed over
            merged.append(event.copied())
            continue
        match = waiting.pop(at)
        merged.append(ToolCall(match.name, match.args, match.result, match.error, event.id))
    if not waiting:
        return tuple(merged)
    calls = [i for i, event in enumerate(merged) if isinstance(event, ModelCall)]
    if not calls:
        return (*waiting, *merged)
    for k in reversed(range(len(waiting))):
        merged.insert(calls[min(k, len(calls) - 1)] + 1, waiting[k])
    return tuple(merged)
