"""Memories: how the faulty agents make their context smaller, and which ceiling gets lost on the way.

A memory sees structure only: who spoke, how long it was, which tools were called, whether a question came aside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fuzzturn.session import Compaction

from .clerk import Memory, Said, View, size

__all__ = ["Loses", "Summarised", "crowded_out", "head_and_tail", "losing_at_once", "middle_unseen", "pruned", "recent"]

Loses: TypeAlias = Callable[[Sequence[Said], int], bool]
"""Whether the ceiling stated in message number i is lost, given all messages so far, the last one just spoken."""


@dataclass(frozen=True, slots=True)
class Summarised:
    """Beyond `limit` tokens all but the last `keep` messages become a summary of the ceilings that are not lost.

    Nothing is done while those older messages hold fewer than `least` tokens that are no summary yet.
    """

    limit: int
    keep: int
    loses: Loses
    least: int = 0

    def __call__(self, said: tuple[Said, ...]) -> View:
        old, recent = said[: -self.keep], said[-self.keep :]
        if size(said) <= self.limit or size([one for one in old if not one.summary]) < max(self.least, 1):
            return View(kept=said, seen=said)
        stating = [i for i, one in enumerate(old) if one.states]
        lost = [i for i in stating if self.loses(said, i)]
        carried = [old[i].text for i in stating if i not in lost]
        text = " ".join(["Summary of what was said before:", *carried])
        summary = Said({"role": "user", "content": text}, summary=True)
        return _told("summarise", said, (summary, *recent), bool(lost), text)


def losing_at_once(loses: Loses) -> Memory:
    """No limit on size; but what was said before the last message is let go of where that loses a ceiling."""

    def memory(said: tuple[Said, ...]) -> View:
        lost = [i for i, one in enumerate(said[:-1]) if one.states and loses(said, i)]
        if not lost:
            return View(kept=said, seen=said)
        return _told("cut", said, tuple(one for i, one in enumerate(said) if i > max(lost)), fired=True)

    return memory


def crowded_out(tokens: int) -> Memory:
    """A message of `tokens` or more takes all the room there is: whatever was said before it is gone."""
    return losing_at_once(lambda said, _: said[-1].tokens >= tokens)


def head_and_tail(limit: int, head: int, tail: int) -> Memory:
    """Beyond `limit` tokens only the first `head` and the last `tail` messages are kept."""

    def memory(said: tuple[Said, ...]) -> View:
        middle = said[head:-tail]
        if size(said) <= limit or not middle:
            return View(kept=said, seen=said)
        return _told("head and tail", said, (*said[:head], *said[-tail:]), any(one.states for one in middle))

    return memory


def middle_unseen(limit: int, head: int) -> Memory:
    """A view of `limit` tokens: the first `head` of them and the last. What lies between is kept and never seen."""

    def memory(said: tuple[Said, ...]) -> View:
        if size(said) <= limit:
            return View(kept=said, seen=said)
        first = _fitting(said, head)
        last = _fitting(said[first:][::-1], limit - size(said[:first]))
        seen = (*said[:first], *said[max(len(said) - max(last, 1), first) :])
        fired = any(one.states for one in said[first : len(said) - max(last, 1)])
        return View(kept=said, seen=seen, compaction=_compaction("middle", said, seen), fired=fired)

    return memory


def pruned(limit: int, keep: int) -> Memory:
    """Beyond `limit` tokens the assistant's own talk is dropped, but for the last `keep` messages."""

    def memory(said: tuple[Said, ...]) -> View:
        old = said[:-keep]
        chatter = [one for one in old if one.chat["role"] == "assistant" and one.call is None]
        if size(said) <= limit or not chatter:
            return View(kept=said, seen=said)
        kept = (*(one for one in old if one.chat["role"] != "assistant" or one.call is not None), *said[-keep:])
        return _told("prune", said, kept, fired=any("euros" in one.text for one in chatter))

    return memory


def recent(messages: int) -> Memory:
    """Only so many messages are kept, whatever their length."""

    def memory(said: tuple[Said, ...]) -> View:
        if len(said) <= messages:
            return View(kept=said, seen=said)
        return _told("recent", said, said[-messages:], any(one.states for one in said[:-messages]))

    return memory


def _fitting(said: Sequence[Said], tokens: int) -> int:
    """How many messages from the first on fit into so many tokens."""
    count = 0
    while count < len(said) and said[count].tokens <= tokens:
        tokens -= said[count].tokens
        count += 1
    return count


def _told(policy: str, said: tuple[Said, ...], kept: tuple[Said, ...], fired: bool, summary: str = "") -> View:
    return View(kept=kept, seen=kept, compaction=_compaction(policy, said, kept, summary), fired=fired)


def _compaction(policy: str, said: Sequence[Said], kept: Sequence[Said], summary: str = "") -> Compaction:
    """What an honest agent tells of it. A summary was written from all that was dropped, a cut from nothing."""
    here = {id(one) for one in kept}
    dropped = [one.chat for one in said if id(one) not in here]
    return Compaction(policy, size(said), size(kept), dropped, summary, dropped if summary else ())
