"""The wire protocol: what is sent, what is understood, and that whatever an agent sends never ends in a crash."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kit
from fuzzturn.adapters.protocol import DEPTH_MAX, MESSAGE_BYTES_MAX, Calls, Ready, State, decode, encode
from fuzzturn.adapters.wire import EXCHANGES_MAX, Opening, RestorableAgent, Snapshot, WireAgent, connect
from fuzzturn.drive import Cast, Meter, Stage, drive
from fuzzturn.errors import FuzzturnError, InputError, PortError
from fuzzturn.ports import Reply, Tool
from fuzzturn.replying import AgentFault
from fuzzturn.session import Compaction, Message, ModelCall, Session, ToolCall
from fuzzturn.tree import Tree

DOCUMENT = Path(__file__).parent.parent / "docs/wire-protocol.md"
CHAT = {"role": "user", "content": "hi"}


def said(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, **fields}).encode()


class Line:
    """A transport to an agent that is a list of answers; Ellipsis = it hangs."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.heard: list[dict[str, Any]] = []
        self.finished: list[bytes | None] = []

    async def exchange(self, message: bytes) -> bytes:
        self.heard.append(json.loads(message))
        answer = self.answers.pop(0)
        if answer is ...:
            await asyncio.sleep(3600)
        return answer if isinstance(answer, bytes) else said(**answer)

    async def finish(self, farewell: bytes | None) -> None:
        self.finished.append(farewell)

    def lately(self) -> str:
        return "; it muttered"


def agent(*answers: Any, snapshots: str = "no", timeout: str = "5", environment: Any = None) -> tuple[Any, Line]:
    line = Line(*answers)
    opening = Opening(seed=3, session_id="s1", system="Be kind.", options={"mood": "good"})
    return connect(line, environment or kit.Shop(), opening, timeout=timeout, snapshots=snapshots), line


READY = {"kind": "ready"}
OK = {"kind": "reply", "text": "ok"}


def replies(player: Any, *messages: str) -> list[Reply]:
    async def all_of() -> list[Reply]:
        return [await player.reply(message) for message in messages]

    return asyncio.run(all_of())


def calling(*calls: tuple[str, str, Any]) -> dict[str, Any]:
    return {"kind": "call", "calls": [{"id": id, "name": name, "args": args} for id, name, args in calls]}


# ---- what is sent


def test_a_session_is_opened_once_and_says_all_there_is_to_know() -> None:
    player, line = agent({"kind": "ready", "identity": "me 1"}, OK, OK)
    replies(player, "one", "two")
    opened, *rest = line.heard
    assert opened == {
        "type": "open", "protocol": 1, "session_id": "s1", "seed": 3, "system": "Be kind.", "base_url": None,
        "now": None, "tools": [{"name": n, "description": "", "schema": {}} for n in ("buy", "look")],
        "options": {"mood": "good"},
    }  # fmt: skip
    assert [(m["type"], m["n"], m["message"], m["session_id"]) for m in rest] == [
        ("say", 1, "one", "s1"), ("say", 2, "two", "s1"),
    ]  # fmt: skip
    assert player.identity == "me 1"


def test_mappings_and_tuples_are_sent_as_json_and_half_characters_are_escaped() -> None:
    sent = encode({"type": "results", "result": MappingProxyType({"a": (1, None)}), "text": "\ud800é\n"})
    assert sent == b'{"type":"results","result":{"a":[1,null]},"text":"\\ud800\\u00e9\\n"}'


@pytest.mark.parametrize("value", [object(), {1, 2}, b"x", float("nan")])
def test_a_tool_result_that_is_no_json_breaks_the_environments_port(value: Any) -> None:
    class Odd(kit.Shop):
        def call(self, name: str, /, **args: Any) -> Any:
            return value

    player, _ = agent(READY, calling(("c1", "look", {})), OK, environment=Odd())
    with pytest.raises(PortError, match="'results' cannot be sent to the agent"):
        replies(player, "hi")


# ---- what is understood


def test_a_simple_reply_is_a_model_call_its_tool_calls_and_a_text() -> None:
    call = {"name": "buy", "args": {"price": 1}, "result": [1], "error": None, "id": None}
    reply = decode(said("reply", text="ok", tool_calls=[call], context=[CHAT], usage={"n": 1}), "say")
    assert isinstance(reply, Reply)
    assert reply.events == (ModelCall([CHAT], {"n": 1}), ToolCall("buy", {"price": 1}, [1]), Message("ok"))


