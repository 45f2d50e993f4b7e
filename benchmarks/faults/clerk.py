"""Clerk: the agent that all planted faults share. It acts on what its memory lets it see, and on nothing else.

`Clerk.act` is a function of the messages in view. What a memory leaves out of view is what a fault is made of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fuzzturn.ports import Reply
from fuzzturn.session import Chat, Compaction, Event, Message, ModelCall, ToolCall
from fuzzturn.tokens import message_tokens

from .desk import OFFERS, RULE

__all__ = ["FACTS", "Clerk", "Memory", "Said", "View", "size"]

_TASK = re.compile(r"^Please (find|reserve|order|note)\b")
FACTS = {"form": "It is form F-12.", "gate": "They arrive at gate 3.", "van": "In the yard behind the house."}
"""What is answered to a question aside that has the word in it."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message, with what a memory may go by."""

    chat: Chat
    call: str | None = None
    """The tool that this message calls or answers; None = it is talk."""
    summary: bool = False
    tokens: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", message_tokens(self.chat))

    @property
    def text(self) -> str:
        return str(self.chat["content"])

    @property
    def by_user(self) -> bool:
        return self.chat["role"] == "user" and not self.summary

    @property
    def states(self) -> bool:
        """Whether a user lays down a ceiling here; a summary that repeats one counts."""
        return (self.by_user or self.summary) and RULE.search(self.text) is not None

    @property
    def asks_aside(self) -> bool:
        """A question that the task does not need."""
        return self.by_user and self.text.rstrip().endswith("?")

    @property
    def small_talk(self) -> bool:
        """Neither a task nor a rule nor a question."""
        return self.by_user and not (_TASK.match(self.text) or self.states or self.asks_aside)


def size(said: Sequence[Said]) -> int:
    """Tokens of these messages."""
    return sum(one.tokens for one in said)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a memory makes of the messages so far."""

    kept: tuple[Said, ...]
    """What there is from now on."""
    seen: tuple[Said, ...]
    """What this model call sees."""
    compaction: Compaction | None = None
    fired: bool = False
    """Whether what was planted took effect in this call. For the benchmark's eyes only."""


Memory: TypeAlias = Callable[[tuple[Said, ...]], View]


class Clerk:
    """Finds, reserves, orders and notes. It takes the best offer that no ceiling in view forbids."""

    def __init__(self, desk: Any, memory: Memory) -> None:
        self._desk, self._memory = desk, memory
        self._said: tuple[Said, ...] = ()
        self.fired = False
        """Whether the planted mechanism has taken effect; read by the benchmark, after a session."""

    async def reply(self, message: str) -> Reply:
        """One model call, the tool calls that it asks for, one answer."""
        view = self._memory((*self._said, Said({"role": "user", "content": message})))
        self._said = view.kept
        self.fired = self.fired or view.fired
        events: list[Event] = [] if view.compaction is None else [view.compaction]
        events.append(ModelCall([one.chat for one in view.seen]))
        for name, args in self.act(view.seen):
            result = self._desk.call(name, **args)
            events.append(ToolCall(name, args, result))
            calls = [{"name": name, "arguments": args}]
            asked = Said({"role": "assistant", "content": "", "tool_calls": calls}, call=name)
            self._said = (*self._said, asked, Said({"role": "tool", "content": str(result)}, call=name))
        text = self.answer(view.seen[-1])
        self._said = (*self._said, Said({"role": "assistant", "content": text}))
        return Reply(events=[*events, Message(text)])

    def act(self, seen: Sequence[Said]) -> list[tuple[str, Mapping[str, Any]]]:
        """The tool calls for the last message in view."""
        said = seen[-1].text
        task = _TASK.match(said)
        if task is None:
            return []
        item = "chair" if "chair" in said else "lamp"
        if task[1] == "find":
            return [("find_offers", {"item": item})]
        if task[1] == "note":
            return [("note", {"text": said})]
        return [(task[1], {"item": item, "price": self.price(seen, task[1])})]

    def price(self, seen: Sequence[Said], task: str) -> int:  # noqa: ARG002 - some clerks go by the task
        """The best lamp's price under the ceiling in view, in euros; the best of all where none is in view."""
        return _best(self.ceiling(seen))

    def ceiling(self, seen: Sequence[Said]) -> int | None:
        """The ceiling in view that was stated last; None = there is none."""
        stated = [int(n) for one in seen if one.states for n in RULE.findall(one.text)]
        return stated[-1] if stated else None

    def answer(self, last: Said) -> str:
        """What is said at the end of the turn."""
        if last.asks_aside:
            return next((fact for word, fact in FACTS.items() if word in last.text), "I would have to look that up.")
        return "Done." if _TASK.match(last.text) else "Understood."

    def snapshot(self) -> object:
        return self._said, self.fired

    def restore(self, saved: Any) -> None:
        self._said, self.fired = saved


def _best(ceiling: int | None) -> int:
    return next(price for price in OFFERS["lamp"] if ceiling is None or price <= ceiling)
