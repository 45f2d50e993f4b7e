"""Reading: agents that take what the user says of limits for something else, or for nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from .book import Book
from .language import Figure, Limit, SoMuch, Utterance
from .steward import Said, Steward

__all__ = [
    "Deduplicating", "Fulfilling", "KnowingItAlready", "Literal", "LongWinded", "NumberMinded", "OneAtATime",
    "TakingItLightly", "Unitless",
]  # fmt: skip

_LONG, _READ = 120, 160
"""Tokens from which on a message is too long, and the characters of its end that are read then."""
_NEAR = 0.2
"""A number that differs from the limit by no more than this share of it."""


class Literal(Steward):
    """Knows a limit by one way of saying it. The same as a prohibition says nothing to it."""

    def hears(self, one: Said, book: Book) -> Sequence[Utterance]:
        return [said for said in super().hears(one, book) if not (isinstance(said, Limit) and said.form == "not above")]


class TakingItLightly(Steward):
    """What is said politely is no limit."""

    def hears(self, one: Said, book: Book) -> Sequence[Utterance]:
        return [said for said in super().hears(one, book) if not (isinstance(said, Limit) and said.form == "gently")]


class Fulfilling(Steward):
    """What is said as something to do is done once it was done."""

    def used_up(self, limit: Limit) -> bool:
        return super().used_up(limit) or limit.form == "do keep"


class OneAtATime(Steward):
    """Reads each message for itself: a sum without a limit, and a limit without a sum, are none."""

    def hears(self, one: Said, book: Book) -> Sequence[Utterance]:
        said = super().hears(one, book)
        whole = any(isinstance(part, Figure) for part in said) and any(isinstance(part, SoMuch) for part in said)
        return [part for part in said if whole or not isinstance(part, Figure | SoMuch)]


class NumberMinded(Steward):
    """Takes any number that is near the limit for a new limit."""

    def hears(self, one: Said, book: Book) -> Sequence[Utterance]:
        said = super().hears(one, book)
        if said or not one.by_user or not book.rules:
            return said
        limit = book.rules[-1].limit
        near = [n for n in map(int, re.findall(r"\d+", one.text)) if abs(n - limit.sum) <= _NEAR * limit.sum]
        return [replace(limit, sum=n) for n in near]


class LongWinded(Steward):
    """Reads the end of a long message only."""

    def listen(self) -> None:
        *before, last = self.said
        if last.tokens > _LONG:
            self.said = (*before, replace(last, chat={**last.chat, "content": last.text[-_READ:]}))


class Deduplicating(Steward):
    """Removes what stands twice, and removes both."""

    def enters(self, book: Book, said: Utterance) -> Book:
        latest = book.rules[-1] if book.rules else None
        if isinstance(said, Limit) and latest and not latest.over and latest.limit.same_as == said.same_as:
            return replace(book, rules=book.rules[:-1])
        return super().enters(book, said)


class KnowingItAlready(Steward):
    """What it has heard before is no news to it, whatever was said in between."""

    def enters(self, book: Book, said: Utterance) -> Book:
        if isinstance(said, Limit) and any(rule.limit.same_as == said.same_as for rule in book.rules):
            return book
        return super().enters(book, said)


class Unitless(Steward):
    """Reads the sum, and takes it for euros."""

    def hears(self, one: Said, book: Book) -> Sequence[Utterance]:
        said = super().hears(one, book)
        return [replace(part, unit="euros") if isinstance(part, Limit) else part for part in said]
