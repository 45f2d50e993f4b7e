"""Reading: from what a model answered to data of a given shape, or to why it is none. Nothing is guessed.

An answer is one JSON object; where there is text around it, the last one. Not counted: an object inside of broken or
cut-off JSON, one that says two things of a key, one that the model writes while it thinks, and, in text, one that
stands in what was shown as well, as a judge may quote whoever tries to dictate the score. Calls that differ are none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
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
    r"(?:help|assist|comply|fulfil|engage|continue|participat|provid|answer|respond|rat(?:e|ing)|scor|judg|evaluat)"
    r"(?![^.]*\b(?:above|below|higher|lower|better|but give)\b)",
    re.IGNORECASE,
)
"""Anchored at the start: a reason may well tell of an agent that says "I can't help with that". A judge that cannot
rate a turn any higher rates it."""
_BEGINNING = 300
"""Characters in which a refusal begins."""
_THINKS = re.compile(r"<(?:think|thinking|reasoning|thought)>|\[THINK\]", re.IGNORECASE)
_THOUGHT = re.compile(r"</(?:think|thinking|reasoning|thought)>|\[/THINK\]", re.IGNORECASE)
_OPENS_JSON = re.compile(r'\{\s*["}]')
_JSON_MARKS = re.compile(r'"(?:[^"\\]|\\.)*"|["{}]', re.DOTALL)
_LAYOUT = re.compile(r"\\+[nrt]?|\s+")
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
    if said.refused:
        return Unread("refused", _clipped(said.text or ""))
    if said.finish == CUT_OFF:
        return Unread("unparsable", "it was cut off by the token limit")
    if len(set(map(_arguments, said.calls))) > 1:
        return Unread("unparsable", "it makes calls that differ")
    text = saying(said)
    found = _object(text, shown)
    if found is None:
        words = _answered(text)
        refused = refuses(words)
        return Unread("refused", _clipped(words)) if refused else Unread("unparsable", "it holds no JSON object")
    try:
        return shape.model_validate(found)
    except ValidationError as error:
        declined = [words for words in found.values() if isinstance(words, str) and refuses(words)]
        if declined:
            return Unread("refused", _clipped(declined[0]))
        first = error.errors()[0]
        return Unread("unparsable", f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}")


def saying(said: Said) -> str:
    """What was said: the arguments of the tool call where there is one, else the text."""
    return _arguments(said.calls[0]) if said.calls else said.text or ""


def _arguments(call: Mapping[str, Any]) -> str:
    arguments = (call.get("function") or {}).get("arguments")
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def refuses(text: str) -> bool:
    """Whether it opens with the model's declining to answer, in English."""
    return _REFUSAL.match(text.lstrip()[:_BEGINNING]) is not None


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
    value: Any = _unfenced(text.strip())
    for _ in range(2):
        try:
            value = _decoded(value) if isinstance(value, str) else value
        except (ValueError, RecursionError):
            return _last(_answered(text), shown)
    return value if isinstance(value, dict) else None


def _unfenced(text: str) -> str:
    """Without the fence of Markdown around all of it."""
    if not (text.startswith("```") and text.endswith("```")):
        return text
    return re.sub("^json", "", text.strip("`"), flags=re.IGNORECASE)


def _answered(text: str) -> str:
    """What comes after the thinking; "" where that does not end. Some templates open it in the question already."""
    rest = text[max((mark.end() for mark in _THOUGHT.finditer(text)), default=0) :]
    return "" if _THINKS.search(rest) else rest


def _decoded(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_each_once)


def _last(text: str, shown: str) -> dict[str, Any] | None:
    """The last object in the text. None too where JSON begins after it and breaks off: that was to be the answer."""
    start, closings = text.find("{"), _closings(text)
    found: list[tuple[str, Any]] = []
    while start >= 0:
        looks = _OPENS_JSON.match(text, start)
        end = _json_end(text, start) if looks else closings.get(start, start + 1)
        if end is None:
            return None
        if looks:
            with suppress(ValueError, RecursionError):  # broken JSON: nothing inside of it is an answer
                found.append((text[start:end], _decoded(text[start:end])))
        start = text.find("{", end)
    bare = _bare(shown) if found else ""
    return next((value for part, value in reversed(found) if not (occurs(part, shown) or _bare(part) in bare)), None)


def _bare(text: str) -> str:
    """Without what a quote may be laid out by: white space, and the backslashes of JSON in JSON."""
    return _LAYOUT.sub("", text)


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
