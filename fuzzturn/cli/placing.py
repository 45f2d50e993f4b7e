"""Placing: where in its file a scenario has its constraints."""

from __future__ import annotations

from pathlib import Path

from fuzzturn.cli.showing import from_here
from fuzzturn.document import examine, read_text
from fuzzturn.scenario import Scenario

__all__ = ["places_of"]


def places_of(file: Path | None, scenario: Scenario) -> dict[str, str]:
    """By constraint, file:line as seen from here; the scenario's name where there is no file."""
    ids = [constraint.id for constraint in scenario.constraints]
    if file is None:
        return dict.fromkeys(ids, scenario.scenario)
    document, told = examine(read_text(file), file=str(file)), from_here(file)
    lines = (document.problem(("constraints", at), "").line for at in range(len(ids)))
    return {id: f"{told}:{line}" if line else told for id, line in zip(ids, lines, strict=True)}
