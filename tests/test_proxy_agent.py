"""An agent behind the proxy: contexts, tool calls and compactions are seen, recorded, and good for an explanation."""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import openai
import pytest

import kit
from fuzzturn.adapters import process
from fuzzturn.adapters.proxy import wrap
from fuzzturn.calls import CallRecord, Gateway
from fuzzturn.drive import Cast, Meter, drive
from fuzzturn.errors import Halted, InputError, PortError
from fuzzturn.ports import Reply
from fuzzturn.session import Compaction, Event, Message, ModelCall, Session, ToolCall
from fuzzturn.tree import Tree
from fuzzturn.trial import Bench
from fuzzturn.variant import Variant
from fuzzturn.why import loss
from upstream import Fault, Upstream, asked, said

SCENARIO = kit.scenario()
TOOLS: Any = [{"type": "function", "function": {"name": "buy", "parameters": {"type": "object", "properties": {}}}}]
SUMMARY = "They talked about a lamp and about the weather, at some length."


class Shopper:
    """An ordinary agent: a tool loop over OpenAI's client, with a summary in place of what is old. It tells nothing."""

    identity = "shopper 1"

    def __init__(self, shop: Any, base_url: str, keep: int, reads: str, summarises: bool) -> None:
        self.shop, self.keep, self.reads, self.summarises = shop, keep, reads, summarises
        plain = openai.DefaultAsyncHttpxClient(verify=False)  # reading the certificates takes longer than a session
        self.client = openai.AsyncOpenAI(base_url=base_url, api_key="x", http_client=plain)
        self.messages: list[Any] = []

    async def reply(self, message: str) -> Any:
        self.messages.append({"role": "user", "content": message})
        await self.compact()
        while (answer := await self.ask(self.messages, tools=TOOLS)).tool_calls:
            self.messages.append(answer.model_dump(exclude_none=True))
            for call in answer.tool_calls:
                result = self.shop.call(call.function.name, **json.loads(call.function.arguments))
                self.messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})
        self.messages.append({"role": "assistant", "content": answer.content})
        return Reply(answer.content)

    async def ask(self, messages: list[Any], **more: Any) -> Any:
        response = await self.client.chat.completions.create(model="m", messages=messages, **more)
        return response.choices[0].message

    async def compact(self) -> None:
        if self.keep == 0 or len(self.messages) <= 6:
            return
        old, self.messages = self.messages[: -self.keep], self.messages[-self.keep :]
        if not self.summarises:
            return
        read = old if self.reads == "all" else old[-1:]
        told = "\n".join(f"{message['role']}: {message['content']}" for message in read)
        orders = [{"role": "system", "content": "Summarise."}, {"role": "user", "content": told}]
        self.messages.insert(0, {"role": "user", "content": f"So far: {(await self.ask(orders)).content}"})

    async def aclose(self) -> None:
        await self.client.close()


class Saving(Shopper):
    def snapshot(self) -> object:
        return list(self.messages)

    def restore(self, saved: Any) -> None:
        self.messages = list(saved)


def build(
    environment: Any, *, base_url: str, reads: str = "all", summarises: str = "yes", compaction: str = "on",
    saves: str = "no",
) -> Any:  # fmt: skip
    kind = Saving if saves == "yes" else Shopper
    return kind(environment, base_url, 0 if compaction == "none" else 2, reads, summarises == "yes")


def answer(body: Mapping[str, Any]) -> dict[str, Any]:
    """Buys the dear lamp unless the cap is in what it is given."""
    last = body["messages"][-1]
    if not body.get("tools"):
        return said(SUMMARY)
    if last["role"] == "tool":
        return said("Bought. I will send the receipt.")
    if str(last["content"]).startswith("Buy"):
        return asked("buy", {"price": 40 if kit.CAP in json.dumps(body["messages"]) else 90}, id="call_buy")
    return said("Noted.")


async def no_wait(seconds: float) -> None:
    pass


def cast(
    target: Callable[..., Any], url: str, record: Path | None = None, *, offline: bool = False, **options: str
) -> Cast:
    gateway = Gateway(record=CallRecord(record), offline=offline, sleep=no_wait, retries=1)
    behind = wrap(target, gateway=gateway, upstream=url)
    return Cast(build=behind, make_environment=kit.make_shop, name="proxy", options=options)


def played(playing: Cast, meter: Meter | None = None) -> Session:
    async def play() -> Session:
        session = await drive(playing, SCENARIO, meter)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return session

    session = asyncio.run(play())
    gc.collect()  # a socket that is left open would warn here, which is an error
    return session


