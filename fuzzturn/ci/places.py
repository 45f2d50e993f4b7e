"""Places: the line of a scenario file that a finding is about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fuzzturn.document import Address, examine, read_text
from fuzzturn.errors import InputError

__all__ = ["line_of"]

_LISTS: tuple[Address, ...] = (("constraints",), ("goal", "milestones"), ("turns",))


def line_of(file: Path, name: str) -> int | None:
    """The line, from 1, of the constraint, milestone or turn called `name`; None where the file has none."""
    try:
        document = examine(read_text(file), file=str(file))
    except InputError:  # it was read before; whoever changed it meanwhile still gets the finding
        return None
    for at in _LISTS:
        for place in _items(document.data, at):
            if place[1] == name:
                return document.places[place[0]][0]
    return None


def _items(data: object, at: Address) -> Iterator[tuple[Address, object]]:
    """Each item of the list at `at`, with its id."""
    for step in at:
        data = data.get(step) if isinstance(data, dict) else None
    for index, item in enumerate(data if isinstance(data, list | tuple) else ()):
        if isinstance(item, dict):
            yield (*at, index), item.get("id")
