"""Names: whether everything that a scenario names exists, in the project and among the environment's tools."""

from __future__ import annotations

from collections.abc import Iterator

from fuzzturn.check.case import Case
from fuzzturn.checkers import kind_of_condition
from fuzzturn.document import Address
from fuzzturn.errors import Problem, UnknownName, closest
from fuzzturn.scenario import Scenario

__all__ = ["tools", "unknown_names"]


def unknown_names(case: Case) -> Iterator[Problem]:
    """Every name that the registry does not know."""
    for kind, name, at in _named(case.scenario):
        try:
            case.registry.get(kind_of_condition(name, case.registry) if kind == "condition" else kind, name)
        except UnknownName as error:
            yield from (case.document.problem(at, problem.what, problem.accepted) for problem in error.problems)


def tools(case: Case) -> Iterator[Problem]:
    """Every tool that the environment does not have; nothing where the agent owns its tools."""
    if case.world is None or not case.world.tools:
        return
    for name, at in (*_tools_of_assertions(case.scenario), *_tools_of_examples(case.scenario)):
        if name not in case.world.tools:
            what = f"the environment {case.scenario.environment!r} has no tool {name!r}"
            yield case.document.problem(at, what, closest(name, case.world.tools))


def _named(scenario: Scenario) -> Iterator[tuple[str, str, Address]]:
    """Every name that the registry has to know: kind, name and where it stands."""
    yield "environment", scenario.environment, ("environment",)
    for index, constraint in enumerate(scenario.constraints):
        yield "checker", constraint.checker, ("constraints", index, "checker")
        if constraint.when is not None:
            yield "condition", constraint.when.check, ("constraints", index, "when", "check")
    for index, milestone in enumerate(scenario.goal.milestones):
        if milestone.check is not None:
            yield "milestone", milestone.check, ("goal", "milestones", index, "check")
    for index, assertion in enumerate(scenario.assertions):
        for place, name in enumerate(assertion.state_invariants):
            yield "invariant", name, ("assertions", index, "state_invariants", place)


def _tools_of_assertions(scenario: Scenario) -> Iterator[tuple[str, Address]]:
    for index, assertion in enumerate(scenario.assertions):
        for place, call in enumerate(assertion.must_call):
            yield call.name, ("assertions", index, "must_call", place)
        for place, name in enumerate(assertion.must_not_call):
            yield name, ("assertions", index, "must_not_call", place)


def _tools_of_examples(scenario: Scenario) -> Iterator[tuple[str, Address]]:
    for index, constraint in enumerate(scenario.constraints):
        examples = constraint.examples
        for key, calls in (("pass", examples.passing), ("fail", examples.failing)):
            for place, call in enumerate(calls):
                yield call.name, ("constraints", index, "examples", key, place, "name")
