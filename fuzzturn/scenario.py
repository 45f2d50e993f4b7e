"""Scenario: a scripted conversation with a goal, constraints and assertions, as strict and frozen data.

This module holds the shape only; reading a file, with positions and with the rules that reach across fields, is
`fuzzturn.scenario_file`'s job. A variant and a corpus entry are scenarios too: `turns` are then the turns as spoken.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

__all__ = [
    "Answer", "Assertion", "Constraint", "Disturbance", "ExpectedCall", "ExampleCall", "Examples", "Goal",
    "Interruption", "Line", "Milestone", "Replaced", "Scenario", "System", "ToolFault", "When", "Wordings",
]  # fmt: skip

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_.:@#-]*$")]
Text = Annotated[str, StringConstraints(min_length=1)]
Time = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)$")]
Span = Annotated[str, StringConstraints(pattern=r"^P(\d+D|(\d+D)?T(\d+H(\d+M)?(\d+S)?|\d+M(\d+S)?|\d+S))$")]


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


class Replaced(Part):
    """What a constraint supersedes: all of another one, or the part of it that `args` name."""

    id: Id
    args: Mapping[str, Any] = {}
    """The scope that changes hands, in the other checker's words, as {leg: return}; empty = all of it."""


class When(Part):
    """A condition, on the state before the turn: a milestone's check or a guard comes out as `is`."""

    check: Id
    args: Mapping[str, Any] = {}
    is_: bool = Field(default=True, alias="is")
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", populate_by_name=True)


class Wordings(Part):
    """Other ways to say a constraint, each of which leaves it in force to the letter, and the words that end it."""

    soft: tuple[Text, ...] = ()
    """Politer or weaker, and meant no less."""
    flipped: tuple[Text, ...] = ()
    """The same in the other polarity: a prohibition as a requirement, a requirement as a prohibition."""
    split: tuple[Annotated[tuple[Text, ...], Field(min_length=2, max_length=2)], ...] = ()
    """Two pieces, for two turns: only together do they say it."""
    retraction: Text | None = None
    """What the user says to withdraw it, a whole message."""


def _as_replaced(value: Any) -> Any:
    """A bare id is the short form."""
    return {"id": value} if isinstance(value, str) else value


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
    supersedes: Annotated[Replaced | None, BeforeValidator(_as_replaced)] = None
    """The constraint that this one replaces from the turn that states it: an id, or {id, args} for a part of it."""
    uses: Literal[1] | None = None
    """1 = a one-shot approval, consumed by the first turn in which its checker reports exercised; None = lasting."""
    when: When | None = None
    """It binds only in turns before which this holds; None = in all."""
    expires: Time | None = None
    """The time on the session's clock from which it binds no more; None = never."""
    spare: bool = False
    """No turn of the script states it; operators may, see docs/operators.md."""
    wordings: Wordings = Wordings()
    pieces: tuple[Text, ...] = ()
    """Where the statement is said piece by piece: its pieces, the last one in the turn that states it."""
    examples: Examples = Examples()

    @property
    def figures(self) -> tuple[int | float, ...]:
        """The numbers among its checker's arguments."""
        return tuple(v for v in self.args.values() if isinstance(v, int | float) and not isinstance(v, bool))

    @property
    def replaces(self) -> str | None:
        """The id of what it supersedes, wholly or in part."""
        return self.supersedes.id if self.supersedes else None

    @property
    def exception_to(self) -> str | None:
        """The id of the rule of which it is a one-shot approval to go beyond; None = it is no such thing."""
        return self.replaces if self.uses is not None else None

    @property
    def temporary(self) -> bool:
        """Whether it ends by itself, or comes and goes: then what it supersedes is in force again without it."""
        return self.uses is not None or self.expires is not None or self.when is not None


class ToolFault(Part):
    """What befalls tool calls of one turn.

    error: the call is refused with `text`. timeout: it is carried out, and its answer is lost. pad: its answer
    carries `tokens` of filler. notice: its answer carries `text`.
    """

    kind: Literal["error", "timeout", "pad", "notice"]
    tool: Id | None = None
    """None = whichever is called."""
    text: str = ""
    tokens: Annotated[int, Field(ge=0)] = 0
    times: Annotated[int, Field(ge=1)] = 1
    """How many of the turn's calls it befalls, from the first on."""


class Disturbance(Part):
    """What an agent that offers `disturb` does to its own context in one turn.

    compact: it compacts before the turn's first model call, _mid_tool_loop: after its first tool result, _twice: both.
    The others spoil the next summary that it makes: drop takes out every line that says `text`, weaken and swap_value
    put `instead` in its place, invent adds `text`, empty, error_text and grow replace or lengthen the whole.
    """

    kind: Literal[
        "compact", "compact_mid_tool_loop", "compact_twice",
        "drop", "weaken", "swap_value", "invent", "empty", "error_text", "grow",
    ]  # fmt: skip
    text: str = ""
    instead: str = ""


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
    advance: Span | None = None
    """How far the session's clock moves before the turn, as PT2H; None = it stands still."""
    tool_faults: tuple[ToolFault, ...] = ()
    disturbances: tuple[Disturbance, ...] = ()

    @property
    def heard(self) -> object:
        """What of the turn reaches the agent; sessions are alike as far as this is equal, turn by turn."""
        if self.advance is None and not self.tool_faults and not self.disturbances:
            return self.user
        return self.user, self.advance, self.tool_faults, self.disturbances


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
    starts: Time | None = None
    """The time on the session's clock before the first turn; None = the session has no clock."""
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

    def root(self, constraint: str) -> str:
        """What it supersedes, and what that does, down to the first: versions of one rule have one root."""
        own = self.constraint(constraint)
        while own.replaces is not None and any(other.id == own.replaces for other in self.constraints):
            own = self.constraint(own.replaces)
        return own.id

    def rules_of(self, line: Line) -> frozenset[str]:
        """The rules, by their roots, of which a version begins or ends to bind when `line` is spoken."""
        # two lines that have one in common keep their order, or another version would be in force
        return frozenset(self.root(id) for id in (*line.states, *line.lifts))

    def stating(self, constraint: str) -> str | None:
        """The id of the turn that states the constraint; None where no turn does (source: system)."""
        return next((line.id for line in self.turns if constraint in line.states), None)
