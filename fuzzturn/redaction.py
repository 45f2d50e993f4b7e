"""Redaction: secrets are taken out of everything that is written, and out of what a recorded call is known by.

Both with the same rule: on replay an agent repeats the redacted text, and its next call must still be found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fuzzturn.errors import InputError, Problem

__all__ = ["NOTHING", "REDACTED", "Redaction", "redaction"]

REDACTED = "[redacted]"
_ROUNDS = 8
"""A replacement may complete another match; that many times it is looked for."""
_SECRET_NAME = re.compile(r"(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD)$")
_SHORTEST = 8
"""Characters; a shorter value of such a variable ("yes", "none") would take ordinary words out."""
_SHORTEST_NUMBER = 10 ** (_SHORTEST - 1)
"""A card's or an account's number may stand as a number; shorter ones are counts."""


@dataclass(frozen=True, slots=True)
class Redaction:
    """What is replaced by `[redacted]`, wherever it stands in a text."""

    patterns: tuple[re.Pattern[str], ...] = ()

    def text(self, text: str) -> str:
        """The text without what matches; applying it twice changes nothing more."""
        for _ in range(_ROUNDS if self.patterns else 0):
            before = text
            for pattern in self.patterns:
                text = pattern.sub(_replaced, text)
            if text == before:
                break
        return text

    def data(self, value: Any) -> Any:
        """The same in every text of JSON-like data, keys and long whole numbers included.

        Returns the value itself where there are no patterns.
        """
        if not self.patterns:
            return value
        if isinstance(value, str):
            return self._inside(value)
        if type(value) is int and abs(value) >= _SHORTEST_NUMBER:
            return value if self.text(str(value)) == str(value) else REDACTED
        if isinstance(value, Mapping):
            return {self.data(key): self.data(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.data(item) for item in value]
        return value

    def _inside(self, text: str) -> str:
        """A text that is JSON itself (a tool call's arguments) hides what it holds behind escapes."""
        redacted = self.text(text)
        if redacted == text and "\\" in text and text[:1] in '{["':
            try:
                inner = json.loads(text)
            except ValueError:
                return text
            without = self.data(inner)
            if without != inner:
                return json.dumps(without, ensure_ascii=False)
        return redacted


def _replaced(match: re.Match[str]) -> str:
    """An empty match hides nothing, and putting something there would match again."""
    return REDACTED if match[0] else ""


NOTHING = Redaction()


def redaction(patterns: Iterable[str] = (), environ: Mapping[str, str] | None = None) -> Redaction:
    """What the project's `redact` patterns say, and the values of variables whose name says that they are secret.

    `environ`: variables called …_KEY, …_TOKEN, …_SECRET or …_PASSWORD count where their value has at least 8
    characters; None = none. Raises InputError for a pattern that is no regular expression, matches nothing at all
    (it would match everywhere), or matches the replacement.
    """
    compiled, problems = [], []
    for given in patterns:
        try:
            pattern = re.compile(given)
        except re.error as error:
            problems.append(_bad(given, f"is no regular expression: {error}"))
            continue
        if pattern.search("") or pattern.search(REDACTED):
            problems.append(_bad(given, f"matches the empty text or {REDACTED!r}, which stands for what was taken out"))
        compiled.append(pattern)
    if problems:
        raise InputError(problems)
    values = {v for name, v in (environ or {}).items() if _SECRET_NAME.search(name.upper()) and len(v) >= _SHORTEST}
    # the longest first: where one begins with another, the rest of it would be left
    ordered = sorted(values, key=lambda value: (-len(value), value))
    return Redaction((*(re.compile(re.escape(value)) for value in ordered), *compiled))


def _bad(pattern: str, what: str) -> Problem:
    return Problem(what=f"the redact pattern {pattern!r} {what}", accepted="a regular expression of what is secret")
