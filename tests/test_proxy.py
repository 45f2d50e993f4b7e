"""The proxy's endpoint: what clients get, what is recorded, what goes upstream, and what happens when things break."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest

from fuzzturn.adapters.proxy import Caller, ProxyServer
from fuzzturn.calls import Bill, CallRecord, Gateway, Keys, Line, Price, Prices
from fuzzturn.errors import Halted, InputError, PortError
from fuzzturn.redaction import redaction
from upstream import (
    BROKEN,
    CUT_BEFORE,
    CUT_MIDWAY,
    GZIP,
    MALFORMED,
    SILENT,
    WITHOUT_DONE,
    Fault,
    Upstream,
    asked,
    busy,
    said,
)

KEY = "sk-a-key-that-nobody-may-see"
MESSAGES: Any = [{"role": "user", "content": "hello"}]
LOOK: Any = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]


def in_loop(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(work())


def gateway(path: Path | None = None, **more: Any) -> Gateway:
    waits: list[float] = []

    async def no_wait(seconds: float) -> None:
        waits.append(seconds)

    way = Gateway(record=CallRecord(path), sleep=no_wait, **more)
    way.waits = waits  # type: ignore[attr-defined]
    return way


@asynccontextmanager
async def proxied(way: Gateway, url: str, **more: Any) -> AsyncIterator[tuple[ProxyServer, Caller, openai.AsyncOpenAI]]:
    server, caller = ProxyServer(way, url, **more), Caller()
    await server.start()
    try:
        async with client(server, caller) as asking:
            yield server, caller, asking
    finally:
        await server.stop()
        way.close()


def without_tls() -> openai.DefaultAsyncHttpxClient:
    """Reading the certificates takes longer than anything else here."""
    return openai.DefaultAsyncHttpxClient(verify=False)


def client(server: ProxyServer, caller: Caller) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=server.admit(caller), api_key=KEY, http_client=without_tls())


async def ask(asking: openai.AsyncOpenAI, text: str = "hello", **more: Any) -> Any:
    return await asking.chat.completions.create(model="m", messages=[{"role": "user", "content": text}], **more)


async def read(asking: openai.AsyncOpenAI, text: str = "hello", **more: Any) -> list[Any]:
    stream = await ask(asking, text, stream=True, stream_options={"include_usage": True}, **more)
    return [chunk.model_dump() async for chunk in stream]


def answer(body: dict[str, Any]) -> dict[str, Any]:
    last = body["messages"][-1]
    if body.get("tools") and last["role"] == "user":
        return asked("look", {"where": "far  away", "n": 3}, id="call_up")
    return said(f"you said {last['content']} and this is é")


def test_answers_come_as_they_were_sent_and_again_from_the_record_without_a_call(tmp_path: Path) -> None:
    async def session(way: Gateway, url: str) -> list[Any]:
        async with proxied(way, url) as (_, _, asking):
            plain = await ask(asking)
            streamed, called = await read(asking), await read(asking, tools=LOOK)
            return [plain.model_dump(), streamed, called]

    async def work() -> None:
        with Upstream(answer) as upstream:
            first = await session(gateway(tmp_path / "calls.sqlite"), upstream.url)
            assert len(upstream.requests) == 3
        replayed = gateway(tmp_path / "calls.sqlite", offline=True)
        assert await session(replayed, "http://127.0.0.1:9/v1") == first
        assert replayed.bill.recorded == {"agent": 3}
        assert first[0]["choices"][0]["message"]["content"] == "you said hello and this is é"
        arguments = [c["choices"][0]["delta"]["tool_calls"] for c in first[2] if c["choices"]]
        assert "".join(a[0]["function"]["arguments"] for a in arguments if a) == '{"where": "far  away", "n": 3}'
        assert first[1][-1]["usage"]["prompt_tokens"] == 100

    in_loop(work)


def test_usage_of_streams_and_plain_answers_is_billed() -> None:
    async def work() -> None:
        way = gateway(bill=Bill(Prices({"m": Price(1.0, 2.0)})))
        with Upstream(answer) as upstream:
            async with proxied(way, upstream.url) as (_, _, asking):
                await ask(asking)
                await read(asking)
                assert [chunk async for chunk in await ask(asking, stream=True)]
        spent = way.bill.by_role["agent"]
        assert (spent.calls, spent.prompt, spent.completion, spent.uncounted) == (3, 200, 20, 1)

    in_loop(work)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (busy(7), "rate limit"),
        (busy(format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)), "rate limit"),
        (busy("soon"), "rate limit"),
        (BROKEN, "server error 500"),
        (Fault(status=409), "server error 409"),
        (CUT_BEFORE, "connection lost"),
        (CUT_MIDWAY, "connection lost"),
        (MALFORMED, "malformed answer"),
        (Fault(body=b'{"error": {"message": "overloaded"}}'), "malformed answer"),
        (SILENT, "time-out"),
    ],
)
def test_what_may_pass_is_tried_again_and_the_client_never_knows(fault: Fault, reason: str, tmp_path: Path) -> None:
    async def work() -> None:
        way = gateway(tmp_path / "calls.sqlite")
        with Upstream(answer, [None, fault]) as upstream:
            async with proxied(way, upstream.url, silence=0.3) as (_, caller, asking):
                await ask(asking, "first")
                assert (await ask(asking)).choices[0].message.content == "you said hello and this is é"
                assert way.bill.retried == {reason: 1}
                assert set(caller.line.served.values()) == {1}
            assert len(upstream.requests) == 3
        again = gateway(tmp_path / "calls.sqlite", offline=True)
        async with proxied(again, "http://127.0.0.1:9/v1") as (_, _, asking):
            assert (await ask(asking)).choices[0].message.content == "you said hello and this is é"  # it is answer 0

    in_loop(work)


def test_the_server_is_left_alone_for_as_long_as_it_asks() -> None:
    async def work() -> None:
        later = format_datetime(datetime.now(UTC) + timedelta(seconds=40), usegmt=True)
        way = gateway()
        with Upstream(answer, [busy(7), busy(later), busy("soon")]) as upstream:
            async with proxied(way, upstream.url) as (_, _, asking):
                await ask(asking)
        waits: list[float] = way.waits  # type: ignore[attr-defined]
        assert waits[0] == 7.0
        assert 1.0 < waits[1] <= 40.0
        assert waits[2] == 2.0

    in_loop(work)


def test_a_stream_that_fails_before_its_first_piece_is_tried_again() -> None:
    async def work() -> None:
        with Upstream(answer, [SILENT, CUT_BEFORE, BROKEN]) as upstream:
            async with proxied(gateway(), upstream.url, silence=0.3) as (_, _, asking):
                assert "".join(c["choices"][0]["delta"]["content"] or "" for c in await read(asking) if c["choices"])
            assert len(upstream.requests) == 4

    in_loop(work)


@pytest.mark.parametrize("fault", [CUT_MIDWAY, WITHOUT_DONE])
def test_a_stream_that_is_cut_is_cut_for_the_client_too_and_not_recorded(fault: Fault, tmp_path: Path) -> None:
    async def work() -> None:
        way = gateway(tmp_path / "calls.sqlite")
        with Upstream(answer, [fault]) as upstream:
            async with proxied(way, upstream.url) as (_, caller, asking):
                with pytest.raises((openai.APIConnectionError, openai.APIError)):
                    await read(asking)
                assert len(upstream.requests) == 1
                assert caller.halted is None
                (seen,) = caller.take("hello")
                assert seen.call.usage is None
                assert any(note.startswith("it failed: the answer was cut off") for note in seen.call.notes)
                assert (await read(asking))[-1]["usage"]
            assert way.bill.calls == 1

    in_loop(work)


def test_a_refusal_reaches_the_client_as_it_is_and_is_not_tried_again() -> None:
    async def work() -> None:
        refusal = json.dumps({"error": {"message": f"too long, {KEY}", "code": "context_length_exceeded"}}).encode()
        with Upstream(answer, [None, Fault(status=400, body=refusal)]) as upstream:
            async with proxied(gateway(), upstream.url) as (_, caller, asking):
                await ask(asking)
                with pytest.raises(openai.BadRequestError) as raised:
                    await ask(asking, "longer")
                assert raised.value.code == "context_length_exceeded"
                assert raised.value.response.headers["x-should-retry"] == "false"
                assert caller.halted is None
                notes = str([seen.call.notes for seen in caller.take("longer")])
                assert "too long, [redacted]" in notes
            assert len(upstream.requests) == 2

    in_loop(work)


def test_a_call_that_fails_for_good_is_a_bad_gateway_once() -> None:
    async def work() -> None:
        way = gateway(retries=2)
        with Upstream(answer, [None, *[CUT_BEFORE] * 3]) as upstream:
            async with proxied(way, upstream.url) as (_, caller, asking):
                await ask(asking)
                with pytest.raises(openai.InternalServerError) as raised:
                    await ask(asking, "again")
                assert raised.value.status_code == 502
                assert caller.halted is None
            assert len(upstream.requests) == 4

    in_loop(work)


def no_money() -> Bill:
    return Bill(cap_usd=0.0)


@pytest.mark.parametrize(
    ("more", "faults", "status", "why"),
    [
        ({"offline": True}, [], 404, "offline"),
        ({"bill": no_money()}, [], 402, "usd"),
        ({}, [Fault(status=401)], 401, "refused"),
        ({}, [Fault(status=429, body=b'{"error": {"message": "pay", "code": "insufficient_quota"}}')], 429, "refused"),
    ],
)
def test_where_no_call_can_be_made_any_more_the_session_knows(more: Any, faults: Any, status: int, why: str) -> None:
    async def work() -> None:
        with Upstream(answer, faults) as upstream:
            async with proxied(gateway(**more), upstream.url) as (_, caller, asking):
                with pytest.raises(openai.APIStatusError) as raised:
                    await ask(asking)
                assert raised.value.status_code == status
                assert isinstance(caller.halted, Halted)
                assert caller.halted.why == why
            assert len(upstream.requests) == len(faults)

    in_loop(work)


def test_a_miss_offline_names_the_nearest_recorded_call(tmp_path: Path) -> None:
    async def work() -> None:
        with Upstream(answer) as upstream:
            async with proxied(gateway(tmp_path / "calls.sqlite"), upstream.url) as (_, _, asking):
                await ask(asking, "hello you")
        async with proxied(gateway(tmp_path / "calls.sqlite", offline=True), upstream.url) as (_, _, asking):
            with pytest.raises(
                openai.NotFoundError, match=r"nearest .* messages\[0\]\.content: recorded \"hello you\""
            ):
                await ask(asking, "hello me")

    in_loop(work)


def test_a_compressed_answer_is_read_and_cookies_and_encodings_stay_away() -> None:
    async def work() -> None:
        with Upstream(answer, [GZIP, GZIP]) as upstream:
            async with proxied(gateway(), upstream.url) as (server, caller, asking):
                assert (await ask(asking)).choices[0].message.content == "you said hello and this is é"
                assert (await read(asking))[-1]["usage"]
                async with aiohttp.ClientSession() as plain:
                    url = f"{server.admit(caller)}/chat/completions"
                    async with plain.post(url, json={"model": "m", "messages": MESSAGES, "n": 1}) as response:
                        assert "Set-Cookie" not in response.headers
            sent = upstream.headers[0]
            assert sent["accept-encoding"] == "identity"
            assert sent["authorization"] == f"Bearer {KEY}"
            assert sent["host"] == upstream.url.removeprefix("http://").removesuffix("/v1")

    in_loop(work)


def test_no_key_is_written_anywhere(tmp_path: Path) -> None:
    async def work() -> None:
        echo = Fault(status=401, body=json.dumps({"error": {"message": f"bad key {KEY}"}}).encode())
        way = gateway(tmp_path / "calls.sqlite", keys=Keys(redaction(["hush-[0-9]+"])))
        with Upstream(lambda body: said("it is hush-12 hush-34"), [None, None, echo]) as upstream:
            async with proxied(way, upstream.url) as (_, caller, asking):
                live = await ask(asking)
                await read(asking)
                with pytest.raises(openai.AuthenticationError):
                    await ask(asking, "more")
                assert KEY not in str(caller.halted)
                written = b"".join(file.read_bytes() for file in tmp_path.iterdir())
                assert b"hello" in written
                assert KEY.encode() not in written
                assert b"hush-" not in written
        assert live.choices[0].message.content == "it is hush-12 hush-34"

    in_loop(work)


def test_asking_twice_gives_two_answers_and_the_same_two_again(tmp_path: Path) -> None:
    async def twice(way: Gateway, url: str) -> list[Any]:
        async with proxied(way, url) as (_, _, asking):
            return [(await ask(asking)).choices[0].message.content for _ in range(2)]

    async def work() -> None:
        numbers = iter(range(9))
        with Upstream(lambda body: said(f"answer {next(numbers)}")) as upstream:
            first = await twice(gateway(tmp_path / "calls.sqlite"), upstream.url)
            assert first == ["answer 0", "answer 1"]
            assert await twice(gateway(tmp_path / "calls.sqlite"), upstream.url) == first
            assert len(upstream.requests) == 2

    in_loop(work)


def test_two_sessions_that_ask_the_same_get_the_first_answer() -> None:
    async def work() -> None:
        numbers = iter(range(9))

        async def slow(body: dict[str, Any]) -> Any:
            await asyncio.sleep(0.1)
            return said(f"answer {next(numbers)}")

        with Upstream(slow) as upstream:
            async with proxied(gateway(), upstream.url) as (server, _, one):
                others = (client(server, Caller()), client(server, Caller(line=Line(1))))
                async with others[0] as two, others[1] as other_sample:
                    answers = await asyncio.gather(read(one), read(two), ask(other_sample))
                    assert answers[0] == answers[1]
                    assert len(upstream.requests) == 2
                    await read(two)
            assert len(upstream.requests) == 3

    in_loop(work)


def test_a_client_that_leaves_lets_go_of_the_upstream_and_harms_nobody(tmp_path: Path) -> None:
    async def work() -> None:
        way = gateway(tmp_path / "calls.sqlite")
        with Upstream(answer, [SILENT, BROKEN]) as upstream:
            async with proxied(way, upstream.url) as (server, caller, one):
                leaving = asyncio.create_task(ask(one.with_options(max_retries=0), timeout=0.3))
                async with client(server, Caller()) as two:
                    await until(lambda: len(upstream.requests) == 1)
                    waiting = asyncio.create_task(ask(two))
                    with pytest.raises(openai.APITimeoutError):
                        await leaving
                    assert (await waiting).choices[0].message.content == "you said hello and this is é"
                await caller.settled(5)
            await until(lambda: upstream.left >= 1)

    in_loop(work)


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not true():
            await asyncio.sleep(0.01)


def test_a_client_that_leaves_in_mid_stream_leaves_nothing_half_recorded(tmp_path: Path) -> None:
    async def work() -> None:
        way = gateway(tmp_path / "calls.sqlite")
        with Upstream(lambda body: said("word " * 2000), piece=256) as upstream:
            async with proxied(way, upstream.url) as (_, caller, asking):
                stream = await ask(asking, stream=True)
                async for _ in stream:
                    break
                await stream.close()
                await caller.settled(5)
                whole = await ask(asking, stream=True)
                text = "".join([c.choices[0].delta.content or "" async for c in whole])
                assert text == "word " * 2000

    in_loop(work)


def test_fifty_sessions_at_once_each_see_their_own_calls() -> None:
    async def session(plain: aiohttp.ClientSession, server: ProxyServer, name: str) -> list[Any]:
        calls: list[Any] = []
        url = f"{server.admit(Caller(name, finished=calls.append))}/chat/completions"
        for n in range(3):
            body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": f"{name} {n}"}]}
            async with plain.post(url, json=body) as response:
                assert f"{name}" in (await response.text())
        return [call.body["messages"][0]["content"] for call in calls]

    async def work() -> None:
        with Upstream(answer, piece=1000) as upstream:
            async with proxied(gateway(), upstream.url) as (server, _, _), aiohttp.ClientSession() as plain:
                told = await asyncio.gather(*(session(plain, server, f"s{i}") for i in range(50)))
            assert len(upstream.requests) == 150
        assert told == [[f"s{i} {n}" for n in range(3)] for i in range(50)]

    in_loop(work)


def test_strangers_and_web_pages_are_refused() -> None:
    async def work() -> None:
        with Upstream(answer) as upstream:
            async with proxied(gateway(), upstream.url) as (server, caller, _), aiohttp.ClientSession() as plain:
                url, body = f"{server.admit(caller)}/chat/completions", {"model": "m", "messages": MESSAGES}

                async def status(where: str, **headers: str) -> int:
                    async with plain.post(where, json=body, headers=headers) as response:
                        return response.status

                assert await status(url, Origin="null") == 403
                assert await status(url, Host="evil.test") == 403
                assert await status(f"http://127.0.0.1:{server.port}/guessed/v1/chat/completions") == 404
                assert await status(f"http://127.0.0.1:{server.port}/guessed/name/v1/chat/completions") == 404
                async with plain.post(url, data=b"not json") as response:
                    assert response.status == 400
                server.dismiss(caller)
                assert await status(url) == 404
            assert upstream.requests == []

    in_loop(work)


def test_any_name_is_a_session_where_guests_are_welcome() -> None:
    async def work() -> None:
        guests: dict[str, Caller] = {}

        def made(name: str) -> Caller:
            return guests.setdefault(name, Caller(name))

        with Upstream(answer) as upstream:
            async with proxied(gateway(), upstream.url) as (server, _, _):
                url = server.welcome(made)
                for name in ("one", "two", "one"):
                    async with openai.AsyncOpenAI(
                        base_url=f"{url}/{name}/v1", api_key=KEY, http_client=without_tls()
                    ) as asking:
                        await ask(asking)
        assert {name: len(caller.take(None)) for name, caller in guests.items()} == {"one": 2, "two": 1}

    in_loop(work)


def test_what_is_no_model_call_is_passed_through_and_told_of() -> None:
    async def work() -> None:
        with Upstream(lambda body: {"object": "list", "data": []}) as upstream:
            async with proxied(gateway(), upstream.url) as (_, _, asking):
                assert [model.id async for model in asking.models.list()] == ["scripted"]
                found: Any = await asking.post("/embeddings?x=1", body={"input": "a"}, cast_to=dict[str, Any])
                assert found == {"object": "list", "data": []}
            assert upstream.paths == ["/embeddings"]
            async with proxied(gateway(offline=True), upstream.url) as (_, caller, asking):
                with pytest.raises(openai.NotFoundError):
                    await asking.models.list()
                assert caller.halted is None
                with pytest.raises(openai.NotFoundError):
                    await asking.embeddings.create(model="m", input="a")
                assert caller.halted is not None

    in_loop(work)


def responses_stream(body: dict[str, Any]) -> bytes:
    response = {
        "id": "r1", "object": "response", "created_at": 1, "model": "m", "status": "completed", "tools": [],
        "tool_choice": "auto", "parallel_tool_calls": True, "usage": None,
        "output": [{"type": "message", "id": "o", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": "hi", "annotations": []}]}],
    }  # fmt: skip
    if not body.get("stream"):
        return json.dumps(response).encode()
    delta = {"type": "response.output_text.delta", "item_id": "o", "output_index": 0, "content_index": 0, "delta": "hi",
             "sequence_number": 1, "logprobs": []}  # fmt: skip
    events = [delta, {"type": "response.completed", "sequence_number": 2, "response": response}]
    return "".join(f"event: {e['type']}\r\ndata: {json.dumps(e)}\r\n\r\n" for e in events).encode()


def test_the_other_api_works_too(tmp_path: Path) -> None:
    async def session(way: Gateway, url: str) -> list[Any]:
        async with proxied(way, url) as (_, caller, asking):
            plain = await asking.responses.create(model="m", input="hello")
            stream = await asking.responses.create(model="m", input="hello", stream=True)
            events = [event.type async for event in stream]
            return [plain.output_text, events, [seen.call.context for seen in caller.take("hello")]]

    async def work() -> None:
        with Upstream(responses_stream) as upstream:
            first = await session(gateway(tmp_path / "calls.sqlite"), upstream.url)
        context = ({"role": "user", "content": "hello"},)
        assert first == ["hi", ["response.output_text.delta", "response.completed"], [context, context]]
        assert await session(gateway(tmp_path / "calls.sqlite", offline=True), upstream.url) == first

    in_loop(work)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_javascript_client_reads_streams_live_and_from_the_record(tmp_path: Path) -> None:
    script = """
        const r = await fetch(process.argv[1] + "/chat/completions", {method: "POST",
          headers: {"content-type": "application/json", authorization: "Bearer x"},
          body: JSON.stringify({model: "m", stream: true, messages: [{role: "user", content: "hello"}]})});
        let text = ""; for await (const piece of r.body) text += new TextDecoder().decode(piece);
        console.log(r.status + " " + r.headers.get("content-type") + "\\n" + text);
    """

    async def session(way: Gateway, url: str) -> bytes:
        async with proxied(way, url) as (server, caller, _):
            command = ["node", "--input-type=module", "-e", script, server.admit(caller)]
            node = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
            out, _ = await node.communicate()
            return out

    async def work() -> None:
        with Upstream(answer) as upstream:
            live = await session(gateway(tmp_path / "calls.sqlite"), upstream.url)
            assert live.startswith(b"200 text/event-stream")
            assert live.rstrip().endswith(b"data: [DONE]")
            assert await session(gateway(tmp_path / "calls.sqlite"), upstream.url) == live
            assert len(upstream.requests) == 1

    in_loop(work)


def test_nothing_is_left_behind_when_the_server_stops_with_a_call_in_flight() -> None:
    async def work() -> None:
        with Upstream(answer, [SILENT]) as upstream:
            async with proxied(gateway(), upstream.url) as (_, caller, asking):
                caller.begin()
                hanging = asyncio.create_task(ask(asking.with_options(max_retries=0)))
                await until(lambda: len(upstream.requests) == 1)
            with pytest.raises(openai.APIConnectionError):
                await hanging
            (seen,) = caller.take("hello")
            assert seen.call.notes == ("it failed: the client left, or the server was stopped",)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    in_loop(work)


def test_a_normaliser_that_fails_is_the_projects_fault_and_not_the_agents() -> None:
    def failing(body: dict[str, Any]) -> Any:
        raise KeyError("clock")

    async def work() -> None:
        async with proxied(gateway(keys=Keys(normaliser=failing)), "http://127.0.0.1:9/v1") as (_, caller, asking):
            with pytest.raises(openai.InternalServerError, match="the normaliser raised KeyError"):
                await ask(asking)
            assert isinstance(caller.halted, PortError)

    in_loop(work)


def test_the_library_behind_it_is_not_imported_before_it_is_needed() -> None:
    code = "import sys, fuzzturn.adapters.proxy, fuzzturn.cli.proxying; sys.exit('aiohttp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_server_elsewhere_is_reached_through_the_proxy_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "netrc").write_text("default login me password secret")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")  # for the client of this test

    async def work() -> None:
        with Upstream(answer) as standing_in:
            monkeypatch.setenv("http_proxy", standing_in.url.removesuffix("/v1"))
            elsewhere = standing_in.url.replace("127.0.0.1", "model.invalid")
            async with proxied(gateway(), elsewhere) as (_, _, asking):
                assert (await ask(asking)).choices[0].message.content == "you said hello and this is é"
            assert standing_in.headers[0]["host"].startswith("model.invalid")
            assert standing_in.headers[0]["authorization"] == f"Bearer {KEY}"

    in_loop(work)


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:80", "ftp://127.0.0.1", "http:", "http://127.0.0.1/v1?x=1", "http://127.0.0.1:x/v1"]
)
def test_an_upstream_that_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="up to /v1"):
        ProxyServer(Gateway(), url)


def test_a_password_in_the_address_is_refused_without_being_repeated() -> None:
    with pytest.raises(InputError, match="name or password") as raised:
        ProxyServer(Gateway(), "http://127.0.0.1/v1".replace("127", "me:hidden@127"))
    assert "hidden" not in str(raised.value)


def test_a_port_that_is_taken_is_refused() -> None:
    server = ProxyServer(Gateway(), "http://127.0.0.1:1/v1")
    with pytest.raises(InputError, match=f"the port {server.port} of 127.0.0.1 cannot be had"):
        ProxyServer(Gateway(), "http://127.0.0.1:1/v1", port=server.port)
    server.let_go()
