"""Scalars: what an unquoted word in a YAML file means, and which words nobody should have to guess about.

Numbers are JSON's numbers and booleans are true and false (the core of YAML 1.2). Whatever YAML 1.1 readers take for
a number or a boolean beyond that is refused, since one of two readers would be surprised: `no` is a country or False,
`1e3` a text or 1000, `12:30` a time or 750. A date stays a text in every reader that matters here.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple, TypeAlias

__all__ = ["MAX_DIGITS", "Refusal", "Scalar", "plain"]

Scalar: TypeAlias = str | int | float | bool | None


class Refusal(NamedTuple):
    """Why an unquoted word cannot stand, and what would be accepted."""

    what: str
    accepted: str


_MEANINGS: dict[str, bool | None] = {"": None, "~": None, "null": None, "true": True, "false": False}
_TRUE = frozenset({"yes", "on", "y", "true"})
_FALSE = frozenset({"no", "off", "n", "false"})
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_NEARLY_A_NUMBER = re.compile(
    r"""[-+]? (
        [0-9][0-9_,']* (\.[0-9_]*)? ([eE][-+]?[0-9]+)?  # +5  007  1_000  1,000  5.  1'000.5
      | \.[0-9][0-9_]* ([eE][-+]?[0-9]+)?               # .5
      | 0[xXoObB][0-9a-fA-F_]+                          # 0x1F  0o17  0b1
      | [0-9][0-9_]* (:[0-5]?[0-9])+ (\.[0-9_]*)?       # 12:30, which YAML 1.1 counts in sixties
      | \.(inf|Inf|INF|nan|NaN|NAN)
    )""",
    re.VERBOSE,
)
MAX_DIGITS = 400
"""More than any measured quantity has, fewer than Python refuses to convert."""


def plain(text: str) -> Scalar | Refusal:
    """The meaning of the unquoted `text`: a number, true, false, null or else the text itself; or why it has none."""
    if text in _MEANINGS:
        return _MEANINGS[text]
    if (lowered := text.lower()) in _TRUE | _FALSE | {"null"}:
        return _word(text, lowered)
    if match := _NUMBER.fullmatch(text):
        return _number(text, whole=match[2] is None and match[3] is None)
    if _NEARLY_A_NUMBER.fullmatch(text):
        return Refusal(f"{text} without quotes is a number to some YAML readers and a text to others",
                       f"write a number as 450 or 450.5, a text as '{text.replace(chr(39), chr(39) * 2)}'")  # fmt: skip
    return text


def _word(text: str, lowered: str) -> Refusal:
    meant = "true" if lowered in _TRUE else "false" if lowered in _FALSE else "null"
    return Refusal(f"{text} without quotes is {meant} to some YAML readers and a text to others",
                   f"write {meant}, or '{text}' for the text")  # fmt: skip


def _number(text: str, *, whole: bool) -> int | float | Refusal:
    if len(text) > MAX_DIGITS:
        return Refusal(f"a number of {len(text)} characters", f"at most {MAX_DIGITS}")
    if whole:
        return int(text)
    value = float(text)
    return value if math.isfinite(value) else Refusal(f"{text} is too large a number", "a finite number")
