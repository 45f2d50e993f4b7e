"""Names: whether everything that a scenario names exists, in the project and among the environment's tools."""

from __future__ import annotations

from collections.abc import Iterator

from fuzzturn.check.case import Case
from fuzzturn.checkers import registered_names
from fuzzturn.document import Address
from fuzzturn.errors import Problem, UnknownName, closest
from fuzzturn.scenario import Scenario

__all__ = ["tools", "unknown_names"]


def unknown_names(case: Case) -> Iterator[Problem]:
    """Every name that the registry does not know."""
    for at, kind, name in registered_names(case.scenario, case.registry):
        try:
            case.registry.get(kind, name)
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
