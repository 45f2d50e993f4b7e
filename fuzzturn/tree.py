"""Tree: sessions that begin alike are played once.

Every executed turn is paid for, so a session is a path in a prefix tree: it goes on from the deepest turn that some
session has already reached, by snapshot where agent and environment offer them, else by speaking the turns before
again in a fresh instance. One execution is in flight per prefix, whoever comes first; so the number of executed turns
does not depend on how many sessions run at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from fuzzturn.drive import Cast, Meter, Saved, Stage
from fuzzturn.prompter import Prompter
from fuzzturn.scenario import Line, Scenario
from fuzzturn.session import Session, Turn

__all__ = ["Tree"]

Heard: TypeAlias = Callable[[Turn, Mapping[str, Any]], None]


@dataclass(slots=True)
class _Node:
    turn: Turn | None = None
    saved: Saved | None = None
    children: dict[object, _Node | asyncio.Future[_Node]] = field(default_factory=dict)

    def copy(self) -> _Node:
        """The finished part of the tree below; turns and snapshots are shared, they never change."""
        copied = _Node(self.turn, self.saved)
        left = [(self, copied)]
        while left:  # not recursive: a script may be longer than Python's stack
            node, twin = left.pop()
            for said, child in node.children.items():
                if isinstance(child, _Node) and (child.turn is None or child.turn.error is None):
                    twin.children[said] = below = _Node(child.turn, child.saved)
                    left.append((child, below))
        return copied


class Tree:
    """The prefix tree of one cast and one scenario. Playing the same turns again costs nothing."""

    def __init__(self, cast: Cast, scenario: Scenario, meter: Meter) -> None:
        self.cast = cast
        self.meter = meter
        self.scenario = scenario
        self.reuse = True
        """Whether snapshots are used; False = they were found to be untrue."""
        self.forgives = False
        """Whether a turn at which the agent broke is tried anew by the next session that comes there."""
        self.can_disturb = False
        """Whether the agent offers `disturb`; known once something was played."""
        self.identity: str | None = None
        """What the agent says of itself; known once something was played."""
        self._initial_state: Mapping[str, Any] = {}
        self._root = _Node()

    def fork(self) -> Tree:
        """A tree that starts with everything played so far and grows on its own."""
        other = object.__new__(Tree)
        other.__dict__.update(self.__dict__)
        other._root = self._root.copy()
        return other

    async def play(self, spoken: Scenario, heard: Heard | None = None) -> Session:
        """The session of `spoken`, executing only turns that no session has reached yet.

        `heard` is told of every turn, and of the state before the first one, while others wait for their agents.
        """
        path = _Path(self, spoken, heard)
        try:
            await path.walk()
        finally:
            await path.leave_stage()
        return Session(
            scenario=spoken.scenario,
            turns=tuple(path.turns),
            initial_state=self._initial_state,
            off_script_at=path.prompter.off_script_at,
        )

    async def stage_at(self, node: _Node, before: list[tuple[Line, bool]]) -> Stage:
        """A live stage that has just been through the turns `before`, the last of which is `node`."""
        stage = Stage(self.cast, self.scenario, self.meter)
        self.identity, self._initial_state, self.can_disturb = stage.identity, stage.initial_state, stage.can_disturb
        if node.saved is not None and self.reuse:
            await stage.restore(node.saved, [line.advance for line, _ in before])
        else:
            for n, (line, auto) in enumerate(before, start=1):
                await stage.speak(line, n, auto=auto)
        return stage

    async def distrust(self, spoken: Scenario, *, repeats_itself: bool = True) -> str | None:
        """Whether going on from a snapshot gives what playing through gave, tried on one turn of a session played.

        None = it does. Otherwise the reason why snapshots are not used from now on, for people. An agent that does not
        repeat itself gives another turn anyhow: then that alone is no reason.
        """
        path = _Path(self, spoken)
        await path.walk()
        nodes = path.nodes
        if len(nodes) < 2:
            return None
        at = len(nodes) // 2
        if nodes[at - 1].saved is None:
            return "agent or environment offers no snapshot() and restore(): sessions are played from their first turn"
        stage = await self.stage_at(nodes[at - 1], path.said[:at])
        try:
            line, auto = path.said[at]
            again = await stage.speak(line, at + 1, auto=auto)
        finally:
            await stage.close()
        if _did(again) == _did(path.turns[at]) or not repeats_itself:
            return None
        self.reuse = False
        return f"going on from a snapshot gave another turn {at + 1} than playing through: snapshots are not used"

    @property
    def initial_state(self) -> Mapping[str, Any]:
        """What the environment shows before the first turn; known once something was played."""
        return self._initial_state

    @property
    def root(self) -> _Node:
        return self._root


def _did(turn: Turn) -> object:
    """What a turn saw, said and did; usage, ids and the like may differ from run to run."""
    seen = [[(m.get("role"), m.get("content")) for m in call.context or ()] for call in turn.model_calls]
    calls = [(call.name, call.args, call.result, call.error) for call in turn.tool_calls]
    return seen, turn.text, calls, turn.state, turn.error


class _Path:
    """One session on its way down the tree."""

    def __init__(self, tree: Tree, spoken: Scenario, heard: Heard | None = None) -> None:
        self.tree, self.heard = tree, heard
        self.prompter = Prompter(spoken)
        self.node = tree.root
        self.turns: list[Turn] = []
        self.nodes: list[_Node] = []
        self.said: list[tuple[Line, bool]] = []
        self.stage: Stage | None = None

    async def walk(self) -> None:
        last: Turn | None = None
        while (said := self.prompter.next(last)) is not None:
            self.node = await self._step(*said)
            self.said.append(said)
            self.nodes.append(self.node)
            assert self.node.turn is not None
            last = self.node.turn if self.node.turn.id == said[0].id else replace(self.node.turn, id=said[0].id)
            self.turns.append(last)
            if self.heard is not None:
                self.heard(last, self.tree.initial_state)
            if last.error is not None:
                return

    async def _step(self, line: Line, auto: bool) -> _Node:
        known = self.node.children.get(line.heard)
        if isinstance(known, _Node):
            await self.leave_stage()
            return known
        if known is not None:
            await self.leave_stage()
            return await known
        return await self._grow(line, auto)

    async def _grow(self, line: Line, auto: bool) -> _Node:
        """Execute a turn that nobody has reached. Others that come meanwhile wait for it."""
        parent = self.node
        flight: asyncio.Future[_Node] = asyncio.get_running_loop().create_future()
        parent.children[line.heard] = flight
        try:
            if self.stage is None:
                self.stage = await self.tree.stage_at(parent, self.said)
            turn = await self.stage.speak(line, len(self.turns) + 1, auto=auto)
            self.tree.identity = self.stage.identity or self.tree.identity  # some know it only once they have spoken
            child = _Node(turn, await self.stage.save())
        except BaseException as error:
            del parent.children[line.heard]
            flight.set_exception(error if isinstance(error, Exception) else asyncio.CancelledError())
            flight.exception()  # whoever waits is told; nobody waiting is no fault
            raise
        parent.children[line.heard] = child
        flight.set_result(child)
        if self.tree.forgives and turn.error is not None:
            del parent.children[line.heard]
        return child

    async def leave_stage(self) -> None:
        if self.stage is not None:
            await self.stage.close()
            self.stage = None
