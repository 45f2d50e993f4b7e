"""Visibility: how a constraint stood in what one model call of the agent saw.

    verbatim     its statement, or one of its scripted paraphrases, in a message that is no summary
    in_summary   the same inside a summary, or all the values of its checker's arguments as words in one
    stale        only a version that it superseded is there
    absent       none of that
    unknown      the agent does not tell its context

Surviving in the summary or not splits the violation rate of real models (arXiv 2606.22528: 0 % against 38 %), so a
finding that cannot say this cannot be explained.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from fuzzturn.ledger import Ledger
from fuzzturn.plain import plain
from fuzzturn.scenario import Constraint
from fuzzturn.scores import Visibility
from fuzzturn.session import Chat, Compaction, Turn

__all__ = ["mentions", "summaries", "visibility"]


def summaries(turns: Iterable[Turn]) -> tuple[str, ...]:
    """Every summary text that the agent reported so far."""
    told = [event for turn in turns for event in turn.events if isinstance(event, Compaction)]
    return tuple([event.summary for event in told if event.summary])


def visibility(
    constraint: Constraint, context: Sequence[Chat] | None, known_summaries: Sequence[str], ledger: Ledger
) -> Visibility:
    """How `constraint` stood in `context`; None = unknown."""
    if context is None:
        return "unknown"
    condensed = [plain(summary) for summary in known_summaries]
    wordings = _wordings(constraint)
    pieces = {plain(piece) for piece in constraint.pieces}
    kept: list[str] = []
    for message in context:
        text = _text(message)
        if condensed and any(summary in text for summary in condensed):
            kept.append(text)
        elif _says(text, wordings):
            return "verbatim"
        elif pieces:
            pieces = {piece for piece in pieces if piece not in text}
            if not pieces:
                return "verbatim"
    if any(_says(text, wordings) or _values_in(constraint, text) for text in kept):
        return "in_summary"
    texts = list(map(_text, context))
    others = ledger.versions(constraint)
    older = (e.constraint for e in others if e.constraint.id == constraint.replaces or e.status != "binding")
    return "stale" if any(mentions(version, texts) for version in older) else "absent"


def mentions(constraint: Constraint, texts: Iterable[str]) -> bool:
    """Whether the statement or a scripted paraphrase stands word for word in one of the texts."""
    wordings = _wordings(constraint)
    return any(_says(plain(text), wordings) for text in texts)


def _wordings(constraint: Constraint) -> tuple[str, ...]:
    return _plain((constraint.statement, *constraint.paraphrases))


@lru_cache(maxsize=1024)
def _plain(wordings: tuple[str, ...]) -> tuple[str, ...]:
    """A session asks for the same wordings at every model call."""
    return tuple(map(plain, wordings))


def _says(text: str, wordings: Sequence[str]) -> bool:
    for wording in wordings:  # noqa: SIM110 - asked for every message of every context: a generator costs twice that
        if wording in text:
            return True
    return False


def _values_in(constraint: Constraint, text: str) -> bool:
    values = [str(value) for value in constraint.args.values() if isinstance(value, str | int | float)]
    return bool(values) and all(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.I) for value in values)


def _text(message: Chat) -> str:
    content = message.get("content")
    return plain(content if type(content) is str else _content(content))


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):  # content parts, OpenAI style
        return " ".join(_content(part.get("text")) if isinstance(part, dict) else _content(part) for part in content)
    return ""
