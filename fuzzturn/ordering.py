"""Ordering: where moved turns are spoken, as far as the partial order of a script allows."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from math import inf

from fuzzturn.edits import Edit, Insert, Move
from fuzzturn.scenario import Line, Scenario

__all__ = ["free_moves", "ordered"]


def free_moves(scenario: Scenario, edits: Sequence[Edit]) -> tuple[Move, ...]:
    """The moves, but for those of a rule of which an inserted turn changes the version: one could pass the other."""
    changed = {
        scenario.root(id)
        for edit in edits
        if isinstance(edit, Insert) and not edit.reminder
        for id in (*edit.states, *edit.lifts)
        if any(constraint.id == id for constraint in scenario.constraints)
    }
    by_id = {line.id: line for line in scenario.turns}
    moves = [edit for edit in edits if isinstance(edit, Move)]
    return tuple(m for m in moves if m.anchor not in by_id or changed.isdisjoint(scenario.rules_of(by_id[m.anchor])))


def ordered(lines: Sequence[Line], edits: Sequence[Edit]) -> Sequence[Line]:
    """Kahn's algorithm with the wished place as priority, so that the partial order always holds."""
    # The last move of a turn counts. The sum of two could pass a turn that each alone keeps away from.
    offsets = {edit.anchor: edit.offset for edit in edits if isinstance(edit, Move)}
    if not offsets:
        return lines
    wish = _wishes(lines, offsets)
    waiting = {line.id: {id for id in line.after if id in wish} for line in lines}
    by_id = {line.id: line for line in lines}
    script = {line.id: i for i, line in enumerate(lines)}
    ready = [(wish[id], script[id], id) for id, needs in waiting.items() if not needs]
    heapq.heapify(ready)
    found: list[Line] = []
    while ready:
        _, _, id = heapq.heappop(ready)
        found.append(by_id[id])
        for other, needs in waiting.items():
            if id in needs:
                needs.remove(id)
                if not needs:
                    heapq.heappush(ready, (wish[other], script[other], other))
    return found


def _wishes(lines: Sequence[Line], offsets: Mapping[str, int]) -> dict[str, float]:
    """The place that each turn would take. A move by k passes k neighbours: half a place more is beyond the k-th."""
    wish: dict[str, float] = {line.id: i for i, line in enumerate(lines)}
    last: dict[str, float] = {}  # how far a turn may go later without dragging along one that needs it
    for i in reversed(range(len(lines))):
        line = lines[i]
        if k := offsets.get(line.id, 0):
            wish[line.id] = i + k - 0.5 if k < 0 else max(i, min(i + k + 0.5, last.get(line.id, inf)))
        for id in line.after:
            last[id] = min(last.get(id, inf), wish[line.id])
    return wish
