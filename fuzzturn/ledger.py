"""Ledger: which constraints bind at turn n, and why.

A constraint is a standing instruction and not a request for one reply, so it binds from the turn that states it (seed
essay, `state_at_turn <= turn.index`); unlike there it can also end: lifted, superseded, expired, or used up where it is
a one-shot approval. One with a condition is dormant while that does not hold, and an approval while there is no rule
that it is an exception to: it never limits what nothing else does.

Versions of one rule, which supersede one another, are a family: the latest that is stated wins, also where an earlier
one is stated again. What is temporary (an approval, one that expires, one with a condition) lets go of what it
superseded once it is over; what a lasting constraint superseded does not come back. One that supersedes a part of
another takes that part out of it, for as long as it is in force.

What is lifted and what is expired is told by public reports to be mixed up with what is in force at least as often as
a limit is forgotten (superseded decision re-injected: anthropics/claude-code#90542; approval taken for a standing one:
NousResearch/hermes-agent#4974).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, TypeAlias

from fuzzturn.clock import time
from fuzzturn.scenario import Constraint, Line, Scenario, When

__all__ = ["Entry", "Ledger", "Status", "opening", "speak", "use"]

Status: TypeAlias = Literal["binding", "dormant", "superseded", "lifted", "used", "expired"]
Ending: TypeAlias = Literal["lifted", "used", "expired"]
Holds: TypeAlias = Callable[[When], bool]
"""Whether a condition holds before the turn."""


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
    root: str = ""
    """What the versions of this rule have in common."""
    ending: Ending | None = None
    """How it ended by itself, whatever superseded it before; None = it did not."""
    awake: bool = True
    """Whether its condition holds."""
    parts: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """The parts of it that are in force in another version: that one's id, and the arguments that name the part."""
    how: str = ""
    """How the figure changed by which it was superseded, as "raised to 500"; "" = that is not it."""

    @property
    def excluding(self) -> list[Mapping[str, Any]]:
        """What a checker is told not to look at."""
        return [part for _, part in self.parts]

    def why(self) -> str:
        """One sentence that a report can print."""
        origin = "the system prompt" if self.constraint.source == "system" else f"turn {self.since}"
        if self.status == "dormant":
            reason = _NOTHING_TO_ALLOW if self.awake else _condition(self.constraint.when)
            return f"stated in {origin}, does not apply now: {reason}"
        if self.status == "binding":
            but = "".join(f", but for {_named(part)} ({id})" for id, part in self.parts)
            return f"bound since {origin}{but}"
        by = f"{self.how} by {self.by}" if self.how else f"superseded by {self.by}"
        ending = {"superseded": by, "lifted": "lifted", "used": "used up", "expired": "expired"}[self.status]
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

    def versions(self, constraint: Constraint) -> tuple[Entry, ...]:
        """The other versions of the same rule that were stated, in order."""
        own = self.entry(constraint.id) or (self.entry(constraint.replaces) if constraint.replaces else None)
        return tuple(
            e for e in self.entries if own is not None and e.root == own.root and e.constraint.id != constraint.id
        )


def opening(scenario: Scenario) -> Ledger:
    """The ledger before the first turn: what the system prompt states binds from turn 1."""
    system = [c for c in scenario.constraints if c.source == "system"]
    return _settled([Entry(c, since=1, root=scenario.root(c.id)) for c in system], 1)


def speak(
    ledger: Ledger,
    scenario: Scenario,
    line: Line | None,
    n: int,
    *,
    now: datetime | None = None,
    holds: Holds | None = None,
) -> Ledger:
    """The ledger after the user's message of turn `n`. `line` None = an unscripted message, which states nothing.

    `now`: what the session's clock shows; None = it has none, and nothing expires. `holds` tells whether a condition
    holds before the turn; None = all do.
    """
    states, lifts = (line.states, line.lifts) if line is not None else ((), ())
    if not (states or lifts or any(_changes(entry.constraint) for entry in ledger.entries)):
        return ledger
    entries = [entry for entry in ledger.entries if entry.constraint.id not in states]  # said again: it binds anew
    entries += [Entry(scenario.constraint(id), since=n, root=scenario.root(id)) for id in states]
    entries = [_ended(entry, "lifted", n) if entry.constraint.id in lifts else entry for entry in entries]
    entries = [_passed(entry, n, now) for entry in entries]
    if holds is not None:
        entries = [replace(e, awake=holds(e.constraint.when)) if e.constraint.when else e for e in entries]
    settled = _settled(entries, n)
    return ledger if settled == ledger else settled