def test_events_come_in_order_and_what_is_missing_or_null_is_unknown() -> None:
    events = [
        {"type": "compaction", "policy": "p", "before": 9, "after": None, "dropped": [CHAT], "summariser_input": []},
        {"type": "model_call"},
        {"type": "tool_call", "name": "buy", "args": {}, "error": "no"},
        {"type": "message", "text": "ok"},
    ]
    reply = decode(said("reply", events=events, text=None), "results")
    assert isinstance(reply, Reply)
    assert reply.events == (
        Compaction("p", 9, None, [CHAT], None, []), ModelCall(), ToolCall("buy", {}, error="no"), Message("ok"),
    )  # fmt: skip


def test_the_other_answers_are_understood_and_the_session_id_may_come_back() -> None:
    assert decode(said("ready", session_id="s1"), "open") == Ready(None, False)
    assert decode(said("ready", identity="x", snapshots=True), "restore") == Ready("x", True)
    assert decode(said("snapshot", state=None), "snapshot") == State(None)
    assert decode(said(**calling(("a", "buy", {}))), "say") == Calls((ToolCall("buy", {}, id="a"),))


def test_every_answer_in_the_document_is_understood_or_an_error() -> None:
    (block,) = re.findall(r"```json file=answers\.ndjson\n(.*?)```", DOCUMENT.read_text(), re.S)
    asked = {"ready": "open", "call": "say", "reply": "say", "snapshot": "snapshot"}
    understood = 0
    for line in block.splitlines():
        if (kind := json.loads(line)["type"]) == "error":
            with pytest.raises(AgentFault, match="the agent reports: the model endpoint"):
                decode(line.encode(), "say")
        else:
            decode(line.encode(), asked[kind])
            understood += 1
    assert understood >= 6


BAD: Sequence[tuple[str, bytes, str]] = [
    ("say", b"", "the answer to 'say' is ''; accepted: one JSON object in UTF-8"),
    ("say", b"Loading model...", r"'Loading model\.\.\.'; accepted: one JSON object"),
    ("say", b"\xff{}", r"\\xff"),
    ("say", b"[1]", r"\[1\]; accepted: one JSON object"),
    ("say", b'{"type": NaN}', "NaN is no JSON"),
    ("say", b'{"type": "reply", "text": "\\ud800"}', "surrogates not allowed"),
    ("say", b"[" * 100_000, r"\[\[\["),
    ("say", said("reply", text="x", usage=json.loads("[" * DEPTH_MAX + "]" * DEPTH_MAX)), "at most 100 deep"),
    ("say", b" " * (MESSAGE_BYTES_MAX + 1), f"longer than {MESSAGE_BYTES_MAX} bytes"),
    ("say", b"{}", "accepted: an object whose 'type' is 'reply' or 'call' or 'error'"),
    ("say", said("ready"), "'ready'.*accepted: an object whose 'type' is 'reply' or 'call'"),
    ("open", said("reply", text="hi"), "the answer to 'open' is .*accepted: an object whose 'type' is 'ready'"),
    ("open", said("ready", identity=7), "field 'identity', is 7; accepted: a text"),
    ("open", said("ready", snapshots="yes"), "field 'snapshots', is 'yes'; accepted: true or false"),
    ("open", b'{"type": ["ready"]}', "whose 'type' is 'ready'"),
    ("snapshot", said("snapshot"), "lacks 'state'"),
    ("say", said("reply"), "'reply' is {}; accepted: either 'events', or 'text'"),
    ("say", said("reply", text="a", events=[]), "accepted: either 'events', or 'text'"),
    ("say", said("reply", txt="a"), "has the field 'txt'; did you mean 'text'"),
    ("say", said("reply", text=["a"]), "field 'text', is .'a'.; accepted: a text"),
    ("say", said("reply", text="a", context=["hi"]), "field 'context', is .'hi'.; accepted: a list of chat messages"),
    ("say", said("reply", text="a", context=[{"content": "x"}]), "accepted: a list of chat messages"),
    ("say", said("reply", text="a", usage=3), "accepted: an object"),
    ("say", said("reply", tool_calls=["x"]), "tool call 1 is 'x'"),
    ("say", said("reply", tool_calls=[{"args": {}}]), "tool call 1 lacks 'name'"),
    ("say", said("reply", events=["x"]), "event 1 is 'x'; accepted: an object whose 'type' is message, model_call"),
    ("say", said("reply", events=[{"type": "msg"}]), "event 1"),
    ("say", said("reply", events=[{"type": "message"}]), "event 1 lacks 'text'"),
    ("say", said("reply", events=[{"type": "message", "text": None}]), "event 1, field 'text', is None"),
    ("say", said("reply", events=[{"type": "model_call", "contxt": []}]), "did you mean 'context'"),
    ("say", said("reply", events=[{"type": "compaction", "before": "many"}]), "'many'; accepted: a whole number"),
    ("say", said("reply", events=[{"type": "compaction", "before": True}]), "True; accepted: a whole number"),
    ("say", said("reply", events=[{"type": "compaction", "after": -1}]), "-1; accepted: a whole number"),
    ("say", said("call"), "'call' lacks 'calls'"),
    ("say", said("call", calls=[]), "at least one call"),
    ("say", said("call", calls={"id": "a"}), "at least one call"),
    ("say", said("call", calls=["buy"]), "call 1 is 'buy'; accepted: an object with id, name, args"),
    ("say", said("call", calls=[{"id": "a", "name": "buy"}]), "call 1 lacks 'args'"),
    ("say", said("call", calls=[{"id": 1, "name": "buy", "args": {}}]), "call 1, field 'id', is 1; accepted: a text"),
    ("say", said("call", calls=[{"id": "a", "name": "buy", "args": "{}"}]), "field 'args', is '{}'; accepted"),
    ("say", said("call", calls=[{"id": "a", "name": "buy", "arguments": {}}]), "did you mean 'args'"),
    ("say", said(**calling(("a", "buy", {}), ("a", "look", {}))), "an id of its own for each call"),
    ("say", said("error"), "'error' lacks 'message'"),
    ("snapshot", said("error", message="no disk"), "the agent reports: no disk"),
]  # fmt: skip


