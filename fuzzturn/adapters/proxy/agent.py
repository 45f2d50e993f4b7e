"""Agent: any agent that takes a `base_url`, with the proxy between it and its model.

What it does not tell itself (contexts, tool calls, compactions, usage) is taken from its model calls.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from fuzzturn.adapters.proxy.caller import Caller
from fuzzturn.adapters.proxy.forwarding import upstream_url
from fuzzturn.adapters.proxy.merging import merged
from fuzzturn.adapters.proxy.server import ProxyServer
from fuzzturn.awaited import maybe, replied
from fuzzturn.calls import Gateway, Line
from fuzzturn.errors import InputError, PortError, Problem
from fuzzturn.ports import Agent, Reply, identity_of
from fuzzturn.replying import AgentFault

__all__ = ["wrap"]

_OURS = ("target", "upstream")
"""Options that are not the target's: whoever calls wrap() has read them."""


def wrap(target: Callable[..., Agent], *, gateway: Gateway, upstream: str) -> Callable[..., Agent]:
    """A build of the target's agent behind the proxy. It takes the target's keywords, but for base_url, which it gives.

    Raises InputError for a target without a `base_url`, whose calls nobody could lead through the proxy, and for an
    upstream that is no URL.
    """
    own = inspect.signature(target)
    names = {p.name for p in own.parameters.values() if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    takes_all = any(p.kind is p.VAR_KEYWORD for p in own.parameters.values())
    if "base_url" not in names and not takes_all:
        what = "the agent behind the proxy takes no base_url, so its model calls cannot be led through it"
        raise InputError(Problem(what=what, accepted="a build with the keyword base_url"))
    lobby = _Lobby(gateway, upstream_url(upstream))

    def build(environment: Any, *, sample: int = 0, **given: Any) -> Agent:
        if "base_url" in given:
            what = "the proxy gives its agent the base_url itself"
            raise InputError(Problem(what=what, accepted="--agent-option upstream=http://…/v1"))
        options = {key: value for key, value in given.items() if key not in _OURS or key in names}
        if "sample" in names:
            options["sample"] = sample
        caller = Caller(line=Line(int(sample)))
        server = lobby.enter()
        try:
            agent: Any = target(environment, base_url=server.admit(caller), **options)
            if not callable(getattr(agent, "reply", None)):
                raise PortError(f"the build of the agent behind the proxy returned {agent!r}, which has no reply()")
        except BaseException:
            server.dismiss(caller)
            lobby.leave_unused(server)
            raise
        both = all(hasattr(agent, name) for name in ("snapshot", "restore"))
        return (_Restorable if both else _Proxied)(agent, environment, caller, server, lobby)

    setattr(build, "__signature__", _signature(own, names))  # noqa: B010 - mypy knows no such attribute
    return build


def _signature(own: inspect.Signature, names: set[str]) -> inspect.Signature:
    kept = [p for p in own.parameters.values() if p.name != "base_url"]
    ours = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in (("sample", 0), *((option, None) for option in _OURS))
        if name not in names
    ]
    rest = [p for p in kept if p.kind is p.VAR_KEYWORD]
    return own.replace(parameters=[*(p for p in kept if p.kind is not p.VAR_KEYWORD), *ours, *rest])


class _Lobby:
    """One server for all sessions of an event loop, stopped when the last of them ends."""

    def __init__(self, gateway: Gateway, upstream: str) -> None:
        self._gateway, self._upstream = gateway, upstream
        self._open: WeakKeyDictionary[asyncio.AbstractEventLoop, ProxyServer] = WeakKeyDictionary()
        self._inside: dict[ProxyServer, int] = {}

    def enter(self) -> ProxyServer:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # built outside of any loop: a server of its own
            server = ProxyServer(self._gateway, self._upstream)
        else:
            if (known := self._open.get(loop)) is None:
                known = self._open[loop] = ProxyServer(self._gateway, self._upstream)
            server = known
        self._inside[server] = self._inside.get(server, 0) + 1
        return server

    async def leave(self, server: ProxyServer) -> None:
        if self._was_last(server):
            await server.stop()

    def leave_unused(self, server: ProxyServer) -> None:
        """From a session that was never begun. If it was the last one, so was the server."""
        if self._was_last(server):
            server.let_go()

    def _was_last(self, server: ProxyServer) -> bool:
        self._inside[server] -= 1
        if self._inside[server]:
            return False
        del self._inside[server]
        for loop in [loop for loop, other in self._open.items() if other is server]:
            del self._open[loop]
        return True


class _Proxied:
    """The target, with everything that its model calls tell."""

    def __init__(self, target: Any, environment: Any, caller: Caller, server: ProxyServer, lobby: _Lobby) -> None:
        self._target, self._environment, self._caller = target, environment, caller
        self._server, self._lobby = server, lobby

    @property
    def identity(self) -> str | None:
        return identity_of(self._target)

    async def reply(self, message: str) -> Reply:
        """What the target replies. Raises Halted where one of its model calls could not be made, nor any other can."""
        await self._server.start()
        self._caller.begin()
        recorded = getattr(self._environment, "recorded", ())
        try:
            reply = await replied(self._target, message)
        except Exception as error:
            seen = self._caller.end(message)
            if self._caller.halted is not None:
                raise self._caller.halted from error
            error.events = merged(seen, list(getattr(error, "events", ())), recorded)  # type: ignore[attr-defined]
            raise
        seen = self._caller.end(message)
        if self._caller.halted is not None:
            raise self._caller.halted
        return Reply(events=merged(seen, reply.events, recorded))

    async def settle(self, timeout: float) -> None:
        """Wait for the target's work in the background, and for model calls in flight (seconds)."""
        if hasattr(self._target, "settle"):
            await maybe(self._target.settle(timeout))
        try:
            await self._caller.settled(timeout)
        except TimeoutError as error:
            raise AgentFault(f"a model call was in flight {timeout:g} s after the reply") from error
        if self._caller.halted is not None:
            raise self._caller.halted

    async def aclose(self) -> None:
        try:
            if hasattr(self._target, "aclose"):
                await maybe(self._target.aclose())
        finally:
            self._server.dismiss(self._caller)
            await self._lobby.leave(self._server)


class _Restorable(_Proxied):
    """The same for a target that offers snapshots."""

    async def snapshot(self) -> object:
        return await maybe(self._target.snapshot()), self._caller.snapshot()

    async def restore(self, saved: Any) -> None:
        target, caller = saved
        await self._server.start()  # a target may ask its model what it was
        await maybe(self._target.restore(target))
        self._caller.restore(caller)
