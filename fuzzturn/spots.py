"""Spots: where in a script an operator's edits have an effect, and which spare constraints are of which kind.

What operators of a project are written with: an edit that is spoken before its constraint is stated, or after the last
turn that the constraint guards, costs turns and shows nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from fuzzturn.offers import Called, Guarded, NotApplicable
from fuzzturn.scenario import Constraint, Line, Scenario

__all__ = ["Kind", "after_statement", "any_of", "calling", "kind_of", "misled", "spares", "stated"]

Kind: TypeAlias = Literal[
    "supersede", "supersede_partial", "unit_change", "approval", "expiring", "conditional", "other"
]
UNITS = ("unit", "currency")
"""What the arguments are called that say what a figure counts."""


def kind_of(spare: Constraint, scenario: Scenario) -> Kind:
    """What speaking a spare constraint does: see docs/operators.md, "Spare constraints"."""
    if spare.uses is not None:
        return "approval"
    if spare.expires is not None:
        return "expiring"
    if spare.when is not None:
        return "conditional"
    if spare.supersedes is None:
        return "other"
    if spare.supersedes.args:
        return "supersede_partial"
    return "unit_change" if _other_unit(spare, scenario) else "supersede"


def spares(scenario: Scenario, kind: Kind) -> tuple[Constraint, ...]:
    """The spare constraints of that kind. Raises NotApplicable where there is none, saying what to add."""
    found = tuple(c for c in scenario.constraints if c.spare and kind_of(c, scenario) == kind)
    if not found:
        raise NotApplicable(f"the scenario has no spare constraint for it ({_WANTED[kind]})")
    return found


def stated(scenario: Scenario) -> Iterator[tuple[Line, Constraint]]:
    """Every constraint that a turn of the script states, with the first such turn."""
    for constraint in scenario.constraints:
        line = next((line for line in scenario.turns if constraint.id in line.states), None)
        if line is not None:
            yield line, constraint


def after_statement(scenario: Scenario, constraint: str, guarded: Guarded) -> tuple[str, ...]:
    """The turns just before which something is said after the constraint was stated, and before it is last looked at.

    `constraint` may be a spare one: then it is what that supersedes that counts. Where it is not known which turns it
    guards, all later turns.
    """
    root = scenario.root(constraint)
    family = [c.id for c in scenario.constraints if scenario.root(c.id) == root]
    ids = [line.id for line in scenario.turns]
    said = [i for i, line in enumerate(scenario.turns) if not {*line.states}.isdisjoint(family)]
    looked = [ids.index(turn) for id in family for turn in guarded.get(id, ()) if turn in ids]
    first = min(said, default=-1)
    return tuple(ids[first + 1 : max(looked, default=len(ids) - 1) + 1])


def calling(scenario: Scenario, called: Called) -> tuple[str, ...]:
    """The turns in which tools are called; all of them where that is not known."""
    return tuple(line.id for line in scenario.turns if not called or called.get(line.id))


def misled(scenario: Scenario, called: Called, guarded: Guarded) -> tuple[str, ...]:
    """The turns in which tools are called and a constraint that a turn states may still be broken."""
    after = {turn for _, c in stated(scenario) for turn in after_statement(scenario, c.id, guarded)}
    return tuple(turn for turn in calling(scenario, called) if turn in after)


def any_of(options: Sequence[Any], reason: str) -> SearchStrategy[Any]:
    """One of the options, shrinking to the first. Raises NotApplicable with the reason where there is none."""
    if not options:
        raise NotApplicable(reason)
    return st.sampled_from(options)


def _other_unit(spare: Constraint, scenario: Scenario) -> bool:
    """Whether the unit or the currency among its arguments is another than in what it supersedes."""
    old = next((c for c in scenario.constraints if c.id == spare.replaces), None)
    if old is None or old.checker != spare.checker:
        return False
    return any(old.args.get(key) != spare.args.get(key) for key in UNITS)


_WANTED: dict[Kind, str] = {
    "supersede": "spare: true, supersedes: another constraint",
    "supersede_partial": "spare: true, supersedes: {id: …, args: …}",
    "unit_change": "spare: true, supersedes: another one in a different unit or currency",
    "approval": "spare: true, uses: 1",
    "expiring": "spare: true, expires: a time, and starts: in the scenario",
    "conditional": "spare: true, when: a condition",
    "other": "spare: true, and nothing that it supersedes",
}
