"""Reading: what a chat message says, apart from how this or that client writes it down.

Clients write the same message differently: arguments with other white space, content as text or in parts, tool-call
ids of their own. So messages are compared by what they say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from fuzzturn.calls.keys import dumps
from fuzzturn.plain import plain
from fuzzturn.session import Chat

__all__ = [
    "Digest",
    "arguments_of",
    "calls_of",
    "covered",
    "digest",
    "is_system",
    "parsed",
    "text_of",
    "unclocked",
]

Digest: TypeAlias = tuple[str, str, str]
"""Role, content and tool calls of a message, normalised."""
_CLOCK = re.compile(
    r"\d+|\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b|\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|"
    r"apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|[ap]m)\b",
    re.IGNORECASE,
)
_CLOCKS = re.compile(r"#(?:[\s,.:/+-]*#)+")


def is_system(message: Chat) -> bool:
    return message.get("role") in ("system", "developer")


def text_of(message: Chat) -> str:
    """All text of a message's content, parts joined; what is no text (an image) is left out."""
    return _text(message.get("content"))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return _text(content.get("text", content.get("refusal")))
    if isinstance(content, list | tuple):
        return " ".join(filter(None, map(_text, content)))
    return ""


def digest(message: Chat) -> Digest:
    """What the message says, comparable. Ids, names and whatever else is no content are no part of it."""
    role = "system" if is_system(message) else str(message.get("role"))
    content = message.get("content")
    said = _text(content)
    others = [part for part in content if not _text(part)] if isinstance(content, list) else []
    value = parsed(said)
    told = dumps(value) if isinstance(value, dict | list) else " ".join(said.split())
    calls = [(name, dumps(arguments_of(arguments))) for _, name, arguments in calls_of(message)]
    return role, told + (dumps(others) if others else ""), dumps(calls) if calls else ""


def calls_of(message: Chat) -> list[tuple[str | None, str, Any]]:
    """Id, name and arguments, as given, of every tool call in a message."""
    found = []
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list | tuple) else ():
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping):
            found.append((call.get("id"), str(function.get("name")), function.get("arguments")))
    return found


def arguments_of(given: Any) -> Any:
    """Arguments as data: an object where they are one, else as they were given."""
    return parsed(given) if isinstance(given, str) and given.strip() else given or {}


def parsed(text: Any) -> Any:
    """The JSON object or list that a text is, else what was given."""
    if isinstance(text, str) and text.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def unclocked(text: str) -> str:
    """The text with white space folded and without numbers, days and months: a clock in it changes with every call."""
    return _CLOCKS.sub("#", _CLOCK.sub("#", " ".join(text.split())))


def covered(messages: Iterable[Chat], inside: Iterable[Chat]) -> float | None:
    """Which share of the text of `messages` stands word for word in `inside`, 0 to 1; None = they have no text."""
    texts = [said for message in messages if (said := plain(text_of(message)))]
    whole = "\n".join(plain(text_of(message)) for message in inside)
    length = sum(map(len, texts))
    return sum(len(text) for text in texts if text in whole) / length if length else None
