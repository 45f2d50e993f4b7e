"""Protocol: what the harness and an agent in another process say to each other, as JSON, and nothing of how it travels.

The harness speaks first, the agent answers each message with exactly one; docs/wire-protocol.md has the messages.
What an agent sends is checked to the last field, since a misspelt one would silently be "not known".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn, TypeAlias

from fuzzturn.errors import PortError, closest
from fuzzturn.ports import Reply
from fuzzturn.replying import AgentFault, clipped
from fuzzturn.session import Compaction, Event, Message, ModelCall, ToolCall

__all__ = ["DEPTH_MAX", "MESSAGE_BYTES_MAX", "VERSION", "Answer", "Calls", "Ready", "State", "decode", "encode"]

VERSION = 1
MESSAGE_BYTES_MAX = 16 * 2**20
"""No message of an agent is longer: a whole context is some hundred kilobytes."""
DEPTH_MAX = 100
"""How deep a message may be nested; Python copies and writes deeper values only by luck."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The answer to `open` and `restore`. `identity` None = the agent does not say."""

    identity: str | None = None
    snapshots: bool = False


@dataclass(frozen=True, slots=True)
class Calls:
    """Tools of the environment that the agent wants run, in this order; each carries an id and no result yet."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class State:
    """The answer to `snapshot`: any JSON."""

    state: Any


Answer: TypeAlias = Ready | Calls | Reply | State


def encode(message: Mapping[str, Any]) -> bytes:
    """One message of the harness as one line of JSON, in ASCII, without its end. Raises PortError for other data."""
    try:
        return json.dumps(message, separators=(",", ":"), allow_nan=False, default=_plain).encode()
    except (TypeError, ValueError, RecursionError) as error:
        what = f"{message.get('type')!r} cannot be sent to the agent, since it holds what is no JSON: {error}"
        raise PortError(
            f"the message {what}; accepted: texts, finite numbers, booleans, None, lists, mappings"
        ) from error


def decode(raw: bytes, asked: str) -> Answer:
    """The agent's answer to a message of type `asked`. Raises AgentFault, saying what came and what is accepted."""
    message = _parsed(raw, asked)
    accepted = (*_ANSWERS[asked], "error")
    if (kind := message.get("type")) not in accepted:
        _refuse(f"the answer to {asked!r}", message, f"an object whose 'type' is {' or '.join(map(repr, accepted))}")
    fields = {key: value for key, value in message.items() if key not in ("type", "session_id")}
    _check(fields, _FIELDS[kind], f"the agent's {kind!r}")
    if kind == "error":
        raise AgentFault(f"the agent reports: {message['message']}")
    return _READERS[kind](fields)


class _Field(NamedTuple):
    """What a field takes: in words, and as a test of its value."""

    words: str
    fits: Callable[[Any], bool]
    required: bool = False


def _is(kind: type) -> Callable[[Any], bool]:
    return lambda value: type(value) is kind


def _chat_list(value: Any) -> bool:
    return type(value) is list and all(type(m) is dict and type(m.get("role")) is str for m in value)


_TEXT = _Field("a text", _is(str))
_OBJECT = _Field("an object", _is(dict))
_LIST = _Field("a list", _is(list))
_COUNT = _Field("a whole number of tokens from 0", lambda value: type(value) is int and value >= 0)
_ANYTHING = _Field("any JSON", lambda _: True)
_CHATS = _Field("a list of chat messages {'role': a text, 'content': …}", _chat_list)
_CALL = {"id": _TEXT, "name": _TEXT._replace(required=True), "args": _OBJECT._replace(required=True)}
_TOOL_CALL = {**_CALL, "result": _ANYTHING, "error": _TEXT}
_SEEN = {"context": _CHATS, "usage": _OBJECT}
_FIELDS: Mapping[str, Mapping[str, _Field]] = {
    "ready": {"identity": _TEXT, "snapshots": _Field("true or false", _is(bool))},
    "call": {"calls": _Field("a list of at least one call", lambda v: type(v) is list and v != [], required=True)},
    "reply": {"text": _TEXT, "tool_calls": _LIST, **_SEEN, "events": _LIST},
    "snapshot": {"state": _ANYTHING._replace(required=True)},
    "error": {"message": _TEXT._replace(required=True)},
}
_EVENTS: Mapping[str, Mapping[str, _Field]] = {
    "message": {"text": _TEXT._replace(required=True)},
    "model_call": _SEEN,
    "tool_call": _TOOL_CALL,
    "compaction": {
        "policy": _TEXT,
        "before": _COUNT,
        "after": _COUNT,
        "dropped": _CHATS,
        "summary": _TEXT,
        "summariser_input": _CHATS,
    },
}
_EVENT_TYPES: Mapping[str, Callable[..., Event]] = {
    "message": Message, "model_call": ModelCall, "tool_call": ToolCall, "compaction": Compaction,
}  # fmt: skip
_ANSWERS: Mapping[str, Sequence[str]] = {
    "open": ("ready",),
    "restore": ("ready",),
    "say": ("reply", "call"),
    "results": ("reply", "call"),
    "snapshot": ("snapshot",),
}


