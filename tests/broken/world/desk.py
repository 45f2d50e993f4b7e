"""Desk: the world that the broken scenarios beside this folder name: two tools and checks with and without faults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuzzturn.checkers import CheckResult, SessionState, checker, invariant, milestone
from fuzzturn.ports import Tool, environment
from fuzzturn.session import Turn


class Desk:
    """Sends messages."""

    tools = (Tool("send"), Tool("look"))

    def call(self, name: str, /, **args: Any) -> Any:
        raise AssertionError("nothing is ever called here")

    def observe(self) -> Mapping[str, Any]:
        return {"sent": []}


@environment("desk")
def desk(*, seed: int) -> Desk:
    return Desk()


@environment("locked")
def locked(*, seed: int) -> Desk:
    raise OSError("the drawer is locked")


@checker("no_word")
def no_word(turn: Turn, state: SessionState, *, word: str, max: int = 0) -> CheckResult:
    texts = [call.args["text"] for call in turn.tool_calls if call.name == "send"]
    return CheckResult(sum(text.count(word) for text in texts) <= max, f"{word} is mentioned", exercised=bool(texts))


@checker("lenient")
def lenient(turn: Turn, state: SessionState) -> CheckResult:
    return CheckResult(True)


@checker("brittle")
def brittle(turn: Turn, state: SessionState) -> CheckResult:
    return CheckResult(turn.tool_calls[0].name == "send")


@milestone("sent")
def sent(state: SessionState, *, to: str) -> bool:
    return any(message["to"] == to for message in state.environment["sent"])


@milestone("hasty")
def hasty(state: SessionState) -> bool:
    return bool(state.environment["sent"][0])


@milestone("verdict")
def verdict(state: SessionState) -> bool:
    return CheckResult(False, "not yet")  # type: ignore[return-value]


@invariant("nothing_lost")
def nothing_lost(before: Mapping[str, Any], after: Mapping[str, Any]) -> CheckResult:
    return CheckResult(len(before["sent"]) <= len(after["sent"]))


@invariant("forgetful")
def forgetful(before: Mapping[str, Any], after: Mapping[str, Any]) -> CheckResult:
    return CheckResult(before["lost"] == after["lost"])
