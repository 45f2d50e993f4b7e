"""Server: a loopback endpoint with OpenAI's API, one base URL for each session, through which all model calls go.

    http://127.0.0.1:<port>/<token>/v1              a session that was admitted
    http://127.0.0.1:<port>/<token>/<name>/v1       any session, where guests are welcome

Every process of this machine can reach the port, so the token is one that cannot be guessed, and what a browser sends
for some web page (with an Origin, or for another host) is refused. Clients are told not to try again: the gateway does.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from fuzzturn.adapters.proxy.caller import Caller, Pending
from fuzzturn.adapters.proxy.forwarding import Forwarder, Outgoing, parsed_answer, passed_headers
from fuzzturn.adapters.proxy.items import CHAT, RESPONSES
from fuzzturn.calls import Answer, CallFailed, Gateway, Rejected, Request, Transient, Unsendable
from fuzzturn.errors import FuzzturnError, Halted, InputError, Problem

if TYPE_CHECKING:
    from aiohttp.web import AppRunner, StreamResponse
    from aiohttp.web import Request as Incoming

__all__ = ["ProxyServer"]

HOST = "127.0.0.1"
_LARGEST_REQUEST = 1 << 28
"""Bytes. Long contexts with images; the caller is the user's own agent."""
_BACKLOG = 1024
_SHUTDOWN_SECONDS = 0.1
_HALTED = {"usd": (402, "money_used_up"), "offline": (404, "not_recorded"), "refused": (404, "refused")}
_FINAL = {"x-should-retry": "false"}


