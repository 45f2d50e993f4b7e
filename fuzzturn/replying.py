"""Replying: what an agent may give back for one user message (a Reply, a text, OpenAI-style messages), as a Reply.

    Reply                       as it is
    text                        what the assistant says
    one assistant message       {"role": "assistant", "content": …, "tool_calls": […]}; its tool calls have been run
    several messages            this turn's assistant and tool messages, in order; a result names its `tool_call_id`

Objects with `model_dump()`, as the OpenAI client returns them, count as the mapping that they dump. `fold` makes an
agent of a plain function that gives back one of these for a `message`.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fuzzturn.ports import Agent, Environment, Reply
from fuzzturn.session import Event, Message, ToolCall

__all__ = ["AgentFault", "FunctionAgent", "as_reply", "clipped", "fold"]

CLIPPED_CHARACTERS = 200
_ACCEPTED = (
    "a fuzzturn.Reply, a text, an assistant message {'role': 'assistant', 'content': …}, or the list of this turn's "
    "assistant and tool messages"
)


class AgentFault(RuntimeError):
    """What the agent sent cannot be used. Not a FuzzturnError: it is recorded as what the agent raised."""


def as_reply(value: object) -> Reply:
    """The reply that `value` stands for. Contexts stay unknown except in a Reply: messages do not tell them.

    Raises AgentFault for a value of no such kind and for messages that do not fit together.
    """
    if isinstance(value, Reply):
        return value
    if isinstance(value, str):
        return Reply(value)
    if (message := _as_mapping(value)) is not None:
        return Reply(events=_events([message]))
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return Reply(events=_events([_message(entry, i) for i, entry in enumerate(value, start=1)]))
    raise AgentFault(f"the agent's reply is {clipped(value)}; it is {_ACCEPTED}")


def clipped(value: object) -> str:
    """What was received, for an error: its repr, cut after CLIPPED_CHARACTERS."""
    text = repr(value)
    return text if len(text) <= CLIPPED_CHARACTERS else text[: CLIPPED_CHARACTERS - 1] + "…"


class FunctionAgent:
    """One session with the function. It offers no snapshots: nobody knows what a function remembers."""

    def __init__(self, function: Callable[..., Any], given: Mapping[str, Any]) -> None:
        self._function = function
        self._given = given

    def reply(self, message: str) -> Any:
        """What the function gives back, as a Reply, or an awaitable of one where the function is asynchronous."""
        value = self._function(message, **self._given)
        return _awaited(value) if inspect.isawaitable(value) else as_reply(value)


def fold(function: Callable[..., Any]) -> Callable[..., Any]:
    """A build for a plain function whose first parameter is called `message`; any other callable as it is.

    Whatever a build may be offered the function may name as well, as parameters after that: environment, seed,
    session_id, system and options of its own. All sessions share the function, so what it remembers belongs under its
    `session_id`.
    """
    try:
        first, *others = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):  # it takes nothing, or is written in C: whoever calls it will say what is wrong
        return function
    if first.name != "message" or inspect.isclass(function):
        return function
    return _Folded(function, others)


class _Folded:
    """A build that hands its offers to the function, and has the signature that says which it takes."""

    def __init__(self, function: Callable[..., Any], parameters: list[inspect.Parameter]) -> None:
        self._function = function
        self._takes_environment = any(parameter.name == "environment" for parameter in parameters)
        offered = [p.replace(kind=p.KEYWORD_ONLY) for p in parameters if p.name != "environment" and _is_named(p)]
        environment = inspect.Parameter("environment", inspect.Parameter.POSITIONAL_ONLY)
        rest = [p for p in parameters if p.kind is p.VAR_KEYWORD]
        self.__signature__ = inspect.Signature([environment, *offered, *rest])
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __call__(self, environment: Environment, **given: Any) -> Agent:
        own = {"environment": environment} if self._takes_environment else {}
        return FunctionAgent(self._function, {**given, **own})


def _is_named(parameter: inspect.Parameter) -> bool:
    return parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)


async def _awaited(value: Any) -> Reply:
    return as_reply(await value)


def _as_mapping(value: object) -> Mapping[str, Any] | None:
    if not isinstance(value, Mapping | type) and callable(dump := getattr(value, "model_dump", None)):
        value = dump()
    return value if isinstance(value, Mapping) else None


def _message(entry: object, place: int) -> Mapping[str, Any]:
    message = _as_mapping(entry)
    if message is None:
        raise AgentFault(f"message {place} of the reply is {clipped(entry)}; it is a chat message {{'role': …}}")
    return message


def _events(messages: Sequence[Mapping[str, Any]]) -> list[Event]:
    events: list[Event] = []
    for i, message in enumerate(messages, start=1):
        where = f"message {i} of the reply"
        role = message.get("role")
        if role == "assistant":
            events += _said(message, where)
        elif role == "tool":
            _put(events, message, where)
        else:
            raise AgentFault(f"{where} has the role {role!r}; accepted: assistant, tool (what was done in this turn)")
    return events


def _said(message: Mapping[str, Any], where: str) -> Iterator[Event]:
    """The text first: a model that speaks and calls in one message speaks before the result is there."""
    if text := _text(message.get("content"), where) or _text(message.get("refusal"), where):
        yield Message(text)
    calls = message.get("tool_calls") or ()
    if not isinstance(calls, Sequence) or isinstance(calls, str):
        raise AgentFault(f"{where} has the tool_calls {clipped(calls)}; accepted: a list")
    for call in calls:
        yield _call(call, where)


def _text(content: object, where: str) -> str:
    """The text of a message's content, which may come in parts. None = the assistant said nothing."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = content if isinstance(content, Sequence) else [content]
    texts = [part.get(str(part.get("type"))) for part in parts if isinstance(part, Mapping)]
    if len(texts) != len(parts) or not all(isinstance(text, str) for text in texts):
        raise AgentFault(
            f"{where} has the content {clipped(content)}; accepted: a text, or parts of type text or refusal"
        )
    return "".join(str(text) for text in texts)


