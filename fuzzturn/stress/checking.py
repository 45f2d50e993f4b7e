"""Checking: a judge put to the self-check, in no more questions than deciding it takes.

It is asked about a few pairs of twins first, and about more only where these do not decide. How often it is decided at
most is known before the first question, from how many pairs there are, so the error rates of the self-check hold.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from fuzzturn.errors import Halted
from fuzzturn.stress.item import Answer, Item
from fuzzturn.stress.selfcheck import SelfCheck, self_check, self_check_json

__all__ = ["SIZES", "Asking", "Checked", "check", "checked_json", "sizes", "twins_of"]

SIZES = (10, 30, 119)
"""Pairs after which it is decided. At the first, a judge that is always right passes and one that always says the same
fails; at the last, every judge does one of the two."""
Asking: TypeAlias = Callable[[Sequence[Item]], Awaitable[list[Answer]]]
"""One answer about each item, in an arm in which a judge that looks can see what it needs."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The last decision; `stopped`: why no more was asked though it is undecided (`Halted.why`), None = nothing."""

    check: SelfCheck
    stopped: str | None = None


def twins_of(items: Iterable[Item]) -> list[tuple[Item, ...]]:
    """The pairs of which both turns are there, in an order that has nothing to do with what they are."""
    pairs: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        pairs[item.pair].append(item)
    whole = {pair: tuple(both) for pair, both in pairs.items() if len(both) == 2}
    return [whole[pair] for pair in sorted(whole, key=_mixed)]


def _mixed(pair: str) -> str:
    return hashlib.sha256(pair.encode()).hexdigest()


def sizes(pairs: int) -> tuple[int, ...]:
    """After how many of so many pairs it is decided."""
    last = min(pairs, SIZES[-1])
    return (*(size for size in SIZES if size < last), last)


async def check(items: Iterable[Item], asking: Asking) -> Checked:
    """Ask and decide. It stays undecided where no model can be asked any more: a part of a step decides nothing."""
    pairs, answers = twins_of(items), list[Answer]()
    steps = sizes(len(pairs))
    found, asked = self_check([]), 0
    for size in steps:
        wanted = [item for pair in pairs[asked:size] for item in pair]
        try:
            answers += await asking(wanted)
        except Halted as halted:
            return Checked(found, halted.why)
        asked, latest = size, self_check(answers, len(steps))
        if latest.twins.n or size == steps[-1]:  # before the last, no score at all may be a server's bad minute
            found = latest
        if found.decision != "undecided":
            break
    return Checked(found)


def checked_json(checked: Checked) -> dict[str, Any]:
    """The self-check as JSON, and why it stopped before it was decided; null = it did not."""
    return self_check_json(checked.check) | {"stopped": checked.stopped}
