"""Wire: an agent at the other end of a transport, as the agent that the harness speaks to.

The agent asks for tools, the environment is on this side, so every call is recorded like that of an agent at home.
Whatever goes wrong over there becomes `AgentFault` in the next reply, and from then on the session stays failed.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeAlias, TypeVar

from fuzzturn.adapters.protocol import VERSION, Answer, Calls, Ready, State, decode, encode
from fuzzturn.awaited import maybe
from fuzzturn.clock import told
from fuzzturn.errors import FuzzturnError, InputError, Problem, closest, worded
from fuzzturn.ports import Environment, Reply
from fuzzturn.replying import AgentFault
from fuzzturn.session import Event, Message, ToolCall

__all__ = ["EXCHANGES_MAX", "Clock", "Opening", "RestorableAgent", "Snapshot", "Transport", "WireAgent", "connect"]

EXCHANGES_MAX = 200
"""How often an agent may ask for tools in one turn before it counts as running in circles."""

A = TypeVar("A", Ready, State)
Clock: TypeAlias = Callable[[], datetime]
"""Tells the time on the session's clock."""


class Transport(Protocol):
    """How messages reach one agent session. Connects when the first message is sent."""

    async def exchange(self, message: bytes) -> bytes:
        """Send one message and wait for the answer, for as long as it takes. Raises AgentFault."""
        ...

    async def finish(self, farewell: bytes | None) -> None:
        """End the session and free everything; None = without a word, after a failure. Raises nothing."""
        ...

    def lately(self) -> str:
        """What the agent said elsewhere (its stderr), to be added to an error; "" = nothing."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What a session is opened with; None = there is none, or it is not known."""

    seed: int | str = 0
    session_id: str = ""
    system: str | None = None
    base_url: str | None = None
    now: Clock | None = None
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An agent's state after `turns` turns. `fault`: it could not be had, which whoever restores it is told."""

    turns: int
    state: Any
    fault: str | None = None


class WireAgent:
    """One session with an agent that offers no snapshots."""

    restorable = False

    def __init__(self, transport: Transport, environment: Environment, opening: Opening, timeout: float) -> None:
        self.identity: str | None = None
        """What the agent says of itself; known once it has answered for the first time."""
        self._transport = transport
        self._environment = environment
        self._opening = opening
        self._timeout = timeout
        self._open = False
        self._midway = False
        self._turns = 0
        self._fault: str | None = None
        self._from: Snapshot | None = None

    async def reply(self, message: str) -> Reply:
        """Handle one user message; opens the session if this is the first. Raises AgentFault."""
        await self._begin()
        self._turns += 1
        asked: dict[str, Any] = {"type": "say", "n": self._turns, "message": message}
        if self._opening.now is not None:
            asked["now"] = told(self._opening.now())
        refused: list[ToolCall] = []
        for _ in range(EXCHANGES_MAX):
            answer = await self._exchange(asked)
            if isinstance(answer, Reply):
                return _with_refused(answer, refused)
            assert isinstance(answer, Calls)
            asked = {"type": "results", "results": [await self._run(call, refused) for call in answer.calls]}
        raise await self._failed(f"asked for tools {EXCHANGES_MAX} times in one turn; that is the most")

    async def aclose(self) -> None:
        """End of session. Whatever state the agent is in, nothing of it is left behind."""
        orderly = self._open and not self._midway  # after a fault it is midway for ever
        await self._transport.finish(self._message({"type": "close"}) if orderly else None)

    async def _begin(self) -> None:
        """Open the session where it is not open yet, and go on from where it is to be gone on from."""
        if self._fault is not None:
            raise AgentFault(self._fault)
        if self._open:
            return
        if self._from is not None and self._from.fault is not None:
            raise await self._failed(self._from.fault)
        ready = await self._answer(Ready, self._opening_message())
        self.identity = ready.identity
        if self.restorable and not ready.snapshots:
            raise await self._failed(
                "the option snapshots=yes says that the agent offers snapshots, but its 'ready' does not; "
                'accepted: {"type": "ready", "snapshots": true}, or the option snapshots=no'
            )
        if self._from is not None:
            await self._answer(Ready, {"type": "restore", "state": self._from.state})
        self._open = True

    def _opening_message(self) -> dict[str, Any]:
        opening = self._opening
        tools = [{"name": t.name, "description": t.description, "schema": t.schema} for t in self._environment.tools]
        return {
            "type": "open", "protocol": VERSION, "seed": opening.seed, "system": opening.system,
            "base_url": opening.base_url, "now": opening.now and told(opening.now()), "tools": tools,
            "options": opening.options,
        }  # fmt: skip

    async def _answer(self, kind: type[A], message: Mapping[str, Any]) -> A:
        answer = await self._exchange(message)
        assert isinstance(answer, kind)  # decode lets no other through
        return answer

    async def _exchange(self, message: Mapping[str, Any]) -> Answer:
        self._midway = True
        kind = str(message["type"])
        sent = self._message(message)
        try:
            async with asyncio.timeout(self._timeout):
                received = await self._transport.exchange(sent)
            answer = decode(received, kind)
        except TimeoutError:
            raise await self._failed(f"no answer to {kind!r} within {self._timeout:g} seconds") from None
        except AgentFault as fault:
            raise await self._failed(str(fault)) from None
        self._midway = isinstance(answer, Calls)
        return answer

    async def _failed(self, why: str) -> AgentFault:
        """The fault to raise. The agent is let go at once: what it would say from now on answers nothing."""
        await self._transport.finish(None)
        self._fault = why + self._transport.lately()
        return AgentFault(self._fault)

    def _message(self, message: Mapping[str, Any]) -> bytes:
        return encode({**message, "session_id": self._opening.session_id})

    async def _run(self, call: ToolCall, refused: list[ToolCall]) -> dict[str, Any]:
        """Run a tool in the environment. What it raises is an answer like any other."""
        names = [tool.name for tool in self._environment.tools]
        if call.name not in names:  # an environment may do anything with a name that it does not offer
            error = f"no tool is called {call.name!r}; {closest(call.name, names)}"
            refused.append(ToolCall(call.name, call.args, error=error, id=call.id))
            return {"id": call.id, "error": error}
        try:
            result = await maybe(self._environment.call(call.name, **call.args))
        except FuzzturnError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is the tool's error
            return {"id": call.id, "error": worded(error)}
        return {"id": call.id, "result": result}


