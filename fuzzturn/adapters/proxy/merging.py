"""Merging: what the proxy saw of a turn and what the agent itself tells of it, as one list of events.

Where both tell of the same thing, the agent's own word holds: it knows what it did, and the proxy has to infer it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fuzzturn.adapters.proxy.tap import Seen
from fuzzturn.session import Compaction, Event, ModelCall, ToolCall

__all__ = ["merged"]


def merged(seen: Sequence[Seen], told: Sequence[Event], recorded: Sequence[ToolCall]) -> list[Event]:
    """The events of one turn. `recorded`: the calls of the environment, which the harness itself puts in.

    Tool calls that the proxy saw are given where nobody else tells of any; where the environment recorded some, only
    those among them, as marks of their place.
    """
    if not seen:
        return list(told)
    compacts = any(isinstance(event, Compaction) for event in told)
    if any(isinstance(event, ModelCall) for event in told):
        return _beside(seen, told, compacts)
    shown = [] if any(isinstance(event, ToolCall) for event in told) else _shown(seen, recorded)
    places = _places(seen, told)
    events: list[Event] = []
    for i, one in enumerate(seen):
        here = [event for event, place in zip(told, places, strict=True) if place == i]
        if one.compaction is not None and not compacts:
            events.append(one.compaction)
        events += [event for event in here if isinstance(event, Compaction)]
        events.append(one.call)
        events += [call for call in one.executed if any(call is other for other in shown)]
        events += [event for event in here if not isinstance(event, Compaction)]
    return events


def _shown(seen: Iterable[Seen], recorded: Sequence[ToolCall]) -> list[ToolCall]:
    calls = [call for one in seen for call in one.executed]
    if not recorded:
        return calls
    left, marks = list(recorded), []
    for call in calls:
        if (same := next((r for r in left if (r.name, r.args) == (call.name, call.args)), None)) is not None:
            left.remove(same)
            marks.append(call)
    return marks


def _places(seen: Sequence[Seen], told: Sequence[Event]) -> list[int]:
    """After which model call each event belongs: a tool call after the one that asked for it, the rest in order."""
    asked = [(i, call) for i, one in enumerate(seen) for call in one.executed]
    anchors: list[int | None] = []
    for event in told:
        same = (pair for pair in asked if isinstance(event, ToolCall) and _same(pair[1], event))
        found = next(same, None)
        if found is not None:
            asked.remove(found)
        anchors.append(None if found is None else found[0])
    places, last = [], len(seen) - 1
    for n, (event, anchor) in enumerate(zip(told, anchors, strict=True)):
        following = next((later for later in anchors[n:] if later is not None), last)
        before = next((earlier for earlier in reversed(anchors[:n]) if earlier is not None), 0)
        unanchored = last if not any(later is not None for later in anchors[n:]) else before
        places.append(anchor if anchor is not None else following if isinstance(event, Compaction) else unanchored)
    return places


def _same(one: ToolCall, other: ToolCall) -> bool:
    return (one.name, one.args) == (other.name, other.args)


def _beside(seen: Sequence[Seen], told: Sequence[Event], compacts: bool) -> list[Event]:
    """The agent's own account. The proxy adds what was recorded, and compactions where the agent tells of none."""
    calls = [event for event in told if isinstance(event, ModelCall)]
    paired = len(calls) == len(seen)
    free = all(one.call.recorded for one in seen)
    events: list[Event] = []
    count = 0
    for event in told:
        if isinstance(event, ModelCall):
            one = seen[min(count, len(seen) - 1)]
            if paired and one.compaction is not None and not compacts:
                events.append(one.compaction)
            usage = event.usage or (one.call.usage if paired else None)
            event = replace(event, usage=usage, recorded=one.call.recorded if paired else free)
            count += 1
        events.append(event)
    return events
