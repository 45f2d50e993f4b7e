"""Book: which limits are in force by what was heard so far. Its rules are those of `fuzzturn.ledger`, by text alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from fuzzturn.clock import time

from .language import Figure, Limit, SoMuch, Utterance, Withdrawal, euros

__all__ = ["Book", "Rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A limit that was heard. `over`: it was withdrawn, or used up, and does not come back by itself."""

    limit: Limit
    over: bool = False


@dataclass(frozen=True, slots=True)
class Book:
    """The limits heard so far, the latest last; and what is reserved."""

    rules: tuple[Rule, ...] = ()
    pending: Limit | None = None
    """The sum of which it is not said yet what it is."""
    held: frozenset[str] = frozenset()

    def heard(self, said: Utterance) -> Book:
        """The book after that was said."""
        match said:
            case Limit():
                return self.laid_down(said)
            case Figure():
                return replace(self, pending=said.limit)
            case SoMuch() if self.pending is not None:
                return replace(self.laid_down(self.pending), pending=None)
            case Withdrawal():
                return self.ended(r.limit for r in self.rules if r.limit.sum == said.sum and not r.limit.temporary)
            case _:
                return self

    def laid_down(self, limit: Limit) -> Book:
        """With the limit as the latest; said again, it holds anew."""
        return replace(self, rules=(*(r for r in self.rules if r.limit.same_as != limit.same_as), Rule(limit)))

    def ended(self, limits: Iterable[Limit]) -> Book:
        """With these over."""
        ended = {limit.same_as for limit in limits}
        return replace(self, rules=tuple(replace(r, over=r.over or r.limit.same_as in ended) for r in self.rules))

    def reserved(self, item: str) -> Book:
        return replace(self, held=self.held | {item})

    def awake(self, rule: Rule, now: datetime | None) -> bool:
        """Whether it holds by itself, whatever was said later."""
        when = rule.limit.when
        end = time(when.until) if when.until else None
        gone = end is not None and now is not None and now >= end
        return not (rule.over or gone) and (when.held is None or when.held in self.held)

    def in_force(self, item: str, now: datetime | None) -> list[Limit]:
        """The limits that an order of that item must keep."""
        found = []
        for i, rule in enumerate(self.rules):
            later = self.rules[i + 1 :]
            if self.awake(rule, now) and not any(self._replaces(new, rule, item, now) for new in later):
                found.append(rule.limit)
        return [limit for limit in found if limit.what in (None, item)]

    def cap(self, item: str, now: datetime | None) -> float | None:
        """The most that the item may cost, in euros; None = anything."""
        return min(map(euros, self.in_force(item, now)), default=None)

    def _replaces(self, new: Rule, old: Rule, item: str, now: datetime | None) -> bool:
        awake = self.awake(new, now)
        if new.limit.what not in (None, old.limit.what):  # it replaces the old one for that part, while it holds
            return awake and new.limit.what == item
        return awake if new.limit.temporary else True