@pytest.mark.parametrize("asked, raw, complaint", BAD, ids=range(len(BAD)))
def test_a_bad_answer_is_the_agents_fault_and_says_what_came(asked: str, raw: bytes, complaint: str) -> None:
    with pytest.raises(AgentFault, match=complaint) as caught:
        decode(raw, asked)
    assert not isinstance(caught.value, FuzzturnError)
    assert len(str(caught.value)) < 700


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=5), below, max_size=3),
    max_leaves=8,
)
_NAMES = st.sampled_from(
    ["type", "text", "events", "calls", "id", "name", "args", "context", "usage", "state", "tool_calls", "before"]
)
_KINDS = st.sampled_from(["reply", "call", "ready", "snapshot", "error", "message", "model_call", "compaction"])
_OBJECTS = st.dictionaries(_NAMES, _KINDS | _JSON | st.lists(st.dictionaries(_NAMES, _KINDS | _JSON, max_size=4)))
_ASKED = st.sampled_from(["open", "say", "results", "snapshot", "restore"])


_BYTES = st.binary(max_size=30) | (_JSON | _OBJECTS).map(lambda value: json.dumps(value).encode())


@given(_BYTES, _ASKED)
def test_whatever_comes_is_an_answer_or_a_fault(raw: bytes, asked: str) -> None:
    with suppress(AgentFault):
        assert isinstance(decode(raw, asked), Ready | Calls | Reply | State)


# ---- turns


def test_tools_run_in_the_environment_and_their_errors_go_back() -> None:
    shop = kit.Shop()
    asked = calling(("a", "buy", {"price": 40}), ("b", "buy", {}), ("c", "look", {}))
    player, line = agent(READY, asked, OK, environment=shop)
    (reply,) = replies(player, "Buy.")
    assert line.heard[-1]["results"] == [
        {"id": "a", "result": "ok"}, {"id": "b", "error": "'price'"}, {"id": "c", "result": {"prices": [40, 90]}},
    ]  # fmt: skip
    assert shop.bought == [40]
    assert reply.events == (Message("ok"),)


def test_a_tool_may_be_waited_for() -> None:
    class Slow(kit.Shop):
        async def call(self, name: str, /, **args: Any) -> Any:
            await asyncio.sleep(0)
            return super().call(name, **args)

    player, line = agent(READY, calling(("a", "look", {})), OK, environment=Slow())
    replies(player, "hi")
    assert line.heard[-1]["results"] == [{"id": "a", "result": {"prices": [40, 90]}}]


def test_a_tool_that_does_not_exist_never_reaches_the_environment_and_stays_on_record() -> None:
    class Trusting(kit.Shop):
        def call(self, name: str, /, **args: Any) -> Any:
            raise AssertionError(name)

    player, line = agent(READY, calling(("a", "by", {"x": 1})), OK, environment=Trusting())
    (reply,) = replies(player, "hi")
    error = "no tool is called 'by'; did you mean 'buy'? (known: buy, look)"
    assert line.heard[-1]["results"] == [{"id": "a", "error": error}]
    assert reply.events == (ToolCall("by", {"x": 1}, error=error, id="a"), Message("ok"))


