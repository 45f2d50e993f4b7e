"""Gateway: recorded, replayed, retried, paid and bounded: one way to every model."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from fuzzturn.calls import (
    Answer,
    Bill,
    CallFailed,
    CallRecord,
    Gateway,
    Keys,
    Line,
    Prices,
    Rejected,
    Request,
    Transient,
)
from fuzzturn.calls.gateway import RETRIES
from fuzzturn.errors import Halted
from fuzzturn.redaction import redaction


class Server:
    """Answers or raises in order; the last one for good."""

    def __init__(self, *script: Any) -> None:
        self.script, self.calls = list(script), 0

    async def __call__(self) -> Answer:
        self.calls += 1
        await asyncio.sleep(0)
        does = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(does, Exception):
            raise does
        return does if isinstance(does, Answer) else answer(does)


def answer(text: str) -> Answer:
    return Answer(body=text.encode(), usage={"prompt_tokens": 1000, "completion_tokens": 0})


def request(text: str = "hello", model: str = "m") -> Request:
    return Request(role="agent", path="/chat/completions", body={"model": model, "messages": [text]})


class Clock:
    """Sleeps without time."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)


def gateway(record: Path | None = None, **more: Any) -> Gateway:
    return Gateway(record=CallRecord(record), sleep=Clock(), **more)


def ask(gate: Gateway, server: Server, texts: Sequence[str] = ("hello",), line: Line | None = None) -> list[bytes]:
    """The answers to these requests, one after the other, on one line."""

    async def all_of_them() -> list[bytes]:
        on = line or Line()
        return [(await gate.ask(request(text), on, server)).answer.body for text in texts]

    return asyncio.run(all_of_them())


def test_the_same_session_again_costs_nothing_and_asking_twice_is_two_answers(tmp_path: Path) -> None:
    file, server = tmp_path / "calls.sqlite", Server("one", "two", "three")
    first = ask(gateway(file), server, ["a", "a", "b"])
    assert first == [b"one", b"two", b"three"]
    again = gateway(file)
    assert ask(again, server, ["a", "a", "b"]) == first
    assert (server.calls, again.bill.calls, again.bill.recorded["agent"]) == (3, 0, 3)


def test_samples_are_answered_apart() -> None:
    gate, server = gateway(), Server("one", "two")
    assert ask(gate, server, line=Line(sample=0)) == [b"one"]
    assert ask(gate, server, line=Line(sample=1)) == [b"two"]
    assert ask(gate, server, line=Line(sample=0)) == [b"one"]


def test_a_copied_line_goes_on_counting_where_it_was_copied() -> None:
    gate, server, line = gateway(), Server("one", "two", "three"), Line()
    ask(gate, server, line=line)
    copy = line.copy()
    assert ask(gate, server, line=line) == ask(gate, server, line=copy) == [b"two"]


def test_sessions_that_ask_the_same_at_once_share_one_call() -> None:
    gate, server = gateway(), Server("one", "two")

    async def fifty() -> list[tuple[bytes, bool]]:
        served = await asyncio.gather(*(gate.ask(request(), Line(), server) for _ in range(50)))
        return [(one.answer.body, one.recorded) for one in served]

    got = asyncio.run(fifty())
    assert {body for body, _ in got} == {b"one"}
    assert sum(not recorded for _, recorded in got) == server.calls == gate.bill.calls == 1


def test_a_failure_in_flight_is_everybodys_and_leaves_nothing_behind() -> None:
    gate, server = gateway(), Server(Rejected(400, "no"), "one")
    gate._answered.add("m")

    async def two() -> list[Any]:
        return await asyncio.gather(*(gate.ask(request(), Line(), server) for _ in range(2)), return_exceptions=True)

    assert [type(result) for result in asyncio.run(two())] == [Rejected, Rejected]
    assert ask(gate, server) == [b"one"]


def test_what_may_pass_is_tried_again_with_longer_waits_and_counted() -> None:
    gate = gateway()
    server = Server(Transient("rate limit"), Transient("time-out"), Transient("server error 503"), "one")
    assert ask(gate, server) == [b"one"]
    assert gate.sleep.slept == [0.5, 1.0, 2.0]  # type: ignore[attr-defined]
    assert gate.bill.retried == {"rate limit": 1, "time-out": 1, "server error 503": 1}
    assert gate.bill.calls == 1


