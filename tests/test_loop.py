"""Loop: a model in a tool loop; compaction, snapshots, and a model that does everything wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from fuzzturn.adapters import Access, agent_build
from fuzzturn.adapters.loop import Play, ToolLoop
from fuzzturn.adapters.mending import Said
from fuzzturn.calls import Gateway, Line
from fuzzturn.compaction import policy
from fuzzturn.drive import Cast, Meter, Stage, drive
from fuzzturn.errors import InputError
from fuzzturn.ports import Tool
from fuzzturn.session import Chat, Compaction, Message, ModelCall, Turn
from kit import Shop, make_shop, scenario


class Scripted:
    """Says these things in order; the last one for good. Keeps what it was shown."""

    def __init__(self, *script: Said) -> None:
        self.script, self.shown = list(script), list[Sequence[Chat]]()

    async def ask(self, messages: Sequence[Chat], tools: Sequence[Tool], line: Line) -> Said:
        self.shown.append(tuple(messages))
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


def call(name: str, arguments: str, id: str = "c1") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


SCHEMA = {"type": "object", "properties": {"price": {"type": "integer"}}, "required": ["price"]}


class Prices(Shop):
    """The toy shop with a schema."""

    tools: Any = (Tool("buy", "", SCHEMA),)


def spoken(model: Any, *messages: str, system: str | None = None, **options: str) -> list[Turn]:
    """The turns of a session with that model over the toy shop."""
    name = options.pop("compaction", "none")

    def build(environment: Any) -> ToolLoop:
        return ToolLoop(environment, model, Play(policy=policy(name, **options), system=system))

    cast = Cast(build=build, make_environment=lambda *, seed: Prices(), name="loop")

    async def session() -> list[Turn]:
        stage = Stage(cast, scenario(), Meter())
        lines = [scenario().turns[0].model_copy(update={"user": text}) for text in messages]
        turns = [await stage.speak(line, n) for n, line in enumerate(lines, start=1)]
        await stage.close()
        return turns

    return asyncio.run(session())


def test_tools_are_run_until_the_model_only_speaks_and_every_call_is_where_it_belongs() -> None:
    model = Scripted(Said(text="Let me see.", calls=[call("buy", '{"price": 40}')]), Said(text="Bought."))
    (turn,) = spoken(model, "Buy a lamp.", system="Be brief.")
    assert [type(event).__name__ for event in turn.events] == [
        "ModelCall",
        "Message",
        "ToolCall",
        "ModelCall",
        "Message",
    ]
    assert turn.state == {"bought": [40]}
    assert [m["role"] for m in model.shown[1]] == ["system", "user", "assistant", "tool"]
    assert model.shown[1][2]["tool_calls"][0]["id"] == model.shown[1][3]["tool_call_id"] == "c1"


@pytest.mark.parametrize(
    ("wrong", "note"),
    [
        (call("bay", "{}"), "no tool is called 'bay'"),
        (call("buy", '{"price": "x"}'), "'x' is not of type 'integer'"),
        (call("buy", '{"price": 4'), "the arguments are not JSON"),
        (call("buy", "{}"), "'price' is a required property"),
    ],
)
def test_a_call_outside_the_protocol_never_reaches_the_environment_and_the_model_is_told(wrong: Any, note: str) -> None:
    model = Scripted(Said(calls=[wrong]), Said(text="Sorry."))
    (turn,) = spoken(model, "Buy a lamp.")
    assert turn.tool_calls == ()
    assert turn.error is None
    assert note in turn.model_calls[0].notes[0]
    assert note in json.loads(model.shown[1][-1]["content"])["error"]
    json.loads(model.shown[1][-2]["tool_calls"][0]["function"]["arguments"])  # whole again, or servers answer 500


def test_a_call_that_was_cut_off_leaves_no_trace_in_the_history() -> None:
    model = Scripted(Said(text="I will buy", calls=[call("buy", '{"pri')], finish="length"), Said(text="fine"))
    first, second = spoken(model, "Buy a lamp.", "And now?")
    assert first.text == "I will buy"
    assert "cut off by the token limit" in first.model_calls[0].notes[0]
    assert second.error is None
    assert all("tool_calls" not in message for message in model.shown[1])


def test_a_tool_that_fails_is_news_to_the_model() -> None:
    model = Scripted(Said(calls=[call("buy", '{"price": 1}')]), Said(text="It failed."))

    class Closed(Prices):
        def call(self, name: str, /, **args: Any) -> Any:
            raise KeyError("closed today")

    cast = Cast(build=lambda e: ToolLoop(e, model, Play(policy=policy("none"))),
                make_environment=lambda *, seed: Closed(), name="loop")  # fmt: skip
    turn = asyncio.run(drive(cast, scenario())).turns[0]
    assert turn.tool_calls[0].error == "'closed today'"
    assert turn.error is None
    assert json.loads(model.shown[1][-1]["content"]) == {"error": "'closed today'"}


def test_a_model_that_never_stops_calling_is_stopped() -> None:
    first, second = spoken(Scripted(Said(calls=[call("buy", '{"price": 1}')])), "Buy a lamp.", "Stop!")
    assert len(first.tool_calls) == len(second.tool_calls) == 12
    assert first.model_calls[-1].notes == ("the turn was ended after 12 model calls",)
    assert first.error is None


def test_what_a_model_raises_is_the_agents_error() -> None:
    class Broken:
        async def ask(self, *_: Any) -> Said:
            raise RuntimeError("no such luck")

    (turn,) = spoken(Broken(), "Buy a lamp.")
    assert turn.error is not None
    assert turn.error.startswith("RuntimeError: no such luck")


def test_what_was_seen_and_done_before_the_model_failed_is_recorded() -> None:
    class Failing(Scripted):
        async def ask(self, messages: Sequence[Chat], tools: Sequence[Tool], line: Line) -> Said:
            if len(self.shown) == 1:
                raise RuntimeError("no such luck")
            return await super().ask(messages, tools, line)

    (turn,) = spoken(Failing(Said(calls=[call("buy", '{"price": 40}'), call("bay", "{}", "c2")])), "Buy a lamp.")
    assert [type(event).__name__ for event in turn.events] == ["ModelCall", "ToolCall"]
    assert "no tool is called 'bay'" in turn.model_calls[0].notes[0]
    assert turn.error is not None


def test_events_of_a_stranger_s_exception_are_left_alone() -> None:
    class Odd(Exception):
        events = ("not ours",)

    class Broken:
        async def ask(self, *_: Any) -> Said:
            raise Odd("odd")

    (turn,) = spoken(Broken(), "Buy a lamp.")
    assert turn.error is not None


def test_compaction_is_told_and_its_summary_is_what_the_model_sees() -> None:
    model = Scripted(Said(text="Noted."))
    turns = spoken(
        model, *["Tell me something. " * 20] * 6, compaction="summary_keep_recent", threshold="300", keep="2"
    )
    told = [event for turn in turns for event in turn.events if isinstance(event, Compaction)]
    assert told
    assert told[0].summary in model.shown[-1][0]["content"]
    assert told[0].summariser_input


def test_a_models_own_summary_stands_where_the_rule_would_have_written_one() -> None:
    read: list[Sequence[Chat]] = []

    async def summarise(messages: Sequence[Chat], line: Line) -> str:
        read.append(messages)
        return "They talked."

    model = Scripted(Said(text="Noted."))
    loop = ToolLoop(
        Prices(), model, Play(policy=policy("summary_keep_recent", threshold="300", keep="2"), summarise=summarise)
    )

    async def session() -> list[Any]:
        return [event for _ in range(6) for event in (await loop.reply("Tell me something. " * 20)).events]

    told = [event for event in asyncio.run(session()) if isinstance(event, Compaction)]
    assert [event.summary for event in told] == ["They talked."] * len(told) != []
    assert tuple(told[0].summariser_input or ()) == tuple(read[0])
    assert "They talked." in model.shown[-1][0]["content"]


def test_a_session_goes_on_from_a_snapshot_as_if_it_had_not_stopped() -> None:
    async def sessions() -> tuple[Any, Any]:
        loops = [ToolLoop(Prices(), Echo(), Play(policy=policy("none"))) for _ in range(2)]
        await loops[0].reply("one")
        saved = loops[0].snapshot()
        straight = await loops[0].reply("two")
        await loops[0].reply("three")
        loops[1].restore(saved)
        return straight.events, (await loops[1].reply("two")).events

    straight, restored = asyncio.run(sessions())
    assert straight == restored


class Echo:
    async def ask(self, messages: Sequence[Chat], tools: Sequence[Tool], line: Line) -> Said:
        line.served["asked"] += 1
        return Said(text=f"{len(messages)} messages, asked {line.served['asked']} times")


def plain(function: Any, **options: str) -> Any:
    build = agent_build("f.py:f", options, Access(Gateway()), lambda spec: function)
    cast = Cast(build=build, make_environment=make_shop, name="f", options=options)
    return asyncio.run(drive(cast, scenario()))


def test_a_function_from_messages_to_a_message_is_an_agent() -> None:
    def answer(messages: list[dict[str, Any]], tools: list[Any]) -> dict[str, Any]:
        if messages[-1]["role"] == "user" and messages[-1]["content"].startswith("Buy"):
            return {"role": "assistant", "content": None, "tool_calls": [call("buy", '{"price": 40}')]}
        messages.append("it may do to its copy what it likes")  # type: ignore[arg-type]
        return {"role": "assistant", "content": [{"type": "text", "text": f"Done, with {len(tools)} tools."}]}

    session = plain(answer)
    assert session.error is None
    assert session.turns[-1].state["bought"] == [40]
    assert session.turns[-1].text == "Done, with 2 tools."
    assert all(isinstance(e, ModelCall | Message) for t in session.turns[:-1] for e in t.events)


def test_an_async_function_that_gives_a_whole_completion_tells_its_usage() -> None:
    class Completion:
        def model_dump(self) -> dict[str, Any]:
            choice = {"message": {"content": "Hello."}, "finish_reason": "stop"}
            return {"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}

    async def answer(messages: list[Any]) -> Completion:
        return Completion()

    session = plain(answer)
    assert session.turns[0].text == "Hello."
    assert session.turns[0].model_calls[0].usage == {"prompt_tokens": 3, "completion_tokens": 1}


def test_a_functions_own_options_go_to_it_and_the_rest_to_the_policy() -> None:
    seen: list[str] = []

    def answer(messages: list[Any], *, tone: str = "plain") -> str:
        seen.append(tone)
        return "ok"

    assert plain(answer, tone="warm", compaction="summary_keep_recent", keep="2").error is None
    assert set(seen) == {"warm"}
    with pytest.raises(InputError, match="tune"):
        plain(answer, tune="warm")


def test_a_function_that_returns_something_else_is_the_agents_error() -> None:
    session = plain(lambda messages: 42)
    assert "the function returned 42; it returns a text, an assistant message or a completion" in str(session.error)


def test_a_function_that_raises_what_no_future_can_carry_is_the_agents_error() -> None:
    def answer(messages: Any) -> str:
        return str(next(iter(())))

    assert "StopIteration" in plain(answer).error