class ProxyServer:
    """The endpoint. Bound as soon as it is made, so that its address is known; it answers from start() on.

    `port` 0 = any free one. Raises InputError where the port is taken.
    """

    def __init__(self, gateway: Gateway, upstream: str, *, port: int = 0, silence: float | None = None) -> None:
        self._gateway = gateway
        self._forwarder = Forwarder(upstream, **({} if silence is None else {"silence": silence}))
        self._socket = _bound(port)
        self.port: int = self._socket.getsockname()[1]
        self._sessions: dict[str, Caller] = {}
        self._welcome: dict[str, tuple[Callable[[str], Caller], dict[str, Caller]]] = {}
        self._runner: AppRunner | None = None
        self._starting = asyncio.Lock()

    def admit(self, caller: Caller) -> str:
        """The base URL of a new session."""
        token = secrets.token_urlsafe(18)
        self._sessions[token] = caller
        return f"http://{HOST}:{self.port}/{token}/v1"

    def welcome(self, made: Callable[[str], Caller]) -> str:
        """An address under which any name is a session, made when it first calls; /<name>/v1 is to be added."""
        token = secrets.token_urlsafe(18)
        self._welcome[token] = (made, {})
        return f"http://{HOST}:{self.port}/{token}"

    def dismiss(self, caller: Caller) -> None:
        """The session has ended; its URL is no longer one."""
        self._sessions = {token: other for token, other in self._sessions.items() if other is not caller}

    async def start(self) -> None:
        """Answer. Does nothing where it already does."""
        from aiohttp import web

        async with self._starting:
            if self._runner is not None:
                return
            app = web.Application(client_max_size=_LARGEST_REQUEST)
            app.router.add_route("*", "/{token}/v1/{path:.*}", self._handle)
            app.router.add_route("*", "/{token}/{name}/v1/{path:.*}", self._handle)
            how: dict[str, Any] = {"handle_signals": False, "access_log": None, "handler_cancellation": True}
            self._runner = web.AppRunner(app, shutdown_timeout=_SHUTDOWN_SECONDS, **how)
            await self._runner.setup()
            await self._forwarder.open()
            await web.SockSite(self._runner, self._socket, backlog=_BACKLOG).start()

    async def stop(self) -> None:
        """Give up what is in flight and let go of the port."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()
            await self._forwarder.close()
        self.let_go()

    def let_go(self) -> None:
        """Let go of the port of a server that does not answer."""
        self._socket.close()

    async def _handle(self, request: Incoming) -> StreamResponse:
        if "Origin" in request.headers or request.host not in (f"{HOST}:{self.port}", f"localhost:{self.port}"):
            return _error(403, "forbidden", "this endpoint answers programs on this machine, and no web page")
        if (caller := self._caller(request.match_info)) is None:
            return _error(404, "no_such_session", "no session has this base URL (any more)")
        path = f"/{request.match_info['path']}"
        query = f"?{request.query_string}" if request.query_string else ""
        sent = Outgoing(
            method=request.method, path=path + query, headers=dict(request.headers), body=await request.read()
        )
        if request.method != "POST" or path not in (CHAT, RESPONSES):
            return await self._passed_through(request, caller, sent)
        try:
            body = json.loads(sent.body)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            return _error(400, "invalid_json", "the body is no JSON object")
        call = caller.arrived(path, body)
        try:
            return await self._answered(request, caller, call, sent)
        except asyncio.CancelledError:
            caller.over(call, None, fault="the client left, or the server was stopped")
            raise
        except Exception as error:  # a fault of ours: aiohttp tells of it, and nobody may wait for the call
            caller.over(call, None, fault=repr(error))
            raise

    def _caller(self, match: Mapping[str, str]) -> Caller | None:
        token, name = match["token"], match.get("name")
        if name is None:
            return self._sessions.get(token)
        if token not in self._welcome:
            return None
        made, guests = self._welcome[token]
        if name not in guests:
            guests[name] = made(name)
        return guests[name]

    async def _answered(self, request: Incoming, caller: Caller, call: Pending, sent: Outgoing) -> StreamResponse:
        relay = _Relay(request)
        asked = Request(role=call.role, path=call.path, body=call.body)
        try:
            served = await self._gateway.ask(
                asked, caller.line, lambda: self._forwarder.send(sent, call.path, relay.pass_on)
            )
        except Unsendable as error:
            caller.over(call, None, fault=str(error))
            return relay.abort()
        except (Rejected, CallFailed, Transient) as error:
            caller.over(call, None, fault=str(error))
            return _refused(error)
        except FuzzturnError as error:  # Halted, or the project's normaliser or record is at fault
            caller.over(call, None, fault=str(error))
            caller.halted = caller.halted or error
            return _halted(error)
        caller.over(call, parsed_answer(served.answer), recorded=served.recorded)
        return await relay.finish() or _whole(served.answer)

    async def _passed_through(self, request: Incoming, caller: Caller, sent: Outgoing) -> StreamResponse:
        """What is no model call of a kind that the record keeps: passed on as it is, once."""
        from aiohttp import web

        what = f"{request.method} {sent.path}"
        if self._gateway.offline:
            said = f"--offline, and {what} is nothing that is recorded"
            if request.method == "POST":
                caller.halted = caller.halted or Halted("offline", said)
            return _error(404, "not_recorded", said)
        if request.method == "POST":
            caller.unrecorded(what)
        try:
            async with self._forwarder.response(sent) as response:
                body = await response.read()
                return web.Response(status=response.status, headers=passed_headers(response.headers), body=body)
        except Transient as error:
            return _refused(error)


class _Relay:
    """A stream on its way to the client. Begun with the first piece: until then the call can be made again."""

    def __init__(self, request: Incoming) -> None:
        self._request = request
        self._response: StreamResponse | None = None

    async def pass_on(self, kind: str, piece: bytes) -> None:
        from aiohttp import web

        try:
            if self._response is None:
                self._response = web.StreamResponse(headers={"Content-Type": kind, "Cache-Control": "no-cache"})
                await self._response.prepare(self._request)
            await self._response.write(piece)
        except ConnectionError as error:
            raise Unsendable("the client left") from error

    async def finish(self) -> StreamResponse | None:
        """The response, ended; None = nothing was passed on."""
        if self._response is not None:
            await self._response.write_eof()
        return self._response

    def abort(self) -> StreamResponse:
        """Break the connection: a cut body that ended well would be a short answer to the client."""
        if self._request.transport is not None:
            self._request.transport.abort()
        return self._response or _error(502, "cut_off", "the answer was cut off")


def _bound(port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((HOST, port))
        bound.listen(_BACKLOG)  # so that who calls before start() waits instead of being refused
    except OSError as error:
        bound.close()
        what = f"the port {port} of {HOST} cannot be had: {error.strerror}"
        raise InputError(Problem(what=what, accepted="another port, or 0 for any free one")) from error
    return bound


def _whole(answer: Answer, headers: Mapping[str, str] | None = None) -> StreamResponse:
    from aiohttp import web

    return web.Response(
        status=answer.status, body=answer.body, headers={"Content-Type": answer.content_type, **(headers or {})}
    )


def _refused(error: Exception) -> StreamResponse:
    if isinstance(error, Rejected) and error.answer is not None:
        return _whole(error.answer, _FINAL)
    status = error.status if isinstance(error, Rejected) else 502
    return _error(status, "call_failed", str(error))


def _halted(error: FuzzturnError) -> StreamResponse:
    if isinstance(error.__cause__, Rejected):
        return _refused(error.__cause__)
    status, code = _HALTED[error.why] if isinstance(error, Halted) else (500, "harness_at_fault")
    return _error(status, code, str(error))


def _error(status: int, code: str, message: str) -> StreamResponse:
    """An error in OpenAI's shape, not to be tried again."""
    from aiohttp import web

    error: dict[str, Any] = {"message": f"fuzzturn: {message}", "type": "fuzzturn", "param": None, "code": code}
    return web.json_response({"error": error}, status=status, headers=_FINAL)