def test_a_server_that_names_a_time_is_left_alone_by_everybody_for_so_long() -> None:
    gate = gateway()
    busy, server = Server(Transient("rate limit", after=7.0), "one"), Server("two")
    order: list[str] = []

    async def note(seconds: float) -> None:
        order.append(f"slept {seconds}")
        for _ in range(5):
            await asyncio.sleep(0)
        order.append("awake")

    async def other() -> None:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await gate.ask(request("other"), Line(), server)
        order.append("other answered")

    async def both() -> None:
        await asyncio.gather(gate.ask(request(), Line(), busy), other())

    gate.sleep = note
    asyncio.run(both())
    assert order == ["slept 7.0", "awake", "other answered"]


def test_no_wait_is_longer_than_a_minute_whatever_the_server_says() -> None:
    gate = gateway()
    assert ask(gate, Server(Transient("rate limit", after=9999.0), "one")) == [b"one"]
    assert gate.sleep.slept == [60.0]  # type: ignore[attr-defined]


def test_after_every_retry_the_call_has_failed_for_this_session_alone() -> None:
    gate = gateway()
    ask(gate, Server("fine"), ["before"])
    server = Server(Transient("server error 503", "busy"))
    with pytest.raises(CallFailed, match="model m could not be asked: server error 503: busy"):
        ask(gate, server)
    assert server.calls == RETRIES + 1
    assert ask(gate, Server("fine"), ["after"]) == [b"fine"]


def test_an_error_500_that_says_the_same_again_is_no_longer_asked() -> None:
    gate = gateway()
    ask(gate, Server("fine"), ["before"])
    server = Server(Transient("server error 500", "cannot parse what the model said"))
    with pytest.raises(CallFailed):
        ask(gate, server)
    assert server.calls == 2


def test_a_server_that_never_answered_ends_everything() -> None:
    with pytest.raises(Halted, match="no connection"):
        ask(gateway(), Server(Transient("no connection")))


def test_an_error_500_to_the_very_first_call_is_that_sessions_own() -> None:
    gate, server = gateway(), Server(Transient("server error 500", "cannot parse what the model said"))
    for n in range(5):
        with pytest.raises(CallFailed):
            ask(gate, server, [str(n)])


@pytest.mark.parametrize("reason", ["no connection", "server error 503", "time-out", "rate limit"])
def test_a_server_that_is_gone_ends_everything_after_three_calls(reason: str) -> None:
    gate, server = gateway(), Server(Transient(reason))
    ask(gate, Server("fine"), ["before"])
    for text in ("one", "two"):
        with pytest.raises(CallFailed):
            ask(gate, server, [text])
    with pytest.raises(Halted):
        ask(gate, server, ["three"])


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_no_right_to_ask_ends_everything_at_once(status: int) -> None:
    gate, server = gateway(), Server(Rejected(status, "no"))
    ask(gate, Server("fine"), ["before"])
    with pytest.raises(Halted) as raised:
        ask(gate, server)
    assert (raised.value.why, server.calls) == ("refused", 1)


def test_a_bad_request_is_the_sessions_fault_once_the_model_has_answered_at_all() -> None:
    gate = gateway()
    with pytest.raises(Halted):
        ask(gate, Server(Rejected(400, "unknown parameter")))
    ask(gate, Server("fine"), ["before"])
    server = Server(Rejected(400, "context too long"))
    with pytest.raises(Rejected, match="status 400: context too long"):
        ask(gate, server)
    assert server.calls == 1


def test_a_refused_form_of_a_request_ends_nothing_where_there_is_another() -> None:
    async def first_form() -> None:
        await gateway().ask(request(), Line(), Server(Rejected(400, "no schema")), last_form=False)

    with pytest.raises(Rejected):
        asyncio.run(first_form())


