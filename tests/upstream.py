"""Upstream: a scripted server with OpenAI's API on 127.0.0.1, with faults in order, to test what calls a model.

It runs in a thread with a loop of its own, so that callers may be threads, loops or other processes:

    with Upstream(lambda body: said("hello"), faults=[busy(0), CUT_MIDWAY]) as upstream:
        ask(upstream.url)                      # http://127.0.0.1:<port>/v1
        assert len(upstream.requests) == 3     # every body that arrived, faults included
"""

from __future__ import annotations

import asyncio
import gzip
import inspect
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web

__all__ = [
    "BROKEN", "CUT_BEFORE", "CUT_MIDWAY", "GZIP", "MALFORMED", "SILENT", "WITHOUT_DONE", "Fault", "Upstream", "asked",
    "busy", "said", "streamed", "with_upstream",
]  # fmt: skip

Answer = Callable[[dict[str, Any]], Any]
"""From a request's body to a completion (a dict; said() and asked() make them), or an awaitable of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is done in place of an answer, or to it. `body` None = the answer, or an error in OpenAI's shape."""

    does: Literal["answer", "silence", "cut before", "cut midway", "without done", "gzip"] = "answer"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


BROKEN = Fault(status=500)
MALFORMED = Fault(body=b'{"id": "x", "choices": [{"mess')
SILENT = Fault(does="silence")
"""Not a byte, until the client leaves or the server stops."""
CUT_BEFORE = Fault(does="cut before")
CUT_MIDWAY = Fault(does="cut midway")
WITHOUT_DONE = Fault(does="without done")
"""A stream that ends as if all were well, but two thirds through and without [DONE]."""
GZIP = Fault(does="gzip")


def busy(after: float | str | None = None) -> Fault:
    """429, with what Retry-After says: seconds or an HTTP date; None = it is not sent."""
    return Fault(status=429, headers={} if after is None else {"Retry-After": str(after)})


def said(text: str, **more: Any) -> dict[str, Any]:
    """A completion that is text. `more`: model, id, usage, …"""
    return _completion({"role": "assistant", "content": text}, "stop", more)


def asked(name: str, args: Any, id: str = "call_1", *, text: str | None = None, **more: Any) -> dict[str, Any]:
    """A completion that calls one tool. `args`: a mapping, or the text of the arguments as it is to be sent."""
    function = {"name": name, "arguments": args if isinstance(args, str) else json.dumps(args)}
    call = {"id": id, "type": "function", "function": function}
    return _completion({"role": "assistant", "content": text, "tool_calls": [call]}, "tool_calls", more)


def _completion(message: Mapping[str, Any], reason: str, more: dict[str, Any]) -> dict[str, Any]:
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "scripted", "choices": [choice],
            "usage": usage} | more  # fmt: skip


