"""Assertions: did this turn do the specific things that the script asks of this point?

Deterministic, cheap and brittle, like every fixture. None where the script has none at this turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fuzzturn.checkers import CheckResult, SessionState
from fuzzturn.errors import PortError
from fuzzturn.registry import Registry
from fuzzturn.scenario import Assertion, ExpectedCall
from fuzzturn.scores import AssertionFailure, Assertions
from fuzzturn.session import ToolCall, Turn

__all__ = ["assertions"]


def assertions(turn: Turn, state: SessionState, scripted: Iterable[Assertion], registry: Registry) -> Assertions:
    """Hold this turn against the assertions that name it. Raises PortError where an invariant misbehaves."""
    outcomes = [outcome for assertion in scripted for outcome in _outcomes(assertion, turn, state, registry)]
    if not outcomes:
        return Assertions(None)
    failures = tuple(failure for failure in outcomes if failure is not None)
    return Assertions(1 - len(failures) / len(outcomes), failures)


def _outcomes(
    assertion: Assertion, turn: Turn, state: SessionState, registry: Registry
) -> Iterator[AssertionFailure | None]:
    """One outcome an expectation: None = it held."""
    for name in assertion.state_invariants:
        result = _invariant(name, state, registry)
        yield None if result.passed else AssertionFailure(f"state_invariants: {name}", result.detail)
    if assertion.must_mention_any:
        yield _mention(assertion.must_mention_any, turn.text)
    called = [call.name for call in turn.tool_calls]
    for name in assertion.must_not_call:
        times = called.count(name)
        yield AssertionFailure(f"must_not_call: {name}", f"called {times} times") if times else None
    for expected in assertion.must_call:
        yield _call(expected, turn.tool_calls)


def _invariant(name: str, state: SessionState, registry: Registry) -> CheckResult:
    piece = registry.get("invariant", name)
    result = piece.run(state.before, state.environment)
    if not isinstance(result, CheckResult):
        raise PortError(f"invariant {name!r} ({piece.file}) returned {result!r}; it returns a CheckResult")
    return result


def _mention(wanted: tuple[str, ...], said: str) -> AssertionFailure | None:
    if any(text.casefold() in said.casefold() for text in wanted):
        return None
    return AssertionFailure("must_mention_any", f"none of {', '.join(map(repr, wanted))} in {said!r}")


def _call(expected: ExpectedCall, calls: tuple[ToolCall, ...]) -> AssertionFailure | None:
    matching = [c for c in calls if c.name == expected.name and expected.args.items() <= _comparable(c).items()]
    if len(matching) == expected.times or (expected.times is None and matching):
        return None
    wanted = "at least once" if expected.times is None else f"{expected.times} times"
    detail = f"expected {wanted} with {dict(expected.args)!r}, called {len(matching)} times so"
    return AssertionFailure(f"must_call: {expected.name}", detail)


def _comparable(call: ToolCall) -> dict[str, object]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in call.args.items()}
