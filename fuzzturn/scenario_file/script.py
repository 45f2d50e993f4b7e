"""Script: the parts of a scenario file that rules look at, as far as the file has them in a usable form.

A rule must see a file whose other parts are broken, or problems could not all be said in one pass. So this view
leaves out what has the wrong shape; that is reported elsewhere, by holding the data against the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fuzzturn.document import Address, Document
from fuzzturn.errors import Problem

__all__ = ["Row", "Script", "rows"]


@dataclass(frozen=True, slots=True)
class Row:
    """One mapping of a list and where it stands."""

    at: Address
    data: dict[str, Any]

    @property
    def id(self) -> str | None:
        return self.text("id")

    def text(self, key: str) -> str | None:
        value = self.data.get(key)
        return value if isinstance(value, str) and value else None

    def number(self, key: str) -> int | None:
        value = self.data.get(key)
        return value if type(value) is int else None

    @property
    def place(self) -> int:
        """Which entry of its list it is, from 1."""
        return int(self.at[-1]) + 1

    def names(self, key: str) -> Iterator[tuple[Address, str]]:
        """Each text in the list under `key`, or the one text where `key` holds no list, with its address.

        A mapping stands for the `id` in it.
        """
        value = self.data.get(key)
        if isinstance(value, dict) and isinstance(value.get("id"), str):
            yield (*self.at, key, "id"), value["id"]
        if isinstance(value, str):
            yield (*self.at, key), value
        for index, name in enumerate(value if isinstance(value, tuple) else ()):
            if isinstance(name, str):
                yield (*self.at, key, index), name


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A scenario file, row by row."""

    document: Document
    milestones: tuple[Row, ...]
    constraints: tuple[Row, ...]
    turns: tuple[Row, ...]
    answers: tuple[Row, ...]
    assertions: tuple[Row, ...]
    interruptions: tuple[Row, ...]
    states: tuple[tuple[str, ...], ...]
    """What each turn states: its own `states`, then what names it by `state_at_turn` alone."""

    @staticmethod
    def of(document: Document, data: dict[str, Any]) -> Script:
        goal = data.get("goal")
        turns, constraints = rows(data, "turns"), rows(data, "constraints")
        return Script(
            document=document,
            milestones=rows(goal, "milestones", ("goal",)) if isinstance(goal, dict) else (),
            constraints=constraints,
            turns=turns,
            answers=rows(data, "answers"),
            assertions=rows(data, "assertions"),
            interruptions=rows(data, "interruptions"),
            states=_states(turns, constraints),
        )

    def problem(self, at: Address, what: str, accepted: str | None = None) -> Problem:
        return self.document.problem(at, what, accepted)

    @property
    def statements(self) -> dict[str, str]:
        """The statement of each constraint that has one, by id."""
        return {c.id: text for c in self.constraints if c.id and (text := c.text("statement"))}

    @property
    def misnumbered(self) -> frozenset[str]:
        """The constraints stated at a turn that does not exist: one mistake, whatever follows from it."""
        numbers = ((c.id, c.number("state_at_turn")) for c in self.constraints)
        return frozenset(id for id, n in numbers if id and n is not None and not 1 <= n <= len(self.turns))

    def stated_at(self, constraint: str | None) -> int | None:
        """The first turn that states the constraint, from 1; None where no turn does."""
        return next((t.place for t, stated in zip(self.turns, self.states, strict=True) if constraint in stated), None)


def rows(data: dict[str, Any], key: str, above: Address = ()) -> tuple[Row, ...]:
    """The mappings in the list under `key`; empty where there is no list."""
    value = data.get(key)
    items = value if isinstance(value, tuple) else ()
    return tuple(Row((*above, key, index), item) for index, item in enumerate(items) if isinstance(item, dict))


def _states(turns: tuple[Row, ...], constraints: tuple[Row, ...]) -> tuple[tuple[str, ...], ...]:
    own = [tuple(name for _, name in turn.names("states")) for turn in turns]
    listed = {name for names in own for name in names}  # where a turn lists it, the number only has to agree
    by_number = [(c.number("state_at_turn"), c.id) for c in constraints if c.id is not None and c.id not in listed]
    return tuple(
        (*names, *(id for number, id in by_number if number == turn.place))
        for turn, names in zip(turns, own, strict=True)
    )
