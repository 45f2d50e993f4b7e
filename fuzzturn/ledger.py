"""Ledger: which constraints bind at turn n, and why.

A constraint is a standing instruction and not a request for one reply, so it binds from the turn that states it (seed
essay, `state_at_turn <= turn.index`); unlike there it can also end: lifted, superseded, or used up where it is a
one-shot approval. What a used or withdrawn approval had superseded binds again; what a lasting constraint superseded
does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from fuzzturn.scenario import Constraint, Line, Scenario

__all__ = ["Entry", "Ledger", "Status", "opening", "speak", "use"]

Status: TypeAlias = Literal["binding", "superseded", "lifted", "used"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One constraint stated so far. `since` is the turn it was stated in (1 for source: system)."""

    constraint: Constraint
    since: int
    status: Status = "binding"
    until: int | None = None
    """The turn at which it stopped binding; a used approval still bound in that turn. None = it binds."""
    by: str | None = None
    """The constraint that superseded it, else None."""

    def why(self) -> str:
        """One sentence that a report can print."""
        origin = "the system prompt" if self.constraint.source == "system" else f"turn {self.since}"
        if self.status == "binding":
            return f"bound since {origin}"
        ending = {"superseded": f"superseded by {self.by}", "lifted": "lifted", "used": "used up"}[self.status]
        return f"bound since {origin}, {ending} at turn {self.until}"


@dataclass(frozen=True, slots=True)
class Ledger:
    """Every constraint stated so far, in order of statement."""

    entries: tuple[Entry, ...] = ()

    @property
    def binding(self) -> tuple[Constraint, ...]:
        return tuple(entry.constraint for entry in self.entries if entry.status == "binding")

    def entry(self, constraint: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.constraint.id == constraint), None)


def opening(scenario: Scenario) -> Ledger:
    """The ledger before the first turn: what the system prompt states binds from turn 1."""
    return Ledger(tuple(Entry(c, since=1) for c in scenario.constraints if c.source == "system"))


def speak(ledger: Ledger, scenario: Scenario, line: Line | None, n: int) -> Ledger:
    """The ledger after the user's message of turn `n`. `line` None = an unscripted message, which states nothing."""
    if line is None or not (line.states or line.lifts):
        return ledger
    stated = [scenario.constraint(id) for id in line.states]
    entries = [entry for entry in ledger.entries if entry.constraint.id not in line.states]  # said again: it binds anew
    entries += [Entry(constraint, since=n) for constraint in stated]
    return _settled(
        [_ended(entry, "lifted", n) if entry.constraint.id in line.lifts else entry for entry in entries], n
    )


def use(ledger: Ledger, exercised: Iterable[str], n: int) -> Ledger:
    """The ledger after turn `n`, in which the checkers of `exercised` constraints found something to look at."""
    consumed = {e.constraint.id for e in ledger.entries if e.constraint.uses and e.status == "binding"} & set(exercised)
    if not consumed:
        return ledger
    return _settled([_ended(e, "used", n) if e.constraint.id in consumed else e for e in ledger.entries], n)


def _ended(entry: Entry, status: Status, n: int) -> Entry:
    return entry if entry.status in ("lifted", "used") else replace(entry, status=status, until=n, by=None)


def _settled(entries: list[Entry], n: int) -> Ledger:
    """Which of the entries that were not ended are superseded by a later one, at turn `n`."""
    return Ledger(tuple(_standing(entry, entries[i + 1 :], n) for i, entry in enumerate(entries)))


def _standing(entry: Entry, later: list[Entry], n: int) -> Entry:
    if entry.status in ("lifted", "used"):
        return entry
    # An approval for one use lets go of what it superseded once it is used or withdrawn; nothing else ever does.
    holding = [
        e.constraint.id
        for e in later
        if e.constraint.supersedes == entry.constraint.id and not (e.constraint.uses and e.status in ("used", "lifted"))
    ]
    if not holding:
        return replace(entry, status="binding", until=None, by=None)
    if entry.status == "superseded":
        return replace(entry, by=entry.by if entry.by in holding else holding[-1])
    return replace(entry, status="superseded", until=n, by=holding[-1])