def test_offline_a_call_that_is_not_recorded_is_refused_by_name(tmp_path: Path) -> None:
    file, server = tmp_path / "calls.sqlite", Server("one")
    ask(gateway(file), server, ["book it"])
    gate = gateway(file, offline=True)
    assert ask(gate, server, ["book it"]) == [b"one"]
    with pytest.raises(Halted) as raised:
        ask(gate, server, ["book that"])
    said = str(raised.value)
    assert raised.value.why == "offline"
    assert "agent call /chat/completions of model m" in said
    assert 'differs at messages[0]: recorded "book it", asked "book that"' in said
    assert server.calls == 1


def test_the_cap_on_money_stops_within_one_call_per_worker() -> None:
    workers = 5
    gate = gateway(bill=Bill(Prices.of(["m=1/0"]), cap_usd=0.010))  # 0.001 a call
    server = Server("one")

    async def session(n: int) -> None:
        line = Line()
        for i in range(20):
            await gate.ask(request(f"{n}.{i}"), line, server)

    async def campaign() -> list[Any]:
        return await asyncio.gather(*(session(n) for n in range(workers)), return_exceptions=True)

    ended = asyncio.run(campaign())
    assert [type(error) for error in ended] == [Halted] * workers
    assert 10 <= server.calls <= 10 + workers
    assert all(error.why == "usd" for error in ended)


def test_what_is_recorded_is_answered_even_when_the_money_is_spent() -> None:
    gate = gateway(bill=Bill(Prices.of(["m=1/0"]), cap_usd=0.001))
    assert ask(gate, Server("one")) == ask(gate, Server("two")) == [b"one"]
    with pytest.raises(Halted):
        ask(gate, Server("one"), ["other"])


def test_no_secret_reaches_the_file_and_the_call_is_found_by_what_replaced_it(tmp_path: Path) -> None:
    file, keys = tmp_path / "calls.sqlite", Keys(redaction(["s3cret-[a-z]+"]))
    live = gateway(file, keys=keys)
    assert ask(live, Server('{"said": "your s3cret-abc"}', "fine"), ["my s3cret-xyz", "you said s3cret-abc"]) == [
        b'{"said": "your s3cret-abc"}', b"fine"
    ]  # fmt: skip
    live.close()
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"s3cret" not in written
    replayed = gateway(file, keys=keys, offline=True)
    assert ask(replayed, Server("never"), ["my s3cret-xyz", "you said [redacted]"]) == [
        b'{"said": "your [redacted]"}', b"fine"
    ]  # fmt: skip


def test_two_equal_calls_at_once_are_two_answers_and_the_record_gives_both_again(tmp_path: Path) -> None:
    async def twice(gate: Gateway, server: Server) -> list[bytes]:
        line = Line()
        both = await asyncio.gather(gate.ask(request(), line, server), gate.ask(request(), line, server))
        return [served.answer.body for served in (*both, await gate.ask(request(), line, server))]

    file = tmp_path / "calls.sqlite"
    assert asyncio.run(twice(gateway(file), Server("one", "two", "three"))) == [b"one", b"two", b"three"]
    assert asyncio.run(twice(gateway(file, offline=True), Server("never"))) == [b"one", b"two", b"three"]


def test_a_call_that_failed_is_asked_again_under_the_same_number(tmp_path: Path) -> None:
    async def again(gate: Gateway, server: Server) -> bytes:
        line = Line()
        with suppress(Rejected):
            await gate.ask(request(), line, server, last_form=False)
        return (await gate.ask(request(), line, server)).answer.body

    file = tmp_path / "calls.sqlite"
    assert asyncio.run(again(gateway(file), Server(Rejected(400, "no"), "one"))) == b"one"
    assert ask(gateway(file, offline=True), Server("never")) == [b"one"]


def test_a_record_that_cannot_be_written_to_halts_and_says_why(tmp_path: Path) -> None:
    file = tmp_path / "calls.sqlite"
    gate = gateway(file)
    assert ask(gate, Server("one")) == [b"one"]
    with sqlite3.connect(file) as other:
        other.execute("DROP TABLE calls")
    with pytest.raises(Halted, match=r"the record of model calls \S+calls.sqlite cannot be read: no such table"):
        ask(gate, Server("two"), ["other"])
