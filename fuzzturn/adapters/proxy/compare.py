"""Compare: what left a conversation between two requests of one agent, and what stands in its place.

Compared are messages other than the system's: a clock in the system prompt changes with every call and is no loss.
Where something left, the system prompt is looked at as well, since some agents put their summary there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fuzzturn.adapters.proxy.reading import Digest, calls_of, digest, is_system, text_of, unclocked
from fuzzturn.plain import plain
from fuzzturn.session import Chat

__all__ = ["Change", "Known", "change"]

SHORTEST_CUT = 8
"""Characters that must be left of a message that is called cut, rather than replaced by something else."""
_MARKS = ".… []()"


@dataclass(slots=True)
class Known:
    """What a session has brought forth, so that its return in a later request is nothing new."""

    users: list[str]
    """What the user said, turn by turn, white space folded; the last one is this turn's."""
    answers: set[Digest]
    """What the model answered."""
    asked: set[str]
    """Ids of the tool calls that it asked for."""
    told: bool = True
    """Whether `users` is all that the user said; False = what a user message at the end says is taken to be said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Messages are gone. `standing`: texts that are new, neither said nor answered nor results of tools."""

    gone: tuple[Chat, ...]
    cut: tuple[Chat, ...]
    """Those of `gone` of which a part is left."""
    replaced: tuple[Chat, ...]
    """Tool results of `gone` in whose place another text stands."""
    standing: tuple[str, ...]
    spoken: tuple[str, ...]
    """Those of `standing` that are no message of the assistant's."""
    unclear: bool
    """The system prompt was written anew: whether something stands in it for what is gone cannot be seen."""
    kept: int
    """How many messages are still there."""
    went_on: tuple[Chat, ...]
    """What is new and was to be expected: answers, results, what the user says."""

    @property
    def unknown_how(self) -> bool:
        """Whether something may stand in place of what is gone that nobody was seen to write."""
        return bool(self.standing or self.replaced) or self.unclear


def change(before: Sequence[Chat], after: Sequence[Chat], known: Known) -> Change | None:
    """What left between two requests; None = nothing did, or all of it was taken into another message whole."""
    if list(after[: len(before)]) == list(before):
        return None
    left = Counter(digest(message) for message in after if not is_system(message))
    gone = [m for m in before if not is_system(m) and not _take(left, digest(m))]
    kept = sum(1 for message in before if not is_system(message)) - len(gone)
    had = Counter(digest(message) for message in before if not is_system(message))
    new = [m for m in after if not is_system(m) and not _take(had, digest(m))]
    new_texts = [plain(text_of(message)) for message in new]
    bare: set[str | None] = {" ".join(text_of(message).split()) for message in new}
    gone = [message for message in gone if not _unwrapped(message, known, bare)]
    if not gone or all((said := plain(text_of(m))) and any(said in text for text in new_texts) for m in gone):
        return None
    replaced, cut, partners = _paired(gone, new)
    wrappings = {extra for m in before if (extra := _wrapping(m, known)) is not None}
    strange = [
        m for m in new
        if id(m) not in partners and _wrapping(m, known) not in wrappings and not _accounted(m, new, after, known)
    ]  # fmt: skip
    systems, unclear = _system_news(before, after)
    standing = [text_of(message) for message in strange] + systems
    spoken = [text_of(message) for message in strange if message.get("role") != "assistant"] + systems
    return Change(
        gone=tuple(gone), cut=cut, replaced=replaced, standing=tuple(filter(str.strip, standing)),
        spoken=tuple(filter(str.strip, spoken)), unclear=unclear, kept=kept,
        went_on=tuple(m for m in new if id(m) not in partners and not any(m is other for other in strange)),
    )  # fmt: skip


def _take(counted: Counter[Digest], one: Digest) -> bool:
    if counted[one] <= 0:
        return False
    counted[one] -= 1
    return True


def _unwrapped(message: Chat, known: Known, bare: set[str | None]) -> bool:
    """The agent wraps the newest user message (with documents, say) and keeps what was said without them."""
    inside = _words_in(message, known)
    return inside in bare and " ".join(text_of(message).split()) not in known.users


