"""Gateway: the one way to a model: from the record, else live with retries, inside the cap, written down and billed.

Whoever wants a call made brings `send`, which makes it once. It returns the whole Answer, or raises

    Transient    busy, broken or silent: tried again after a while, since a retry is cheaper than a session. A server
                 error 500 that says the same again is not: some servers answer so to what a model said (llama.cpp does)
    Rejected     the request itself was refused: not tried again

One call is in flight per place in the record; who asks the same meanwhile gets the same answer, free.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from fuzzturn.calls.bill import Bill
from fuzzturn.calls.keys import Keys, Known, Request, Role
from fuzzturn.calls.record import Answer, CallRecord, Place
from fuzzturn.calls.streams import without_secrets
from fuzzturn.errors import Halted

__all__ = ["UNREACHABLE", "CallFailed", "Gateway", "Line", "Rejected", "Send", "Served", "Transient", "Unsendable"]

RETRIES = 4
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 60.0
UNREACHABLE = "no connection"
"""The reason of a Transient where nobody answers at all."""
GONE_AFTER = 3
"""Calls in a row that were given up after every retry: the server is gone, or has no time for us."""
_SERVER_ERROR = "server error 500"
_UNAUTHORISED = (401, 402, 403, 404)
"""No key, no credit, no right, no such model: the same for every other call."""


class Transient(Exception):
    """A call failed for a reason that may pass. `after` is how long the server wants to be left alone, in seconds."""

    def __init__(self, reason: str, detail: str = "", after: float | None = None) -> None:
        self.reason, self.detail, self.after = reason, detail, after
        super().__init__(f"{reason}: {detail}" if detail else reason)


class Rejected(Exception):
    """The server refused the request. `status` is HTTP's; `answer` what it said, where somebody wants to pass it on."""

    def __init__(self, status: int, detail: str, answer: Answer | None = None) -> None:
        self.status, self.detail, self.answer = status, detail, answer
        super().__init__(f"the model's server refused the call with status {status}: {detail}")


class CallFailed(Exception):
    """A call failed after every retry. To a campaign it is the agent's error: the session ends, nothing else."""


class Unsendable(Exception):
    """The answer was cut off after part of it had been passed on: it can be neither used nor asked for again."""


@dataclass(slots=True)
class Line:
    """One session's calls: how many answers each request has had. `sample` tells repeats of a session apart."""

    sample: int = 0
    served: Counter[str] = field(default_factory=Counter)

    def copy(self) -> Line:
        return Line(self.sample, Counter(self.served))


@dataclass(frozen=True, slots=True)
class Served:
    """An answer, and whether it came from the record (or from a call in flight) and so cost nothing."""

    answer: Answer
    recorded: bool


Send: TypeAlias = Callable[[], Awaitable[Answer]]