def test_the_harness_sees_contexts_tool_calls_and_compactions_of_an_agent_that_tells_nothing() -> None:
    with Upstream(answer) as upstream:
        session = played(cast(build, upstream.url))
    assert session.error is None
    first, last = session.turns[0], session.turns[-1]
    asked_first = [{"role": "user", "content": "Hello, I look for a lamp."}]
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    assert first.events == (ModelCall(asked_first, usage), Message("Noted."))
    assert [call.recorded for turn in session.turns for call in turn.model_calls] == [False] * 8
    *_, asking, bought, done, text = last.events
    assert bought == ToolCall("buy", {"price": 90}, "ok", id="call_buy")
    assert isinstance(asking, ModelCall)
    assert isinstance(done, ModelCall)
    assert text == Message("Bought. I will send the receipt.")
    lost = [compaction for turn in session.turns for compaction in turn.compactions]
    assert [(compaction.summary, bool(compaction.summariser_input)) for compaction in lost] == [(SUMMARY, True)] * 2


@pytest.mark.parametrize(
    ("reads", "summarises", "mechanism"),
    [
        ("all", "yes", "lost_by_summariser"),
        ("last", "yes", "never_reached_summariser"),
        ("all", "no", "never_reached_summariser"),
    ],
)
def test_what_was_seen_explains_how_the_rule_was_lost(reads: str, summarises: str, mechanism: str) -> None:
    async def work() -> tuple[str, int | None]:
        meter = Meter()
        bench = Bench(
            Tree(cast(build, upstream.url, reads=reads, summarises=summarises), SCENARIO, meter), kit.registry(),
            kit.bench(SCENARIO).jury, asyncio.Semaphore(1),
        )  # fmt: skip
        trial = await bench.run(Variant(SCENARIO))
        (failure,) = (f for f in trial.failures if f.kind == "violation")
        assert failure.visibility == "absent"
        return loss(trial.measured, failure)

    with Upstream(answer) as upstream:
        found, lost_at = asyncio.run(work())
        assert found == mechanism
        assert lost_at == 4
        clean = played(cast(build, upstream.url, compaction="none"))
    assert [turn.compactions for turn in clean.turns] == [()] * 7
    assert clean.turns[-1].tool_calls[0].args == {"price": 40}


def test_a_recorded_session_plays_again_offline_and_costs_no_turn(tmp_path: Path) -> None:
    file = tmp_path / "calls.sqlite"
    with Upstream(answer) as upstream:
        first = played(cast(build, upstream.url, file))
    meter = Meter()
    again = played(cast(build, "http://127.0.0.1:9/v1", file, offline=True), meter)
    assert again == first
    assert [call.recorded for turn in again.turns for call in turn.model_calls] == [True] * 8
    assert meter.agent_turns == 0


def test_a_call_that_can_never_be_made_halts_the_harness_and_not_just_the_agent() -> None:
    with pytest.raises(Halted, match="this call is not recorded"):
        played(cast(build, "http://127.0.0.1:9/v1", offline=True))
    with Upstream(answer, [Fault(status=401)]) as upstream, pytest.raises(Halted, match="status 401"):
        played(cast(build, upstream.url))


def test_an_agent_that_swallows_the_error_is_halted_all_the_same() -> None:
    class Careless(Shopper):
        async def ask(self, messages: list[Any], **more: Any) -> Any:
            try:
                return await super().ask(messages, **more)
            except openai.APIError:
                return openai.types.chat.ChatCompletionMessage(role="assistant", content="All is well.")

    def careless(environment: Any, *, base_url: str) -> Any:
        return Careless(environment, base_url, 2, "all", True)

    with pytest.raises(Halted):
        played(cast(careless, "http://127.0.0.1:9/v1", offline=True))


def test_a_call_that_fails_is_the_agents_error_and_the_session_ends() -> None:
    with Upstream(answer, [None, *[Fault(status=503)] * 2]) as upstream:
        session = played(cast(build, upstream.url))
    assert session.error is not None
    assert "Error code: 502" in session.error
    assert len(session.turns) == 2


