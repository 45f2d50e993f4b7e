"""Limits: what the user has ruled out by now, folded from what was said in order; later statements win.

A further kind of limit is a further module like `hours`, with a reader of statements (see `versions`) and a rule that
has `forbids`, `quote` and `figure`; and a line in `_READERS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeAlias

from fuzzturn.compaction import sentences

from .airlines import said_about_airlines
from .hours import said_about_hours
from .payments import Payments, covers, said_about_payments
from .prices import said_about_prices
from .refunds import said_about_refunds
from .terms import Scene, Terms
from .versions import Rule, Statement, Thing, Versions, in_force, stated, unused

__all__ = ["Limits", "mentions_limit"]

Said: TypeAlias = Statement | Payments


@dataclass(frozen=True, slots=True)
class Limits:
    """Which limits stand."""

    rules: tuple[tuple[str, Versions], ...] = ()
    """By kind of limit, its versions; a kind without any is left out."""
    unpaid: str | None = None
    """The sentence by which nothing may be confirmed; None = there is none."""
    approval: Payments | None = None
    """By which one confirmation is allowed in spite of it, and no other, also where the rule is not to be seen."""
    first: str = field(default="", compare=False)
    """The first piece of what may be said in two; alone it lays nothing down."""
    scene: Scene = field(default=Scene(), compare=False)
    """When, and as what stands, the limits are applied."""

    def heard(self, text: str, *, in_block: bool = False) -> Limits:
        """The limits after `text` was said by somebody who may set them.

        `in_block`: the text is known to lay down a rule that is in force: so a bare figure ("make it 500") is one
        without a rule before, and whatever else it hangs on is fulfilled.
        """
        limits = self
        for sentence in _telling(text):
            limits = limits._heard(sentence, in_block)
        return limits

    def used(self, things: Sequence[Thing], *, paid: bool) -> Limits:
        """The limits after a turn in which these were held or confirmed, or something was `paid` for (confirmed).

        An approval serves once.
        """
        left = ((kind, unused(versions, things)) for kind, versions in self.rules)
        rules = tuple((kind, versions) for kind, versions in left if versions)
        return replace(self, rules=rules, approval=None if paid else self.approval)

    def at(self, scene: Scene) -> Limits:
        """The same limits, to be applied in that scene."""
        return replace(self, scene=scene)

    def against(self, thing: Thing) -> str | None:
        """The sentence that forbids holding or confirming the thing, or None where none does for sure."""
        return next((rule.quote for rule, sure in self._forbidding(thing) if sure), None)

    def undecided(self, thing: Thing) -> str | None:
        """A sentence of which one cannot tell whether it forbids the thing, for too little is known."""
        return next((rule.quote for rule, sure in self._forbidding(thing) if not sure), None)

    def forbids(self, kind: str, thing: Thing) -> bool:
        """Whether a limit of that kind forbids the thing, or may."""
        return any(True for _ in self._forbidding(thing, kind))

    def against_paying(self, *bookings: Mapping[str, Any]) -> str | None:
        """The sentence that forbids one turn's confirmations, by their arguments; None where none does."""
        leave = self.approval.of if self.approval else ""
        fine = not bookings or (len(bookings) == 1 and covers(leave, bookings[0]))
        alone = self.approval.quote if self.approval and self.approval.alone else None
        return None if fine else self.unpaid or alone

    def newest(self, kind: str) -> Rule | None:
        """The rule of that kind that was stated last; None where there is none, or it was taken back."""
        versions = dict(self.rules).get(kind, ())
        return versions[-1].rule if versions else None

    def _forbidding(self, thing: Thing, only: str | None = None) -> Iterator[tuple[Rule, bool]]:
        """Rules that forbid the thing, each with whether it does so for sure; one kind of rule, or all."""
        for kind, versions in self.rules:
            if only not in (None, kind):
                continue
            rules = [version.rule if version else None for version in in_force(versions, thing, self.scene)]
            verdicts = [False if rule is None else rule.forbids(thing) for rule in rules]
            blamed = (rule for rule, verdict in zip(rules, verdicts, strict=True) if rule and verdict is not False)
            if (rule := next(blamed, None)) is not None:
                yield rule, all(verdicts)

    def _heard(self, sentence: str, in_block: bool) -> Limits:
        said = _said(sentence)
        if not said and self.first:
            said = _said(f"{self.first}; {sentence}")
        elif not said and _FIRST.search(sentence):
            return replace(self, first=sentence.rstrip(" .!;:"))
        limits = self
        for one in said:
            limits = limits._changed(one, in_block)
        return limits

    def _changed(self, said: Said, in_block: bool) -> Limits:
        if isinstance(said, Payments):
            if said.kind == "approve":
                return replace(self, approval=said)
            if said.kind == "ban":
                return replace(self, unpaid=said.quote, approval=None)
            return replace(self, unpaid=None)  # what was approved before is one payment all the same
        known = dict(self.rules)
        if said.bare and not in_block and said.kind not in known:
            return self
        if in_block:
            said = replace(said, terms=Terms(leg=said.terms.leg))
        known[said.kind] = stated(known.get(said.kind, ()), said)
        return replace(self, rules=tuple((kind, versions) for kind, versions in known.items() if versions))


_READERS: tuple[Callable[[str], tuple[Said, ...]], ...] = (
    said_about_prices, said_about_hours, said_about_refunds, said_about_airlines, said_about_payments,
)  # fmt: skip
_FIRST = re.compile(r"\bto (?:remember|keep in mind)\b", re.IGNORECASE)
_BACK = re.compile(r"\b(?:that|them|those)\b", re.IGNORECASE)


@lru_cache(maxsize=4096)
def _said(sentence: str) -> tuple[Said, ...]:
    # A conversation is read again at every model call, so the same text is read many times.
    return tuple(said for reader in _READERS for said in reader(sentence))


@lru_cache(maxsize=4096)
def _telling(text: str) -> tuple[str, ...]:
    """The sentences that say something of what is allowed, or do so together with one before."""
    return tuple(s for s in sentences(text) if _said(s) or _FIRST.search(s) or _BACK.search(s))


def mentions_limit(text: str) -> bool:
    """Whether the text says anything about what is allowed."""
    return any(_said(sentence) for sentence in sentences(text))