def _parsed(raw: bytes, asked: str) -> Mapping[str, Any]:
    if len(raw) > MESSAGE_BYTES_MAX:
        raise AgentFault(f"the answer to {asked!r} is longer than {MESSAGE_BYTES_MAX} bytes, which is all that is read")
    try:
        text = raw.decode()
        message = json.loads(text, parse_constant=_no_constant)
        if "\\ud" in text.lower():  # half a character, escaped: no file could hold it
            json.dumps(message, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        _refuse(f"the answer to {asked!r}", _text(raw), f"one JSON object in UTF-8 ({error})")
    if not isinstance(message, dict):
        _refuse(f"the answer to {asked!r}", message, "one JSON object")
    if _deeper_than(DEPTH_MAX, message):
        _refuse(f"the answer to {asked!r}", message, f"JSON that is nested at most {DEPTH_MAX} deep")
    return message


def _check(fields: Mapping[str, Any], known: Mapping[str, _Field], where: str) -> None:
    """Whether every field is known and of its kind; null is as good as absent where a field may be absent."""
    for name, value in fields.items():
        if name not in known:
            raise AgentFault(f"{where} has the field {clipped(name)}; {closest(name, known)}")
        field = known[name]
        if not (value is None and not field.required) and not field.fits(value):
            _refuse(f"{where}, field {name!r},", value, field.words)
    if lacking := [name for name, field in known.items() if field.required and name not in fields]:
        _refuse(f"{where} lacks {lacking[0]!r}: it", fields, f"{known[lacking[0]].words} in {lacking[0]!r}")


def _calls(fields: Mapping[str, Any]) -> Calls:
    form = {**_CALL, "id": _TEXT._replace(required=True)}
    calls = tuple(_tool_call(entry, form, f"call {i}") for i, entry in enumerate(fields["calls"], start=1))
    if len({call.id for call in calls}) < len(calls):
        _refuse("the agent's 'call'", [call.id for call in calls], "an id of its own for each call")
    return Calls(calls)


def _tool_call(entry: Any, form: Mapping[str, _Field], where: str) -> ToolCall:
    if not isinstance(entry, dict):
        _refuse(where, entry, f"an object with {', '.join(form)}")
    _check(entry, form, where)
    return ToolCall(**entry)


def _reply(fields: Mapping[str, Any]) -> Reply:
    given = {name: value for name, value in fields.items() if value is not None}
    if ("events" in given) == bool(given.keys() & {"text", "tool_calls", "context", "usage"}):
        _refuse("the agent's 'reply'", fields, "either 'events', or 'text' with tool_calls, context, usage as needed")
    if "events" in given:
        return Reply(events=[_event(entry, f"event {i}") for i, entry in enumerate(given["events"], start=1)])
    calls = [_tool_call(e, _TOOL_CALL, f"tool call {i}") for i, e in enumerate(given.get("tool_calls", ()), start=1)]
    return Reply(given.get("text"), calls, given.get("context"), given.get("usage"))


def _event(entry: Any, where: str) -> Event:
    kind = entry.get("type") if isinstance(entry, dict) else None
    if not isinstance(kind, str) or kind not in _EVENTS:
        _refuse(where, entry, f"an object whose 'type' is {', '.join(_EVENTS)}")
    fields = {key: value for key, value in entry.items() if key != "type"}
    _check(fields, _EVENTS[kind], where)
    return _EVENT_TYPES[kind](**fields)


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Answer]] = {
    "ready": lambda fields: Ready(fields.get("identity"), bool(fields.get("snapshots"))),
    "call": _calls,
    "reply": _reply,
    "snapshot": lambda fields: State(fields["state"]),
}


def _refuse(what: str, received: Any, accepted: str) -> NoReturn:
    raise AgentFault(f"{what} is {clipped(received)}; accepted: {accepted}")


def _deeper_than(depth: int, value: Any) -> bool:
    """Whether objects and lists are nested more than `depth` deep, `value` itself counted."""
    level = [value]
    for _ in range(depth):
        inner = (below for one in level for below in (one.values() if isinstance(one, dict) else one))
        level = [below for below in inner if isinstance(below, dict | list)]
    return bool(level)


def _plain(value: Any) -> Any:
    """Mappings and sequences of whatever kind; anything else is no JSON."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return list(value)
    raise TypeError(f"{clipped(value)} is a {type(value).__name__}")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _text(raw: bytes) -> str:
    return raw.decode(errors="backslashreplace")