def use(ledger: Ledger, exercised: Iterable[str], n: int) -> Ledger:
    """The ledger after turn `n`, in which the checkers of `exercised` constraints found something to look at."""
    consumed = {e.constraint.id for e in ledger.entries if e.constraint.uses and e.status == "binding"} & set(exercised)
    if not consumed:
        return ledger
    return _settled([_ended(e, "used", n) if e.constraint.id in consumed else e for e in ledger.entries], n)


def _changes(constraint: Constraint) -> bool:
    """Whether it may begin or end to bind without a word."""
    return constraint.when is not None or constraint.expires is not None


def _ended(entry: Entry, ending: Ending, n: int) -> Entry:
    return entry if entry.ending else replace(entry, ending=ending, status=ending, until=n, by=None, parts=(), how="")


def _passed(entry: Entry, n: int, now: datetime | None) -> Entry:
    end = time(entry.constraint.expires) if entry.constraint.expires else None
    return _ended(entry, "expired", n) if end is not None and now is not None and now >= end else entry


def _settled(entries: Sequence[Entry], n: int) -> Ledger:
    """How each entry that has not ended by itself stands at turn `n`, beside those that were stated later."""
    return Ledger(tuple(_standing(e, entries[i + 1 :], n, _moot(e, entries)) for i, e in enumerate(entries)))


def _moot(entry: Entry, entries: Sequence[Entry]) -> bool:
    """Whether it approves once of going beyond a rule of which no version is in force: then it limits nothing."""
    if entry.constraint.exception_to is None:
        return False
    rules = [other for other in entries if other.root == entry.root and other.constraint.exception_to is None]
    return not any(
        rule.ending is None and rule.awake and not any(_holds_down(later, rule) for later in rules[i + 1 :])
        for i, rule in enumerate(rules)
    )


def _standing(entry: Entry, later: Sequence[Entry], n: int, moot: bool) -> Entry:
    """`moot`: there is nothing that it could be an exception to."""
    if entry.ending:
        return entry
    versions = [other for other in later if other.root == entry.root]
    holding = [other for other in versions if _holds_down(other, entry)]
    parts = tuple((other.constraint.id, _part(other)) for other in versions if _takes_part(other, entry))
    if holding:
        return _superseded(entry, holding, n)
    status: Status = "binding" if entry.awake and not moot else "dormant"
    return replace(entry, status=status, until=None, by=None, how="", parts=parts)


def _superseded(entry: Entry, holding: Sequence[Entry], n: int) -> Entry:
    known = next((other for other in holding if other.constraint.id == entry.by), None)
    by = known or holding[-1]
    until = entry.until if entry.status == "superseded" else n
    how = _change(entry.constraint, by.constraint)
    return replace(entry, status="superseded", until=until, by=by.constraint.id, how=how, parts=())


def _holds_down(later: Entry, entry: Entry) -> bool:
    """Whether the later version is in the place of the entry. A lasting one is for good, even once it is lifted."""
    if _part(later) and _part(later) != _part(entry):
        return False
    return (later.ending is None and later.awake) if later.constraint.temporary else True


def _takes_part(later: Entry, entry: Entry) -> bool:
    in_force = later.ending is None and later.awake
    return in_force and bool(_part(later)) and _part(later) != _part(entry)


def _part(entry: Entry) -> Mapping[str, Any]:
    return entry.constraint.supersedes.args if entry.constraint.supersedes else {}


def _change(old: Constraint, new: Constraint) -> str:
    """ "raised to 500", where one figure is all that differs."""
    differing = [key for key in old.args.keys() | new.args.keys() if old.args.get(key) != new.args.get(key)]
    if old.checker != new.checker or len(differing) != 1:
        return ""
    then, now = old.args.get(differing[0]), new.args.get(differing[0])
    if not all(isinstance(x, int | float) and not isinstance(x, bool) for x in (then, now)):
        return ""
    return f"{'raised' if now > then else 'lowered'} to {now:g}"  # type: ignore[operator]


def _named(part: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in part.items())


_NOTHING_TO_ALLOW = "no rule is in force that it is an exception to"


def _condition(when: When | None) -> str:
    if when is None:
        return "its condition does not hold"
    args = f" ({_named(when.args)})" if when.args else ""
    return f"{when.check}{args} is {'false' if when.is_ else 'true'}"
