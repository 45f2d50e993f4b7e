"""Limits: what an entry from anybody may ask for, so that reading and replaying it take bounded time and money.

Far beyond what a campaign writes. Size and depth of the file are the reader's business, see `fuzzturn.document`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fuzzturn.document import Address, Document, shown
from fuzzturn.document.place import MAX_BYTES
from fuzzturn.errors import Problem

__all__ = ["MAX_ANSWERS", "MAX_CALLS", "MAX_CALL_BYTES", "MAX_ROWS", "calls_beyond", "too_much"]

MAX_ROWS = 500
"""Turns, constraints, milestones and so on, of each. A replay plays, and pays, every turn."""
MAX_ANSWERS = 100
"""Times that one answer may be given. An agent that always asks would go on for as long."""
MAX_CALLS = 2_000
"""Model calls that an entry carries."""
MAX_CALL_BYTES = 1024 * 1024
"""Of all their answers, in UTF-8. Such a file takes seconds to write, and nobody reads it."""
_LONGEST_PATTERN, _REPEATS, _CHOICES = 300, 4, 8
_CALLS = f"at most {MAX_CALLS}, with {MAX_CALL_BYTES} bytes in all"
_LISTS: tuple[Address, ...] = (
    ("turns",), ("constraints",), ("goal", "milestones"), ("assertions",), ("answers",), ("interruptions",),
)  # fmt: skip
_ATOM = re.compile(r"\\.|\[\^?\]?[^\]]*\]", re.DOTALL)
"""One character to a regular expression, however it is written."""


def too_much(document: Document) -> Iterator[Problem]:
    """Problems of an entry's document that asks for more than may be asked for, or carries more."""
    calls = document.data.get("calls")
    if isinstance(calls, tuple) and (beyond := calls_beyond([_body(call) for call in calls])):
        yield document.problem(("calls",), beyond, _CALLS, key=True)
    for key in _LISTS:
        rows = _at(document.data, ("scenario", *key))
        if isinstance(rows, tuple) and len(rows) > MAX_ROWS:
            yield document.problem(("scenario", *key), f"{len(rows)} {key[-1]}", f"at most {MAX_ROWS}", key=True)
    for at, answer in _rows(document, "answers"):
        if type(answer.get("max")) is int and answer["max"] > MAX_ANSWERS:
            yield document.problem((*at, "max"), f"'max' is {shown(answer['max'])}", f"at most {MAX_ANSWERS}")
        asks = answer.get("asks")
        for n, pattern in enumerate(asks if isinstance(asks, tuple) else ()):
            if isinstance(pattern, str) and (why := _endless(pattern)):
                yield document.problem((*at, "asks", n), f"{shown(pattern)} {why}", "a plainer pattern")
    yield from _inflated(document)


def calls_beyond(bodies: Sequence[str]) -> str | None:
    """Why model calls with these answers are too many for a file; None = they are not."""
    if len(bodies) > MAX_CALLS:
        return f"{len(bodies)} model calls"
    if (size := sum(len(body.encode(errors="surrogatepass")) for body in bodies)) > MAX_CALL_BYTES:
        return f"model calls whose answers have {size} bytes"
    return None


def _body(call: Any) -> str:
    body = call.get("body") if isinstance(call, dict) else None
    return body if isinstance(body, str) else ""


def _inflated(document: Document) -> Iterator[Problem]:
    """A statement of a megabyte that a text names a thousand times is a text of a gigabyte."""
    statements = [row.get("statement") for _, row in _rows(document, "constraints")]
    longest = max((len(text) for text in statements if isinstance(text, str)), default=0)
    for key in ("turns", "answers", "interruptions"):
        for at, row in _rows(document, key):
            user = row.get("user")
            if isinstance(user, str) and user.count("{") * longest > MAX_BYTES:
                what = f"a text with {user.count('{')} braces, each for a statement of up to {longest} characters"
                yield document.problem((*at, "user"), what, f"at most {MAX_BYTES} characters in all")


def _endless(pattern: str) -> str | None:
    """Why searching with the pattern could take for ever; None where it cannot, as far as this is told by its shape."""
    if len(pattern) > _LONGEST_PATTERN:
        return f"is longer than {_LONGEST_PATTERN} characters"
    repeats = choices = 0
    groups = [False]  # whether something in each open group is repeated or chosen
    before, closed = "", False  # the character before, and whether the group that it closed holds such a thing
    for character in _ATOM.sub("x", pattern):
        if character in "*+{":
            if before == ")" and closed:
                return "repeats a group in which something is repeated or chosen, which can take for ever"
            repeats += 1
            groups[-1] = True
        elif character == "|" or (character == "?" and before not in "(*+?}"):
            choices += character == "?" or len(groups) > 1
            groups[-1] = True
        elif character == "(":
            groups.append(False)
        if character == ")" and len(groups) > 1:
            closed = groups.pop()
            groups[-1] = groups[-1] or closed
        before = character
    if repeats > _REPEATS or choices > _CHOICES:
        return f"has more than {_REPEATS} repetitions or {_CHOICES} choices, which can take for ever"
    return None


def _rows(document: Document, key: str) -> Iterator[tuple[Address, Mapping[str, Any]]]:
    rows = _at(document.data, ("scenario", key))
    for n, row in enumerate(rows if isinstance(rows, tuple) else ()):
        if isinstance(row, dict):
            yield ("scenario", key, n), row


def _at(data: Any, at: Address) -> Any:
    """The part at an address; None where there is none."""
    for step in at:
        data = data.get(step) if isinstance(data, dict) and isinstance(step, str) else None
    return data