def test_a_refused_call_that_the_agent_lists_itself_is_counted_once() -> None:
    listed = {"type": "tool_call", "name": "by", "args": {}, "error": "there is none"}
    answer = {"kind": "reply", "events": [listed, {"type": "message", "text": "ok"}]}
    player, _ = agent(READY, calling(("a", "by", {}), ("b", "by", {})), answer)
    (reply,) = replies(player, "hi")
    first, second, text = reply.events
    assert isinstance(first, ToolCall)
    assert isinstance(second, ToolCall)
    assert (first.error, second.id, text) == ("there is none", "b", Message("ok"))


def test_an_environment_that_breaks_its_port_is_not_the_agents_business() -> None:
    class Broken(kit.Shop):
        def call(self, name: str, /, **args: Any) -> Any:
            raise PortError("broken")

    player, line = agent(READY, calling(("a", "look", {})), environment=Broken())
    with pytest.raises(PortError, match="broken"):
        replies(player, "hi")
    asyncio.run(player.aclose())
    assert line.finished == [None]


def test_an_agent_that_calls_tools_for_ever_is_stopped() -> None:
    player, line = agent(READY, *[calling(("a", "look", {}))] * (EXCHANGES_MAX + 5))
    with pytest.raises(AgentFault, match=f"asked for tools {EXCHANGES_MAX} times in one turn"):
        replies(player, "hi")
    assert len(line.heard) == EXCHANGES_MAX + 1


def test_an_answer_that_does_not_come_in_time_is_a_fault() -> None:
    player, line = agent(READY, ..., timeout="0.01")
    with pytest.raises(AgentFault, match=r"no answer to 'say' within 0\.01 seconds; it muttered"):
        replies(player, "hi")
    assert line.finished == [None]


def test_after_a_fault_the_session_stays_failed_and_nothing_more_is_sent() -> None:
    player, line = agent(READY, b"garbage", OK)
    for _ in range(2):
        with pytest.raises(AgentFault, match=r"'garbage'.*it muttered"):
            replies(player, "hi")
    asyncio.run(player.aclose())
    assert [m["type"] for m in line.heard] == ["open", "say"]
    assert set(line.finished) == {None}


def test_the_end_is_told_to_an_agent_that_was_opened() -> None:
    player, line = agent(READY, OK)
    replies(player, "hi")
    asyncio.run(player.aclose())
    (farewell,) = line.finished
    assert json.loads(farewell or b"") == {"type": "close", "session_id": "s1"}
    unopened, quiet = agent()
    asyncio.run(unopened.aclose())
    assert quiet.finished == [None]


# ---- snapshots


def test_only_an_agent_that_is_said_to_offer_snapshots_has_them() -> None:
    opaque, _ = agent()
    assert not hasattr(opaque, "snapshot")
    assert not hasattr(opaque, "restore")
    assert isinstance(agent(snapshots="yes")[0], RestorableAgent)


def test_an_agent_that_does_not_announce_its_snapshots_is_at_fault() -> None:
    player, _ = agent(READY, OK, snapshots="yes")
    with pytest.raises(
        AgentFault, match="snapshots=yes says that the agent offers snapshots, but its 'ready' does not"
    ):
        replies(player, "hi")


def test_a_restored_session_opens_restores_and_goes_on_counting() -> None:
    ready = {"kind": "ready", "snapshots": True}
    player, line = agent(ready, OK, {"kind": "snapshot", "state": {"a": 1}}, snapshots="yes")

    async def saved() -> Snapshot:
        await player.reply("one")
        snapshot: Snapshot = await player.snapshot()
        return snapshot

    snapshot = asyncio.run(saved())
    assert snapshot == Snapshot(1, {"a": 1})
    again, line = agent(ready, ready, OK, snapshots="yes")
    again.restore(snapshot)
    assert asyncio.run(again.snapshot()) is snapshot
    assert line.heard == []
    replies(again, "two")
    assert [(m["type"], m.get("state"), m.get("n")) for m in line.heard] == [
        ("open", None, None), ("restore", {"a": 1}, None), ("say", None, 2),
    ]  # fmt: skip


