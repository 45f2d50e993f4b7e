"""Scenario: a scripted conversation with a goal, constraints and assertions, as strict and frozen data.

This module holds the shape only; reading a file, with positions and with the rules that reach across fields, is
`fuzzturn.scenario_file`'s job. A variant and a corpus entry are scenarios too: `turns` are then the turns as spoken.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

__all__ = [
    "Answer", "Assertion", "Constraint", "ExpectedCall", "ExampleCall", "Examples", "Goal", "Interruption", "Line",
    "Milestone", "Scenario", "System",
]  # fmt: skip

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_.:@#-]*$")]
Text = Annotated[str, StringConstraints(min_length=1)]


class Part(BaseModel):
    """Common settings: unknown keys are errors, nothing is coerced, nothing changes after loading."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class System(Part):
    """What agents that take `system` are given. `file` is read relative to the scenario file when loading."""

    text: Text


class Milestone(Part):
    """One node of the goal's graph; `needs` are its edges."""

    id: Id
    check: Id | None = None
    args: Mapping[str, Any] = {}
    needs: tuple[Id, ...] = ()
    latched: bool = False
    """Once satisfied it stays satisfied: for things that are found out rather than held."""
    judged: Text | None = None
    """A question that no code can answer; the milestone is None until a judge decides it."""


class Goal(Part):
    """What the user wants, and the milestones on the way. progress = satisfied / all."""

    says: Text
    milestones: tuple[Milestone, ...] = Field(min_length=1)


class ExampleCall(Part):
    """A tool call as a checker's example writes it."""

    name: Id
    args: Mapping[str, Any] = {}


class Examples(Part):
    """Single-turn examples that `check` executes. `pass` and `fail` each hold tool calls, one turn a call."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", populate_by_name=True)
    passing: tuple[ExampleCall, ...] = Field(default=(), alias="pass")
    failing: tuple[ExampleCall, ...] = Field(default=(), alias="fail")


class Constraint(Part):
    """A standing instruction. It binds from the turn that states it until it is lifted, superseded or used up."""

    id: Id
    source: Literal["user", "system", "tool"] = "user"
    checker: Id
    args: Mapping[str, Any] = {}
    statement: Text
    """The words as spoken, verbatim."""
    paraphrases: tuple[Text, ...] = ()
    polarity: Literal["prohibition", "requirement"] = "prohibition"
    supersedes: Id | None = None
    """The constraint that this one replaces from the turn that states it."""
    uses: Literal[1] | None = None
    """1 = a one-shot approval, consumed by the first turn in which its checker reports exercised; None = lasting."""
    examples: Examples = Examples()


class Line(Part):
    """One scripted user turn."""

    id: Id
    user: Text
    """As spoken: placeholders are already replaced by the statements."""
    states: tuple[Id, ...] = ()
    lifts: tuple[Id, ...] = ()
    after: tuple[Id, ...] = ()
    """Turns that must have been spoken for this sentence to make sense; never the milestone graph."""
    optional: bool = False
    """The generator may drop it. (The reducer may drop any turn.)"""
    correction: bool = False
    """Counts as a user correction."""


class ExpectedCall(Part):
    """A tool call that an assertion asks for. `args` is a subset that must match; `times` None = at least once."""

    name: Id
    args: Mapping[str, Any] = {}
    times: Annotated[int, Field(ge=1)] | None = None


class Assertion(Part):
    """What must hold at one scripted turn; it follows its turn wherever a variant moves it."""

    turn: Id
    state_invariants: tuple[Id, ...] = ()
    must_mention_any: tuple[Text, ...] = ()
    must_not_call: tuple[Id, ...] = ()
    must_call: tuple[ExpectedCall, ...] = ()


class Answer(Part):
    """The scripted user's answer to a question of the agent's. `asks` are regular expressions, case ignored."""

    asks: tuple[Text, ...] = Field(min_length=1)
    user: Text
    max: Annotated[int, Field(ge=1)] = 1


class Interruption(Part):
    """A side question that the interrupt operator may insert anywhere."""

    id: Id
    user: Text
    must_mention_any: tuple[Text, ...] = ()


class Scenario(Part):
    """A whole scenario file."""

    schema_: Literal[1] = Field(alias="schema")
    scenario: Id
    title: Text
    environment: Id
    system: System | None = None
    goal: Goal
    constraints: tuple[Constraint, ...] = ()
    turns: tuple[Line, ...] = Field(min_length=1)
    answers: tuple[Answer, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    interruptions: tuple[Interruption, ...] = ()

    def constraint(self, id: str) -> Constraint:
        """The constraint of that id. Raises KeyError: ids are checked when the file is loaded."""
        for constraint in self.constraints:
            if constraint.id == id:
                return constraint
        raise KeyError(id)

    def line(self, id: str) -> Line:
        """The scripted turn of that id. Raises KeyError."""
        for line in self.turns:
            if line.id == id:
                return line
        raise KeyError(id)

    def dependants(self, id: str) -> frozenset[str]:
        """The turn `id` and every turn that makes no sense without it, transitively."""
        closed = {id}
        for line in self.turns:  # `after` only points backwards, so one pass in script order is enough
            if closed.intersection(line.after):
                closed.add(line.id)
        return frozenset(closed)

    def stating(self, constraint: str) -> str | None:
        """The id of the turn that states the constraint; None where no turn does (source: system)."""
        return next((line.id for line in self.turns if constraint in line.states), None)
