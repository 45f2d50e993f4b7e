"""Errors: everything fuzzturn raises on purpose, each saying what, where and what would be accepted.

    FuzzturnError
    ├── InputError            a file, option or name the user gave cannot be used       exit 2
    │   └── UnknownName       a name nothing answers to; carries the closest match
    ├── PortError             an agent, environment, judge or checker broke its port    exit 2
    └── InternalError         fuzzturn itself is wrong; please report                   exit 70

An agent that raises is not an error of the harness: it becomes data (`Turn.error`).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["FuzzturnError", "InputError", "InternalError", "PortError", "Problem", "UnknownName", "closest"]


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
        self.kind, self.name = kind, name
        super().__init__(Problem(file=file, what=f"no {kind} is called {name!r}", accepted=closest(name, known)))


class PortError(FuzzturnError):
    """Code behind a port (agent, environment, judge, checker, …) did what the port forbids."""


class InternalError(FuzzturnError):
    """fuzzturn contradicted itself; never the user's fault."""


def closest(given: str, known: Iterable[str]) -> str:
    """Say what would be accepted instead of `given`: the closest match first, then all that is known."""
    names = sorted(set(known))
    if not names:
        return "none is known here"
    listed = "known: " + ", ".join(names)
    match = difflib.get_close_matches(given, names, n=1)
    return f"did you mean {match[0]!r}? ({listed})" if match else listed
