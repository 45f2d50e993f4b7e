"""Limits: what the user has ruled out by now, folded from what was said in order; later statements win.

A further kind of limit (refundable fares only, no such airline, no flight by night, hold but never buy) is a further
module like `prices`, a further field of `Limits`, and a line in `heard` and in `against`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .prices import Ceiling, Said, said_about_prices

__all__ = ["Approval", "Limits", "mentions_limit"]


@dataclass(frozen=True, slots=True)
class Approval:
    """Leave to go over the ceiling once. `amount` EUR is the highest fare approved; None = any."""

    amount: float | None

    def covers(self, leg: Mapping[str, Any]) -> bool:
        return self.amount is None or not Ceiling(self.amount, False, "").forbids(leg)


@dataclass(frozen=True, slots=True)
class Limits:
    """Which limits stand. None = there is none of that kind."""

    ceiling: Ceiling | None = None
    approval: Approval | None = None

    def heard(self, text: str, *, as_rule: bool = False) -> Limits:
        """The limits after `text` was said by somebody who may set them.

        `as_rule`: the text is known to lay down a rule, so a bare figure ("make it 500") is one without a rule before.
        """
        limits = self
        for said in said_about_prices(text):
            limits = _price(limits, said, as_rule)
        return limits

    def used(self) -> Limits:
        """The limits after a turn in which legs were held or confirmed: an approval serves once."""
        return replace(self, approval=None)

    def against(self, leg: Mapping[str, Any]) -> str | None:
        """The sentence that forbids holding or confirming the leg (its `fare_eur`), or None where none does."""
        if self.ceiling is None or not self.ceiling.forbids(leg):
            return None
        if self.approval is not None and self.approval.covers(leg):
            return None
        return self.ceiling.quote


def mentions_limit(text: str) -> bool:
    """Whether the text says anything about what is allowed."""
    return bool(said_about_prices(text))


def _price(limits: Limits, said: Said, as_rule: bool) -> Limits:
    if said.kind == "lift":
        return Limits()
    if said.kind == "approve":
        return replace(limits, approval=Approval(said.amount))
    if said.amount is None or (said.bare and limits.ceiling is None and not as_rule):
        return limits
    return Limits(Ceiling(said.amount, said.exclusive, said.quote))
