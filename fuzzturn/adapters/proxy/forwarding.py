"""Forwarding: one call to the real server, made once: what it answers, whether it may be tried again, and its secrets.

Keys and cookies go upstream as they came, and nowhere else: they are neither kept nor repeated in an error.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from fuzzturn.adapters.proxy.items import RESPONSES
from fuzzturn.calls import Answer, Rejected, Transient, Unsendable
from fuzzturn.calls.gateway import UNREACHABLE
from fuzzturn.calls.streams import EVENT_STREAM, assembled
from fuzzturn.errors import InputError, Problem, worded

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

__all__ = ["Forwarder", "Outgoing", "PassOn", "parsed_answer", "passed_headers", "upstream_url"]

SILENCE_SECONDS = 600.0
"""How long the server may say nothing; clients give up no later than that by themselves."""
CONNECT_SECONDS = 30.0
_PASSING = (408, 409, 425, 429)
"""States other than 5xx that may pass."""
_HOP_BY_HOP = frozenset({
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade",
})  # fmt: skip
_OURS = frozenset({"host", "content-length", "content-encoding", "accept-encoding", "expect", "set-cookie"})
"""Headers that this hop writes itself. The body is passed on decoded, and a cookie is nothing an agent should keep."""
_SECRET = ("authorization", "api-key", "x-api-key", "cookie")
_DETAIL_CHARACTERS = 400

PassOn: TypeAlias = Callable[[str, bytes], Awaitable[None]]
"""Told the content type and the next piece of a stream, which goes to the client at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A request as it goes upstream. `path` with its leading slash, and with the query if it has one."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Forwarder:
    """The connections to one upstream. `url` is its base, up to /v1."""

    def __init__(self, url: str, *, silence: float = SILENCE_SECONDS) -> None:
        self.url = upstream_url(url)
        self._silence = silence
        self._client: ClientSession | None = None

    async def open(self) -> None:
        from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

        timeout = ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=self._silence)
        self._client = ClientSession(
            connector=TCPConnector(limit=0), cookie_jar=DummyCookieJar(), proxy=_way_out(self.url), timeout=timeout
        )

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def send(self, outgoing: Outgoing, path: str, pass_on: PassOn) -> Answer:
        """Make the call once. Raises Transient, Rejected, or Unsendable after a part of it was passed on."""
        passed = False

        async def on(kind: str, piece: bytes) -> None:
            nonlocal passed
            passed = True
            await pass_on(kind, piece)

        try:
            async with self.response(outgoing) as response:
                return await self._answer(response, outgoing, path, on)
        except Transient as error:
            if passed:
                raise Unsendable(f"the answer was cut off: {error}") from error
            raise

    @asynccontextmanager
    async def response(self, outgoing: Outgoing) -> AsyncIterator[ClientResponse]:
        """The bare response. What fails on the way to it or while it is read is raised as Transient."""
        from aiohttp import ClientConnectorError, ClientError

        assert self._client is not None
        headers = {**passed_headers(outgoing.headers), "Accept-Encoding": "identity"}
        url = f"{self.url}{outgoing.path}"
        try:
            async with self._client.request(
                outgoing.method, url, data=outgoing.body or None, headers=headers, allow_redirects=False
            ) as response:
                yield response
        except ClientConnectorError as error:
            raise Transient(UNREACHABLE, _shown(str(error), outgoing)) from error
        except TimeoutError as error:
            raise Transient("time-out", f"{self.url} said nothing for {self._silence:g} s") from error
        except ClientError as error:
            raise Transient("connection lost", _shown(worded(error), outgoing)) from error

    async def _answer(self, response: ClientResponse, outgoing: Outgoing, path: str, pass_on: PassOn) -> Answer:
        kind = response.headers.get("Content-Type", "application/json")
        if response.status == 200 and kind.lower().startswith(EVENT_STREAM):
            pieces = []
            async for piece in response.content.iter_any():
                pieces.append(piece)
                await pass_on(kind, piece)
            answer = Answer(body=b"".join(pieces), content_type=kind)
        else:
            answer = Answer(body=await response.read(), status=response.status, content_type=kind)
        if not 200 <= response.status < 300:
            raise _fault(answer, outgoing, response.headers.get("Retry-After"))
        data = parsed_answer(answer)
        if data is None or (path != RESPONSES and not data.get("choices")):
            raise Transient("malformed answer", _shown(answer.body.decode("utf-8", "replace"), outgoing))
        usage = data.get("usage")
        return Answer(body=answer.body, status=answer.status, content_type=kind, usage=usage or None)


