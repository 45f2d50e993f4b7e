"""Process: an agent as a program of its own, one process a session, that speaks the protocol on stdin and stdout.

One message a line. The program gets the environment of this process; it leads a process group, so that with it ends
whatever it has started. Its stderr is its own: it is read all the time and its end is quoted where something fails.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import subprocess
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from fuzzturn.adapters.protocol import MESSAGE_BYTES_MAX
from fuzzturn.adapters.wire import Clock, Opening, WireAgent, connect
from fuzzturn.errors import InputError, Problem
from fuzzturn.ports import Environment
from fuzzturn.replying import AgentFault, clipped

__all__ = ["ProcessTransport", "build", "environ_for"]

GRACE_SECONDS = 2.0
"""How long a program may take to end by itself once it was told that the session is over."""
STDERR_CHARACTERS = 500
"""How much of the end of stderr is quoted."""
_LOOPBACK = "127.0.0.1,localhost"
_KEY = "fuzzturn"


def build(
    environment: Environment,
    *,
    command: str,
    seed: int | str = 0,
    session_id: str = "",
    system: str | None = None,
    now: Clock | None = None,
    base_url: str | None = None,
    timeout: str = "120",
    snapshots: str = "no",
    **options: str,
) -> WireAgent:
    """An agent that is the program `command`, split as a shell splits it; no shell runs it. It starts when spoken to.

    timeout: seconds an answer may take. snapshots: yes where the program offers them. Every other option is the
    program's own. Raises InputError for a command that cannot be found and options that cannot be used.
    """
    opening = Opening(seed=seed, session_id=session_id, system=system, now=now, base_url=base_url, options=options)
    transport = ProcessTransport(_words(command), environ_for(base_url, os.environ))
    return connect(transport, environment, opening, timeout=timeout, snapshots=snapshots)


def environ_for(base_url: str | None, environ: Mapping[str, str]) -> dict[str, str]:
    """The program's environment variables: `environ`, and where there is a base URL what leads an SDK to it.

    Loopback is kept out of whatever proxy the environment names, and there is a key, since SDKs refuse to start
    without one.
    """
    if base_url is None:
        return dict(environ)
    added = {"OPENAI_BASE_URL": base_url, "OPENAI_API_BASE": base_url}
    for name in ("NO_PROXY", "no_proxy"):
        added[name] = f"{environ[name]},{_LOOPBACK}" if environ.get(name) else _LOOPBACK
    return {"OPENAI_API_KEY": _KEY, **environ, **added}


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        what = f"agent option command is {command!r}, which is no command line: {error}"
        raise InputError(Problem(what=what, accepted="a program and its arguments, as in a shell")) from error
    if not words or shutil.which(words[0]) is None:
        what = f"agent option command is {command!r}; no program {words[0] if words else ''!r} can be found and run"
        raise InputError(Problem(what=what, accepted="a program on PATH or the path of one, and its arguments"))
    return words


@dataclass(frozen=True, slots=True)
class _Live:
    """A running program, and the tasks that read from it."""

    process: subprocess.Popen[bytes]
    stdin: asyncio.StreamWriter
    lines: asyncio.Queue[bytes | AgentFault | None]
    """Lines of stdout as they come, then what ended them: a fault, or None = it was closed."""
    reading: asyncio.Task[None]
    draining: asyncio.Task[None]
    pipes: Sequence[asyncio.BaseTransport]
    end: Callable[[], object]
    """Ends the process group. Works once, for a number that was given back may soon be somebody else's."""


