"""Notes: the summary by rule, written and read back: one line a request, one line a tool call.

The rule is about forms of sentences alone. Requests, questions and what the tools did survive; remarks go, whether
they are small talk, preferences or limits. That is the loss that public reports describe: the imperative is kept and
the policy is dropped (NousResearch/hermes-agent#84718).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

from fuzzturn.compaction.sentences import is_question, is_request, sentences
from fuzzturn.errors import InputError
from fuzzturn.session import Chat
from fuzzturn.tokens import text_tokens

__all__ = [
    "NOTHING_ASKED", "NO_SUMMARY", "SUMMARY_HEADING", "SUMMARY_TOKENS", "TOO_LONG", "Note", "Summariser", "by_rule",
    "is_summary", "notes", "scripted", "survives",
]  # fmt: skip

Summariser: TypeAlias = Callable[[Sequence[Chat]], str]
"""From the messages to read, an earlier summary included, to the text that stands for them."""

SUMMARY_HEADING = "[Summary of the conversation so far]"
SUMMARY_TOKENS = 300
"""No summary by rule is larger, however often it is made anew."""
NOTHING_ASKED = "(nothing was asked or done)"
TOO_LONG = "(the conversation so far was too long to be summarised)"
"""What stands for a summary where nothing was left that the summariser may read (langchain has a text for this too)."""
NO_SUMMARY = "(no summary is available)"
"""What stands for a summary that a summariser left blank."""
_NO_NOTES = (NOTHING_ASKED, TOO_LONG, NO_SUMMARY)
_NOTE_CHARACTERS = 400
_FACT_CHARACTERS = 80
"""What is longer in a result too long for a note is no key fact of it: a remark, not an id."""


@dataclass(frozen=True, slots=True)
class Note:
    """One line of a summary by rule: a request of the user's, or a tool call with what came of it.

    `name` None = a request (or a foreign summariser's line), which `text` then holds.
    """

    text: str
    name: str | None = None
    args: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None

    @property
    def line(self) -> str:
        if self.name is None:
            return f"Asked: {self.text}"
        return f"Done: {self.name} {_json(self.args)} -> {_json(self.result)}"


def by_rule(messages: Sequence[Chat]) -> str:
    """Summarise by sentence form, in order: one line a request, one line a tool call; at most SUMMARY_TOKENS."""
    taken: list[Note] = []
    results = {m.get("tool_call_id"): str(m.get("content") or "") for m in messages if m.get("role") == "tool"}
    for message in messages:
        for note in _notes_of(message, results):
            # Said or done again: only the later one tells how things stand.
            taken = [old for old in taken if (old.name, old.text, old.args) != (note.name, note.text, note.args)]
            taken.append(note)
    kept = _within_budget(taken)
    return "\n".join(note.line for note in kept) or NOTHING_ASKED


def is_summary(message: Chat) -> bool:
    """Whether the message is a summary that a policy of this module put there."""
    content = message.get("content")
    return isinstance(content, str) and content.startswith(SUMMARY_HEADING)


@lru_cache(maxsize=256)
def notes(summary: str) -> tuple[Note, ...]:
    """The lines of a summary, its heading left out; a line in nobody's form counts as a request."""
    lines = summary.removeprefix(SUMMARY_HEADING).strip("\n").split("\n")
    return tuple(_note(line) for line in lines if line and line not in _NO_NOTES)


def survives(message: Chat) -> bool:
    """Whether a summary by rule that has room for it keeps every word of a user's message."""
    content = message.get("content")
    return _asked(content) == " ".join(sentences(content)) if isinstance(content, str) else not content


def scripted(texts: Sequence[str]) -> Summariser:
    """A summariser that writes the given texts one after another, and the last one from then on.

    It keeps no count, since the same messages have to give the same summary: the next text is the one behind that of
    the newest earlier summary which it reads, and the first where it reads none. Raises InputError unless there is a
    text and all differ.
    """
    if not texts or len(set(texts)) < len(texts):
        raise InputError(
            f"a scripted summariser is given {list(texts)!r}; texts that differ, one at least, are accepted"
        )

    def write(messages: Sequence[Chat]) -> str:
        told = [m["content"].removeprefix(SUMMARY_HEADING).strip("\n") for m in messages if is_summary(m)]
        newest = next((texts.index(text) for text in reversed(told) if text in texts), -1)
        return texts[min(newest + 1, len(texts) - 1)]

    return write


def _notes_of(message: Chat, results: Mapping[Any, str]) -> list[Note]:
    if is_summary(message):
        return list(notes(message["content"]))
    content = message.get("content")
    if message.get("role") == "user" and isinstance(content, str):
        asked = _asked(content)
        return [Note(asked)] if asked else []
    calls = message.get("tool_calls") or ()
    return [_done(call, results.get(call.get("id"), "")) for call in calls]


def _asked(content: str) -> str:
    return _clipped(" ".join(s for s in sentences(content) if is_question(s) or is_request(s)))


def _done(call: Mapping[str, Any], content: str) -> Note:
    """A tool call and the key facts of its result: what was created keeps its id, what was found is only counted."""
    function = call.get("function") or {}
    arguments = function.get("arguments") or "{}"
    args = _loaded(arguments) if len(arguments) <= _NOTE_CHARACTERS else {}
    return Note("", str(function.get("name")), args if isinstance(args, dict) else {}, _key_facts(_loaded(content)))


def _key_facts(result: Any) -> Any:
    rows = result if isinstance(result, list) else None
    if isinstance(result, dict) and "id" not in result:
        rows = next((value for value in result.values() if isinstance(value, list)), None)
    if rows is not None:
        return f"{len(rows)} found"
    if isinstance(result, dict) and len(_json(result)) > _NOTE_CHARACTERS:
        result = {key: value for key, value in result.items() if len(_json(value)) <= _FACT_CHARACTERS} or result
    return result if len(_json(result)) <= _NOTE_CHARACTERS else _clipped(_json(result))


def _note(line: str) -> Note:
    name, _, rest = line.removeprefix("Done: ").partition(" ")
    if line.startswith("Done: ") and rest.startswith("{"):
        try:
            args, end = json.JSONDecoder().raw_decode(rest)
        except ValueError:
            return Note(line)
        return Note("", name, args, _loaded(rest[end:].removeprefix(" -> ")))
    return Note(line.removeprefix("Asked: "))


def _within_budget(taken: list[Note]) -> list[Note]:
    kept = list(taken)
    while kept and text_tokens("\n".join(note.line for note in kept)) > SUMMARY_TOKENS:
        kept.remove(min(kept, key=lambda note: _worth(note, kept)))
    return kept


def _worth(note: Note, kept: Sequence[Note]) -> tuple[int, int]:
    """What goes first where not everything fits: counts of what was found, questions, then the older request.

    The first request says what the whole conversation is about, the last one may still be in progress.
    """
    asked = [other for other in kept if other.name is None]
    orders = [other for other in asked if not is_question(other.text)]
    if note.name is not None:
        rank = 0 if isinstance(note.result, str) else 3
    elif note in (*orders[:1], *asked[-1:]):
        rank = 4
    else:
        rank = 1 if is_question(note.text) else 2
    return rank, kept.index(note)


def _clipped(text: str) -> str:
    return text if len(text) <= _NOTE_CHARACTERS else text[: _NOTE_CHARACTERS - 1] + "…"


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=str)


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
