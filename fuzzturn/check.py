"""Check: whether a scenario can work with the pieces it names, before anything is run.

A misspelt checker, a tool that was renamed or a check that cannot fail would otherwise pass in silence for as long as
the agent behaves. So names are looked up, arguments held against signatures, and every constraint's examples executed.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from fuzzturn.checkers import CheckResult, SessionState
from fuzzturn.document import Address, Document, load
from fuzzturn.document.place import in_file_order
from fuzzturn.errors import InputError, PortError, Problem, UnknownName, closest
from fuzzturn.ledger import Entry, Ledger
from fuzzturn.registry import Registered, Registry
from fuzzturn.scenario import Constraint, ExampleCall, Scenario
from fuzzturn.scenario_file import load_scenario
from fuzzturn.session import ToolCall, Turn
from fuzzturn.signals.adherence import adherence

__all__ = ["Checked", "check_scenario"]


class Checked(NamedTuple):
    """What is wrong with a scenario: `errors` would make it fail or prove nothing, `warnings` may be meant."""

    errors: list[Problem]
    warnings: list[Problem]


def check_scenario(path: Path, registry: Registry) -> Checked:
    """Everything that can be said about a scenario file without an agent. An unreadable file is in `errors` too.

    Checkers are executed and the environment is built once, with seed 0.
    """
    try:
        scenario, document = load_scenario(path), load(path)
    except InputError as error:
        return Checked(list(error.problems), [])
    case = _Case(scenario=scenario, document=document, registry=registry)
    errors = list(_unknown_names(case))
    world, unbuilt = _world(case)
    case = _Case(scenario=scenario, document=document, registry=registry, world=world)
    for rule in (_arguments, _examples, _tools):
        errors.extend(rule(case))
    return Checked(in_file_order([*errors, *unbuilt]), in_file_order([*_unfailing(case), *_leaks(case)]))


@dataclass(frozen=True, slots=True)
class _World:
    """What the scenario's environment shows of itself. No tools = the agent owns them, nothing is known."""

    tools: tuple[str, ...] = ()
    state: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    scenario: Scenario
    document: Document
    registry: Registry
    world: _World = field(default_factory=_World)

    def piece(self, kind: str, name: str) -> Registered | None:
        return self.registry.get(kind, name) if name in self.registry.names(kind) else None

    def constraints(self) -> Iterator[tuple[Address, Constraint]]:
        for index, constraint in enumerate(self.scenario.constraints):
            yield ("constraints", index), constraint


def _unknown_names(case: _Case) -> Iterator[Problem]:
    for kind, name, at in _named(case.scenario):
        try:
            case.registry.get(kind, name)
        except UnknownName as error:
            yield from (case.document.problem(at, problem.what, problem.accepted) for problem in error.problems)


def _named(scenario: Scenario) -> Iterator[tuple[str, str, Address]]:
    """Every name that the registry has to know: kind, name and where it stands."""
    yield "environment", scenario.environment, ("environment",)
    for index, constraint in enumerate(scenario.constraints):
        yield "checker", constraint.checker, ("constraints", index, "checker")
    for index, milestone in enumerate(scenario.goal.milestones):
        if milestone.check is not None:
            yield "milestone", milestone.check, ("goal", "milestones", index, "check")
    for index, assertion in enumerate(scenario.assertions):
        for place, name in enumerate(assertion.state_invariants):
            yield "invariant", name, ("assertions", index, "state_invariants", place)


def _world(case: _Case) -> tuple[_World, list[Problem]]:
    piece = case.piece("environment", case.scenario.environment)
    if piece is None:
        return _World(), []
    try:
        return _built(piece), []
    except PortError as error:
        return _World(), [case.document.problem(("environment",), str(error), "an environment that can be built")]


def _built(piece: Registered) -> _World:
    try:
        environment = piece.function(seed=0)
        world = _World(tuple(tool.name for tool in environment.tools), environment.observe())
        if close := getattr(environment, "close", None):
            close()
    except Exception as error:
        what = f"environment {piece.tag.name!r} ({piece.file}) raised {type(error).__name__}: {error}"
        raise PortError(what) from error
    return world


def _arguments(case: _Case) -> Iterator[Problem]:
    for at, constraint in case.constraints():
        if (piece := case.piece("checker", constraint.checker)) is not None:
            yield from _misfits(case.document, at, piece, constraint.args, given_by_port=2)
    for index, milestone in enumerate(case.scenario.goal.milestones):
        if milestone.check is not None and (piece := case.piece("milestone", milestone.check)) is not None:
            yield from _misfits(case.document, ("goal", "milestones", index), piece, milestone.args, given_by_port=1)