def parsed_answer(answer: Answer) -> dict[str, Any] | None:
    """An answer in its non-streamed shape; None = it is not whole, or no JSON object."""
    if answer.content_type.lower().startswith(EVENT_STREAM):
        return assembled(answer.body)
    try:
        data = json.loads(answer.body)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def passed_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that are for the other end and not for this hop."""
    named = {name.strip().lower() for name in _get(headers, "connection").split(",")}
    kept_back = _HOP_BY_HOP | _OURS | named
    return {name: value for name, value in headers.items() if name.lower() not in kept_back}


def upstream_url(url: str) -> str:
    """The base URL without a slash at its end. Raises InputError for what is no http(s) URL, or holds a password."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that do not close, a port that is none
        usable = False
    if not usable or parts.query or parts.fragment:
        what = f"the upstream {url!r} is no URL of an OpenAI-compatible server"
        raise InputError(Problem(what=what, accepted="http://… or https://…, up to /v1"))
    if "@" in parts.netloc:
        raise InputError(
            Problem(what="the upstream's URL holds a name or password", accepted="a key, given to the agent")
        )
    return url.rstrip("/")


def _way_out(url: str) -> str | None:
    """The proxy that the environment names for the way to a server; None = none, as for every server on this machine.

    Not left to aiohttp's trust_env: it reads .netrc, too, and fails where that and the client both say who one is.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in ("localhost", "::1") or host.startswith("127.") or proxy_bypass(host):
        return None
    return getproxies().get(parts.scheme)


def _fault(answer: Answer, outgoing: Outgoing, retry_after: str | None) -> Transient | Rejected:
    error = (parsed_answer(answer) or {}).get("error")
    said = error.get("message") if isinstance(error, dict) else error
    detail = _shown(said if isinstance(said, str) else answer.body.decode("utf-8", "replace"), outgoing)
    if isinstance(error, dict) and error.get("code") == "insufficient_quota":
        return Rejected(402, detail, answer)  # sent with 429, but waiting does not help
    if answer.status in _PASSING or answer.status >= 500:
        reason = {429: "rate limit", 408: "time-out"}.get(answer.status, f"server error {answer.status}")
        return Transient(reason, detail, _seconds(retry_after))
    return Rejected(answer.status, detail, answer)


def _seconds(retry_after: str | None) -> float | None:
    """Retry-After is a number of seconds or a date; what is neither is ignored."""
    if not retry_after:
        return None
    try:
        return max(float(retry_after), 0.0)
    except ValueError:
        pass
    try:
        at = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    now = datetime.now(UTC)
    return max((at - now if at.tzinfo else at.replace(tzinfo=UTC) - now).total_seconds(), 0.0)


def _shown(text: str, outgoing: Outgoing) -> str:
    """A text for an error, without what the client showed to prove who it is; servers repeat it."""
    for secret in _secrets(outgoing.headers):
        text = text.replace(secret, "[redacted]")
    text = " ".join(text.split())
    return text if len(text) <= _DETAIL_CHARACTERS else text[: _DETAIL_CHARACTERS - 1] + "…"


def _secrets(headers: Mapping[str, str]) -> Iterable[str]:
    for name in _SECRET:
        value = _get(headers, name).removeprefix("Bearer ").strip()
        if len(value) >= 8:
            yield value


def _get(headers: Mapping[str, str], wanted: str) -> str:
    return next((value for name, value in headers.items() if name.lower() == wanted), "")
