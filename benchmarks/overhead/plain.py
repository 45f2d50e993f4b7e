"""Plain: agents that take no time of their own: a constant text and one tool call a turn.

The telling one also tells what its two model calls a turn saw, before the tool call and after it. Its context grows by
four messages a turn, so the harness has as much to keep of it as of an agent with a model behind it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from fuzzturn.ports import JudgePrompt, Reply, Verdict
from fuzzturn.session import Message, ModelCall, ToolCall

__all__ = ["PlainAgent", "SlowAgent", "Steady", "TellingAgent"]

_TEXT = "Noted. I have looked that up and will keep to what you said."
_ASKED = {
    "id": "c1", "type": "function", "function": {"name": "lookup_expense_code", "arguments": '{"topic": "travel"}'},
}  # fmt: skip


class PlainAgent:
    """One session. It says what it says; what it saw stays unknown. Snapshots are free: its messages never change."""

    identity = "plain (simulated, constant)"

    def __init__(self, environment: Any) -> None:
        self._environment = environment
        self._messages: tuple[dict[str, Any], ...] = ()

    async def reply(self, message: str) -> Reply:
        """The text; the harness sees the tool call itself."""
        await self.act(message)
        return Reply(_TEXT)

    async def act(self, message: str) -> tuple[Any, Any, Any]:
        """The agent's own work, without a word to the harness: what both calls saw, and the tool's result."""
        first = self._messages = (*self._messages, {"role": "user", "content": message})
        result = self._environment.call("lookup_expense_code", topic="travel")
        call = {"role": "assistant", "content": "", "tool_calls": [_ASKED]}
        answer = {"role": "tool", "tool_call_id": "c1", "content": str(result)}
        second = self._messages = (*first, call, answer)
        self._messages = (*second, {"role": "assistant", "content": _TEXT})
        return first, second, result

    def snapshot(self) -> object:
        return self._messages

    def restore(self, snapshot: Any) -> None:
        self._messages = snapshot


class TellingAgent(PlainAgent):
    """The same, and it tells what it saw."""

    async def reply(self, message: str) -> Reply:
        """Two model calls with a tool call between them."""
        first, second, result = await self.act(message)
        called = ToolCall("lookup_expense_code", {"topic": "travel"}, result, id="c1")
        return Reply(events=[ModelCall(first), called, ModelCall(second), Message(_TEXT)])


class SlowAgent(TellingAgent):
    """The same after `seconds`, as long as a model would take."""

    seconds = 0.5

    async def act(self, message: str) -> tuple[Any, Any, Any]:
        await asyncio.sleep(self.seconds)
        return await super().act(message)


class Steady:
    """A judge that always gives a 4."""

    identity = "steady (simulated, constant)"

    def score(self, prompt: JudgePrompt) -> Verdict:
        return Verdict(4, f"nothing wrong in {prompt.context}")
