"""HTTP: an agent behind a URL that speaks the protocol: each message is a POST, the answer is the response's body.

All sessions share the URL; every message names its session.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fuzzturn.adapters.protocol import MESSAGE_BYTES_MAX
from fuzzturn.adapters.wire import Clock, Opening, WireAgent, connect
from fuzzturn.errors import InputError, Problem, worded
from fuzzturn.ports import Environment
from fuzzturn.replying import AgentFault, clipped

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

__all__ = ["HttpTransport", "build"]

FAREWELL_SECONDS = 2.0
"""How long a server may take to hear that a session is over."""
KEPT_SECONDS = 1.0
"""How long an idle connection is used again. Servers close theirs after two seconds or more, without a word."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def build(
    environment: Environment,
    *,
    url: str,
    seed: int | str = 0,
    session_id: str = "",
    system: str | None = None,
    now: Clock | None = None,
    base_url: str | None = None,
    timeout: str = "120",
    snapshots: str = "no",
    **options: str,
) -> WireAgent:
    """An agent that a server at `url` plays. The server is asked when the agent is first spoken to.

    timeout: seconds an answer may take. snapshots: yes where the server offers them. Every other option is the
    server's own. Raises InputError for a URL and options that cannot be used.
    """
    opening = Opening(seed=seed, session_id=session_id, system=system, now=now, base_url=base_url, options=options)
    return connect(HttpTransport(_checked(url)), environment, opening, timeout=timeout, snapshots=snapshots)


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that do not close, a port that is none
        usable = False
    if not usable:
        raise InputError(
            Problem(what=f"agent option url is {url!r}", accepted="an http or https URL, as http://127.0.0.1:8700/")
        )
    if "@" in parts.netloc:  # the run's files and every error hold the URL
        what = "agent option url holds a name or password"
        raise InputError(Problem(what=what, accepted="the URL without it; what ~/.netrc has for the host is sent"))
    return url


class HttpTransport:
    """One session with a server, from the first message on."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client: ClientSession | None = None

    async def exchange(self, message: bytes) -> bytes:
        """Post one message, read the body of the response. Raises AgentFault."""
        import aiohttp

        self._client = self._client or self._connected()
        try:
            return await self._post(self._client, message)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            said = worded(error)
            raise AgentFault(f"the server at {self._url} cannot be spoken to: {said}") from error

    async def finish(self, farewell: bytes | None) -> None:
        """Tell the server that the session is over, whatever it says to that, and close the connection."""
        import aiohttp

        client, self._client = self._client, None
        if client is None:
            return
        if farewell is not None:
            with suppress(AgentFault, aiohttp.ClientError, OSError, ValueError):
                async with asyncio.timeout(FAREWELL_SECONDS):
                    await self._post(client, farewell)
        await client.close()

    def lately(self) -> str:
        """A server says nothing elsewhere."""
        return ""

    def _connected(self) -> ClientSession:
        """A client without time limits, since the agent has one; a proxy is never asked for this machine itself."""
        import aiohttp

        unlimited = aiohttp.ClientTimeout(total=None, sock_connect=None)
        proxied = urlsplit(self._url).hostname not in _LOOPBACK
        connector = aiohttp.TCPConnector(keepalive_timeout=KEPT_SECONDS)
        return aiohttp.ClientSession(connector=connector, timeout=unlimited, trust_env=proxied)

    async def _post(self, client: ClientSession, message: bytes) -> bytes:
        form = {"Content-Type": "application/json"}
        sent = BytesIO(message)  # in chunks: a large message must not hold up the other sessions
        async with client.post(self._url, data=sent, headers=form, allow_redirects=False) as response:
            body = await _body(response)
        if response.status != 200:
            shown = clipped(body.decode(errors="backslashreplace"))
            raise AgentFault(
                f"the server at {self._url} answered {response.status} {shown}; accepted: 200 and a message"
            )
        return body


async def _body(response: ClientResponse) -> bytes:
    """The body, or as much as is too much already."""
    body = bytearray()
    async for chunk in response.content.iter_chunked(2**16):
        body += chunk
        if len(body) > MESSAGE_BYTES_MAX:
            break
    return bytes(body)
