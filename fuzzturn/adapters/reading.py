"""Reading: from what a model answered to data of a given shape, or to why it is none. Nothing is guessed.

An answer is one JSON object; where there is text around it, the last one. Not counted: an object inside of broken or
cut-off JSON, one that says two things of a key, and, in text, one that stands in what was shown as well, as a judge may
quote whoever tries to dictate the score.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from fuzzturn.adapters.ladder import FILTERED
from fuzzturn.adapters.mending import CUT_OFF, Said
from fuzzturn.protected import record_lines
from fuzzturn.scores import Unscored

__all__ = ["Unread", "given", "occurs", "refuses", "saying"]

T = TypeVar("T", bound=BaseModel)
_SHOWN = 200
_ESCAPED = 2
"""How deep data are quoted at most: tool results that are JSON in a text, in a line of JSON."""
_REFUSAL = re.compile(
    r"\W*(?:(?:i['’]?m|i am) (?:\w+ )?(?:sorry|afraid)|sorry|(?:i|my) apolog\w+(?: for [\w ]{1,30})?|unfortunately"
    r"|as an? (?:ai|language)\b[\w -]{0,30})?[\s,.:;–—-]*(?:but |that )?"
    r"(?:i(?:['’]m| am)?|we(?:['’]re| are)?) (?:can['’]?t|cannot|can not|won['’]?t|will not|must decline|decline|unable"
    r"|not able|not comfortable)(?: to| with)? (?:in good conscience |really |currently |be able to )?"
    r"(?:help|assist|comply|fulfil|engage|continue|participat|provid|answer|respond|rat(?:e|ing)|scor|judg|evaluat)",
    re.IGNORECASE,
)
"""Anchored at the start: a reason may well tell of an agent that says "I can't help with that"."""
_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL | re.IGNORECASE)
_OPENS_JSON = re.compile(r'\{\s*"')
_JSON_MARKS = re.compile(r'"(?:[^"\\]|\\.)*"|["{}]', re.DOTALL)
_BRACES = re.compile(r"[{}]")


@dataclass(frozen=True, slots=True)
class Unread:
    """No data. `why` is said to people, and to the model where it is asked once more."""

    status: Unscored
    why: str


def given(said: Said, shape: type[T], shown: str) -> T | Unread:
    """The answer as `shape`, held against it here whatever the server promised. `shown`: what the model was shown."""
    if said.finish == FILTERED:
        return Unread("refused", "a content filter stopped the answer")
    text = saying(said)
    if said.finish == CUT_OFF:
        return Unread("unparsable", "it was cut off by the token limit")
    found = _object(text, shown)
    if found is None:
        refused = refuses(text)
        return Unread("refused", _clipped(text)) if refused else Unread("unparsable", "it holds no JSON object")
    try:
        return shape.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        return Unread("unparsable", f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}")


def saying(said: Said) -> str:
    """What was said: the arguments of the tool call where there is one, else the text."""
    for call in said.calls:
        arguments = (call.get("function") or {}).get("arguments")
        return arguments if isinstance(arguments, str) else json.dumps(arguments)
    return said.text or ""


def refuses(text: str) -> bool:
    """Whether it opens with the model's declining to answer, in English."""
    return _REFUSAL.match(text) is not None


def occurs(part: str, shown: str) -> bool:
    """Whether `part` stands in what was shown, as it is or as JSON writes it in a text."""
    for _ in range(_ESCAPED + 1):
        if part in shown:
            return True
        line = record_lines([{"": part}])
        part = line[line.index(":") + 1 :].strip()[1:-2]
    return False


def _object(text: str, shown: str) -> dict[str, Any] | None:
    """The object that the text is, else the last one in it. Some servers encode the arguments of a call twice."""
    fenced = _FENCE.fullmatch(text.strip())
    value: Any = fenced[1] if fenced else text
    for _ in range(2):
        try:
            value = _decoded(value) if isinstance(value, str) else value
        except (ValueError, RecursionError):
            return _last(text, shown)
    return value if isinstance(value, dict) else None


def _decoded(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_each_once)


def _last(text: str, shown: str) -> dict[str, Any] | None:
    """The last object in the text. None too where JSON begins after it and breaks off: that was to be the answer."""
    found, start, closings = None, text.find("{"), _closings(text)
    while start >= 0:
        end = _json_end(text, start) if _OPENS_JSON.match(text, start) else closings.get(start, start + 1)
        if end is None:
            return None
        try:
            value = _decoded(text[start:end])
        except (ValueError, RecursionError):
            pass  # braces in prose, or broken JSON: nothing inside of it is an answer
        else:
            found = found if occurs(text[start:end], shown) else value
        start = text.find("{", end)
    return found


def _json_end(text: str, start: int) -> int | None:
    """Behind the brace that closes what looks like JSON from `start` on; None = it is cut off."""
    depth = 0
    for mark in _JSON_MARKS.finditer(text, start):
        if mark[0] == '"':  # a text that is not closed
            return None
        depth += {"{": 1, "}": -1}.get(mark[0], 0)
        if depth == 0:
            return mark.end()
    return None


def _closings(text: str) -> dict[int, int]:
    """Behind which brace each open one is closed, where prose closes it; in one pass, since a model may repeat one."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for mark in _BRACES.finditer(text):
        if mark[0] == "{":
            opened.append(mark.start())
        elif opened:
            found[opened.pop()] = mark.end()
    return found


def _each_once(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    """An object that says two things of one key says nothing."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands in it twice")
    return found


def _clipped(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
