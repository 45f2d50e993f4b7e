"""Results: the rows so far in one JSON file, written after every fault and seed, so that a run can go on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.faults.sets import EVERY

from .methods import METHODS, SLOW
from .row import Row

__all__ = ["Results", "load"]


@dataclass(slots=True)
class Results:
    """All rows by fault, seed and method. `cpu`: seconds for a fault and seed; it alone differs from run to run."""

    rows: dict[tuple[str, int, str], Row] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)

    def add(self, rows: Sequence[Row]) -> None:
        self.rows |= {(row.fault, row.seed, row.method): row for row in rows}

    def forget(self, faults: Sequence[str], seeds: Sequence[int], methods: Sequence[str]) -> None:
        """Take out the rows of those, so that they are run again."""
        for key in [(fault, seed, method) for fault in faults for seed in seeds for method in methods]:
            self.rows.pop(key, None)

    def missing(self, fault: str, seed: int, methods: Sequence[str]) -> list[str]:
        """The methods that have no row yet."""
        return [method for method in methods if (fault, seed, method) not in self.rows]

    def chosen(self, faults: Sequence[str], seeds: Sequence[int], methods: Sequence[str]) -> list[Row]:
        """The rows there are of those, in order of the faults, the methods and the seeds.

        Of a slow method that was run on none of the seeds, those of other seeds.
        """
        there = {method: {seed for _, seed, of in self.rows if of == method} for method in methods}
        wanted = {m: seeds if m not in SLOW or there[m] & set(seeds) else sorted(there[m]) for m in methods}
        keys = ((fault, seed, method) for fault in faults for method in methods for seed in wanted[method])
        return [self.rows[key] for key in keys if key in self.rows]

    def cpu_seconds(self, faults: Sequence[str], seeds: Sequence[int]) -> float:
        """CPU time of those faults and seeds, all methods that were run on them together."""
        return sum(self.cpu.get(f"{fault} {seed}", 0.0) for fault in faults for seed in seeds)

    def as_json(self) -> Mapping[str, Any]:
        there = {fault for fault, _, _ in self.rows}
        faults = {
            name: {"says": fault.says, "minimum": fault.minimum, "argued": fault.argued}
            for name, fault in EVERY.items()
            if name in there
        }
        places = {name: i for i, name in enumerate([*faults, *METHODS])}
        ordered = sorted(self.rows, key=lambda key: (places[key[0]], key[1], places[key[2]]))
        return {
            "schema": 1,
            "faults": faults,
            "methods": dict(METHODS),
            "rows": [asdict(self.rows[key]) for key in ordered],
            "cpu_seconds": dict(sorted(self.cpu.items())),
        }

    def save(self, file: Path) -> None:
        """Write a new file and put it in the old one's place, so that an interrupt leaves one of the two."""
        draft = file.with_suffix(".part")
        draft.write_text(_lines(self.as_json()), encoding="utf-8")
        draft.replace(file)


def _lines(data: Mapping[str, Any]) -> str:
    """JSON with one row a line, so that a difference between two files can be read."""
    rows = ",\n  ".join(json.dumps(row) for row in data["rows"])
    rest = json.dumps({key: value for key, value in data.items() if key != "rows"}, indent=1)
    return f'{rest[:-2]},\n "rows": [\n  {rows}\n ]\n}}\n'


def load(file: Path | None) -> Results:
    """What an earlier run left in `file`; nothing where there is none."""
    if file is None or not file.exists():
        return Results()
    data = json.loads(file.read_text(encoding="utf-8"))
    results = Results(cpu=data["cpu_seconds"])
    results.add([Row(**row) for row in data["rows"]])
    return results
