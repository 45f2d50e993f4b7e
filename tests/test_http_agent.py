"""An agent behind a URL: what is posted, and how a server may fail."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import kit
from fuzzturn.adapters.http import build
from fuzzturn.adapters.protocol import MESSAGE_BYTES_MAX
from fuzzturn.drive import Cast, drive
from fuzzturn.errors import InputError
from fuzzturn.replying import AgentFault
from fuzzturn.session import Message, ToolCall


class Server(ThreadingHTTPServer):
    """Answers each POST with what `answer` makes of it: (status, body); None = the connection is cut."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, answer: Callable[[dict[str, Any]], tuple[int, bytes] | None]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.heard: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/agent"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.heard.append(message)
        if (given := self.server.answer(message)) is None:
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        status, body = given
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None: ...

    def handle(self) -> None:
        try:
            super().handle()
        except (ConnectionError, OSError):  # the harness hangs up on a server that fails
            return


@contextmanager
def serving(answer: Callable[[dict[str, Any]], Any]) -> Iterator[Server]:
    """A server on a free port. Whatever but `close` is answered by `answer`, `open` by ready."""

    def answered(message: dict[str, Any]) -> tuple[int, bytes] | None:
        if message["type"] in ("open", "close"):
            return 200, b'{"type": "ready"}'
        given = answer(message)
        return (200, json.dumps(given).encode()) if isinstance(given, dict) else given

    with Server(answered) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def spoken(url: str, *messages: str, **given: Any) -> list[Any]:
    async def through() -> list[Any]:
        player = build(kit.Shop(), url=url, session_id="s1", **{"timeout": "20", **given})
        try:
            return [await player.reply(message) for message in messages]
        finally:
            await player.aclose()
            assert asyncio.all_tasks() == {asyncio.current_task()}

    return asyncio.run(through())


def shopping(message: dict[str, Any]) -> dict[str, Any]:
    if message["type"] == "results":
        return {"type": "reply", "text": f"Bought: {message['results'][0]['result']}"}
    if message["message"].startswith("Buy"):
        return {"type": "call", "calls": [{"id": "c1", "name": "buy", "args": {"price": 40}}]}
    return {"type": "reply", "text": "Noted."}


def test_a_server_is_spoken_to_by_post_and_its_calls_are_recorded() -> None:
    with serving(shopping) as server:
        cast = Cast(build=build, make_environment=kit.make_shop, name="h", options={"url": server.url})
        session = asyncio.run(drive(cast, kit.scenario()))
    assert session.error is None
    assert session.turns[-1].events == (ToolCall("buy", {"price": 40}, "ok"), Message("Bought: ok"))
    kinds = [message["type"] for message in server.heard]
    assert kinds == ["open", *["say"] * len(session.turns), "results", "close"]
    assert len({message["session_id"] for message in server.heard}) == 1


def test_sessions_at_the_same_time_are_told_apart_by_their_id() -> None:
    def echo(message: dict[str, Any]) -> dict[str, Any]:
        return {"type": "reply", "text": message["session_id"]}

    async def one(url: str, id: str) -> list[str]:
        player = build(kit.Shop(), url=url, session_id=id)
        replies = [await player.reply("hi") for _ in range(3)]
        await player.aclose()
        return [event.text for reply in replies for event in reply.events if isinstance(event, Message)]

    async def all_of(url: str) -> list[list[str]]:
        return await asyncio.gather(*(one(url, f"s{i}") for i in range(8)))

    with serving(echo) as server:
        assert asyncio.run(all_of(server.url)) == [[f"s{i}"] * 3 for i in range(8)]


@pytest.mark.parametrize(
    "given, complaint",
    [
        ((500, b"no model"), r"the server at \S+/agent answered 500 'no model'; accepted: 200 and a message"),
        ((404, b""), "answered 404 ''"),
        ((302, b""), "answered 302"),
        ((200, b"<html>"), "the answer to 'say' is '<html>'; accepted: one JSON object"),
        ((200, b""), "the answer to 'say' is ''"),
        ((200, b" " * (MESSAGE_BYTES_MAX + 2**17)), f"longer than {MESSAGE_BYTES_MAX} bytes"),
        ({"type": "ready"}, "accepted: an object whose 'type' is 'reply' or 'call'"),
        (None, r"the server at \S+/agent cannot be spoken to: "),
    ],
    ids=["500", "404", "302", "html", "empty", "long", "wrong", "cut"],
)
def test_a_server_that_fails_is_at_fault(given: Any, complaint: str) -> None:
    with serving(lambda _: given) as server, pytest.raises(AgentFault, match=complaint):
        spoken(server.url, "hi")
    assert [message["type"] for message in server.heard][:2] == ["open", "say"]
    assert "close" not in [message["type"] for message in server.heard]


def test_a_server_that_hangs_is_left_after_the_timeout() -> None:
    waiting = threading.Event()

    def hang(message: dict[str, Any]) -> dict[str, Any]:
        waiting.wait(20)
        return {"type": "reply", "text": "late"}

    with serving(hang) as server:
        with pytest.raises(AgentFault, match=r"no answer to 'say' within 0\.2 seconds"):
            spoken(server.url, "hi", timeout="0.2")
        waiting.set()


def test_a_server_that_is_not_there_is_the_agents_fault_in_the_first_reply() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
    with pytest.raises(AgentFault, match=r"the server at \S+/ cannot be spoken to: "):
        spoken(url, "hi")


def test_no_proxy_is_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving(shopping) as server:
        (reply,) = spoken(server.url, "hi")
    assert reply.events == (Message("Noted."),)


def test_a_large_message_goes_both_ways() -> None:
    def echo(message: dict[str, Any]) -> dict[str, Any]:
        return {"type": "reply", "text": message["message"]}

    said = "x" * 3_000_000
    with serving(echo) as server:
        (reply,) = spoken(server.url, said)
    assert reply.events == (Message(said),)


@pytest.mark.parametrize(
    "rest", ["", "127.0.0.1:8700", "ftp://127.0.0.1/", "http:{}", "http:{}[::1", "http:{}127.0.0.1:x/"]
)
def test_a_url_that_is_none_is_refused_when_the_agent_is_built(rest: str) -> None:
    with pytest.raises(InputError, match=r"agent option url is .*; an http or https URL"):
        build(kit.Shop(), url=rest.format("//"))


def test_a_url_with_a_password_is_refused_since_every_file_of_the_run_holds_it() -> None:
    with pytest.raises(InputError, match="holds a name or password") as raised:
        build(kit.Shop(), url="http://127.0.0.1/".replace("127", "me:hidden@127"))
    assert "hidden" not in str(raised.value)
