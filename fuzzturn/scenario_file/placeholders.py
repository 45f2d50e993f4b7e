"""Placeholders: `{constraint_id}` in what the user says stands for the constraint's statement.

Any `{name}` is a placeholder, so that a misspelt one is an error and is never spoken; `{{name}}` says `{name}`.
What a placeholder is replaced by is not looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["escaped", "names", "spoken"]

_NAME = r"[A-Za-z][A-Za-z0-9_.:@#-]*"
_SINGLE = re.compile(rf"\{{({_NAME})\}}")
_EITHER = re.compile(rf"\{{\{{(?P<literal>{_NAME})\}}\}}|\{{(?P<name>{_NAME})\}}")


def names(text: str) -> tuple[str, ...]:
    """The placeholders in a text, in order."""
    return tuple(match["name"] for match in _EITHER.finditer(text) if match["name"])


def spoken(text: str, statements: Mapping[str, str]) -> str:
    """The text as it is said. A placeholder that `statements` does not know is left as it stands."""

    def said(match: re.Match[str]) -> str:
        return f"{{{match['literal']}}}" if match["literal"] else statements.get(match["name"], match[0])

    return _EITHER.sub(said, text)


def escaped(text: str) -> str:
    """The inverse: a text with no placeholder that is said as `text`."""
    return _SINGLE.sub(r"{{\1}}", text)
