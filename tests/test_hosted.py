"""Hosted: models behind litellm, against a real local server that imitates a provider's, faults included."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from fuzzturn.adapters.hosted import Hosted
from fuzzturn.adapters.mending import Said
from fuzzturn.calls import Bill, CallFailed, CallRecord, Gateway, Line, Prices, Rejected
from fuzzturn.errors import Halted, InputError
from fuzzturn.ports import Tool
from upstream import BROKEN, CUT_BEFORE, CUT_MIDWAY, MALFORMED, SILENT, Fault, Upstream, asked, busy, said

pytestmark = pytest.mark.usefixtures("litellm_session")
KEY = "sk-very-secret-key-0123456789"
TOOL = Tool("buy", "Buy a lamp.", {"type": "object", "properties": {"price": {"type": "integer"}}})


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


async def at_once(seconds: float) -> None:
    await asyncio.sleep(0)


def gateway(file: Path | None = None, **more: Any) -> Gateway:
    return Gateway(record=CallRecord(file), sleep=at_once, **more)


def ask(upstream: Upstream, gate: Gateway, *texts: str, timeout: float = 20.0) -> list[Said]:
    model = Hosted(model="desk", gateway=gate, api_base=upstream.url, timeout=timeout)

    async def all_of_them() -> list[Said]:
        line = Line()
        return [await model.ask([{"role": "user", "content": text}], [TOOL], line) for text in texts]

    return asyncio.run(all_of_them())


def test_an_answer_with_tool_calls_and_usage_comes_through() -> None:
    with Upstream(lambda body: asked("buy", {"price": 40}, "id7")) as upstream:
        (got,) = ask(upstream, gateway(), "Buy a lamp.")
    assert got.calls[0]["function"] == {"name": "buy", "arguments": '{"price": 40}'}
    assert got.calls[0]["id"] == "id7"
    assert (got.finish, got.recorded) == ("tool_calls", False)
    assert (got.usage or {})["prompt_tokens"] == 100
    (request,) = upstream.requests
    assert request["model"] == "desk"
    assert request["tools"][0]["function"]["parameters"] == TOOL.schema
    assert upstream.headers[0]["authorization"] == f"Bearer {KEY}"


def test_the_second_run_makes_no_request_and_the_key_is_in_no_file(tmp_path: Path) -> None:
    file = tmp_path / "calls.sqlite"
    with Upstream(lambda body: said("You said " + body["messages"][-1]["content"])) as upstream:
        live = gateway(file)
        first = ask(upstream, live, "a", "b", "a")
        assert [one.text for one in first] == ["You said a", "You said b", "You said a"]
        written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        live.close()
        again = ask(upstream, gateway(file, offline=True), "a", "b", "a")
        assert len(upstream.requests) == 3
    assert [one.text for one in again] == [one.text for one in first]
    assert [one.recorded for one in again] == [True] * 3
    assert KEY.encode() not in written


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (busy(), "rate limit"),
        (BROKEN, "server error 500"),
        (Fault(status=503), "server error 503"),
        (CUT_BEFORE, "no connection"),
        (CUT_MIDWAY, None),
        (MALFORMED, "server error 500"),
        (Fault(body=b"<html>"), "server error 500"),
        (Fault(body=b"{}"), "server error 500"),
    ],
    ids=["429", "500", "503", "cut before", "cut midway", "half a JSON", "no JSON", "empty JSON"],
)
def test_a_fault_that_passes_loses_nothing_and_is_counted(fault: Fault, reason: str | None) -> None:
    gate = gateway()
    with Upstream(lambda body: said("fine"), faults=[fault]) as upstream:
        assert [one.text for one in ask(upstream, gate, "a")] == ["fine"]
        assert len(upstream.requests) == 2, "litellm's own retries are off"
    assert gate.bill.retried.total() == gate.bill.calls == 1
    assert reason in (None, *gate.bill.retried), "a connection cut midway is a time-out to litellm, or no connection"


def test_a_server_that_says_nothing_is_not_waited_for_for_ever() -> None:
    gate = gateway()
    with Upstream(lambda body: said("fine"), faults=[SILENT]) as upstream:
        assert [one.text for one in ask(upstream, gate, "a", timeout=0.3)] == ["fine"]
    assert gate.bill.retried == {"time-out": 1}


def test_a_server_says_how_long_it_wants_to_be_left_alone() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    with Upstream(lambda body: said("fine"), faults=[busy(9)]) as upstream:
        ask(upstream, Gateway(sleep=sleep), "a")
    assert slept == [9.0]


def test_a_fault_for_good_ends_this_session_alone_once_the_model_has_answered() -> None:
    with Upstream(lambda body: said("fine"), faults=[None, *[Fault(status=503)] * 9]) as upstream:
        with pytest.raises(CallFailed, match="server error 503"):
            ask(upstream, gateway(), "a", "b")
        assert len(upstream.requests) == 1 + 5


def test_no_key_and_a_wrong_key_are_said_once_and_clearly(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = Fault(status=401, body=b'{"error": {"message": "Incorrect API key provided"}}')
    with Upstream(lambda body: said("fine"), faults=[refused] * 9) as upstream:
        with pytest.raises(Halted, match=r"status 401: .*Incorrect API key provided"):
            ask(upstream, gateway(), "a")
        assert len(upstream.requests) == 1
    monkeypatch.delenv("OPENAI_API_KEY")
    model = Hosted(model="openai/gpt-4o-mini", gateway=gateway())
    with pytest.raises(Halted, match="no key was given for this model: set the provider's variable"):
        asyncio.run(model.ask([{"role": "user", "content": "a"}], [], Line()))


def test_a_model_that_litellm_does_not_know_is_said_clearly() -> None:
    model = Hosted(model="nonsense", gateway=gateway())
    with pytest.raises(Halted, match="LLM Provider NOT provided"):
        asyncio.run(model.ask([{"role": "user", "content": "a"}], [], Line()))


def test_a_request_that_one_server_refuses_later_is_that_sessions_error() -> None:
    too_long = Fault(status=400, body=b'{"error": {"message": "context too long"}}')
    with Upstream(lambda body: said("fine"), faults=[None, too_long]) as upstream:
        with pytest.raises(Rejected, match="context too long"):
            ask(upstream, gateway(), "a", "b")
        assert len(upstream.requests) == 2


def test_calls_at_once_from_one_loop_and_from_several_loops_work() -> None:
    with Upstream(lambda body: said("fine")) as upstream:
        gate = gateway()
        model = Hosted(model="desk", gateway=gate, api_base=upstream.url)

        async def many(n: int) -> None:
            await asyncio.gather(*(model.ask([{"role": "user", "content": f"{n} {i}"}], [], Line()) for i in range(12)))

        for n in range(3):
            asyncio.run(many(n))
        assert len(upstream.requests) == gate.bill.calls == 36


def test_money_is_counted_from_usage_and_the_projects_price() -> None:
    gate = gateway(bill=Bill(Prices.of(["desk=1/10"])))
    with Upstream(lambda body: said("fine")) as upstream:
        ask(upstream, gate, "a", "b")
    assert gate.bill.usd == pytest.approx(2 * (100 + 10 * 10) / 1e6)


def test_an_answer_without_a_choice_is_asked_for_again_and_never_recorded(tmp_path: Path) -> None:
    empty = Fault(body=json.dumps(said("") | {"choices": []}).encode())
    with Upstream(lambda body: said("fine"), faults=[empty]) as upstream:
        gate = gateway(tmp_path / "calls.sqlite")
        (got,) = ask(upstream, gate, "a")
        assert (got.text, len(upstream.requests), gate.bill.retried.total()) == ("fine", 2, 1)
        assert ask(upstream, gateway(tmp_path / "calls.sqlite", offline=True), "a")[0].text == "fine"


def test_half_a_character_that_a_model_says_can_be_said_back_to_it() -> None:
    half = Fault(body=json.dumps(said("half: \ud83d")).encode())
    with Upstream(lambda body: said("fine"), faults=[half]) as upstream:
        gate = gateway()
        (got,) = ask(upstream, gate, "a")
        assert got.text == "half: ?"
        assert ask(upstream, gate, "user's half: \ud83d")[0].text == "fine"
    assert upstream.requests[-1]["messages"][-1]["content"] == "user's half: ?"


def test_a_used_up_quota_is_not_waited_for() -> None:
    body = b'{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}'
    with Upstream(lambda body: said("fine"), faults=[None, *[Fault(status=429, body=body)] * 9]) as upstream:
        with pytest.raises(Halted, match=r"status 402: .*exceeded your current quota"):
            ask(upstream, gateway(), "a", "b")
        assert len(upstream.requests) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"temperature": "hot"}, "temperature is 'hot'; a number from 0 up"),
        ({"max_tokens": "0"}, "max_tokens is '0'; a whole number from 1 up"),
        ({"extra": "[1]"}, "a JSON object of request parameters"),
        ({"extra": "{"}, "which is no JSON"),
        ({"extra": '{"base_url": "http://localhost:1/v1"}'}, "extra holds 'base_url'"),
        ({"extra": '{"stream": true}'}, "extra holds 'stream'"),
        ({"summariser": "gpt"}, "accepted: by_rule, model, litellm/<model>"),
        ({"compaction": "sumary_keep_recent"}, "did you mean 'summary_keep_recent'"),
        ({"rounds": "-1"}, "rounds is '-1'"),
        ({"keeep": "3", "compaction": "summary_keep_recent"}, "keeep"),
    ],
)
def test_an_option_that_cannot_be_used_is_refused(options: dict[str, str], words: str) -> None:
    from fuzzturn.adapters.model_agent import builder
    from kit import Shop

    with pytest.raises(InputError) as raised:
        builder("desk", gateway(), None)(Shop(), **options)
    assert words in str(raised.value)


def test_a_server_on_this_machine_is_not_looked_for_behind_a_proxy() -> None:
    with Upstream(lambda body: said("fine")) as upstream:
        ask(upstream, gateway(), "a")
    assert "127.0.0.1" in os.environ["NO_PROXY"].split(",")


def test_each_sample_of_a_session_is_given_answers_of_its_own() -> None:
    """Or an agent that does not repeat itself would look like one that does, as soon as its calls are recorded."""
    from fuzzturn.adapters.model_agent import builder
    from kit import Shop

    gate = gateway()
    with Upstream(lambda body: said(f"answer {len(upstream.requests)}")) as upstream:
        build = builder("desk", gate, upstream.url)

        async def replies(sample: int) -> str:
            return str((await build(Shop(), sample=sample).reply("Hello")).events[-1])

        told = [asyncio.run(replies(sample)) for sample in (0, 1, 0)]
        assert len(upstream.requests) == 2
    assert told[0] == told[2] != told[1]