class ProcessTransport:
    """One process, from the first message on."""

    def __init__(self, words: Sequence[str], environ: Mapping[str, str]) -> None:
        self._words = words
        self._environ = environ
        self._live: _Live | None = None
        self._tail = ""

    async def exchange(self, message: bytes) -> bytes:
        """Write one line, read one line. Raises AgentFault."""
        live = self._live = self._live or await self._started()
        if not live.lines.empty():
            raise await self._unasked(live, live.lines.get_nowait())
        with suppress(ConnectionError):  # it has closed its stdin: what it says or how it ended tells more
            live.stdin.write(message + b"\n")
            await live.stdin.drain()
        line = await live.lines.get()
        if isinstance(line, bytes):
            return line
        raise line or AgentFault(f"the program {await _ending(live.process)} before it answered")

    async def finish(self, farewell: bytes | None) -> None:
        """Tell it that the session is over, give it GRACE_SECONDS, and end the whole process group."""
        live, self._live = self._live, None
        if live is None:
            return
        with suppress(ConnectionError, TimeoutError):
            if farewell is not None:
                async with asyncio.timeout(GRACE_SECONDS):
                    live.stdin.write(farewell + b"\n")
                    await live.stdin.drain()
                    live.stdin.write_eof()
                    while live.process.poll() is None:
                        await asyncio.sleep(0.002)
        live.end()
        await asyncio.wait([live.reading, live.draining], timeout=0.2)  # what is in the pipes; a stranger may hold them
        for task in (live.reading, live.draining):
            task.cancel()
        await asyncio.gather(live.reading, live.draining, return_exceptions=True)
        if not live.stdin.is_closing():  # else it closes by itself, as nobody is left to read from it
            live.stdin.transport.abort()
        for pipe in live.pipes:
            pipe.close()
        await asyncio.sleep(0)  # the pipes are closed in the loop's next round

    def lately(self) -> str:
        """The end of what the program wrote to stderr, to be added to an error."""
        said = self._tail.strip()[-STDERR_CHARACTERS:]
        return f"; its stderr ends: {said!r}" if said else ""

    async def _started(self) -> _Live:
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(
                self._words, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, env=self._environ, start_new_session=True
            )
        except OSError as error:
            raise AgentFault(f"the program {self._words[0]!r} cannot be started: {error}") from error
        end = weakref.finalize(self, _end, process)  # nobody finishes: no process outlives its session all the same
        try:
            return await self._connected(process, end)
        except BaseException:
            end()
            raise

    async def _connected(self, process: subprocess.Popen[bytes], end: Callable[[], object]) -> _Live:
        loop = asyncio.get_running_loop()
        stdout, stderr = asyncio.StreamReader(MESSAGE_BYTES_MAX), asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader())
        writing, _ = await loop.connect_write_pipe(lambda: protocol, process.stdin)
        out, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdout), process.stdout)
        err, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stderr), process.stderr)
        lines: asyncio.Queue[bytes | AgentFault | None] = asyncio.Queue(maxsize=2)  # who talks without end is not read
        return _Live(
            process=process,
            stdin=asyncio.StreamWriter(writing, protocol, None, loop),
            lines=lines,
            reading=asyncio.create_task(_read(stdout, lines)),
            draining=asyncio.create_task(self._drain(stderr)),
            pipes=(out, err),
            end=end,
        )

    async def _drain(self, stderr: asyncio.StreamReader) -> None:
        """A pipe that nobody reads fills up, and then the program hangs."""
        while chunk := await stderr.read(2**16):
            self._tail = (self._tail + chunk.decode(errors="backslashreplace"))[-4 * STDERR_CHARACTERS :]

    async def _unasked(self, live: _Live, line: bytes | AgentFault | None) -> AgentFault:
        if isinstance(line, AgentFault):
            return line
        if line is None:
            return AgentFault(f"the program {await _ending(live.process)} while nothing was asked of it")
        return AgentFault(
            f"the program wrote the line {clipped(_shown(line))}, which nobody asked for; accepted: one line for each "
            "line it reads, and nothing else on stdout"
        )


async def _read(stdout: asyncio.StreamReader, lines: asyncio.Queue[bytes | AgentFault | None]) -> None:
    """Put every line into the queue, and last what ended them."""
    try:
        while True:
            await lines.put((await stdout.readuntil(b"\n"))[:-1])
    except asyncio.LimitOverrunError:
        await lines.put(AgentFault(f"the program wrote a line of more than {MESSAGE_BYTES_MAX} bytes"))
    except asyncio.IncompleteReadError as end:
        cut = AgentFault(f"the program ended within the line {clipped(_shown(end.partial))}") if end.partial else None
        await lines.put(cut)


async def _ending(process: subprocess.Popen[bytes]) -> str:
    """How it ended, which the system knows a moment after stdout is closed."""
    until = time.monotonic() + 0.5
    while process.poll() is None and time.monotonic() < until:
        await asyncio.sleep(0.002)
    if process.returncode is None:
        return "closed its stdout"
    if process.returncode < 0:
        return f"was ended by {signal.Signals(-process.returncode).name}"
    return f"ended with exit code {process.returncode}"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program and all that it has started in its group; nothing of them is waited for longer than a moment."""
    with suppress(ProcessLookupError, PermissionError):  # there is nobody left; macOS says so by the second
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=5)


def _shown(line: bytes) -> str:
    return line.decode(errors="backslashreplace")
