"""Compaction: policies that replace a conversation's older messages by less, as pure functions.

What a policy counts is exactly the list it is handed, by the rule of `tokens`; an agent's system prompt is not in it.
The summary is one message of role "user" (as langchain and codex place theirs), recognisable by its heading, and a
later compaction reads it like any other message: summaries nest.

The shipped summariser works by rule, and the rule is about forms of sentences alone. Requests, questions and what the
tools did survive; remarks go, whether they are small talk, preferences or limits. That is the loss that public
reports describe: the imperative is kept and the policy is dropped (NousResearch/hermes-agent#84718).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

from fuzzturn.errors import InputError, UnknownName
from fuzzturn.session import Chat, Compaction
from fuzzturn.tokens import messages_tokens, text_tokens

__all__ = [
    "NOTHING_ASKED", "SUMMARY_HEADING", "SUMMARY_TOKENS", "Compacted", "Note", "Policy", "by_rule", "is_question",
    "is_request", "is_summary", "none", "notes", "policy", "policy_names", "sentences", "summary_keep_recent",
]  # fmt: skip

SUMMARY_HEADING = "[Summary of the conversation so far]"
SUMMARY_TOKENS = 300
"""No summary by rule is larger, however often it is made anew."""
NOTHING_ASKED = "(nothing was asked or done)"
_NOTE_CHARACTERS = 400

Summariser: TypeAlias = Callable[[Sequence[Chat]], str]
"""From the messages that go, an earlier summary included, to the text that stands for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """What a policy made of a message list. `before` and `after` are tokens; nothing dropped = it did not fire."""

    policy: str
    messages: tuple[Chat, ...]
    dropped: tuple[Chat, ...] = ()
    summary: str | None = None
    summariser_input: tuple[Chat, ...] = ()
    """What the summariser read; () = it was not called."""
    before: int
    after: int

    def event(self) -> Compaction | None:
        """The same as an event of a reply; None where the policy did not fire."""
        if not self.dropped:
            return None
        return Compaction(self.policy, self.before, self.after, self.dropped, self.summary, self.summariser_input)


class Policy(Protocol):
    """A compaction policy: the same messages always give the same result, and the input is left as it was."""

    def __call__(self, messages: Sequence[Chat], /) -> Compacted: ...


def none() -> Policy:
    """The policy that never drops anything."""

    def keep_all(messages: Sequence[Chat]) -> Compacted:
        return _untouched("none", messages, messages_tokens(messages))

    return keep_all


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


def summary_keep_recent(threshold: int = 900, keep: int = 4, summarise: Summariser = by_rule) -> Policy:
    """Above `threshold` tokens, replace all but the newest `keep` messages by a summary.

    More than `keep` messages stay where fewer would tear something apart: a tool result stays with the assistant
    message that called it, and what follows the newest user message stays with that message. A summary that would
    not make the list smaller is not used. Raises InputError unless both numbers are at least 1.
    """
    for option, value in (("threshold", threshold), ("keep", keep)):
        if value < 1:
            raise InputError(f"{option} of summary_keep_recent is {value}; a whole number from 1 up is accepted")

    def keep_recent(messages: Sequence[Chat]) -> Compacted:
        before = messages_tokens(messages)
        cut = _cut(messages, keep)
        if before <= threshold or all(is_summary(message) for message in messages[:cut]):
            return _untouched("summary_keep_recent", messages, before)
        dropped = tuple(messages[:cut])
        summary = summarise(dropped)
        kept = ({"role": "user", "content": f"{SUMMARY_HEADING}\n{summary}"}, *messages[cut:])
        after = messages_tokens(kept)
        if after >= before:
            return _untouched("summary_keep_recent", messages, before)
        return Compacted(
            policy="summary_keep_recent", messages=kept, dropped=dropped, summary=summary,
            summariser_input=dropped, before=before, after=after,
        )  # fmt: skip

    return keep_recent


def policy_names() -> tuple[str, ...]:
    """The names that `policy` answers to."""
    return ("none", "summary_keep_recent")


def policy(name: str, *, threshold: int = 900, keep: int = 4) -> Policy:
    """The policy of that name; `none` has no use for the numbers. Raises UnknownName or InputError."""
    if name == "none":
        return none()
    if name == "summary_keep_recent":
        return summary_keep_recent(threshold, keep)
    raise UnknownName("compaction policy", name, policy_names())


