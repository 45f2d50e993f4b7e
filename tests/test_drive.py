"""Driving: what is recorded, who may break, and that options are checked."""

from __future__ import annotations

import re
from typing import Any

import pytest

import kit
from fuzzturn.drive import Cast, drive, seed_for
from fuzzturn.errors import InputError
from fuzzturn.interleave import interleave
from fuzzturn.ports import Reply
from fuzzturn.session import Event, Message, ModelCall, Session, ToolCall

SCRIPT = kit.scenario()


def played(build: Any, **options: str) -> Session:
    cast = Cast(build=build, make_environment=kit.make_shop, name="x", options=options)
    return kit.wait(drive(cast, SCRIPT))


def test_a_sync_agent_that_reports_nothing_is_recorded_all_the_same() -> None:
    class Plain:
        def __init__(self, shop: Any) -> None:
            self.shop = shop

        def reply(self, message: str) -> Reply:
            if message.startswith("Buy"):
                self.shop.call("buy", price=40)
            return Reply("ok")

    last = played(Plain).turns[-1]
    assert last.events == (ToolCall("buy", {"price": 40}, "ok"), Message("ok"))
    assert last.state == {"bought": [40]}


def test_a_reported_environment_call_is_counted_once() -> None:
    last = kit.wait(drive(kit.cast(), SCRIPT)).turns[-1]
    assert [call.name for call in last.tool_calls] == ["buy"]
    assert [type(event).__name__ for event in last.events] == ["ModelCall", "ToolCall", "Message"]


def test_unreported_calls_follow_the_model_call_of_their_ordinal() -> None:
    one, two = ToolCall("a", {}), ToolCall("b", {})
    calls: list[Event] = [ModelCall([{"n": 1}]), ModelCall([{"n": 2}]), ModelCall([{"n": 3}]), Message("done")]
    assert interleave(calls, [one, two]) == (calls[0], one, calls[1], two, calls[2], calls[3])
    assert interleave([Message("done")], [one]) == (one, Message("done"))
    assert interleave(calls[2:], [one, two]) == (calls[2], one, two, calls[3])


def test_what_an_agent_raises_is_data() -> None:
    class Broken:
        def __init__(self, shop: Any) -> None: ...

        def reply(self, message: str) -> Reply:
            raise ValueError("no idea")

    session = played(Broken)
    assert len(session.turns) == 1
    assert re.fullmatch(r"ValueError: no idea \(test_drive.py:\d+\)", str(session.error))


def test_a_reply_that_is_no_reply_is_the_agents_error_by_name() -> None:
    class Wrong:
        def __init__(self, shop: Any) -> None: ...

        def reply(self, message: str) -> Any:
            return 42

    assert "AgentFault: the agent's reply is 42; it is a fuzzturn.Reply, a text" in str(played(Wrong).error)


def test_records_are_not_changed_by_what_the_agent_does_later() -> None:
    class Changing:
        def __init__(self, shop: Any) -> None:
            self.shop, self.args = shop, {"price": [1]}

        def reply(self, message: str) -> Reply:
            self.shop.call("buy", **self.args)
            self.args["price"].append(2)
            return Reply("ok")

    session = played(Changing)
    assert session.turns[0].tool_calls[0].args == {"price": [1]}
    assert session.turns[0].state == {"bought": [[1]]}


def test_a_reported_context_is_what_the_call_saw_and_not_what_the_list_became() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "hello"}]
    call = ModelCall(messages)
    messages[0]["content"] = "[cleared]"
    messages.append({"role": "assistant", "content": "hi"})
    assert call.context == ({"role": "user", "content": "hello"},)


def test_a_tool_that_fails_is_recorded_and_told_to_the_agent() -> None:
    class Curious:
        def __init__(self, shop: Any) -> None:
            self.shop = shop

        def reply(self, message: str) -> Reply:
            try:
                self.shop.call("steal", what="lamp")
            except ValueError as error:
                return Reply(str(error))
            return Reply("done")

    turn = played(Curious).turns[0]
    assert turn.tool_calls == (ToolCall("steal", {"what": "lamp"}, error="no tool 'steal'"),)
    assert turn.text == "no tool 'steal'"


def test_an_option_that_the_agent_does_not_take_is_an_error_with_the_closest_match() -> None:
    with pytest.raises(InputError, match=r"takes no option 'memmory'; did you mean 'memory'"):
        played(kit.build, memmory="3")


def test_an_option_that_the_agent_requires_is_asked_for() -> None:
    def build(environment: Any, *, model: str) -> Any:
        return kit.build(environment)

    with pytest.raises(InputError, match=r"--agent-option model="):
        played(build)
    assert played(build, model="x").error is None


def test_an_agent_receives_the_keywords_that_it_names() -> None:
    got: dict[str, Any] = {}

    def build(environment: Any, *, seed: int, session_id: str, system: str | None) -> Any:
        got.update(seed=seed, session_id=session_id, system=system)
        return kit.build(environment)

    played(build)
    first = got.pop("session_id")
    assert got == {"seed": seed_for(0, "lamp", "agent"), "system": None}
    played(build)
    assert first.startswith("lamp-0-0-")
    assert first != got["session_id"]  # an agent may keep its memory under it


def test_seeds_differ_by_role_and_sample_and_by_nothing_else() -> None:
    seeds = {seed_for(s, name, role, n) for s in (0, 1) for name in "ab" for role in ("agent", "judge") for n in (0, 1)}
    assert len(seeds) == 16


def asking(*questions: str) -> Any:
    class Asking:
        def __init__(self, shop: Any) -> None:
            self.left = list(questions)

        def reply(self, message: str) -> Reply:
            return Reply(self.left.pop(0) if self.left else "Thanks.")

    return Asking


def test_a_question_is_answered_from_the_script_and_marked_auto() -> None:
    script = kit.scenario(answers=({"asks": ("what colou?r",), "user": "Green, please."},))
    cast = Cast(build=asking("Fine. What color?"), make_environment=kit.make_shop, name="x")
    session = kit.wait(drive(cast, script))
    assert [turn.user for turn in session.turns[:2]] == [script.turns[0].user, "Green, please."]
    assert [turn.auto for turn in session.turns] == [False, True] + [False] * 6
    assert not session.off_script


@pytest.mark.parametrize("questions", [("How tall?",), ("What color?", "What color?")])
def test_a_question_without_an_answer_marks_the_session(questions: tuple[str, ...]) -> None:
    script = kit.scenario(answers=({"asks": ("color",), "user": "Green."},))
    cast = Cast(build=asking(*questions), make_environment=kit.make_shop, name="x")
    session = kit.wait(drive(cast, script))
    assert session.off_script
    assert session.turns[-1].id == "buy"
