"""Listing: the entries of a corpus as rows, for programs and for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fuzzturn.cli.showing import from_here
from fuzzturn.corpus import Entry
from fuzzturn.replay import SCRIPT, changes_told

__all__ = ["as_row", "table"]


def as_row(path: Path, entry: Entry, changed: bool | None) -> dict[str, Any]:
    """An entry as JSON; `changed`: its scenario, None = nobody knows."""
    return {
        "finding": entry.finding,
        "status": entry.status,
        "kind": entry.kind,
        "constraint": entry.constraint,
        "milestone": entry.milestone,
        "checker": entry.checker,
        "scenario": entry.provenance.scenario,
        "scenario_changed": changed,
        "agent": entry.agent.name,
        "options": dict(entry.agent.options),
        "turns": entry.provenance.turns,
        "tokens": entry.provenance.tokens,
        "seen": entry.seen,
        "failing": entry.failing.model_dump(),
        "calls": len(entry.calls),
        "file": from_here(path),
    }


def table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The rows as lines, and a line for each scenario that is not what it was."""
    lines = [("id", "status", "kind", "constraint", "scenario", "turns", "seen", "rate", "file")]
    for row in rows:
        about = row["constraint"] or row["milestone"] or row["checker"]
        rate = f"{row['failing']['k']}/{row['failing']['n']}"
        said = (row["finding"], row["status"], row["kind"], about, row["scenario"], row["turns"], row["seen"], rate)
        lines.append((*map(str, said), row["file"]))
    widths = [max(len(line[n]) for line in lines) for n in range(len(lines[0]))]
    for line in lines:
        yield "  ".join(f"{part:<{width}}" for part, width in zip(line, widths, strict=True)).rstrip()
    yield from _changed(rows)


def _changed(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for name in sorted({row["scenario"] for row in rows if row["scenario_changed"]}):
        since = ", ".join(row["finding"] for row in rows if row["scenario"] == name and row["scenario_changed"])
        yield f"{since}: {changes_told([f'{SCRIPT}{name}'])[0]}"