def _call(entry: object, where: str) -> ToolCall:
    call = _as_mapping(entry) or {}
    function = _as_mapping(call.get("function")) or {}
    name, arguments = function.get("name"), function.get("arguments")
    if not isinstance(name, str):
        form = "{'id': …, 'type': 'function', 'function': {'name': …, 'arguments': '{…}'}}"
        raise AgentFault(f"{where} has the tool call {clipped(entry)}; accepted: {form}")
    id = call.get("id")
    return ToolCall(name, _arguments(arguments, f"{where}: {name}"), id=None if id is None else str(id))


def _arguments(arguments: object, where: str) -> Mapping[str, Any]:
    """A call without arguments may carry an empty text: some models write it so."""
    parsed = (_parsed(arguments) if arguments.strip() else {}) if isinstance(arguments, str) else arguments
    if not isinstance(parsed, Mapping):
        raise AgentFault(f"{where} was called with {clipped(arguments)}; accepted: the text of a JSON object")
    return parsed


def _parsed(text: str) -> Any:
    """The JSON object or list that `text` is, else the text: a tool that says "42" has said a text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict | list) else text


def _put(events: list[Event], message: Mapping[str, Any], where: str) -> None:
    """Put a tool message's content into the call that it answers."""
    id = message.get("tool_call_id")
    at = next((i for i, e in enumerate(events) if isinstance(e, ToolCall) and e.id is not None and e.id == id), None)
    if at is None:
        known = ", ".join(str(event.id) for event in events if isinstance(event, ToolCall)) or "none so far"
        raise AgentFault(f"{where} answers the tool call {id!r}, which no assistant message before it made ({known})")
    call = events[at]
    assert isinstance(call, ToolCall)
    if call.result is not None:
        raise AgentFault(f"{where} answers the tool call {id!r} a second time")
    events[at] = ToolCall(call.name, call.args, _parsed(_text(message.get("content"), where)), id=call.id)
