"""Place: what a file holds and where in the file each part of it stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fuzzturn.errors import InputError, Problem

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_NODES", "MAX_PROBLEMS", "Address", "Document", "cut", "in_file_order"]

Address: TypeAlias = tuple[str | int, ...]
"""The way from the root to a part: keys and indices (from 0). () = the root."""

MAX_DEPTH = 40
MAX_BYTES = 4 * 1024 * 1024
MAX_NODES = 100_000
"""Values in one file: a long entry has some thousands, and each takes memory for its place."""
MAX_PROBLEMS = 100
"""Of those that a rule finds, which compares names with names: a file of mistakes alone would take it minutes."""
_LONGEST = 2000
"""Characters of one sentence: a name or a list of names may be as long as the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Plain data (dict with text keys, tuple, str, int, float, bool, None) and its places, (line, column) from 1."""

    data: Any
    file: str | None = None
    """The file as the user named it; None = the text came from no file."""
    places: Mapping[Address, tuple[int, int]]
    """Where each value begins; empty = nothing is known of places."""
    keys: Mapping[Address, tuple[int, int]]
    """Where the key of each value of a mapping begins."""
    problems: tuple[Problem, ...] = ()
    """What `examine` found; what it found nothing to read for is None in `data`. `parse` and `load` give none."""
    _told: list[Problem] = field(default_factory=list, init=False, repr=False, compare=False)

    def problem(self, at: Address, what: str, accepted: str | None = None, *, key: bool = False) -> Problem:
        """A problem at `at`, or at the nearest part around it that the file has; `key` = at its key.

        Raises InputError with the first hundred after so many: whoever asks for more would ask for ever.
        """
        place = self.keys.get(at) if key else None
        while place is None and at:
            place = self.places.get(at)
            at = at[:-1]
        line, column = place or self.places.get(()) or (None, None)
        problem = Problem(file=self.file, line=line, column=column, what=cut(what), accepted=accepted and cut(accepted))
        self._told.append(problem)
        if len(self._told) > MAX_PROBLEMS:
            raise InputError(in_file_order(told for told in self._told if told.what))
        return problem

    def part(self, *at: str | int) -> Document:
        """The document whose root is the part at `at`, with places still those of the file. Raises KeyError."""
        data = self.data
        for step in at:
            data = data[step]
        return Document(data=data, file=self.file, places=_below(self.places, at), keys=_below(self.keys, at))


def cut(text: str) -> str:
    """The text, or its beginning where it is longer than anybody reads."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _below(places: Mapping[Address, tuple[int, int]], at: Address) -> dict[Address, tuple[int, int]]:
    depth = len(at)
    return {address[depth:]: place for address, place in places.items() if address[:depth] == at}


def in_file_order(problems: Iterable[Problem]) -> list[Problem]:
    """Each problem once, by line and column; what concerns the whole file comes first."""
    return sorted(dict.fromkeys(problems), key=lambda problem: (problem.line or 0, problem.column or 0))
