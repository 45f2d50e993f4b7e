"""Limits: what the user has ruled out by now, folded from what was said in order; later statements win.

A further kind of limit is a further module like `hours`, with a reader and a rule that has `forbids` and `quote`; a
further field of `Limits`; a line in `_READERS` and in `_rules`; and one in `_changed` where a statement does more than
take the place of the one before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

from .airlines import Excluded, said_about_airlines
from .hours import Night, said_about_hours
from .payments import Payments, covers, said_about_payments
from .prices import Ceiling, Said, said_about_prices
from .refunds import Refundable, said_about_refunds

__all__ = ["Approval", "Limits", "mentions_limit"]

Thing: TypeAlias = Mapping[str, Any]
"""What is held or bought: a leg, which has a `flight`, or a `hotel`; with all that is known of it."""


@dataclass(frozen=True, slots=True)
class Approval:
    """Leave to go over the ceiling once. `amount` EUR is the highest fare approved; None = any."""

    amount: float | None

    def covers(self, leg: Thing) -> bool:
        return self.amount is None or not Ceiling(self.amount, False, "").forbids(leg)


@dataclass(frozen=True, slots=True)
class Limits:
    """Which limits stand. None = there is none of that kind."""

    ceiling: Ceiling | None = None
    approval: Approval | None = None
    night: Night | None = None
    refundable: Refundable | None = None
    airlines: tuple[Excluded, ...] = ()
    unpaid: str | None = None
    """The sentence by which nothing may be confirmed."""
    leave: str = ""
    """What one confirmation is allowed of in spite of it: flights, hotel, everything or "", nothing."""

    def heard(self, text: str, *, as_rule: bool = False) -> Limits:
        """The limits after `text` was said by somebody who may set them.

        `as_rule`: the text is known to lay down a rule, so a bare figure ("make it 500") is one without a rule before.
        """
        limits = self
        for field, said in _said(text):
            limits = _changed(limits, field, said, as_rule)
        return limits

    def used(self, *, legs: bool = True, paid: bool = True) -> Limits:
        """The limits after a turn in which legs were held or confirmed, or something was `paid` for, that is confirmed.

        An approval serves once.
        """
        return replace(self, approval=None if legs else self.approval, leave="" if paid else self.leave)

    def against(self, thing: Thing) -> str | None:
        """The sentence that forbids holding or confirming the thing, or None where none does."""
        if self.ceiling is not None and self.ceiling.forbids(thing) and not self._approved(thing):
            return self.ceiling.quote
        return next((rule.quote for rule in self._rules if rule.forbids(thing)), None)

    def undecided(self, thing: Thing) -> str | None:
        """A sentence of which one cannot tell whether it forbids the thing, for too little is known of that."""
        return next((rule.quote for rule in self._rules if rule.forbids(thing) is None), None)

    def against_paying(self, *bookings: Mapping[str, Any]) -> str | None:
        """The sentence that forbids one turn's confirmations, by their arguments; None where none does."""
        fine = not bookings or (len(bookings) == 1 and covers(self.leave, bookings[0]))
        return None if fine else self.unpaid

    def _approved(self, thing: Thing) -> bool:
        return self.approval is not None and self.approval.covers(thing)

    @property
    def _rules(self) -> tuple[Night | Refundable | Excluded, ...]:
        return tuple(rule for rule in (self.night, self.refundable, *self.airlines) if rule is not None)


_READERS: tuple[tuple[str, Callable[[str], tuple[Any, ...]]], ...] = (
    ("ceiling", said_about_prices),
    ("night", said_about_hours),
    ("refundable", said_about_refunds),
    ("airlines", said_about_airlines),
    ("unpaid", said_about_payments),
)


@lru_cache(maxsize=4096)
def _said(text: str) -> tuple[tuple[str, Any], ...]:
    # A conversation is read again at every model call, so the same text is read many times.
    return tuple((field, said) for field, reader in _READERS for said in reader(text))


def mentions_limit(text: str) -> bool:
    """Whether the text says anything about what is allowed."""
    return bool(_said(text))


def _changed(limits: Limits, field: str, said: Any, as_rule: bool) -> Limits:
    if field == "ceiling":
        return _price(limits, said, as_rule)
    if field == "airlines":
        return _airline(limits, *said)
    if field == "unpaid":
        return _payments(limits, said)
    return replace(limits, **{field: said})


def _price(limits: Limits, said: Said, as_rule: bool) -> Limits:
    if said.kind == "lift":
        return replace(limits, ceiling=None, approval=None)
    if said.kind == "approve":
        return replace(limits, approval=Approval(said.amount))
    if said.amount is None or (said.bare and limits.ceiling is None and not as_rule):
        return limits
    return replace(limits, ceiling=Ceiling(said.amount, said.exclusive, said.quote), approval=None)


def _airline(limits: Limits, named: Excluded, excluded: bool) -> Limits:
    others = tuple(rule for rule in limits.airlines if rule.code != named.code)
    return replace(limits, airlines=(*others, named) if excluded else others)


def _payments(limits: Limits, said: Payments) -> Limits:
    if said.kind == "approve":
        return replace(limits, leave=said.of)
    return replace(limits, unpaid=said.quote if said.kind == "ban" else None, leave="")
