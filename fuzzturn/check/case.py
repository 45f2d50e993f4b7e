"""Case: a scenario together with what its names stand for, which every rule of the check looks at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from fuzzturn.document import Address, Document
from fuzzturn.errors import FuzzturnError, Problem, blaming
from fuzzturn.registry import Registered, Registry
from fuzzturn.scenario import Constraint, Milestone, Scenario

__all__ = ["Case", "Checked", "World", "with_world"]


class Checked(NamedTuple):
    """What is wrong with a scenario: `errors` would make it fail or prove nothing, `warnings` may be meant."""

    errors: list[Problem]
    warnings: list[Problem]


@dataclass(frozen=True, slots=True)
class World:
    """What the scenario's environment shows of itself. No tools = the agent owns them, nothing is known."""

    tools: tuple[str, ...]
    state: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What the rules look at."""

    scenario: Scenario
    document: Document
    registry: Registry
    world: World | None = None
    """None = there is no such environment, or it cannot be built."""

    def piece(self, kind: str, name: str) -> Registered | None:
        """The piece of that name; None = nothing answers to it, which is an error of its own."""
        return self.registry.get(kind, name) if name in self.registry.names(kind) else None

    def constraints(self) -> Iterator[tuple[Address, Constraint, Registered]]:
        """Each constraint whose checker is known, with its place."""
        for index, constraint in enumerate(self.scenario.constraints):
            if (piece := self.piece("checker", constraint.checker)) is not None:
                yield ("constraints", index), constraint, piece

    def milestones(self) -> Iterator[tuple[Address, Milestone, Registered]]:
        """Each milestone whose check is known, with its place."""
        for index, milestone in enumerate(self.scenario.goal.milestones):
            if milestone.check is not None and (piece := self.piece("milestone", milestone.check)) is not None:
                yield ("goal", "milestones", index), milestone, piece


def with_world(case: Case) -> tuple[Case, list[Problem]]:
    """The case with its world, and why it has none where its environment cannot be built."""
    piece = case.piece("environment", case.scenario.environment)
    if piece is None:
        return case, []
    try:
        return replace(case, world=_built(piece)), []
    except FuzzturnError as error:
        return case, [case.document.problem(("environment",), str(error), "an environment that can be built")]


def _built(piece: Registered) -> World:
    with blaming(f"environment {piece.tag.name!r}"):
        environment = piece.function(seed=0)
        world = World(tuple(tool.name for tool in environment.tools), environment.observe())
        if close := getattr(environment, "close", None):
            close()
    return world
