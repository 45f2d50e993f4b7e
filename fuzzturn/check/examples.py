"""Examples: every constraint's own examples, executed. A checker that cannot fail is no checker."""

from __future__ import annotations

from collections.abc import Iterator

from fuzzturn.check.arguments import misfits_of
from fuzzturn.check.case import Case
from fuzzturn.checkers import CheckResult, SessionState
from fuzzturn.document import Address
from fuzzturn.errors import FuzzturnError, InputError, Problem
from fuzzturn.ledger import Entry, Ledger
from fuzzturn.scenario import Constraint, ExampleCall
from fuzzturn.session import ToolCall, Turn
from fuzzturn.signals.adherence import adherence

__all__ = ["check_once", "unfailing", "verdicts"]


def verdicts(case: Case) -> Iterator[Problem]:
    """Examples that come out otherwise than they should. A call of an unknown tool says nothing of the checker."""
    for at, constraint, piece in case.constraints():
        if not any(misfits_of(case.document, at, piece, constraint.args, given_by_port=2)):
            yield from _of_constraint(case, (*at, "examples"), constraint)


def unfailing(case: Case) -> Iterator[Problem]:
    """Constraints of whose checker nothing shows that it can fail."""
    for index, constraint in enumerate(case.scenario.constraints):
        if not constraint.examples.failing:
            what = f"{constraint.id!r} has no example that fails, so nothing shows that its checker can"
            accepted = "examples: {fail: [a tool call that breaks it]}"
            yield case.document.problem(("constraints", index), what, accepted)


def check_once(case: Case, constraint: Constraint, calls: tuple[ToolCall, ...]) -> CheckResult:
    """The constraint's checker on one turn with these calls, in which the constraint binds.

    Raises PortError, or what the checker raises of fuzzturn's own errors.
    """
    turn = Turn(n=1, id="example", user=constraint.statement, events=calls).copied()
    shown = case.world.state if case.world else {}
    state = SessionState(
        turns=(turn,),
        environment=shown,
        before=shown,
        tool_log=turn.tool_calls,
        ledger=Ledger((Entry(constraint, since=1),)),
    )
    return adherence(turn, state, case.registry).checks[0].result


def _of_constraint(case: Case, at: Address, constraint: Constraint) -> Iterator[Problem]:
    exercised = []
    for place, example, should_pass in _usable(case, at, constraint):
        try:
            result = check_once(case, constraint, (ToolCall(example.name, example.args),))
        except InputError as error:  # its own word on its arguments
            yield case.document.problem((*at[:-1], "args"), str(error))
            return
        except FuzzturnError as error:
            yield case.document.problem(place, str(error), "a checker that answers every example")
            return
        exercised.append(result.exercised)
        if result.passed is not should_pass:
            yield _wrong(case, place, constraint, result)
    if exercised and not any(exercised):
        what = f"checker {constraint.checker!r} finds nothing to look at in any of its examples"
        yield case.document.problem(at, what, "an example call that it is about")


def _usable(case: Case, at: Address, constraint: Constraint) -> Iterator[tuple[Address, ExampleCall, bool]]:
    """The examples whose tool exists, each with its place and whether it should pass."""
    known = case.world.tools if case.world else ()
    for key, calls in (("pass", constraint.examples.passing), ("fail", constraint.examples.failing)):
        for index, call in enumerate(calls):
            if not known or call.name in known:
                yield (*at, key, index), call, key == "pass"


def _wrong(case: Case, place: Address, constraint: Constraint, result: CheckResult) -> Problem:
    called = f"checker {constraint.checker!r}"
    if result.passed:
        what = f"{called} passes an example that should fail"
        return case.document.problem(place, what, "a call that breaks the constraint, or a checker that sees it")
    what = f"{called} fails an example that should pass: {result.detail}"
    return case.document.problem(place, what, "a call that keeps to the constraint, or a checker that sees it")
