"""Dossier: a judge's prompt text taken apart into data, and nothing in that data obeyed.

Only what stands between fence lines is read, as one JSON object a line: turn lines of the record, or chat messages
where the text shows what the agent saw. A heading inside a fence is data like the rest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from fuzzturn.compaction import is_summary, notes

from .standing import hotel_stands
from .terms import Scene, told_time

__all__ = ["Dossier", "Item", "dossier"]

Row: TypeAlias = Mapping[str, Any]
_FENCE = re.compile(r"<<<data (\S+)")


@dataclass(frozen=True, slots=True)
class Item:
    """One thing said (`text`) or called (`call`) by `role`: user, system, assistant or tool."""

    role: str
    text: str = ""
    call: str | None = None
    args: Row = field(default_factory=dict)
    result: Any = None
    error: str | None = None
    time: datetime | None = None
    """When it was said, in the zone of the conversation; None = nobody says."""

    @property
    def legs(self) -> tuple[Row, ...]:
        """The legs that a call holds or buys for good; a hold that waits for approval does neither."""
        if not self._for_good:
            return ()
        legs = self.args.get("legs")
        return tuple(leg for leg in legs if isinstance(leg, Mapping)) if isinstance(legs, Sequence) else ()

    def rows(self, name: str) -> tuple[Row, ...]:
        """What a search came back with under that name."""
        found = self.result.get(name) if isinstance(self.result, Mapping) else None
        return tuple(row for row in found if isinstance(row, Mapping)) if isinstance(found, list) else ()

    @property
    def things(self) -> tuple[Row, ...]:
        """The same legs, and the hotel, as the call names them."""
        hotel = {key: self.args[key] for key in ("hotel", "refundable") if self.args.get(key) is not None}
        return (*self.legs, hotel) if "hotel" in hotel and self._for_good else self.legs

    @property
    def _for_good(self) -> bool:
        waiting = self.call == "hold_booking" and self.args.get("needs_approval") is True
        return self.call in ("hold_booking", "confirm_booking") and not waiting


@dataclass(frozen=True, slots=True)
class Dossier:
    """What the prompt shows. `constraints` None = it has no entry about any."""

    constraints: tuple[Row, ...] | None
    before: tuple[Item, ...]
    judged: tuple[Item, ...]

    @property
    def asked(self) -> str:
        """What the user says in the judged turn."""
        return "\n".join(item.text for item in self.judged if item.role == "user")

    @property
    def answer(self) -> str:
        """What the assistant says in the judged turn."""
        return "\n".join(item.text for item in self.judged if item.role == "assistant" and item.text)

    @property
    def scene(self) -> Scene:
        """When the judged turn was asked for, and whether a hotel was on hold by then, as far as that is shown."""
        told = [item.time for item in (*self.before, *self.judged) if item.time is not None]
        made = [item for item in self.before if item.call is not None]
        held = hotel_stands((str(item.call), item.args, item.result, item.error) for item in made)
        return Scene(told[-1] if told else None, held)

    @property
    def calls(self) -> tuple[Item, ...]:
        return tuple(item for item in self.judged if item.call is not None)

    def known(self, thing: Row) -> Row:
        """A leg or hotel with what the newest shown search says of it."""
        kind = "flight" if "flight" in thing else "hotel"
        for item in reversed((*self.before, *self.judged)):
            for row in item.rows(f"{kind}s"):
                if row.get(kind) == thing.get(kind):
                    return {**row, **thing}
        return thing


def dossier(text: str) -> Dossier | str:
    """Take the text apart. A str says why it cannot be."""
    sections = _sections(text)
    if isinstance(sections, str):
        return sections
    judged = next((rows for title, rows in sections.items() if title.startswith("Turn to score")), None)
    if not judged:
        return "the text has no data under a heading '# Turn to score'"
    entries = [row for row in sections.get("Constraints and commitments", ()) if "constraint" in row]
    turn = tuple(_items(judged))
    before = tuple(_items(sections.get("Conversation", ())))
    return Dossier(tuple(entries) or None, _without(before, turn), turn)


def _sections(text: str) -> dict[str, list[Row]] | str:
    """The rows of every section by its title."""
    sections: dict[str, list[Row]] = {}
    title, closing = "", ""
    for number, line in enumerate(text.split("\n"), start=1):
        if closing and line == closing:
            closing = ""
        elif closing:
            row = _row(line)
            if row is None:
                return f"line {number} stands in a fence and is no JSON object"
            sections.setdefault(title, []).append(row)
        elif fence := _FENCE.fullmatch(line):
            closing = f"{fence[1]} data>>>"
        elif line.startswith("# "):
            title = line[2:].strip()
    return f"a fence is never closed by {closing!r}" if closing else sections


def _row(line: str) -> Row | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, Mapping) else None


def _items(rows: Iterable[Row]) -> Iterator[Item]:
    rows = list(rows)
    results = {str(row["tool_call_id"]): _row(_text(row.get("content"))) for row in rows if "tool_call_id" in row}
    for row in rows:
        role = str(row.get("role"))
        if "call" in row:
            yield _called(str(row["call"]), row.get("args"), row.get("result"), row.get("error"))
        elif is_summary(row):
            for note in notes(row["content"]):
                yield Item("user", note.text) if note.name is None else _called(note.name, note.args, note.result)
        elif role == "tool":
            yield Item(role, _text(row.get("content")), result=_row(_text(row.get("content"))))
        else:
            said = _text(row.get("text", row.get("content")))
            yield Item(role, said, time=told_time(said) if role == "system" else _time(row.get("time")))
            calls = row.get("tool_calls")
            yield from (_chat_call(_mapping(call), results) for call in (calls if isinstance(calls, list) else ()))


def _called(name: str, args: object, result: object, error: object = None) -> Item:
    """A call; where the record does not say whether it failed, its result may."""
    told = error if error is not None else _mapping(result).get("error")
    return Item("assistant", "", name, _mapping(args), result, None if told is None else str(told))


def _chat_call(call: Row, results: Mapping[str, Row | None]) -> Item:
    function = _mapping(call.get("function")) or call
    args = function.get("arguments", function.get("args"))
    result = results.get(str(call.get("id")))
    return _called(str(function.get("name")), _row(args) if isinstance(args, str) else args, result)


def _time(written: object) -> datetime | None:
    """The time that a record gives, as its own clock shows it; None where it gives none."""
    try:
        return datetime.fromisoformat(written).replace(tzinfo=None) if isinstance(written, str) else None
    except ValueError:
        return None


def _mapping(value: object) -> Row:
    return value if isinstance(value, Mapping) else {}


def _text(content: object) -> str:
    """The text of a message; parts of other kinds, images for instance, say nothing here."""
    if isinstance(content, list):
        return " ".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _without(before: tuple[Item, ...], turn: tuple[Item, ...]) -> tuple[Item, ...]:
    """What came before the judged turn: what the agent saw when it acted holds the turn's own beginning too."""
    asked = next((item.text for item in turn if item.role == "user"), None)
    newest = max((i for i, item in enumerate(before) if item.role == "user"), default=None)
    return before[:newest] if newest is not None and before[newest].text == asked else before
