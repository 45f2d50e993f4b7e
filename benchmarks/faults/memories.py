"""Memories: how the faulty agents make their context smaller, and which ceiling gets lost on the way.

A memory sees structure only: who spoke, how long it was, which tools were called, whether a question came aside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

from fuzzturn.session import Compaction

from .clerk import Memory, Said, View, size

__all__ = [
    "Keeps", "Loses", "Summarised", "beyond", "crowded_out", "everything", "head_and_tail", "in_batches", "keeping",
    "losing_at_once", "middle_unseen", "paged", "pruned", "recent",
]  # fmt: skip

Loses: TypeAlias = Callable[[Sequence[Said], int], bool]
"""Whether the ceiling stated in message number i is lost, given all messages so far, the last one just spoken."""
Keeps: TypeAlias = Callable[[Sequence[Said], int], bool]
"""Whether message number i stays, given all messages so far, the last one just spoken."""


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


def everything(said: tuple[Said, ...]) -> View:
    """Nothing is ever let go of."""
    return View(kept=said, seen=said)


def beyond(tokens: int) -> Callable[[Sequence[Said]], bool]:
    """Whether there are more than so many tokens by now."""
    return lambda said: size(said) > tokens


def keeping(
    policy: str,
    when: Callable[[Sequence[Said]], bool],
    keeps: Keeps,
    matters: Callable[[Said], bool] = lambda one: one.states,
) -> Memory:
    """Whenever `when` holds, only what `keeps` says stays, and the message just spoken.

    `matters`: what the agent goes by; the planted mechanism takes effect when one of those is dropped.
    """

    def memory(said: tuple[Said, ...]) -> View:
        if not when(said):
            return View(kept=said, seen=said)
        last = len(said) - 1
        kept = tuple(one for i, one in enumerate(said) if i == last or keeps(said, i))
        if len(kept) == len(said):
            return View(kept=said, seen=said)
        here = {id(one) for one in kept}
        return _told(policy, said, kept, any(matters(one) and id(one) not in here for one in said))

    return memory


def in_batches(messages: int) -> Memory:
    """Each so many messages of the user become a summary of the ceilings among all of them but the last."""

    def memory(said: tuple[Said, ...]) -> View:
        users = [i for i, one in enumerate(said) if one.by_user]
        if len(users) <= messages:
            return View(kept=said, seen=said)
        old, overlooked = said[: users[messages]], said[users[messages - 1]]
        text = " ".join(
            ["Summary of what was said before:", *(o.text for o in old if o.states and o is not overlooked)]
        )
        summary = Said({"role": "user", "content": text}, summary=True)
        return _told("batch", said, (summary, *said[users[messages] :]), overlooked.states, text)

    return memory


def paged(tokens: int) -> Memory:
    """What was said is kept in pages of so many tokens, and a message that a page's end goes through is never seen."""

    def memory(said: tuple[Said, ...]) -> View:
        ends = list(accumulate(one.tokens for one in said))
        torn = {i for i, one in enumerate(said[:-1]) if (ends[i] - one.tokens) // tokens < (ends[i] - 1) // tokens}
        seen = tuple(one for i, one in enumerate(said) if i not in torn)
        if not torn:
            return View(kept=said, seen=said)
        fired = any(said[i].states for i in torn)
        return View(kept=said, seen=seen, compaction=_compaction("pages", said, seen), fired=fired)

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
