"""Streams: the server-sent events of a model's answer, put together into the one answer that they are, and redacted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from fuzzturn.calls.record import Answer
from fuzzturn.redaction import Redaction

__all__ = ["EVENT_STREAM", "assembled", "without_secrets"]

EVENT_STREAM = "text/event-stream"
_DONE = "[DONE]"
_LINE_END = re.compile(r"\r\n|\r|\n")
_ENDS = ("response.completed", "response.incomplete", "response.failed")
_ONCE = ("id", "type", "role", "finish_reason")
"""Fields of a delta that some servers repeat in every one: they are no pieces of a text."""
_PLACE = ("type", "item_id", "output_index", "content_index", "summary_index")
"""What says which text of an answer of /responses a delta belongs to."""
_Piece: TypeAlias = tuple[tuple[Any, ...], dict[str, Any], str]
"""What a piece belongs to, the object that it is in, and the field."""


@dataclass(frozen=True, slots=True)
class _Sent:
    """One event as it was sent. `name` None = it had none."""

    name: str | None
    data: str


def assembled(body: bytes) -> dict[str, Any] | None:
    """The answer that a stream is, in the shape that it has without streaming. None = it is not complete, or no stream.

    A chat completion is complete with `[DONE]`; an answer of /responses when it says that it was completed, is
    incomplete or failed.
    """
    sent, _ = _read(body)
    data = [_object(event.data) for event in sent if event.data != _DONE]
    events = [event for event in data if event is not None]
    if len(events) != len(data):
        return None
    whole = next((event["response"] for event in events if event.get("type") in _ENDS), None)
    if isinstance(whole, dict):
        return whole
    if not any(event.data == _DONE for event in sent) or any(event.get("error") for event in events):
        return None
    completion = _completion(events)
    return completion if completion["choices"] else None


def without_secrets(answer: Answer, redaction: Redaction) -> Answer:
    """The answer as it may be written down: byte for byte the same where nothing in it is secret.

    A secret may straddle the pieces of a stream, so it is looked for in the text that they make. Where one is found
    that text comes in one piece, and the later ones are empty.
    """
    if not redaction.patterns:
        return answer
    if answer.content_type.lower().startswith(EVENT_STREAM):
        return replace(answer, body=_stream_without(answer.body, redaction))
    try:
        said = json.loads(answer.body)
    except ValueError:
        return replace(answer, body=_text_without(answer.body, redaction))
    without = redaction.data(said)
    return answer if without == said else replace(answer, body=json.dumps(without, ensure_ascii=False).encode())


def _read(body: bytes) -> tuple[list[_Sent], list[str]]:
    """The events of a stream, and its comments. The last event counts without the empty line, if it is whole."""
    events, comments, name, data = [], [], None, []
    for line in [*_LINE_END.split(body.decode("utf-8", "replace").removeprefix("\ufeff")), ""]:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line and not field:
            comments.append(value)
        elif field == "data":
            data.append(value)
        elif field == "event":
            name = value
        elif not line:
            if data:
                events.append(_Sent(name, "\n".join(data)))
            name, data = None, []
    return events, comments


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _completion(events: list[dict[str, Any]]) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for event in events:
        whole |= {key: value for key, value in event.items() if value is not None and key != "choices"}
        for given in event.get("choices") or ():
            choice = choices.setdefault(given.get("index") or 0, {"message": {}})
            _add(choice["message"], given.get("delta") or {})
            _add(choice, {key: value for key, value in given.items() if key not in ("index", "delta")})
    listed = [{"index": i, **_unnumbered(choices[i])} for i in sorted(choices)]
    return whole | {"object": "chat.completion", "choices": listed}


def _unnumbered(value: Any) -> Any:
    """Without the numbers of parts, which only streams carry."""
    if isinstance(value, dict):
        return {key: _unnumbered(item) for key, item in value.items()}
    if isinstance(value, list):
        plain = [_unnumbered(part) for part in value]
        return [{k: v for k, v in part.items() if k != "index"} if isinstance(part, dict) else part for part in plain]
    return value


def _add(whole: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Add one delta: texts grow, lists of numbered parts grow part by part, anything else is what came last."""
    for key, value in delta.items():
        had = whole.get(key)
        if value is None:
            whole.setdefault(key, None)
        elif isinstance(value, str) and isinstance(had, str):
            whole[key] = (had or value) if key in _ONCE else had + value
        elif isinstance(value, dict):
            whole[key] = had if isinstance(had, dict) else {}
            _add(whole[key], value)
        elif isinstance(value, list):
            whole[key] = had if isinstance(had, list) else []
            _add_parts(whole[key], value)
        else:
            whole[key] = value


