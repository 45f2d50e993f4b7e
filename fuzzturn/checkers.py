"""Checkers: the decorators by which a project names its deterministic checks, and what those checks are given.

A checker sees tool calls and text, never the model's reasoning. The decorators only tag (see `registry`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fuzzturn.document import Address
from fuzzturn.errors import PortError
from fuzzturn.ledger import Ledger
from fuzzturn.registry import Registry, tagger
from fuzzturn.scenario import Scenario, When
from fuzzturn.scores import CheckResult
from fuzzturn.session import Commitment, ToolCall, Turn

__all__ = [
    "CheckResult", "SessionState", "checker", "commitment", "guard", "holds", "invariant",
    "kind_of_condition", "milestone",
    "registered_names",
]  # fmt: skip

_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """What a check may look at: the session up to and including the turn in question."""

    turns: tuple[Turn, ...]
    environment: Mapping[str, Any]
    """The environment's state after the turn."""
    before: Mapping[str, Any] = field(default_factory=dict)
    """The environment's state before the turn."""
    tool_log: tuple[ToolCall, ...] = ()
    """Every tool call so far, this turn's included."""
    ledger: Ledger = field(default_factory=Ledger)
    commitments: tuple[Commitment, ...] = ()


def checker(name: str, *, version: int = 1, owner: str | None = None) -> Callable[[_F], _F]:
    """Tag `f(turn, state, **args) -> CheckResult`, the check behind a constraint."""
    return tagger("checker", name, version=version, owner=owner)


def milestone(name: str, *, version: int = 1, owner: str | None = None) -> Callable[[_F], _F]:
    """Tag `f(state, **args) -> bool`, the check behind a milestone."""
    return tagger("milestone", name, version=version, owner=owner)


def registered_names(scenario: Scenario, registry: Registry) -> Iterator[tuple[Address, str, str]]:
    """Every registered name that the scenario uses: where it stands in it, its kind, and the name."""
    yield ("environment",), "environment", scenario.environment
    for n, constraint in enumerate(scenario.constraints):
        yield ("constraints", n, "checker"), "checker", constraint.checker
        if constraint.when is not None:
            name = constraint.when.check
            yield ("constraints", n, "when", "check"), kind_of_condition(name, registry), name
    for n, milestone in enumerate(scenario.goal.milestones):
        if milestone.check is not None:
            yield ("goal", "milestones", n, "check"), "milestone", milestone.check
    for n, assertion in enumerate(scenario.assertions):
        for m, name in enumerate(assertion.state_invariants):
            yield ("assertions", n, "state_invariants", m), "invariant", name


def kind_of_condition(name: str, registry: Registry) -> str:
    """What a condition of that name is: a guard, or else a milestone's check."""
    return "guard" if name in registry.names("guard") else "milestone"


def holds(when: When, state: SessionState, registry: Registry) -> bool:
    """Whether the condition holds in that state. Raises PortError where its check answers neither True nor False."""
    kind = kind_of_condition(when.check, registry)
    piece = registry.get(kind, when.check)
    answer = piece.run(state, **when.args)
    if not isinstance(answer, bool):
        raise PortError(f"{kind} {when.check!r} ({piece.file}) returned {answer!r}; it returns True or False")
    return answer is when.is_


def guard(name: str, *, version: int = 1, owner: str | None = None) -> Callable[[_F], _F]:
    """Tag `f(state, **args) -> bool`, a condition that a constraint's `when` may name."""
    return tagger("guard", name, version=version, owner=owner)


def invariant(name: str, *, version: int = 1, owner: str | None = None) -> Callable[[_F], _F]:
    """Tag `f(before, after) -> CheckResult` over two environment states, for assertions."""
    return tagger("invariant", name, version=version, owner=owner)


def commitment(name: str, *, language: str = "en", version: int = 1, owner: str | None = None) -> Callable[[_F], _F]:
    """Tag `f(turn) -> list[Commitment]`, a rule that finds what the agent promised, in one language."""
    return tagger("commitment", name, version=version, owner=owner, language=language)
