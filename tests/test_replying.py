"""Replying: what may stand for a reply, what it becomes, and that everything else is refused in words."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kit
from fuzzturn.drive import Cast, drive
from fuzzturn.errors import FuzzturnError, InputError
from fuzzturn.ports import Reply
from fuzzturn.replying import AgentFault, as_reply, clipped, fold
from fuzzturn.session import Message, Session, ToolCall


def asked(*calls: tuple[str, str, str], content: Any = None) -> dict[str, Any]:
    made = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
    return {"role": "assistant", "content": content, "tool_calls": made}


def answered(id: Any, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": content}


def test_a_reply_stays_what_it_is_and_a_text_is_what_is_said() -> None:
    reply = Reply("hello")
    assert as_reply(reply) is reply
    assert as_reply("hello").events == (Message("hello"),)


def test_an_assistant_message_gives_its_text_and_its_calls() -> None:
    message = asked(("c1", "buy", '{"price": 40}'), content="One moment.")
    assert as_reply(message).events == (Message("One moment."), ToolCall("buy", {"price": 40}, id="c1"))
    assert as_reply({"role": "assistant", "content": None}).events == ()


def test_the_messages_of_a_turn_give_its_events_in_order_with_results_where_they_belong() -> None:
    turn = [
        asked(("c1", "look", " "), ("c2", "buy", '{"price": 40}')),
        answered("c2", "ok"),
        answered("c1", '{"prices": [40, 90]}'),
        {"role": "assistant", "content": [{"type": "text", "text": "Bought"}, {"type": "text", "text": "."}]},
    ]
    assert as_reply(turn).events == (
        ToolCall("look", {}, {"prices": [40, 90]}, id="c1"),
        ToolCall("buy", {"price": 40}, "ok", id="c2"),
        Message("Bought."),
    )


def test_a_tool_that_says_a_number_has_said_a_text() -> None:
    (call,) = as_reply([asked(("c1", "count", "{}")), answered("c1", "42")]).events
    assert isinstance(call, ToolCall)
    assert call.result == "42"


def test_what_the_model_refuses_to_say_is_what_it_said() -> None:
    assert as_reply({"role": "assistant", "content": None, "refusal": "I can't."}).events == (Message("I can't."),)
    parts = [{"type": "refusal", "refusal": "No."}]
    assert as_reply({"role": "assistant", "content": parts}).events == (Message("No."),)


def test_an_object_that_dumps_itself_counts_as_what_it_dumps() -> None:
    class Dumped:
        def __init__(self, **fields: Any) -> None:
            self.fields = fields

        def model_dump(self) -> dict[str, Any]:
            return self.fields

    assert as_reply(Dumped(role="assistant", content="hi")).events == (Message("hi"),)
    assert as_reply([Dumped(**asked(("a", "buy", "{}")))]).events == (ToolCall("buy", {}, id="a"),)


@pytest.mark.parametrize(
    "value, complaint",
    [
        (
            [answered("c9", "ok")],
            r"answers the tool call 'c9', which no assistant message before it made \(none so far\)",
        ),
        ([asked(("c1", "buy", "{}")), answered(None, "ok")], r"the tool call None.*\(c1\)"),
        ([asked(("c1", "buy", "{}")), answered("c1", "ok"), answered("c1", "ok")], "'c1' a second time"),
        ([asked(("c1", "buy", "{price: 40"))], "message 1 of the reply: buy was called with '{price: 40'.*JSON object"),
        ([asked(("c1", "buy", "[40]"))], "JSON object"),
        ([{"role": "user", "content": "hi"}], "message 1 of the reply has the role 'user'; accepted: assistant, tool"),
        ({"role": "function", "name": "f", "content": "1"}, "the role 'function'"),
        ({"content": "hi"}, "the role None"),
        (["hi"], "message 1 of the reply is 'hi'"),
        ([{"role": "assistant", "content": 7}], "the content 7; accepted: a text, or parts"),
        ([{"role": "assistant", "content": [{"type": "image_url"}]}], "image_url.*accepted: a text, or parts"),
        ([{"role": "assistant", "tool_calls": "buy"}], "the tool_calls 'buy'; accepted: a list"),
        ([{"role": "assistant", "tool_calls": [{"name": "buy"}]}], "the tool call {'name': 'buy'}; accepted: {'id'"),
        ([{"role": "assistant", "tool_calls": ["buy"]}], "the tool call 'buy'; accepted: {'id'"),
    ],
)
def test_messages_that_do_not_fit_together_are_the_agents_fault(value: Any, complaint: str) -> None:
    with pytest.raises(AgentFault, match=complaint) as caught:
        as_reply(value)
    assert not isinstance(caught.value, FuzzturnError)


class _Model:
    def model_dump(self) -> dict[str, str]:
        return {"role": "assistant"}


@pytest.mark.parametrize("value", [None, 7, b"hi", object, _Model])
def test_a_value_of_no_such_kind_is_the_agents_fault(value: Any) -> None:
    with pytest.raises(AgentFault, match=r"it is a fuzzturn\.Reply, a text, an assistant message"):
        as_reply(value)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=5), below, max_size=3),
    max_leaves=8,
)
_FIELD = st.sampled_from(["role", "content", "tool_calls", "tool_call_id", "id", "function", "name", "arguments"])
_WORDS = st.sampled_from(["assistant", "tool", "c1", "buy", "{}", "text"])
_MESSAGES = st.lists(st.dictionaries(_FIELD, _WORDS | _JSON | st.lists(st.dictionaries(_FIELD, _WORDS)), max_size=4))


@given(_JSON | _MESSAGES)
def test_any_value_is_a_reply_or_is_refused(value: Any) -> None:
    with suppress(AgentFault):
        assert isinstance(as_reply(value), Reply)


@given(st.lists(st.tuples(st.sampled_from(["buy", "look"]), st.dictionaries(st.text(), st.integers())), max_size=5))
def test_calls_and_results_written_as_messages_come_back(calls: list[tuple[str, dict[str, int]]]) -> None:
    turn = [asked(*((f"c{i}", name, json.dumps(args)) for i, (name, args) in enumerate(calls)))]
    turn += [answered(f"c{i}", json.dumps({"done": i})) for i, _ in enumerate(calls)]
    expected = [ToolCall(name, args, {"done": i}, id=f"c{i}") for i, (name, args) in enumerate(calls)]
    assert as_reply(turn).events == tuple(expected)


def test_what_is_quoted_is_clipped() -> None:
    assert len(clipped("x" * 10_000)) == 200


def played(function: Any, **options: str) -> Session:
    cast = Cast(build=fold(function), make_environment=kit.make_shop, name="f", options=options)
    return asyncio.run(drive(cast, kit.scenario()))


def test_a_plain_function_is_an_agent() -> None:
    def agent(message: str) -> str:
        return f"You said: {message}"

    session = played(agent)
    assert session.error is None
    assert [turn.text for turn in session.turns] == [f"You said: {turn.user}" for turn in session.turns]


def test_a_function_is_handed_what_it_names_and_its_calls_are_recorded_once() -> None:
    heard: set[tuple[str, str]] = set()

    async def agent(message: str, environment: Any, *, session_id: str, mood: str = "good") -> list[dict[str, Any]]:
        heard.add((session_id, mood))
        if not message.startswith("Buy"):
            return [{"role": "assistant", "content": "Noted."}]
        bought = environment.call("buy", price=40)
        return [asked(("c1", "buy", '{"price": 40}')), answered("c1", bought), {"role": "assistant", "content": "Ok."}]

    last = played(agent, mood="bad").turns[-1]
    assert last.events == (ToolCall("buy", {"price": 40}, "ok", id="c1"), Message("Ok."))
    ((session_id, mood),) = heard
    assert (session_id.startswith("lamp-0-0-"), mood) == (True, "bad")


def test_an_option_that_the_function_does_not_name_is_refused() -> None:
    def agent(message: str, *, mood: str = "good") -> str:
        return mood

    with pytest.raises(InputError, match="takes no option 'moods'; did you mean 'mood'"):
        played(agent, moods="bad")


def test_what_a_function_returns_badly_or_raises_ends_the_session() -> None:
    def tool_alone(message: str) -> Any:
        return [answered("c1", "ok")]

    def broken(message: str) -> str:
        raise KeyError("lamp")

    assert "AgentFault: message 1 of the reply answers" in str(played(tool_alone).error)
    assert "KeyError: 'lamp'" in str(played(broken).error)


def test_only_a_function_of_a_message_is_folded() -> None:
    class Classic:
        def __init__(self, message: Any) -> None: ...

    def chat(messages: list[Any]) -> str:
        return ""

    def nothing() -> None: ...

    for build in (kit.build, Classic, chat, nothing, dict.fromkeys):
        assert fold(build) is build
