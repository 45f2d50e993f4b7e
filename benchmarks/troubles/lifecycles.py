"""Lifecycles: agents that mix up which limits have begun and which have ended."""

from __future__ import annotations

from dataclasses import replace

from .book import Book, Rule
from .language import Condition, Limit, Other, Utterance, Withdrawal
from .steward import Said, Steward, said_in

__all__ = ["AskedOnce", "FirstWord", "Generous", "Leaking", "Stubborn", "Timeless", "TwoThings"]

_ROOM = 2
"""Subjects for which there is room."""


class FirstWord(Steward):
    """Of the limits to everything, in one currency and for good, the first is the one that counts."""

    def enters(self, book: Book, said: Utterance) -> Book:
        if isinstance(said, Limit) and _plain(said) and any(_plain(rule.limit) for rule in book.rules):
            return book
        return super().enters(book, said)


class Leaking(Steward):
    """A limit for one thing takes the place of the limit for all."""

    def enters(self, book: Book, said: Utterance) -> Book:
        if isinstance(said, Limit) and said.what is not None:
            return replace(book, rules=(Rule(said),))
        return super().enters(book, said)


class Stubborn(Steward):
    """What was laid down once is laid down for good."""

    def enters(self, book: Book, said: Utterance) -> Book:
        return book if isinstance(said, Withdrawal) else super().enters(book, said)


class Generous(Steward):
    """An approval for once is one for the rest of the session."""

    def used_up(self, limit: Limit) -> bool:  # noqa: ARG002 - nothing ever is
        return False


class Timeless(Steward):
    """Does not look at the clock."""

    def cap(self, book: Book, item: str) -> float | None:
        return book.cap(item, None)


class AskedOnce(Steward):
    """Looks whether a condition holds when it is laid down, and never again."""

    def enters(self, book: Book, said: Utterance) -> Book:
        if not isinstance(said, Limit) or said.when.held is None:
            return super().enters(book, said)
        if said.when.held not in book.held:
            return book
        return super().enters(book, replace(said, when=Condition()))


class TwoThings(Steward):
    """Has room for the limits of two subjects; the oldest subject goes."""

    def listen(self) -> None:
        subjects = list(dict.fromkeys(subject for one in self.said for subject in _subjects(one)))
        for gone in subjects[:-_ROOM]:
            self.said = tuple(one for one in self.said if gone not in _subjects(one))


def _plain(limit: Limit) -> bool:
    """A lasting limit in euros, to everything."""
    return not limit.temporary and limit.what is None and limit.unit == "euros"


def _subjects(one: Said) -> list[str]:
    said = said_in(one) if one.by_user else []
    return [part.part if isinstance(part, Other) else "price" for part in said]
