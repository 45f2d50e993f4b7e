"""Checkers: what the five scenarios hold an agent's tool calls against."""

from __future__ import annotations

from collections.abc import Sequence

from fuzzturn.checkers import CheckResult, SessionState, checker, milestone
from fuzzturn.session import Turn

__all__ = ["called", "done_once", "indented", "never_called", "not_more_often"]


@checker("never_called")
def never_called(turn: Turn, state: SessionState, *, tools: Sequence[str]) -> CheckResult:  # noqa: ARG001
    """None of these tools is called. It looks at every turn in which any tool is."""
    names = [call.name for call in turn.tool_calls]
    wrong = [name for name in names if name in tools]
    return CheckResult(not wrong, f"called {', '.join(wrong)}" if wrong else "", exercised=bool(names))


@checker("not_more_often")
def not_more_often(turn: Turn, state: SessionState, *, tool: str, times: int) -> CheckResult:  # noqa: ARG001
    """The tool is called so often in one turn at most; it looks at turns in which it is called at all."""
    count = sum(call.name == tool for call in turn.tool_calls)
    return CheckResult(count <= times, f"{tool} called {count} times", exercised=count > 0)


@checker("done_once")
def done_once(turn: Turn, state: SessionState) -> CheckResult:
    """Nothing is done to the same thing a second time. Tests may run as often as they like."""
    before = [(c.name, c.args) for c in state.tool_log[: len(state.tool_log) - len(turn.tool_calls)]]
    now = [(c.name, c.args) for c in turn.tool_calls if c.name != "test"]
    again = [f"{name} {dict(args)}" for name, args in now if (name, args) in before]
    return CheckResult(not again, f"done again: {', '.join(again)}" if again else "", exercised=bool(now))


@checker("indented")
def indented(turn: Turn, state: SessionState, *, by: str) -> CheckResult:  # noqa: ARG001
    """Every file is edited with that indentation."""
    edits = [call.args for call in turn.tool_calls if call.name == "edit"]
    wrong = [f"{args['file']} with {args['indent']}" for args in edits if args["indent"] != by]
    return CheckResult(not wrong, f"edited {', '.join(wrong)}" if wrong else "", exercised=bool(edits))


@milestone("called")
def called(state: SessionState, *, tool: str) -> bool:
    """The tool was called."""
    return any(name == tool for name, _ in state.environment["log"])
