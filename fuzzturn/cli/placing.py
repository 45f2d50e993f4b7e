"""Placing: where in its file a scenario has a constraint."""

from __future__ import annotations

from pathlib import Path

from fuzzturn.document import examine, read_text

__all__ = ["place_of"]


def place_of(file: Path | None, scenario: str, constraint: str) -> str:
    """file:line, the file relative to here where it is below; the scenario's name where there is no file."""
    if file is None:
        return scenario
    document = examine(read_text(file), file=str(file))
    rows = document.data.get("constraints", ()) if isinstance(document.data, dict) else ()
    at = next((i for i, row in enumerate(rows) if isinstance(row, dict) and row.get("id") == constraint), None)
    line = None if at is None else document.problem(("constraints", at), "").line
    told = file.resolve().relative_to(Path.cwd()) if file.resolve().is_relative_to(Path.cwd()) else file
    return f"{told}:{line}" if line else str(told)
