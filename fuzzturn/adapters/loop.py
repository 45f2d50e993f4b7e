"""Loop: a model in a tool loop over the environment's tools, with a compaction policy: an agent of our own.

The model is anything that answers a list of messages: a hosted one, or a function of the user's. Between two model
calls the agent holds the message list and counters, and nothing else, so a snapshot of it is cheap and complete.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

from fuzzturn.adapters.mending import Asked, Mended, Said, mend
from fuzzturn.awaited import maybe
from fuzzturn.calls import Line
from fuzzturn.compaction import Policy
from fuzzturn.errors import FuzzturnError, worded
from fuzzturn.ports import Environment, Reply, Tool
from fuzzturn.session import Chat, Event, Message, ModelCall, ToolCall

__all__ = ["ROUNDS", "ChatModel", "Play", "Summarise", "ToolLoop"]

ROUNDS = 12
"""Model calls in one turn before it ends as it stands."""

Summarise: TypeAlias = Callable[[Sequence[Chat], Line], Awaitable[str]]
"""From the messages that a compaction drops to the text that stands for them."""


class ChatModel(Protocol):
    """What answers a message list. Calls of one session share its `line`."""

    async def ask(self, messages: Sequence[Chat], tools: Sequence[Tool], line: Line) -> Said: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """How a loop is played."""

    policy: Policy
    summarise: Summarise | None = None
    """None = the policy's own, by rule."""
    system: str | None = None
    rounds: int = ROUNDS
    identity: str = ""


@dataclass(slots=True)
class _Memory:
    """All that the agent remembers."""

    messages: tuple[Chat, ...] = ()
    calls: int = 0
    line: Line = field(default_factory=Line)


class ToolLoop:
    """One session of a model in a tool loop."""

    def __init__(self, environment: Environment, model: ChatModel, play: Play, *, sample: int = 0) -> None:
        self._environment, self._model, self._play = environment, model, play
        self._system: tuple[Chat, ...] = ({"role": "system", "content": play.system},) if play.system else ()
        self._memory = _Memory(line=Line(sample))
        self.identity = play.identity

    async def reply(self, message: str) -> Reply:
        """Handle one user message. Compaction is considered before every model call, so also within the turn.

        What is raised carries the `events` of the turn so far.
        """
        events: list[Event] = []
        try:
            await self._turn(message, events)
        except Exception as error:
            error.events = events  # type: ignore[attr-defined]
            raise
        return Reply(events=events)

    async def _turn(self, message: str, events: list[Event]) -> None:
        memory = self._memory
        memory.messages += ({"role": "user", "content": message},)
        tools = tuple(self._environment.tools)
        for _ in range(self._play.rounds):
            events += await self._compact()
            context = (*self._system, *memory.messages)
            said = await self._model.ask(context, tools, memory.line)
            mended = mend(said, tools, number=memory.calls + 1)
            events.append(ModelCall(context, said.usage, mended.notes, said.recorded))
            memory.calls += len(mended.calls)
            memory.messages += (_assistant(mended),)
            if mended.text:
                events.append(Message(mended.text))
            if not mended.calls:
                break
            events += await self._run(mended.calls)
        else:
            memory.messages += ({"role": "assistant", "content": _GIVEN_UP},)
            last = max(i for i, event in enumerate(events) if isinstance(event, ModelCall))
            events[last] = _noted(events[last], f"the turn was ended after {self._play.rounds} model calls")

    def snapshot(self) -> object:
        """The state between two turns."""
        memory = self._memory
        return json.dumps(memory.messages, default=str), memory.calls, memory.line.copy()

    def restore(self, snapshot: Any) -> None:
        """Go on from a snapshot of an agent that was built with the same options."""
        messages, calls, line = snapshot
        self._memory = _Memory(tuple(json.loads(messages)), calls, line.copy())

    async def _compact(self) -> list[Event]:
        memory = self._memory
        if self._play.summarise is None:
            compacted = self._play.policy(memory.messages)
        elif (plan := self._play.policy.plan(memory.messages)) is None:
            return []
        else:
            compacted = plan.finish(await self._play.summarise(plan.reads, memory.line) if plan.reads else None)
        memory.messages = compacted.messages
        event = compacted.event()
        return [] if event is None else [event]

    async def _run(self, calls: Sequence[Asked]) -> list[ToolCall]:
        """Run what can be run. What was refused never reaches the environment; the model is told why."""
        done: list[ToolCall] = []
        for call in calls:
            if call.refusal is None:
                one = await self._call(call)
                done.append(one)
                result: Any = {"error": one.error} if one.error is not None else one.result
            else:
                result = {"error": call.refusal}
            text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str)
            self._memory.messages += ({"role": "tool", "tool_call_id": call.id, "content": text},)
        return done

    async def _call(self, call: Asked) -> ToolCall:
        try:
            result = await maybe(self._environment.call(call.name, **call.args))
        except FuzzturnError:
            raise
        except Exception as error:  # noqa: BLE001 - a tool's refusal or failure is news to the model; it is recorded
            return ToolCall(call.name, call.args, error=worded(error), id=call.id)
        return ToolCall(call.name, call.args, result, id=call.id)


_GIVEN_UP = "(The turn ended after too many tool calls.)"
"""Stands in the history where an answer should, since roles alternate there."""


def _noted(event: Event, note: str) -> Event:
    return replace(event, notes=(*event.notes, note)) if isinstance(event, ModelCall) else event


def _assistant(mended: Mended) -> Chat:
    message: dict[str, Any] = {"role": "assistant", "content": mended.text}
    if mended.calls:
        message["tool_calls"] = [_as_chat(call) for call in mended.calls]
    return message


def _as_chat(call: Asked) -> Chat:
    arguments = json.dumps(call.args, separators=(",", ":"), ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