def streamed(completion: Mapping[str, Any], *, usage: bool = False, newline: str = "\n") -> bytes:
    """The completion as server-sent events: text word by word, a call's arguments one character a delta."""
    chunks = []
    for choice in completion["choices"]:
        deltas = [{"role": "assistant", "content": ""}, *_deltas(choice["message"])]
        chunks += [[{"index": choice["index"], "delta": delta, "finish_reason": None}] for delta in deltas]
        chunks.append([{"index": choice["index"], "delta": {}, "finish_reason": choice["finish_reason"]}])
    head = {key: completion[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    events = [head | {"choices": choices} | ({"usage": None} if usage else {}) for choices in chunks]
    if usage:
        events.append(head | {"choices": [], "usage": completion["usage"]})
    lines = [f"data: {json.dumps(event, ensure_ascii=False)}" for event in events]
    return (2 * newline).join([": keep-alive", *lines, "data: [DONE]", ""]).encode()


def _deltas(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    words = (message.get("content") or "").split(" ")
    texts = [word if i == 0 else f" {word}" for i, word in enumerate(words)]
    deltas: list[dict[str, Any]] = [{"content": text} for text in texts if text]
    for i, call in enumerate(message.get("tool_calls") or ()):
        named = {"name": call["function"]["name"], "arguments": ""}
        deltas.append({"tool_calls": [{"index": i, "id": call["id"], "type": "function", "function": named}]})
        for character in call["function"]["arguments"]:
            deltas.append({"tool_calls": [{"index": i, "function": {"arguments": character}}]})
    return deltas


class Upstream:
    """The server. A context manager; start() and stop() may be called by hand."""

    def __init__(self, answer: Answer, faults: Iterable[Fault | None] = (), *, piece: int = 61) -> None:
        """`faults`: one for each request in order, None = none for this one. `piece`: bytes that are sent at once."""
        self._answer, self._faults, self._piece = answer, list(faults), piece
        self.requests: list[dict[str, Any]] = []
        """The bodies of all POSTs so far, in order of arrival."""
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        """Of each POST, with lower-case names."""
        self.left = 0
        """How many clients left before they were answered, or in mid-answer."""
        self.url = ""
        self._started = threading.Event()
        self._failed: BaseException | None = None

    def __enter__(self) -> Upstream:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> Upstream:
        """Listen on a free port of 127.0.0.1. Raises what keeps it from doing so."""
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="upstream")
        self._thread.start()
        self._started.wait()
        if self._failed is not None:
            raise self._failed
        return self

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()

    async def _serve(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=1 << 26)
        app.router.add_post("/v1/{path:.*}", self._post)
        app.router.add_get("/v1/models", self._models)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.05)
        try:
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
            self._started.set()
            await self._ended.wait()
        except OSError as error:
            self._failed = error
            self._started.set()
        finally:
            await runner.cleanup()

    async def _models(self, request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    async def _post(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        self.paths.append(f"/{request.match_info['path']}")
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        fault = (self._faults.pop(0) if self._faults else None) or Fault()
        try:
            return await self._answered(request, body, fault)
        except (asyncio.CancelledError, ConnectionError):
            self.left += 1
            raise

    async def _answered(self, request: web.Request, body: dict[str, Any], fault: Fault) -> web.StreamResponse:
        if fault.does == "silence":
            await self._ended.wait()
        if fault.does in ("silence", "cut before"):
            return _cut(request)
        if fault.status != 200 or fault.body is not None:
            error = json.dumps({"error": {"message": f"status {fault.status}", "type": "scripted"}}).encode()
            return web.Response(status=fault.status, headers=fault.headers, body=fault.body or error,
                                content_type="application/json")  # fmt: skip
        completion = self._answer(body)
        if inspect.isawaitable(completion):
            completion = await completion
        if not isinstance(completion, bytes):
            usage = bool((body.get("stream_options") or {}).get("include_usage"))
            text = json.dumps(completion, ensure_ascii=False).encode()
            completion = streamed(completion, usage=usage) if body.get("stream") else text
        return await self._sent(request, completion, "text/event-stream" if body.get("stream") else None, fault)

    async def _sent(self, request: web.Request, body: bytes, kind: str | None, fault: Fault) -> web.StreamResponse:
        headers = {"Content-Type": kind or "application/json", "Set-Cookie": "tracked=yes"}
        if fault.does == "gzip":
            body, headers["Content-Encoding"] = gzip.compress(body), "gzip"
        if fault.does == "cut midway" or kind is None:
            headers["Content-Length"] = str(len(body))
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        sent = body if fault.does not in ("cut midway", "without done") else body[: len(body) * 2 // 3]
        for start in range(0, len(sent), self._piece):
            await response.write(sent[start : start + self._piece])
        if fault.does == "cut midway":
            return _cut(request, response)
        await response.write_eof()
        return response


def _cut(request: web.Request, response: web.StreamResponse | None = None) -> web.StreamResponse:
    """Close the connection, whatever has been sent so far."""
    if request.transport is not None:
        request.transport.close()  # what was written still goes out, and then nothing
    return response or web.Response()


@asynccontextmanager
async def with_upstream(answer: Answer, faults: Iterable[Fault | None] = ()) -> AsyncIterator[Upstream]:
    """The same for tests that are inside a loop."""
    upstream = await asyncio.to_thread(Upstream(answer, faults).start)
    try:
        yield upstream
    finally:
        await asyncio.to_thread(upstream.stop)
