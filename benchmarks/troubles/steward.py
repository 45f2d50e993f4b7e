"""Steward: the correct agent of this world, and the places at which its faulty relatives differ from it.

What it does is a function of the messages in view. It compacts beyond LIMIT tokens, or when the harness makes it: then
older messages become a summary, which it never goes by, and what was said of limits or has lasting effect stays word
for word, as messages of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from benchmarks.faults import clerk
from benchmarks.faults.clerk import FACTS, size
from fuzzturn.compaction import cuts, spoil, spoils
from fuzzturn.ports import Reply
from fuzzturn.scenario import Disturbance
from fuzzturn.session import Compaction, Event, Message, ModelCall, ToolCall

from .book import Book
from .language import Limit, Utterance, understand

__all__ = ["HEAD", "KEEP", "LIMIT", "Said", "Steward", "lines_of", "said_in", "size"]

LIMIT, KEEP, KEPT_TOKENS = 1000, 4, 400
"""Tokens in view beyond which it compacts; of the last KEEP messages as many stay as they are as fit."""
HEAD = "Summary:"
_TASK = re.compile(r"\bPlease (find|reserve|order|note)\b")


@dataclass(frozen=True, slots=True)
class Said(clerk.Said):
    """One message, with what is known of it beside its text."""

    used: tuple[Limit, ...] = ()
    """The approvals that this call used up."""
    held: str | None = None
    """What this answer shows to be reserved."""

    @property
    def lays_down(self) -> bool:
        """A user says something of limits here."""
        return self.by_user and bool(understand(self.text))

    @property
    def task(self) -> str | None:
        """What the user asks for."""
        found = _TASK.search(self.text) if self.by_user else None
        return found[1] if found else None

    @property
    def asks_aside(self) -> bool:
        """A question that the task does not need."""
        return self.by_user and self.task is None and self.text.rstrip().endswith("?")

    def reduced(self) -> Said:
        """Only what matters of it: the words that say something of limits, or what it has settled for good."""
        if not self.lays_down:
            settled = [f"used up: {limit.sum} {limit.unit}" for limit in self.used] + [f"reserved: {self.held}"] * bool(
                self.held
            )
            return replace(self, chat={"role": "assistant", "content": "; ".join(settled)}, call=None)
        words = "; ".join(words for _, words in understand(self.text))
        return replace(self, chat={**self.chat, "content": words})


def said_in(one: Said) -> list[Utterance]:
    """What the message says of limits, whoever speaks."""
    return [said for said, _ in understand(one.text)]


def lines_of(carried: Sequence[Said]) -> list[str]:
    """What a summary says of messages that lay down limits: a line for each."""
    return [one.text for one in carried if one.lays_down]


class Steward:
    """Finds, reserves, orders and notes. It takes the best offer that the limits in force allow."""

    identity = "steward (simulated, by rule)"

    def __init__(self, store: Any, now: Callable[[], datetime | None]) -> None:
        self.store, self.now = store, now
        self.said: tuple[Said, ...] = ()
        self.cuts_in_turn = 0
        self._events: list[Event] = []
        self._spoils: tuple[Disturbance, ...] = ()
        self._disturbed: tuple[Disturbance, ...] = ()

    def disturb(self, disturbances: Sequence[Disturbance]) -> None:
        """Let these befall the next reply."""
        self._disturbed = tuple(disturbances)

    def snapshot(self) -> object:
        return self.said

    def restore(self, saved: Any) -> None:
        self.said = saved

    def reply(self, message: str) -> Reply:
        """One user message: what it asks for, and an answer."""
        befalls, self._disturbed = self._disturbed, ()
        self._spoils, self._events, self.cuts_in_turn = spoils(befalls), [], 0
        self.said = (*self.said, Said({"role": "user", "content": message}))
        self.listen()
        last = self.asked()
        if cuts(befalls, within=False) or size(self.said) > LIMIT:
            self._compact()
        self._ask_model()
        for step in self.steps(last):
            answer = self.use(*step)
            if answer is None:
                break
            if cuts(befalls, within=True) and self.cuts_in_turn < 2:
                self._compact()
            self._ask_model()
            if last.task == "order" and step[0] == "find_offers":
                self.buy(step[1]["item"], answer["prices"], self.book())
        self._answer(last)
        return Reply(events=self._events)

    # What a faulty relative may do otherwise.

    def listen(self) -> None:
        """Take in the last message; here nothing is left to do."""

    def hears(self, one: Said, book: Book) -> Sequence[Utterance]:  # noqa: ARG002 - some go by what is in the book
        """What the message says of limits. Only the user has a say."""
        return said_in(one) if one.by_user else []

    def enters(self, book: Book, said: Utterance) -> Book:
        """The book after that was said."""
        return book.heard(said)

    def book(self) -> Book:
        """What the messages in view make of it."""
        book = Book()
        for one in self.said:
            for said in self.hears(one, book):
                book = self.enters(book, said)
            book = book.ended(one.used)
            if one.held is not None:
                book = book.reserved(one.held)
        return book

    def used_up(self, limit: Limit) -> bool:
        """Whether an order under this limit uses it up."""
        return limit.when.once

    def cap(self, book: Book, item: str) -> float | None:
        """The most that the item may cost."""
        return book.cap(item, self.now())

    def carries(self, old: Sequence[Said]) -> tuple[Said, ...]:
        """What of the old messages stays beside the summary."""
        return tuple(one.reduced() for one in old if one.lays_down or one.used or one.held)

    def believes(
        self,
        summary: str,  # noqa: ARG002 - it is not gone by
        carried: tuple[Said, ...],
        old: Sequence[Said],  # noqa: ARG002 - as above
    ) -> tuple[Said, ...]:
        """What stays once the summary is written."""
        return carried

    def refused(self, name: str, args: Mapping[str, Any], error: Exception) -> Any:  # noqa: ARG002 - some try again
        """What is done about a call that gave no answer: look whether it was carried out, and leave it at that."""
        if isinstance(error, TimeoutError) and name != "find_offers":
            return self.use("look", {})
        return None

    def after_answer(self, name: str, answer: Said) -> None:
        """Take in a tool's answer; here nothing is left to do."""

    def plan(self) -> str:
        """What it says when it is asked about itself."""
        return "I will do what you ask for, and keep to what you said."

    # The rest is common to all.

    def asked(self) -> Said:
        """The last message of the user's."""
        return next(one for one in reversed(self.said) if one.by_user)

    def steps(self, last: Said) -> list[tuple[str, dict[str, Any]]]:
        """The calls that the task begins with."""
        item = "chair" if "chair" in last.text else "lamp"
        match last.task:
            case "find" | "order":
                return [("find_offers", {"item": item})]
            case "reserve":
                return [("reserve", {"item": item})]
            case "note":
                return [("note", {"text": last.text})]
            case _:
                return []

    def buy(self, item: str, prices: Sequence[int], book: Book) -> None:
        """Order the best that is allowed; what is for one order is used up by it."""
        cap = self.cap(book, item)
        best = next((price for price in prices if cap is None or price <= cap), None)
        if best is None:
            return
        now = self.now()
        used = tuple(limit for limit in book.in_force(item, now) if self.used_up(limit))
        self.use("order", {"item": item, "price": best, "pieces": 1, "kilos": 4, "boxes": 1}, used)

    def use(self, name: str, args: dict[str, Any], used: tuple[Limit, ...] = ()) -> Any:
        """Call a tool. None = it gave no answer."""
        asked = {"role": "assistant", "content": "", "tool_calls": [{"name": name, "arguments": args}]}
        try:
            result, error = self.store.call(name, **args), None
        except (RuntimeError, TimeoutError) as raised:
            result, error = None, raised
        self._events.append(ToolCall(name, args, result, None if error is None else str(error)))
        held = next((a["item"] for n, a in (result or {}).get("done", ())[::-1] if n == "reserve"), None)
        text = json.dumps(result) if error is None else f"error: {error}"
        answer = Said({"role": "tool", "content": text}, name, held=held)
        self.said = (*self.said, Said(asked, name, used=used), answer)
        if error is not None:
            return self.refused(name, args, error)
        self.after_answer(name, answer)
        return result

    def _compact(self) -> None:
        stays = next((k for k in range(KEEP, 1, -1) if size(self.said[-k:]) <= KEPT_TOKENS), 1)
        old, recent = self.said[:-stays], self.said[-stays:]
        if not old:
            return
        carried = self.carries(old)
        chats = [one.chat for one in old]
        summary = spoil("\n".join([HEAD, *(f"- {line}" for line in lines_of(carried))]), self._spoils, chats)
        self._spoils, before = (), size(self.said)
        kept = self.believes(summary, carried, old)
        written = Said({"role": "user", "content": summary}, summary=True)
        self.said = (written, *kept, *recent)
        self.cuts_in_turn += 1
        here = {id(one.chat) for one in kept}
        dropped = [one.chat for one in old if id(one.chat) not in here]
        self._events.append(Compaction("summarise", before, size(self.said), dropped, summary, chats))

    def _ask_model(self) -> None:
        self._events.append(ModelCall([one.chat for one in self.said]))

    def _answer(self, last: Said) -> None:
        text = "Done." if last.task else "Understood."
        if last.asks_aside:
            own = self.plan() if re.search(r"\byou\b", last.text) else "I would have to look that up."
            text = next((fact for word, fact in FACTS.items() if word in last.text), own)
        self.said = (*self.said, Said({"role": "assistant", "content": text}))
        self._events.append(Message(text))