def _misfits(
    document: Document, at: Address, piece: Registered, args: Mapping[str, Any], *, given_by_port: int
) -> Iterator[Problem]:
    """Arguments that the function does not take or misses; the port itself gives the first `given_by_port`."""
    own = list(inspect.signature(piece.function).parameters.values())[given_by_port:]
    named = [p for p in own if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    called, at = f"{piece.tag.kind} {piece.tag.name!r}", (*at, "args")
    if not any(p.kind is p.VAR_KEYWORD for p in own):
        for name in args.keys() - {p.name for p in named}:
            known = closest(name, (p.name for p in named))
            yield document.problem((*at, name), f"{called} takes no argument {name!r}", known, key=True)
    for name in (p.name for p in named if p.default is p.empty and p.name not in args):
        yield document.problem(at, f"{called} needs the argument {name!r}", f"args: {{{name}: …}}")


def _examples(case: _Case) -> Iterator[Problem]:
    for at, constraint in case.constraints():
        piece = case.piece("checker", constraint.checker)
        if piece is None or any(_misfits(case.document, at, piece, constraint.args, given_by_port=2)):
            continue
        try:
            yield from _verdicts(case, (*at, "examples"), constraint)
        except PortError as error:
            yield case.document.problem((*at, "examples"), str(error), "a checker that answers every example")


def _verdicts(case: _Case, at: Address, constraint: Constraint) -> Iterator[Problem]:
    called = f"checker {constraint.checker!r}"
    exercised = []
    for index, call in enumerate(constraint.examples.passing):
        result = _run(case, constraint, call)
        exercised.append(result.exercised)
        if not result.passed:
            what = f"{called} fails an example that should pass: {result.detail}"
            yield case.document.problem((*at, "pass", index), what)
    for index, call in enumerate(constraint.examples.failing):
        result = _run(case, constraint, call)
        exercised.append(result.exercised)
        if result.passed:
            yield case.document.problem((*at, "fail", index), f"{called} passes an example that should fail")
    if exercised and not any(exercised):
        what = f"{called} finds nothing to look at in any of its examples"
        yield case.document.problem(at, what, "an example call that it is about")


def _run(case: _Case, constraint: Constraint, example: ExampleCall) -> CheckResult:
    """The example as the only call of a turn in which the constraint binds. Raises PortError."""
    turn = Turn(n=1, id="example", user=constraint.statement, events=(ToolCall(example.name, example.args),))
    state = SessionState(
        turns=(turn,), environment=case.world.state, before=case.world.state, tool_log=turn.tool_calls,
        ledger=Ledger((Entry(constraint, since=1),)),
    )  # fmt: skip
    return adherence(turn, state, case.registry).checks[0].result


def _tools(case: _Case) -> Iterator[Problem]:
    if not case.world.tools:
        return
    for index, assertion in enumerate(case.scenario.assertions):
        for key, names in (
            ("must_call", [call.name for call in assertion.must_call]),
            ("must_not_call", assertion.must_not_call),
        ):
            for place, name in enumerate(names):
                if name not in case.world.tools:
                    what = f"the environment {case.scenario.environment!r} has no tool {name!r}"
                    at = ("assertions", index, key, place)
                    yield case.document.problem(at, what, closest(name, case.world.tools))


def _unfailing(case: _Case) -> Iterator[Problem]:
    for at, constraint in case.constraints():
        if not constraint.examples.failing:
            what = f"{constraint.id!r} has no example that fails, so nothing shows that its checker can"
            yield case.document.problem(at, what, "examples: {fail: [a tool call that breaks it]}")


_NOT_IN_WORDS = 1e300
"""Larger numbers are written in no title, and a whole one need not fit a float."""
_NUMBER = re.compile(r"\d+(?:[.,'\u00a0\u202f ]\d+)*")


def _leaks(case: _Case) -> Iterator[Problem]:
    """A judge reads title and goal in every context: a limit there would remind it of what it should remember."""
    texts = ((("title",), case.scenario.title), (("goal", "says"), case.scenario.goal.says))
    for at, text in texts:
        said = {value for match in _NUMBER.finditer(text) for value in _readings(match[0])}
        for constraint in case.scenario.constraints:
            for number in sorted(said.intersection(_numbers(constraint.args))):
                what = f"{at[-1]!r} says {number:g}, which is in the arguments of {constraint.id!r}"
                yield case.document.problem(at, what, "words that do not give the limit away to the judge")


def _readings(written: str) -> Iterator[float]:
    """1,450.00 and 1.450,00: a point may group digits or begin the decimals, and so may a comma."""
    for grouping, point in ((",'\u00a0\u202f ", "."), (".'\u00a0\u202f ", ",")):
        digits = "".join(character for character in written if character not in grouping).replace(point, ".")
        if digits.count(".") <= 1:
            yield float(digits)


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _NOT_IN_WORDS:
        yield float(value)
