"""Language: the few fixed forms in which the user of this world lays down, changes and withdraws a limit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

__all__ = [
    "DOLLARS",
    "FORMS",
    "Condition",
    "Figure",
    "Limit",
    "Other",
    "Utterance",
    "Withdrawal",
    "euros",
    "understand",
]

DOLLARS = 1.2
"""What a euro is worth in dollars."""
_WHAT = r"one (?P<what>thing|lamp|chair)"
_SUM = r"(?P<sum>\d+) (?P<unit>euros|dollars)"
_WHEN = r"(?:until (?P<until>\S+Z) |(?P<once>for one order) |while a (?P<held>lamp|chair) is reserved )?"
FORMS: Mapping[str, str] = {
    "ceiling": rf"{_WHEN}{_WHAT} may cost at most {_SUM}",
    "not above": rf"do not spend more than {_SUM} on {_WHAT}",
    "gently": rf"I would rather not go above {_SUM} for {_WHAT}",
    "do keep": rf"keep to {_SUM} or less for {_WHAT}",
    "figure": rf"for {_WHAT} {_SUM}",
    "so much": r"that is the most it may cost",
    "withdrawn": r"forget the limit of (?P<sum>\d+)",
    "other": r"one order may \w+ at most \d+ (?P<part>\w+)",
}
"""By name, each form as a regular expression. "figure" and "so much" say a limit only together."""


@dataclass(frozen=True, slots=True)
class Condition:
    """When a limit holds: not from `until` on (ISO), for one order only, or while such a thing is reserved."""

    until: str | None = None
    once: bool = False
    held: str | None = None


@dataclass(frozen=True, slots=True)
class Limit:
    """Nothing of that kind (None = nothing at all) may cost more than `sum` of `unit`."""

    sum: int
    unit: str
    what: str | None
    when: Condition = Condition()
    form: str = "ceiling"

    @property
    def temporary(self) -> bool:
        return self.when != Condition()

    @property
    def same_as(self) -> tuple[object, ...]:
        """Equal for the same limit, however it is worded."""
        return self.sum, self.unit, self.what, self.when


@dataclass(frozen=True, slots=True)
class Figure:
    """A sum of which it is not said yet what it is."""

    limit: Limit


@dataclass(frozen=True, slots=True)
class SoMuch:
    """What makes a limit of the sum that was said before."""


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """The limit of that sum no longer holds."""

    sum: int


@dataclass(frozen=True, slots=True)
class Other:
    """A limit to something else than the price."""

    part: str


Utterance: TypeAlias = Limit | Figure | SoMuch | Withdrawal | Other
_ALL = {name: re.compile(form) for name, form in FORMS.items()}


def euros(limit: Limit) -> float:
    """The limit in euros."""
    return limit.sum / DOLLARS if limit.unit == "dollars" else limit.sum


@lru_cache(maxsize=4096)
def understand(text: str) -> tuple[tuple[Utterance, str], ...]:
    """What is said of limits, in order, each with the words that say it."""
    found = [
        (match.start(), _read(name, match), match[0]) for name, form in _ALL.items() for match in form.finditer(text)
    ]
    return tuple((said, words) for _, said, words in sorted(found, key=lambda one: one[0]))


def _read(name: str, match: re.Match[str]) -> Utterance:
    given = match.groupdict()
    if name == "so much":
        return SoMuch()
    if name == "other":
        return Other(given["part"])
    if name == "withdrawn":
        return Withdrawal(int(given["sum"]))
    when = Condition(given.get("until"), given.get("once") is not None, given.get("held"))
    what = None if given["what"] == "thing" else given["what"]
    limit = Limit(int(given["sum"]), given["unit"], what, when, name)
    return Figure(limit) if name == "figure" else limit