@dataclass
class Gateway:
    """The way to every model, for all sessions of one command."""

    record: CallRecord = field(default_factory=lambda: CallRecord(None))
    keys: Keys = field(default_factory=Keys)
    bill: Bill = field(default_factory=Bill)
    offline: bool = False
    """A call that is not recorded is refused."""
    retries: int = RETRIES
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    noted: dict[Place, tuple[Role, Answer]] | None = None
    """Every answer that was given, and to whom; None = nobody wants to know."""

    def __post_init__(self) -> None:
        self._flights: dict[Place, asyncio.Future[Answer]] = {}
        self._answered: set[str] = set()
        self._failed = 0
        """Calls given up in a row."""
        self._pause: asyncio.Future[None] | None = None

    async def ask(self, request: Request, line: Line, send: Send, *, last_form: bool = True) -> Served:
        """The answer to a request. Raises Rejected, CallFailed or Unsendable where this call failed.

        Raises Halted where no other call can go better: not recorded and offline, money used up, no right to ask, or
        the very first request to a model refused, unless it is not the `last_form` in which the caller can ask.
        """
        known = self.keys.known(request)
        place = Place(known.key, line.sample, line.served[known.key])
        line.served[known.key] += 1  # at once: the next to ask the same meanwhile asks for another answer
        try:
            served = await self._served(request, known, place, lambda: self._live(request, send, last_form))
        except BaseException:
            line.served[known.key] -= 1
            raise
        if served.recorded:
            self.bill.recorded[request.role] += 1
        self._note(place, request, served.answer)
        return served

    def refused(self, form: Request) -> bool:
        """Whether the server is known not to take requests of this form, from this run or an earlier one."""
        place = Place(self.keys.known(form).key, 0, 0)
        if (refusal := self.record.find(place)) is None:
            return False
        self._note(place, form, refusal)
        return True

    def refuse(self, form: Request) -> None:
        """Write down that the server does not take this form. Nothing was answered, so nothing is billed."""
        known = self.keys.known(form)
        self.record.keep(Place(known.key, 0, 0), form, known, Answer(body=b"null", status=400))

    async def _served(self, request: Request, known: Known, place: Place, live: Send) -> Served:
        while (flight := self._flights.get(place)) is not None:
            try:
                return Served(await asyncio.shield(flight), recorded=True)
            except Unsendable:
                continue  # the first to ask had begun to read it, or has left: somebody has to ask again
        if (answer := self.record.find(place)) is not None:
            return Served(answer, recorded=True)
        if self.offline:
            raise Halted("offline", self._missing(request, known))
        flight = self._flights[place] = asyncio.get_running_loop().create_future()
        try:
            answer = await live()
            self._keep(place, request, known, answer)
        except BaseException as error:
            flight.set_exception(error if isinstance(error, Exception) else Unsendable("the call was given up"))
            flight.exception()  # whoever waits is told; nobody waiting is no fault
            raise
        else:
            flight.set_result(answer)
        finally:
            del self._flights[place]
        return Served(answer, recorded=False)

    def _note(self, place: Place, request: Request, answer: Answer) -> None:
        if self.noted is not None:
            self.noted[place] = request.role, answer

    def _keep(self, place: Place, request: Request, known: Known, answer: Answer) -> None:
        self._answered.add(request.model)
        self._failed = 0
        self.bill.add(request.role, request.model, answer.usage)
        self.record.keep(place, request, known, without_secrets(answer, self.keys.redaction))

    async def _live(self, request: Request, send: Send, last_form: bool) -> Answer:
        wait, before = FIRST_WAIT_SECONDS, ""
        for left in range(self.retries, -1, -1):
            while self._pause is not None:
                await asyncio.shield(self._pause)
            if (refusal := self.bill.refusal()) is not None:
                raise Halted("usd", refusal)
            try:
                return await send()
            except Transient as error:
                self.bill.retried[error.reason] += 1
                if left == 0 or (error.reason == _SERVER_ERROR and error.detail == before):
                    raise self._given_up(request, error) from error
                await self._hold(min(max(wait, error.after or 0.0), LONGEST_WAIT_SECONDS), everybody=bool(error.after))
                wait, before = 2 * wait, error.detail
            except Rejected as error:
                if error.status in _UNAUTHORISED or (last_form and request.model not in self._answered):
                    raise Halted("refused", f"{error} (model {request.model})") from error
                raise
        raise AssertionError("unreachable")  # the last round returns or raises

    def _given_up(self, request: Request, error: Transient) -> Exception:
        """A server that is not there, or fails call after call, is everybody's; else it is this session's bad luck."""
        failed = f"{request.role}'s model {request.model} could not be asked: {error}"
        if error.reason == _SERVER_ERROR:  # of this request, most likely
            return CallFailed(failed)
        self._failed += 1
        never = error.reason == UNREACHABLE and request.model not in self._answered
        return Halted("refused", failed) if never or self._failed >= GONE_AFTER else CallFailed(failed)

    async def _hold(self, seconds: float, *, everybody: bool) -> None:
        """Wait; where the server named a time, every other call waits, too."""
        if not everybody or self._pause is not None:
            await self.sleep(seconds)
            return
        self._pause = asyncio.get_running_loop().create_future()
        try:
            await self.sleep(seconds)
        finally:
            self._pause.set_result(None)
            self._pause = None

    def _missing(self, request: Request, known: Known) -> str:
        near = self.record.nearest(request, known)
        said = f"--offline, and this call is not recorded: {request}"
        return f"{said}; the nearest recorded one differs at {near}" if near else f"{said}; none like it is recorded"

    def close(self) -> None:
        self.record.close()