def test_a_snapshot_that_fails_shows_in_the_next_reply_here_and_wherever_it_is_restored() -> None:
    ready = {"kind": "ready", "snapshots": True}
    player, _ = agent(ready, OK, b"garbage", OK, snapshots="yes")
    replies(player, "one")
    snapshot = asyncio.run(player.snapshot())
    again, line = agent(ready, ready, OK, snapshots="yes")
    again.restore(snapshot)
    for one in (player, again):
        with pytest.raises(AgentFault, match="the answer to 'snapshot' is 'garbage'"):
            replies(one, "two")
    assert line.heard == []


# ---- options


@pytest.mark.parametrize("timeout", ["0", "-1", "soon", "nan", "inf", ""])
def test_a_timeout_is_a_number_above_zero(timeout: str) -> None:
    with pytest.raises(InputError, match="a number of seconds above 0"):
        agent(timeout=timeout)


def test_snapshots_is_yes_or_no() -> None:
    with pytest.raises(InputError, match=r"snapshots is 'true'; yes, .* or no"):
        agent(snapshots="true")


# ---- in the harness


class Buyer:
    """kit's buyer at the other end of the wire."""

    def __init__(self) -> None:
        self.local: kit.Buyer | None = None
        self.price: Mapping[str, Any] | None = None

    async def exchange(self, message: bytes) -> bytes:
        heard = json.loads(message)
        if heard["type"] == "open":
            self.local = kit.Buyer(self, 60, 2, False)
            return said("ready", snapshots=True)
        assert self.local is not None
        if heard["type"] == "snapshot":
            return said("snapshot", state=self.local.messages)
        if heard["type"] == "restore":
            self.local.messages = heard["state"]
            return said("ready", snapshots=True)
        if heard["type"] == "results":
            return said("reply", events=self.events)
        return await self._turn(heard["message"])

    async def _turn(self, message: str) -> bytes:
        assert self.local is not None
        reply = await self.local.reply(message)
        self.events = [_told(event) for event in reply.events]
        called = [e for e in reply.events if isinstance(e, ToolCall)]
        return (
            said(**calling(*[("c", e.name, e.args) for e in called])) if called else said("reply", events=self.events)
        )

    def call(self, name: str, /, **args: Any) -> str:
        return "ok"

    async def finish(self, farewell: bytes | None) -> None: ...

    def lately(self) -> str:
        return ""


_EVENTS: Mapping[type, tuple[str, str]] = {
    Message: ("message", "text"),
    ModelCall: ("model_call", "context usage"),
    ToolCall: ("tool_call", "name args result error id"),
    Compaction: ("compaction", "policy before after dropped summary summariser_input"),
}


def _told(event: Any) -> dict[str, Any]:
    kind, fields = _EVENTS[type(event)]
    return {"type": kind, **{name: getattr(event, name) for name in fields.split()}}


def wired(snapshots: str) -> Cast:
    def build(environment: Any, *, session_id: str) -> WireAgent:
        return connect(Buyer(), environment, Opening(session_id=session_id), timeout="5", snapshots=snapshots)

    return Cast(build=build, make_environment=kit.make_shop, name="wired")


def test_a_session_over_the_wire_is_recorded_like_the_same_agent_at_home() -> None:
    script = kit.scenario()
    at_home = asyncio.run(drive(kit.cast(memory="60"), script))
    assert any(turn.compactions for turn in at_home.turns)
    assert asyncio.run(drive(wired("no"), script)) == at_home
    assert asyncio.run(drive(wired("yes"), script)) == at_home


def test_going_on_from_a_snapshot_gives_what_playing_through_gives() -> None:
    script = kit.scenario()

    async def resumed(cast: Cast) -> tuple[Session, Session, int]:
        tree = Tree(cast, script, Meter())
        whole = await tree.play(script)
        other = await tree.play(script.model_copy(update={"turns": (*script.turns[:4], script.turns[-1])}))
        assert await tree.distrust(script) is None or not Stage(cast, script, Meter()).can_snapshot
        return whole, other, tree.meter.agent_turns

    whole, other, spent = asyncio.run(resumed(wired("yes")))
    opaque_whole, opaque_other, opaque_spent = asyncio.run(resumed(wired("no")))
    assert (whole, other) == (opaque_whole, opaque_other)
    assert (spent, opaque_spent) == (9, 12)


def test_a_tool_of_the_environment_is_told_to_the_agent_with_its_schema() -> None:
    desk: Any = kit.Shop()
    desk.tools = [Tool("buy", "Buys.", MappingProxyType({"type": "object"}))]
    player, line = agent(READY, OK, environment=desk)
    replies(player, "hi")
    assert line.heard[0]["tools"] == [{"name": "buy", "description": "Buys.", "schema": {"type": "object"}}]
