"""Caller: one session behind the proxy: its place in the record, its calls in order of arrival, what halted it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fuzzturn.adapters.proxy.tap import Exchange, Seen, Tap
from fuzzturn.calls import Line, Role
from fuzzturn.errors import FuzzturnError

__all__ = ["Caller", "Pending"]


@dataclass(slots=True)
class Pending:
    """A call from its arrival on. `exchange` None = it is in flight."""

    path: str
    body: Mapping[str, Any]
    role: Role
    after_turn: bool
    """It arrived while the agent was not replying."""
    exchange: Exchange | None = None


@dataclass
class Caller:
    """One session. A call belongs to the turn in which it arrives; what arrives between two belongs to the later."""

    name: str = "session"
    line: Line = field(default_factory=Line)
    tap: Tap = field(default_factory=Tap)
    finished: Callable[[Pending], None] | None = None
    """Told of every call that is over."""
    halted: FuzzturnError | None = None
    """Why no further call can be made, mostly a Halted. The agent sees an error, the harness raises this."""

    def __post_init__(self) -> None:
        self._calls: list[Pending] = []
        self._replying = False
        self._unrecorded: list[str] = []
        self._idle = asyncio.Event()
        self._idle.set()

    def begin(self) -> None:
        """The agent is told what the user says."""
        self._replying = True

    def end(self, user: str) -> list[Seen]:
        """It has replied: what the calls tell that arrived until now and are over."""
        self._replying = False
        return self.take(user)

    def take(self, user: str | None) -> list[Seen]:
        """What the calls that are over tell; they are forgotten. `user` None = nobody knows what was said."""
        over = [call for call in self._calls if call.exchange is not None]
        self._calls = [call for call in self._calls if call.exchange is None]
        return self.tap.take(user, [call.exchange for call in over if call.exchange is not None])

    def arrived(self, path: str, body: Mapping[str, Any]) -> Pending:
        call = Pending(path, body, self.tap.role(path, body), not self._replying)
        self._calls.append(call)
        self._idle.clear()
        return call

    def unrecorded(self, what: str) -> None:
        """Something was passed on that the record does not keep."""
        self._unrecorded.append(what)

    def over(
        self, call: Pending, answer: Mapping[str, Any] | None, *, recorded: bool | None = None, fault: str | None = None
    ) -> None:
        """The call is answered, or failed because of `fault`."""
        notes = [f"{what} was passed on and not recorded" for what in self._unrecorded]
        notes += ["made while no reply was under way"] if call.after_turn else []
        notes += [f"it failed: {fault}"] if fault else []
        self._unrecorded = []
        usage = (answer or {}).get("usage")
        call.exchange = Exchange(
            path=call.path, body=call.body, answer=answer, usage=usage if isinstance(usage, Mapping) else None,
            recorded=recorded, notes=tuple(notes),
        )  # fmt: skip
        if all(other.exchange is not None for other in self._calls):
            self._idle.set()
        if self.finished is not None:
            self.finished(call)

    async def settled(self, timeout: float) -> None:
        """Wait until no call is in flight, `timeout` seconds at most. Raises TimeoutError."""
        async with asyncio.timeout(timeout):
            await self._idle.wait()

    def snapshot(self) -> object:
        """Place in the record and what the calls have told; unaffected by what follows."""
        return self.line.copy(), self.tap.copied(), self._told()

    def restore(self, saved: Any) -> None:
        line, tap, told = saved
        self.line, self.tap, self._calls = line.copy(), tap.copied(), list(told)

    def _told(self) -> Sequence[Pending]:
        """Calls that are over and have not been given to any turn yet."""
        return [call for call in self._calls if call.exchange is not None]
