"""Ledger: which constraints bind at turn n, and why.

A constraint is a standing instruction and not a request for one reply, so it binds from the turn that states it (seed
essay, `state_at_turn <= turn.index`); unlike there it can also end: lifted, superseded, or used up where it is a
one-shot approval. What a used-up approval had superseded binds again; what a lasting constraint superseded does not.
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
    entries = list(ledger.entries)
    for constraint in (scenario.constraint(id) for id in line.states):
        entries = [e for e in entries if e.constraint.id != constraint.id]  # said again: it binds anew
        entries = [_supersede(entry, constraint, n) for entry in entries]
        entries.append(Entry(constraint, since=n))
    lifted = set(line.lifts)
    return Ledger(tuple(_end(e, "lifted", n) if e.constraint.id in lifted else e for e in entries))


def use(ledger: Ledger, exercised: Iterable[str], n: int) -> Ledger:
    """The ledger after turn `n`, in which the checkers of `exercised` constraints found something to look at."""
    consumed = {e.constraint.id for e in ledger.entries if e.constraint.uses and e.status == "binding"} & set(exercised)
    if not consumed:
        return ledger
    freed = tuple(
        replace(e, status="binding", until=None, by=None) if e.status == "superseded" and e.by in consumed else e
        for e in ledger.entries
    )
    return Ledger(tuple(_end(e, "used", n) if e.constraint.id in consumed else e for e in freed))


def _supersede(entry: Entry, by: Constraint, n: int) -> Entry:
    if entry.constraint.id != by.supersedes or entry.status == "lifted":
        return entry
    return replace(_end(entry, "superseded", n), by=by.id)


def _end(entry: Entry, status: Status, n: int) -> Entry:
    return replace(entry, status=status, until=n) if entry.status in ("binding", "superseded") else entry
