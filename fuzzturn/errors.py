"""Errors: everything fuzzturn raises on purpose, each saying what, where and what would be accepted.

    FuzzturnError
    ├── InputError            a file, option or name the user gave cannot be used       exit 2
    │   └── UnknownName       a name nothing answers to; carries the closest match
    ├── PortError             an agent, environment, judge or checker broke its port    exit 2
    ├── AgentError            from Python only: the agent raised while it was played
    ├── Halted                no further model call can be made; what was found is kept         exit 3 or 4
    └── InternalError         fuzzturn itself is wrong; please report                   exit 70

To a campaign an agent that raises is not an error: it becomes data (`Turn.error`).
"""

from __future__ import annotations

import difflib
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

__all__ = [
    "AgentError", "FuzzturnError", "Halted", "InputError", "InternalError", "PortError", "Problem", "UnknownName",
    "blamed", "blaming", "closest", "origin", "said", "worded",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Problem:
    """One thing wrong with one place. `line` and `column` count from 1; None = the whole file or no file at all."""

    file: str | None = None
    line: int | None = None
    column: int | None = None
    what: str
    """What was given, quoted, and why it cannot stand."""
    accepted: str | None = None
    """What would be accepted, or None where `what` says it already."""

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        said = f"{self.what}; {self.accepted}" if self.accepted else self.what
        return f"{place}: {said}" if place else said


class FuzzturnError(Exception):
    """The root of the tree: catch this to catch whatever fuzzturn raises on purpose."""


class InputError(FuzzturnError):
    """Something the user gave cannot be used. Holds every problem found in one pass, in file order."""

    def __init__(self, problems: Iterable[Problem] | Problem | str) -> None:
        if isinstance(problems, str):
            problems = Problem(what=problems)
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class UnknownName(InputError):
    """A name that nothing answers to."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, file: str | None = None) -> None:
        self.kind, self.name, self.known = kind, name, frozenset(known)
        super().__init__(Problem(file=file, what=f"no {kind} is called {name!r}", accepted=closest(name, self.known)))


class PortError(FuzzturnError):
    """Code behind a port (agent, environment, judge, checker, …) did what the port forbids."""


class AgentError(FuzzturnError):
    """The agent raised while it was played from Python; a test must not pass because of that."""


class Halted(FuzzturnError):
    """No further model call can be made. What was found so far is kept.

    `why`: "usd" the money that may be spent is spent; "offline" a call is not recorded; "refused" the model's server
    will not answer any (no key, no credit, no such model, or it refused the very first request); "record" the record
    of calls cannot be read or written.
    """

    def __init__(self, why: Literal["usd", "offline", "refused", "record"], what: str) -> None:
        self.why = why
        super().__init__(what)


class InternalError(FuzzturnError):
    """fuzzturn contradicted itself; never the user's fault."""


class blaming:
    """What the user's code inside raises becomes a PortError that says who raised it, what, and at which line."""

    __slots__ = ("_who",)

    def __init__(self, who: str) -> None:
        self._who = who

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is None or isinstance(error, FuzzturnError) or not isinstance(error, Exception):
            return
        raise blamed(self._who, error) from error


def blamed(who: str, error: Exception) -> PortError:
    """What to raise for what the user's code `who` raised."""
    file, line = origin(error)
    return PortError(f"{file}:{line}: {who} raised {said(error)}")


def said(error: BaseException) -> str:
    """Type and text of what the user's code raised. Its text is the user's code as well, and may itself raise."""
    return f"{type(error).__name__}: {worded(error)}"


def worded(error: BaseException) -> str:
    """Its text; its type where there is none, or none that can be read."""
    try:
        return str(error) or type(error).__name__
    except Exception:  # noqa: BLE001 - whatever it is, there is no text
        return f"{type(error).__name__}, whose text cannot be read"


def origin(error: BaseException) -> tuple[str, int]:
    """File and line that an error comes from: the innermost frame that is neither ours nor an installed library's."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = str(Path(__file__).parent)
    own = [f for f in frames if not f.filename.startswith((ours, "<")) and "site-packages" not in f.filename]
    last = (own or frames)[-1]
    return last.filename, last.lineno or 0


def closest(given: str, known: Iterable[str]) -> str:
    """Say what would be accepted instead of `given`: the closest match first, then all that is known."""
    names = sorted(set(known))
    if not names:
        return "none is known here"
    listed = "known: " + ", ".join(names)
    match = difflib.get_close_matches(given, names, n=1)
    return f"did you mean {match[0]!r}? ({listed})" if match else listed