def is_summary(message: Chat) -> bool:
    """Whether the message is a summary that a policy of this module put there."""
    content = message.get("content")
    return isinstance(content, str) and content.startswith(SUMMARY_HEADING)


@lru_cache(maxsize=256)
def notes(summary: str) -> tuple[Note, ...]:
    """The lines of a summary, its heading left out; a line in nobody's form counts as a request."""
    lines = summary.removeprefix(SUMMARY_HEADING).strip("\n").split("\n")
    return tuple(_note(line) for line in lines if line and line != NOTHING_ASKED)


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, each a substring of it: split after . ! ? before a space, and at line ends."""
    return tuple(part.strip() for part in re.split(r"(?<=[.!?])\s+|[\r\n]+", text) if part.strip())


def is_question(sentence: str) -> bool:
    return sentence.rstrip("\"')]} ").endswith("?")


# Verbs that ask for something to be done now. Verbs of standing conduct (keep, stay, avoid, remember, respect, make
# sure) are left out on purpose: "keep it short" is a preference, and preferences are what this summariser loses.
_VERBS = (
    "add|answer|arrange|ask|book|build|buy|call|cancel|change|check|choose|clean|close|compare|compute|confirm|convert|"
    "copy|correct|count|create|delete|describe|draft|edit|email|explain|extend|fetch|fill|finali[sz]e|find|fix|forward|"
    "get|give|go ahead|help|hold|install|list|look|merge|move|open|order|pay|pick|plan|prepare|print|put|read|record|"
    "register|release|remove|rename|repeat|replace|report|reserve|run|save|schedule|search|see|select|send|set up|show|"
    "sort|start|stop|suggest|recommend|summari[sz]e|switch|take|tell|test|translate|try|update|upload|use|verify|write"
)
_LEAD_IN = (
    r"(?:(?:and|also|alright|all right|besides|by the way|finally|first|great|hello|hi|just|kindly|meanwhile|next|now|"
    r"ok|okay|one more thing|perfect|please|quickly|right|second|so|thanks|thank you|then|well|yes|let us|let's|"
    r"if you (?:can|could)|when you (?:can|have time)|(?:can|could|would|will) you|go ahead and|"
    r"i(?:'d| would) like (?:you )?to|i (?:need|want) (?:you )?to|i(?:'d| would) ask you to)\s*[,:;–—-]?\s+)*"
)
_REQUEST = re.compile(rf"{_LEAD_IN}(?:{_VERBS})\b(?!\s+(?:no|nothing|none|never)\b)", re.IGNORECASE)
_WISH = re.compile(
    rf"{_LEAD_IN}i(?:(?:'d| would) like| need| want|(?:'m| am) looking for) (?:an?|some|two|three) ", re.IGNORECASE
)


@lru_cache(maxsize=4096)
def is_request(sentence: str) -> bool:
    """Whether the sentence asks for something to be done now: an imperative, a polite question or a wish.

    A prohibition ("never …", "do not …", "book nothing that …") asks for nothing to be done, so it is none.
    """
    plain = sentence.replace("’", "'")
    return bool(_REQUEST.match(plain) or _WISH.match(plain))


def _untouched(name: str, messages: Sequence[Chat], size: int) -> Compacted:
    return Compacted(policy=name, messages=tuple(messages), before=size, after=size)


def _cut(messages: Sequence[Chat], keep: int) -> int:
    """Where the kept part begins."""
    cut = max(len(messages) - keep, 0)
    newest = max((i for i, m in enumerate(messages) if m.get("role") == "user" and not is_summary(m)), default=cut)
    cut = min(cut, newest)
    while 0 < cut < len(messages) and messages[cut].get("role") == "tool":
        cut -= 1
    return cut


def _notes_of(message: Chat, results: Mapping[Any, str]) -> list[Note]:
    if is_summary(message):
        return list(notes(message["content"]))
    content = message.get("content")
    if message.get("role") == "user" and isinstance(content, str):
        asked = " ".join(s for s in sentences(content) if is_question(s) or is_request(s))
        return [Note(_clipped(asked))] if asked else []
    calls = message.get("tool_calls") or ()
    return [_done(call, results.get(call.get("id"), "")) for call in calls]


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
