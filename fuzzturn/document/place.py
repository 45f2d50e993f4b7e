"""Place: what a file holds and where in the file each part of it stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from fuzzturn.errors import Problem

__all__ = ["MAX_BYTES", "MAX_DEPTH", "Address", "Document", "in_file_order"]

Address: TypeAlias = tuple[str | int, ...]
"""The way from the root to a part: keys and indices (from 0). () = the root."""

MAX_DEPTH = 40
MAX_BYTES = 4 * 1024 * 1024


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

    def problem(self, at: Address, what: str, accepted: str | None = None, *, key: bool = False) -> Problem:
        """A problem at `at`, or at the nearest part around it that the file has; `key` = at its key."""
        place = self.keys.get(at) if key else None
        while place is None and at:
            place = self.places.get(at)
            at = at[:-1]
        line, column = place or self.places.get(()) or (None, None)
        return Problem(file=self.file, line=line, column=column, what=what, accepted=accepted)

    def part(self, *at: str | int) -> Document:
        """The document whose root is the part at `at`, with places still those of the file. Raises KeyError."""
        data = self.data
        for step in at:
            data = data[step]
        return Document(data=data, file=self.file, places=_below(self.places, at), keys=_below(self.keys, at))


def _below(places: Mapping[Address, tuple[int, int]], at: Address) -> dict[Address, tuple[int, int]]:
    depth = len(at)
    return {address[depth:]: place for address, place in places.items() if address[:depth] == at}


def in_file_order(problems: Iterable[Problem]) -> list[Problem]:
    """Each problem once, by line and column; what concerns the whole file comes first."""
    return sorted(dict.fromkeys(problems), key=lambda problem: (problem.line or 0, problem.column or 0))
