"""Results: the rows so far in one JSON file, written after every campaign, so that a run can go on."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from .parts import PARTS
from .row import Key, Row, from_json

__all__ = ["Results", "load"]


@dataclass(slots=True)
class Results:
    """All rows by key. `cpu`: seconds for all of them; it alone differs from run to run."""

    rows: dict[Key, Row] = field(default_factory=dict)
    cpu: float = 0.0

    def missing(self, keys: Iterable[Key]) -> list[Key]:
        """The keys that have no row yet."""
        return [key for key in keys if key not in self.rows]

    def chosen(self, keys: Iterable[Key]) -> list[Row]:
        """The rows there are of those."""
        return [self.rows[key] for key in keys if key in self.rows]

    def save(self, file: Path) -> None:
        """Write a new file and put it in the old one's place, so that an interrupt leaves one of the two."""
        draft = file.with_suffix(".part")
        draft.write_text(self._text(), encoding="utf-8")
        draft.replace(file)

    def _text(self) -> str:
        """JSON with one row a line, so that a difference between two files can be read."""
        rows = ",\n  ".join(json.dumps(row.as_json()) for row in sorted(self.rows.values(), key=_place))
        parts = json.dumps({name: part.says for name, part in PARTS.items()}, ensure_ascii=False)
        return f'{{\n "schema": 1,\n "parts": {parts},\n "cpu_seconds": {self.cpu:.0f},\n "rows": [\n  {rows}\n ]\n}}\n'


def _place(row: Row) -> tuple[int, float, int, int]:
    methods = list(PARTS[row.part].methods)
    return list(PARTS).index(row.part), row.p, row.seed, methods.index(row.method)


def load(file: Path | None) -> Results:
    """What an earlier run left in `file`; nothing where there is none."""
    if file is None or not file.exists():
        return Results()
    data = json.loads(file.read_text(encoding="utf-8"))
    rows = [from_json(row) for row in data["rows"]]
    return Results({row.key: row for row in rows}, data["cpu_seconds"])
