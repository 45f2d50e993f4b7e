"""Prompting: what a hosted judge is asked, from the files in `prompts/`, which a person can read and change.

judge.md    for a score; {{shown}} is the judge's prompt as `context` renders it
decide.md   for a yes or no to {{question}}
repair.md   once more, where an answer could not be read; {{fault}} is why
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Prompts", "filled", "prompts"]

_FOLDER = Path(__file__).parent / "prompts"
_PLACE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """The texts as they are in the files. `version`: first 8 hex of their sha256, so any change of theirs shows."""

    judge: str
    decide: str
    repair: str
    version: str


@cache
def prompts() -> Prompts:
    """The shipped prompts, read once."""
    texts = {
        name: (_FOLDER / f"{name}.md").read_text(encoding="utf-8").strip() for name in ("judge", "decide", "repair")
    }
    return Prompts(**texts, version=hashlib.sha256("\0".join(texts.values()).encode()).hexdigest()[:8])


def filled(template: str, **parts: str) -> str:
    """The template with each `{{name}}` replaced, all at once: what looks like one inside of a part stays as it is."""
    return _PLACE.sub(lambda place: parts[place[1]], template)