def test_sessions_go_on_from_snapshots_and_come_out_the_same(tmp_path: Path) -> None:
    async def work(url: str) -> tuple[str | None, Session, Session]:
        meter = Meter()
        tree = Tree(cast(build, url, tmp_path / "calls.sqlite", saves="yes"), SCENARIO, meter)
        whole = await tree.play(SCENARIO)
        reason = await tree.distrust(SCENARIO)
        spoken = kit.scenario(
            [*SCENARIO.model_dump(by_alias=True)["turns"][:-1], {"id": "more", "user": "Buy another."}]
        )
        return reason, whole, await tree.play(spoken)

    with Upstream(answer) as upstream:
        reason, whole, other = asyncio.run(work(upstream.url))
        again = played(cast(build, upstream.url, tmp_path / "calls.sqlite", saves="yes"))
    assert reason is None
    assert again == whole
    assert other.turns[:-1] == whole.turns[:-1]
    assert [len(turn.compactions) for turn in other.turns] == [0, 0, 0, 1, 0, 1, 0]


def test_several_sessions_at_once_share_one_server_and_mix_nothing_up() -> None:
    async def work(playing: Cast) -> list[Session]:
        sessions = await asyncio.gather(*(drive(playing, SCENARIO) for _ in range(5)))
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return sessions

    with Upstream(answer) as upstream:
        sessions = asyncio.run(work(cast(build, upstream.url)))
        assert len(upstream.requests) == 10  # each call once, whoever was first
    assert all(session == sessions[0] for session in sessions)


def sync(environment: Any, *, base_url: str) -> Any:
    class Sync:
        def reply(self, message: str) -> Any:
            plain = openai.DefaultHttpxClient(verify=False)
            with openai.OpenAI(base_url=base_url, api_key="x", http_client=plain) as client:
                messages: Any = [{"role": "user", "content": message}]
                return client.chat.completions.create(model="m", messages=messages, tools=TOOLS).choices[0].message

    return Sync()


def test_an_agent_that_blocks_and_returns_a_message_is_served_too() -> None:
    with Upstream(lambda body: said("Noted.")) as upstream:
        session = played(cast(sync, upstream.url))
    assert session.turns[0].text == "Noted."
    compaction = session.turns[1].compactions[0]
    assert compaction.dropped == ({"role": "user", "content": "Hello, I look for a lamp."},)
    assert compaction.summariser_input == ()  # it has no memory at all, and its calls show it


def own_tools(environment: Any, *, base_url: str, tells: str = "no") -> Any:
    class Own(Shopper):
        """Runs its tools itself, without the environment."""

        async def reply(self, message: str) -> Any:
            said = await super().reply(message)
            told: list[Event] = [ToolCall("buy", {"price": 40}, "told")] if message.startswith("Buy") else []
            return Reply(events=[*told, *said.events]) if tells == "yes" else said

    class Tools:
        def call(self, name: str, **args: Any) -> Any:
            return {"bought": args["price"]}

    return Own(Tools(), base_url, 0, "all", True)


def test_tools_that_an_agent_runs_itself_are_seen_by_their_results_unless_it_tells() -> None:
    with Upstream(answer) as upstream:
        seen = played(cast(own_tools, upstream.url)).turns[-1]
        told = played(cast(own_tools, upstream.url, tells="yes")).turns[-1]
    assert seen.tool_calls == (ToolCall("buy", {"price": 40}, {"bought": 40}, id="call_buy"),)
    assert told.tool_calls == (ToolCall("buy", {"price": 40}, "told"),)
    kinds = [[type(event).__name__ for event in turn.events] for turn in (seen, told)]
    assert kinds == [["ModelCall", "ToolCall", "ModelCall", "Message"]] * 2


def background(environment: Any, *, base_url: str) -> Any:
    class Background(Shopper):
        """Thinks on after it has replied."""

        async def reply(self, message: str) -> Any:
            self.messages.append({"role": "user", "content": message})
            text = (await self.ask(self.messages, tools=TOOLS)).content
            self.messages.append({"role": "assistant", "content": text})
            self.later = asyncio.create_task(self.ask(list(self.messages), tools=TOOLS))
            return Reply(text)

        async def settle(self, timeout: float) -> None:
            await self.later

    return Background(environment, base_url, 0, "all", True)


def test_calls_after_a_reply_are_waited_for_and_belong_to_the_next_turn() -> None:
    with Upstream(lambda body: said("Noted.")) as upstream:
        session = played(cast(background, upstream.url))
        assert len(upstream.requests) == 14
    assert [len(turn.model_calls) for turn in session.turns] == [1, 2, 2, 2, 2, 2, 2]
    notes = [call.notes for call in session.turns[1].model_calls]
    assert notes == [("made while no reply was under way",), ()]