def _add_parts(parts: list[Any], given: list[Any]) -> None:
    for part in given:
        if not isinstance(part, dict):
            parts.append(part)
        elif (same := _same_part(parts, part)) is None:
            parts.append({})
            _add(parts[-1], part)
        else:
            _add(same, part)


def _same_part(parts: list[Any], given: Mapping[str, Any]) -> dict[str, Any] | None:
    """The part that a piece goes on with; None = it begins a new one."""
    key = "index" if given.get("index") is not None else "id" if given.get("id") is not None else None
    if key is None:  # some servers do not number: what has no id of its own goes on with the last one
        return parts[-1] if parts and "token" not in given else None
    return next((part for part in parts if isinstance(part, dict) and part.get(key) == given[key]), None)


def _stream_without(body: bytes, redaction: Redaction) -> bytes:
    sent, comments = _read(body)
    events = [_object(event.data) for event in sent if event.data != _DONE]
    if any(event is None for event in events):
        return _text_without(body, redaction)
    texts: dict[tuple[Any, ...], list[_Piece]] = {}
    for event in events:
        for piece in _pieces(event or {}):
            texts.setdefault(piece[0], []).append(piece)
    found = [_taken_out(pieces, redaction) for pieces in texts.values()]
    without = [redaction.data(event) for event in events]
    names = [(redaction.text(event.name) if event.name else event.name) for event in sent]
    told = any(redaction.text(comment) != comment for comment in comments)
    if not any(found) and not told and without == events and names == [event.name for event in sent]:
        return body
    left = iter(without)
    datas = [_DONE if event.data == _DONE else json.dumps(next(left), ensure_ascii=False) for event in sent]
    heads = [f"event: {name}\n" if name else "" for name in names]
    return "".join(f"{head}data: {data}\n\n" for head, data in zip(heads, datas, strict=True)).encode()


def _taken_out(pieces: list[_Piece], redaction: Redaction) -> bool:
    """Whether the text that the pieces make held a secret; it is put into the first piece without it."""
    text = "".join(inside[field] for _, inside, field in pieces)
    without = redaction.data(text)
    if without == text:
        return False
    for i, (_, inside, field) in enumerate(pieces):
        inside[field] = "" if i else without
    return True


def _pieces(event: dict[str, Any]) -> Iterator[_Piece]:
    """Every piece of a longer text in one event: of a chat completion's deltas, or the delta of /responses."""
    if isinstance(event.get("delta"), str):
        yield tuple(event.get(key) for key in _PLACE), event, "delta"
    for choice in event.get("choices") or ():
        if isinstance(delta := choice.get("delta"), dict):
            yield from _texts_in(delta, (choice.get("index"),))


def _texts_in(value: dict[str, Any], path: tuple[Any, ...]) -> Iterator[_Piece]:
    for key, part in value.items():
        if isinstance(part, str) and key not in _ONCE:
            yield (*path, key), value, key
        elif isinstance(part, dict):
            yield from _texts_in(part, (*path, key))
        elif isinstance(part, list):
            for i, inner in enumerate(part):
                if isinstance(inner, dict):
                    yield from _texts_in(inner, (*path, key, inner.get("index", i)))


def _text_without(body: bytes, redaction: Redaction) -> bytes:
    text = body.decode("utf-8", "replace")
    without = redaction.text(text)
    return body if without == text else without.encode()
