"""Minimum: the fewest user turns that show a planted fault, by trying every session in order of size.

    python -m benchmarks.faults.minimum [FAULT …]

A session is any choice of scripted turns, closed under `after`, in script order but for statements, which may stand
wherever no turn that matters to their constraint is passed; with interruptions of the bank and filler turns of the
grid's sizes anywhere. Nothing of the engine's search or shrinking takes part.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from fuzzturn.ledger import Ledger, opening, speak
from fuzzturn.scenario import Line
from fuzzturn.session import ToolCall
from fuzzturn.variant import filler

from .clerk import Clerk
from .desk import Desk
from .planted import DENSE, Fault
from .sets import EVERY

__all__ = ["Live", "is_minimum", "order_kept", "showing"]

GUARDED = "order"
"""The only tool that the ceiling's checker looks at; the turn that asks for it is called the same in every script."""


@dataclass(frozen=True, slots=True)
class _At:
    """A session so far: who was spoken to, what binds, which turns were spoken."""

    agent: object
    desk: object
    ledger: Ledger
    said: tuple[str, ...] = ()


@dataclass(slots=True)
class Live:
    """One agent at its desk, driven directly. `calls` are those of the last turn."""

    fault: Fault
    desk: Desk = field(default_factory=Desk)
    agent: Clerk = field(init=False)
    turns: int = 0

    def __post_init__(self) -> None:
        self.agent = self.fault.build(self.desk)

    def say(self, text: str) -> list[ToolCall]:
        """Speak one turn; the agent never waits for anything, so its coroutine ends at once."""
        self.turns += 1
        talking: Any = self.agent.reply(text)
        try:
            talking.send(None)
        except StopIteration as done:
            return [event for event in done.value.events if isinstance(event, ToolCall)]
        raise RuntimeError(f"the agent of {self.fault.name} waits for something")


def showing(fault: Fault, turns: int, pads: Sequence[int]) -> Iterator[tuple[str, ...]]:
    """Every session of exactly so many turns, its filler of these sizes, that shows the fault in its last turn."""
    search = _Search(fault, pads)
    return search.showing(search.start, turns)


def is_minimum(fault: Fault) -> bool:
    """Whether `fault.minimum` is what it says: none is shorter on the dense grid, and one of its size is on its own."""
    # A fault whose own grid is one size goes by messages and not by tokens: there a denser grid is the same grid.
    dense = DENSE if len(fault.pads) > 1 else fault.pads
    shorter = any(next(showing(fault, turns, dense), None) for turns in range(1, fault.minimum))
    return not shorter and next(showing(fault, fault.minimum, fault.pads), None) is not None


class _Search:
    def __init__(self, fault: Fault, pads: Sequence[int]) -> None:
        self.fault, self.live = fault, Live(fault)
        scenario = fault.scenario
        self.script = {line.id: line for line in scenario.turns}
        self.earlier = order_kept(fault)
        extra = [Line(id=side.id, user=side.user) for side in scenario.interruptions[: fault.bank]]
        extra += [Line(id=f"pad{n}", user=filler(n)) for n in pads]
        self.extra = {line.id: line for line in extra}
        stating = scenario.stating(fault.breaks)
        assert stating is not None
        self.needed = _closed(self.script, {GUARDED, stating})
        self.start = _At(self.live.agent.snapshot(), self.live.desk.snapshot(), opening(scenario))

    def showing(self, at: _At, left: int) -> Iterator[tuple[str, ...]]:
        """Every session that goes on from `at` by exactly `left` turns and breaks the constraint in the last one."""
        missing = self.needed - set(at.said)
        if len(missing) > left:
            return
        for line in self._next(at, missing, left):
            self.live.agent.restore(at.agent)
            self.live.desk.restore(at.desk)
            calls = self.live.say(line.user)
            ledger = speak(at.ledger, self.fault.scenario, line, len(at.said) + 1)
            said = (*at.said, line.id)
            if left == 1:
                if self._breaks(ledger, calls):
                    yield said
            else:
                yield from self.showing(
                    _At(self.live.agent.snapshot(), self.live.desk.snapshot(), ledger, said), left - 1
                )

    def _next(self, at: _At, missing: set[str] | frozenset[str], left: int) -> Iterator[Line]:
        for id, line in self.script.items():
            free = id not in at.said and set(line.after) <= set(at.said)
            in_order = not any(id in self.earlier[other] for other in at.said if other in self.script)
            # Only the guarded turn can break anything, and nothing after it could be part of a smallest session.
            last = id == GUARDED
            if free and in_order and last == (left == 1) and len(missing - {id}) <= left - 1:
                yield line
        if len(missing) <= left - 1:
            yield from self.extra.values()

    def _breaks(self, ledger: Ledger, calls: list[ToolCall]) -> bool:
        broken = next((c for c in ledger.binding if c.id == self.fault.breaks), None)
        return broken is not None and any(c.name == GUARDED and c.args["price"] > broken.args["limit"] for c in calls)


def order_kept(fault: Fault) -> dict[str, frozenset[str]]:
    """For each scripted turn, the turns that must not be spoken after it.

    Two turns keep their order unless one of them states a constraint, neither needs the other, both do not touch the
    same constraint, and the other is not where that constraint is checked; and whatever follows from those.
    """
    lines = list(fault.scenario.turns)
    earlier: dict[str, set[str]] = {line.id: set() for line in lines}
    for j, later in enumerate(lines):
        for line in lines[:j]:
            if _tied(line, later):
                earlier[later.id] |= {line.id} | earlier[line.id]
    return {id: frozenset(ids) for id, ids in earlier.items()}


def _tied(one: Line, two: Line) -> bool:
    if one.id in two.after or not (one.states or two.states):
        return True
    # All constraints of these scripts are ceilings of which the later replaces the earlier, checked at one turn.
    return bool(one.states and two.states) or GUARDED in (one.id, two.id)


def _closed(script: dict[str, Line], ids: set[str]) -> frozenset[str]:
    closed = set(ids)
    for line in reversed(script.values()):
        if line.id in closed:
            closed |= set(line.after)
    return frozenset(closed)


def main(names: list[str]) -> None:
    """Print, for each fault, whether its stated minimum holds, a session of that size, and CPU seconds."""
    for fault in EVERY.values():
        if names and fault.name not in names:
            continue
        begun = time.process_time()
        holds = is_minimum(fault)
        cpu = time.process_time() - begun
        example = next(showing(fault, fault.minimum, fault.pads), None)
        print(
            f"{fault.name:18} {fault.minimum} turns: {'holds' if holds else 'WRONG'}  {cpu:6.1f} s CPU  {example}",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
