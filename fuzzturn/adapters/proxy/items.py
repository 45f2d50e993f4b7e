"""Items: what a request of either API tells the model, as chat messages; and what an answer says, as one message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fuzzturn.session import Chat

__all__ = ["CHAT", "RESPONSES", "answer_messages", "request_messages"]

CHAT, RESPONSES = "/chat/completions", "/responses"


def request_messages(path: str, body: Mapping[str, Any], earlier: Mapping[str, Sequence[Chat]]) -> list[Chat] | None:
    """The messages that a call saw. `earlier`: by the id of an answer of /responses all that stood up to it.

    None = not known: no list of messages, or it goes on from an answer that was not seen.
    """
    if path != RESPONSES:
        return _mappings(body.get("messages"))
    before: Sequence[Chat] = ()
    if (previous := body.get("previous_response_id")) is not None:
        if previous not in earlier:
            return None
        # instructions hold for one call: those of the earlier one are not carried over
        before = [message for message in earlier[previous] if message.get("role") != "system"]
    if body.get("conversation") is not None:
        return None
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else _mappings(given or [])
    if items is None:
        return None
    told = body.get("instructions")
    head = [{"role": "system", "content": told}] if isinstance(told, str) and told else []
    return [*head, *before, *_folded(items)]


def answer_messages(path: str, answer: Mapping[str, Any] | None) -> list[Chat]:
    """What an answer says, as the messages that a later request may repeat; of several choices each."""
    if answer is None:
        return []
    if path == RESPONSES:
        return list(_folded(_mappings(answer.get("output")) or []))
    said = [choice.get("message") for choice in _mappings(answer.get("choices")) or []]
    return [message for message in said if isinstance(message, Mapping)]


def _mappings(value: Any) -> list[Chat] | None:
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        return None
    return list(value)


def _folded(items: Sequence[Chat]) -> Iterator[Chat]:
    """Items of /responses as chat messages; calls made together, with the text before them, are one message."""
    saying: dict[str, Any] | None = None
    for item in items:
        kind = item.get("type", "message")
        if kind == "function_call":
            saying = saying or {"role": "assistant", "content": None}
            function = {"name": item.get("name"), "arguments": item.get("arguments")}
            call = {"id": item.get("call_id"), "type": "function", "function": function}
            saying["tool_calls"] = [*saying.get("tool_calls", ()), call]
            continue
        if kind == "reasoning":  # never shown to anyone, and not part of what was said
            continue
        if saying is not None:
            yield saying
            saying = None
        if kind == "function_call_output":
            yield {"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")}
        elif kind == "message" and item.get("role") == "assistant":
            saying = {"role": "assistant", "content": item.get("content")}
        elif kind == "message":
            yield {"role": item.get("role", "user"), "content": item.get("content")}
        else:
            yield {"role": "user", "content": [dict(item)]}
    if saying is not None:
        yield saying