def _wrapping(message: Chat, known: Known) -> str | None:
    """What an agent puts around the user's words, the same in every turn; None = the message has no such words."""
    inside = _words_in(message, known)
    return None if inside is None else unclocked(" ".join(text_of(message).split()).replace(inside, "", 1))


def _words_in(message: Chat, known: Known) -> str | None:
    """Which words of the user's a user message brings, the longest that it has in it."""
    said = " ".join(text_of(message).split()) if message.get("role") == "user" else ""
    return max((text for text in known.users if text and text in said), key=len, default=None)


def _paired(gone: list[Chat], new: list[Chat]) -> tuple[tuple[Chat, ...], tuple[Chat, ...], set[int]]:
    """Messages that are replaced one by one: results by the id of their call, others where a part of them is left."""
    by_id = {m["tool_call_id"]: m for m in new if m.get("role") == "tool" and m.get("tool_call_id")}
    replaced: list[Chat] = []
    cut: list[Chat] = []
    partners: set[int] = set()
    for message in gone:
        text = plain(text_of(message))
        if message.get("role") == "tool" and (partner := by_id.get(message.get("tool_call_id"))) is not None:
            partners.add(id(partner))
            (cut if _is_cut(plain(text_of(partner)), text) else replaced).append(message)
            continue
        same = (m for m in new if m.get("role") == message.get("role") and id(m) not in partners)
        if (part := next((m for m in same if _is_cut(plain(text_of(m)), text)), None)) is not None:
            partners.add(id(part))
            cut.append(message)
    return tuple(replaced), tuple(cut), partners


def _is_cut(part: str, whole: str) -> bool:
    part = part.strip(_MARKS)
    return len(part) >= SHORTEST_CUT and len(part) < len(whole) and part in whole


def _accounted(message: Chat, new: Sequence[Chat], after: Sequence[Chat], known: Known) -> bool:
    """Whether a new message is one that an agent goes on with: an answer, a tool's result, what the user says."""
    role = message.get("role")
    if role == "tool":
        return True
    if role == "assistant":
        ids = [id for id, _, _ in calls_of(message)]
        asked = bool(ids) and all(id in known.asked for id in ids)
        return asked or digest(message) in known.answers or _rewritten(message, new, after, known)
    if role != "user":
        return False
    said = " ".join(text_of(message).split())
    if said in known.users:
        return True
    last = next(m for m in reversed(after) if m.get("role") == "user")
    return not known.told and message is last


def _rewritten(message: Chat, new: Sequence[Chat], after: Sequence[Chat], known: Known) -> bool:
    """The last answer, worded anew by the agent: the one strange message of the assistant's, after all that is old."""
    news = {id(m) for m in new}
    old = [i for i, m in enumerate(after) if id(m) not in news and not is_system(m)]
    strange = [m for m in new if m.get("role") == "assistant" and digest(m) not in known.answers and not calls_of(m)]
    at = next(i for i, m in enumerate(after) if m is message)
    return bool(old) and at > old[-1] and strange == [message]


def _system_news(before: Iterable[Chat], after: Iterable[Chat]) -> tuple[list[str], bool]:
    """What the system says now and did not before: texts added, and whether one was written anew instead."""
    had = [text_of(message) for message in before if is_system(message)]
    has = [text_of(message) for message in after if is_system(message)]
    strange = [text for text in has if unclocked(text) not in map(unclocked, had)]
    added: list[str] = []
    unclear = False
    for text in strange:
        more = next((more for old in had if (more := _added_to(old, text)) is not None), None)
        if more is not None or len(has) > len(had):
            added.append(text if more is None else more)
        else:
            unclear = True
    return added, unclear


def _added_to(old: str, text: str) -> str | None:
    """What a text says beyond an older one that is still in it; None = the older one is not."""
    if not old.strip():
        return None
    if text.startswith(old):
        return text[len(old) :]
    lines = {unclocked(line) for line in old.splitlines()}
    if not lines <= {unclocked(line) for line in text.splitlines()}:
        return None
    return "\n".join(line for line in text.splitlines() if unclocked(line) not in lines)