PROGRAM = """
import json, os, sys, urllib.request
messages = []
for line in sys.stdin:
    told = json.loads(line)
    answer = {"type": "ready"}
    if told["type"] == "say":
        messages.append({"role": "user", "content": told["message"]})
        request = json.dumps({"model": "m", "messages": messages}).encode()
        url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
        headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
        with urllib.request.urlopen(urllib.request.Request(url, request, headers)) as response:
            message = json.load(response)["choices"][0]["message"]
        messages.append(message)
        answer = {"type": "reply", "text": message["content"]}
    print(json.dumps(answer), flush=True)
"""


def test_a_program_of_its_own_is_led_through_by_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # which nobody must use on the way to this machine
    file = tmp_path / "agent.py"
    file.write_text(PROGRAM)
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(file))}"
    with Upstream(lambda body: said("Noted.")) as upstream:
        session = played(cast(process.build, upstream.url, command=command))
        assert len(upstream.requests) == 7
    assert session.error is None
    (last,) = session.turns[-1].model_calls
    assert last.context is not None
    assert [message["content"] for message in last.context][:3] == [
        "Hello, I look for a lamp.",
        "Noted.",
        f"One rule. {kit.CAP}",
    ]
    assert last.recorded is False


def test_the_build_shows_the_targets_options_and_refuses_others() -> None:
    behind = wrap(build, gateway=Gateway(), upstream="http://127.0.0.1:9/v1")
    parameters = inspect.signature(behind).parameters
    assert list(parameters) == [
        "environment", "reads", "summarises", "compaction", "saves", "sample", "target", "upstream",
    ]  # fmt: skip
    with pytest.raises(InputError, match="agent proxy takes no option 'sumarises'; did you mean 'summarises'"):
        played(cast(build, "http://127.0.0.1:9/v1", sumarises="no"))


def test_an_agent_whose_calls_cannot_be_led_through_is_refused() -> None:
    with pytest.raises(InputError, match="takes no base_url"):
        wrap(kit.build, gateway=Gateway(), upstream="http://127.0.0.1:9/v1")


def test_a_target_that_cannot_be_built_leaves_no_socket_open() -> None:
    def broken(environment: Any, *, base_url: str) -> Any:
        raise ValueError("no")

    def silent(environment: Any, *, base_url: str) -> Any:
        return object()

    with pytest.raises(PortError, match="ValueError: no"):
        played(cast(broken, "http://127.0.0.1:9/v1"))
    with pytest.raises(PortError, match=r"has no reply\(\)"):
        played(cast(silent, "http://127.0.0.1:9/v1"))
    gc.collect()


def test_who_the_target_is_and_whether_it_can_be_saved_is_the_targets_to_say() -> None:
    async def work() -> None:
        behind = wrap(build, gateway=Gateway(), upstream="http://127.0.0.1:9/v1")
        plain, saving = behind(kit.Shop()), behind(kit.Shop(), saves="yes")
        assert getattr(plain, "identity") == "shopper 1"  # noqa: B009
        assert [hasattr(agent, "snapshot") for agent in (plain, saving)] == [False, True]
        for agent in (plain, saving):
            await getattr(agent, "aclose")()  # noqa: B009

    asyncio.run(work())


def test_a_compaction_that_the_agent_reports_itself_is_the_one_that_counts() -> None:
    def telling(environment: Any, *, base_url: str) -> Any:
        class Telling(Shopper):
            async def reply(self, message: str) -> Any:
                before = len(self.messages)
                said = await super().reply(message)
                told = [Compaction("its own")] if len(self.messages) < before else []
                return Reply(events=[*told, *said.events])

        return Telling(environment, base_url, 2, "all", True)

    with Upstream(answer) as upstream:
        session = played(cast(telling, upstream.url))
    told = [c.policy for turn in session.turns for c in turn.compactions if c.policy == "its own"]
    assert told
    for turn in session.turns:
        if any(c.policy == "its own" for c in turn.compactions):
            assert [type(event).__name__ for event in turn.events][:2] == ["Compaction", "ModelCall"]
            assert len(turn.compactions) == 1


def test_a_base_url_of_the_users_own_is_refused_since_the_proxy_gives_one() -> None:
    behind = wrap(process.build, gateway=Gateway(), upstream="http://127.0.0.1:9/v1")
    with pytest.raises(InputError, match="the proxy gives its agent the base_url itself"):
        behind(kit.Shop(), command=sys.executable, base_url="http://127.0.0.1:9/v1")
