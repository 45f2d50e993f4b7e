"""Terminal: what people see. Colour and a moving bar on a terminal, plain lines anywhere else.

Results go to stdout, progress to stderr. rich decides about colour (NO_COLOR, TERM=dumb, redirection); nothing here
writes a control character where there is no terminal.

Saying something never fails: what the encoding lacks is written as an escape; where nobody reads on (`| head -1`) the
rest is said to nobody, and a full disk is told of once. The command goes on, and ends with the code it would have had.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from fuzzturn.redaction import Redaction, redaction

__all__ = ["Tell", "Terminal"]

NARROWEST, WIDEST, REDIRECTED = 50, 110, 100
CONTROLS = {code: f"\\x{code:02x}" for code in (*range(9), *range(11, 32), *range(127, 160))}
CONTROLS |= {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
"""What moves the cursor or turns the direction of reading: an agent or a file from anybody may say it."""
TITLES = ("BLIND SPOT", "VIOLATION", "PROGRESS", "ASSERTION", "REGRESSED", "FAILING", "CHANGED", "ERROR")


class Tell(Protocol):
    """Told after each session of a campaign: how many so far, with something wrong, and agent turns executed."""

    def __call__(self, sessions: int, wrong: int, agent_turns: int) -> None: ...


class _Console(Console):
    """rich's, but that it ends the process where the reader is gone."""

    def print(self, *objects: Any, **how: Any) -> None:
        try:
            super().print(*objects, **how)
        except OSError as error:
            self.on_broken_pipe()
            with suppress(OSError):
                sys.stderr.write(f"what there is to say cannot be written: {error.strerror}\n")

    def on_broken_pipe(self) -> None:
        """As the signal module's note on SIGPIPE has it: or Python would fail once more when it flushes at exit."""
        self.quiet = True
        with suppress(OSError, ValueError):  # a stream that is no file has nothing to flush to
            devnull = os.open(os.devnull, os.O_WRONLY)
            os.dup2(devnull, self.file.fileno())
            os.close(devnull)


class Terminal:
    """Standard output and standard error of one command. `secrets`: what is not said; None = the environment's."""

    def __init__(self, secrets: Redaction | None = None) -> None:
        self._secrets = redaction((), os.environ) if secrets is None else secrets
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        plain = {"highlight": False, "markup": False, "emoji": False, "soft_wrap": True}
        self._out = _Console(**plain)  # type: ignore[arg-type]
        self._err = _Console(stderr=True, **plain)  # type: ignore[arg-type]

    @property
    def width(self) -> int:
        """Columns for text that is wrapped by us."""
        if not self._out.is_terminal:
            return REDIRECTED
        return max(NARROWEST, min(self._out.width, WIDEST))

    def say(self, text: str = "") -> None:
        """A result."""
        for line in self._said(text).splitlines() or [""]:
            self._out.print(_styled(line))

    def note(self, text: str) -> None:
        """Something beside the results."""
        self._err.print(Text(self._said(text), style="dim"))

    def error(self, text: str) -> None:
        """What keeps a command from its work."""
        self._err.print(Text(self._said(text)))

    def _said(self, text: str) -> str:
        return self._secrets.text(text).translate(CONTROLS)

    @contextmanager
    def campaign(self, scenario: str, sessions: int) -> Iterator[Tell]:
        """Progress of one campaign: a bar on a terminal, else a line every so often."""
        if self._err.is_terminal:
            yield from self._bar(scenario, sessions)
        else:
            yield _Lines(self._err, scenario, sessions)

    def _bar(self, scenario: str, sessions: int) -> Iterator[Tell]:
        columns = (TextColumn("{task.description}"), BarColumn(bar_width=20), MofNCompleteColumn(),
                   TextColumn("{task.fields[spent]}"), TimeElapsedColumn())  # fmt: skip
        with Progress(*columns, console=self._err, transient=True) as progress:
            task = progress.add_task(scenario, total=sessions + 1, spent="")

            def tell(sessions: int, wrong: int, agent_turns: int) -> None:
                progress.update(task, completed=sessions, spent=f"{wrong} wrong, {agent_turns} agent turns")

            yield tell


class _Lines:
    """A plain line after every eighth of a campaign."""

    def __init__(self, console: Console, scenario: str, sessions: int) -> None:
        self._console, self._scenario, self._every = console, scenario, max(sessions // 8, 25)

    def __call__(self, sessions: int, wrong: int, agent_turns: int) -> None:
        if sessions % self._every == 0:
            said = f"{self._scenario}: {sessions} sessions, {wrong} of them with something wrong"
            self._console.print(f"{said}, {agent_turns} agent turns")


def _styled(line: str) -> Text:
    """Headings bold, the violating turn red; the text itself is never changed."""
    if line.startswith(TITLES):
        return Text(line, style="bold red")
    if line.startswith(("FIXED", "good")):
        return Text(line, style="green")
    marks = line[6:10]
    return (
        Text(line, style="red") if line.startswith("  ") and "V" in marks and marks.strip("SCV ") == "" else Text(line)
    )