class RestorableAgent(WireAgent):
    """One session with an agent that offers snapshots."""

    restorable = True

    async def snapshot(self) -> Snapshot:
        """The agent's state between two turns. Raises nothing: a fault shows in the next reply, here and there."""
        if not self._open and self._from is not None:
            return self._from
        try:
            await self._begin()
            return Snapshot(self._turns, (await self._answer(State, {"type": "snapshot"})).state)
        except AgentFault as fault:
            return Snapshot(self._turns, None, str(fault))

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from `snapshot` in a session that has not begun; the agent hears of it with the first reply."""
        self._from, self._turns = snapshot, snapshot.turns


def connect(
    transport: Transport, environment: Environment, opening: Opening, *, timeout: str, snapshots: str
) -> WireAgent:
    """The agent behind `transport`. Raises InputError.

    timeout: seconds that an answer may take, above 0. snapshots: yes (the agent offers them) or no.
    """
    if snapshots not in ("yes", "no"):
        what = f"agent option snapshots is {snapshots!r}"
        raise InputError(Problem(what=what, accepted="yes, where the agent offers snapshots, or no"))
    kind = RestorableAgent if snapshots == "yes" else WireAgent
    return kind(transport, environment, opening, _seconds(timeout))


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise InputError(Problem(what=f"agent option timeout is {text!r}", accepted="a number of seconds above 0"))
    return seconds


def _with_refused(reply: Reply, refused: Sequence[ToolCall]) -> Reply:
    """The reply with calls of unknown tools, which no environment has recorded, where the agent does not list them."""
    listed = [(e.name, e.args) for e in reply.events if isinstance(e, ToolCall)]
    missing: list[Event] = []
    for call in refused:
        if (call.name, call.args) in listed:
            listed.remove((call.name, call.args))
        else:
            missing.append(call)
    if not missing:
        return reply
    last = len(reply.events) - (bool(reply.events) and isinstance(reply.events[-1], Message))
    return Reply(events=[*reply.events[:last], *missing, *reply.events[last:]])
