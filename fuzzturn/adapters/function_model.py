"""Function model: `def answer(messages, tools) -> message`, OpenAI-style, in our tool loop.

For a user whose agent is "a list of messages in, a message out": the loop keeps the history, runs the tools that the
message asks for, and compacts as it is told to.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fuzzturn.adapters.loop import ROUNDS, Play, ToolLoop
from fuzzturn.adapters.mending import Said, as_function, plain_text
from fuzzturn.adapters.model_agent import whole
from fuzzturn.awaited import maybe
from fuzzturn.calls import Line, in_thread
from fuzzturn.compaction import policy
from fuzzturn.ports import Environment, Tool
from fuzzturn.session import Chat, copied

__all__ = ["FunctionModel", "builder"]

_RESERVED = ("messages", "tools")


def builder(function: Callable[..., Any]) -> Callable[..., ToolLoop]:
    """The build of an agent on that function. Options that the function names go to it, others to the policy."""

    def build(
        environment: Environment,
        *,
        system: str | None = None,
        compaction: str = "none",
        rounds: str = str(ROUNDS),
        **options: str,
    ) -> ToolLoop:
        """A session. compaction: a policy of `fuzzturn.compaction`; rounds: calls in a turn. Raises InputError."""
        named = inspect.signature(function).parameters
        own = {key: value for key, value in options.items() if key in named and key not in _RESERVED}
        rest = {key: value for key, value in options.items() if key not in own}
        name = getattr(function, "__name__", type(function).__name__)
        compact = policy(compaction, **rest)
        identity = f"{name} (compaction={compact.identity})"
        play = Play(policy=compact, system=system, rounds=whole("rounds", rounds), identity=identity)
        return ToolLoop(environment, FunctionModel(function, own), play)

    return build


class FunctionModel:
    """A function as a model. It is called once for each model call, with copies that it may change."""

    def __init__(self, function: Callable[..., Any], options: Mapping[str, str]) -> None:
        self._function, self._options = function, options
        self._takes_tools = "tools" in inspect.signature(function).parameters

    async def ask(self, messages: Sequence[Chat], tools: Sequence[Tool], line: Line) -> Said:  # noqa: ARG002 - port
        given = [copied(dict(message)) for message in messages]
        offered = {"tools": [as_function(tool) for tool in tools]} if self._takes_tools else {}
        if inspect.iscoroutinefunction(self._function):
            return _said(await self._function(given, **offered, **self._options))
        # it may block on the network: keep the loop free for the other sessions
        return _said(await maybe(await in_thread(self._function, given, **offered, **self._options)))


def _said(answer: Any) -> Said:
    """A text, a message, a whole completion, or a client library's object of either. Raises TypeError for others."""
    if isinstance(answer, str):
        return Said(text=answer)
    if not isinstance(answer, Mapping) and callable(dump := getattr(answer, "model_dump", None)):
        answer = dump()
    if isinstance(answer, Mapping) and answer.get("choices"):
        choice = answer["choices"][0]
        message, finish, usage = choice.get("message") or {}, choice.get("finish_reason"), answer.get("usage")
    elif isinstance(answer, Mapping) and answer.get("role") == "assistant":
        message, finish, usage = answer, None, None
    else:
        raise TypeError(f"the function returned {answer!r}; it returns a text, an assistant message or a completion")
    text = plain_text(message.get("content"))
    return Said(text=text, calls=message.get("tool_calls") or (), finish=finish, usage=usage)
