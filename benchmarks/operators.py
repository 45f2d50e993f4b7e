"""Operators: the table of docs/operators.md, made from the operators themselves.

    python -m benchmarks.operators

prints it: what each does, its effect on the ledger, the evidence that its file cites, and the shipped scenarios in
which it has something to vary.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from fuzzturn.project import find_project
from fuzzturn.registry import Registered
from fuzzturn.scenario import Scenario
from fuzzturn.scenario_file import load_scenario
from fuzzturn.vary import skipped

__all__ = ["main", "table"]

EFFECTS = ("preserve", "supersede", "relax", "add", "environment")


def table() -> str:
    """The table in Markdown, by effect and then by name."""
    project = find_project(Path(__file__).resolve().parent)
    operators = project.load_strategies().of_kind("operator")
    scenarios = [load_scenario(path) for path in project.scenario_paths()]
    absent = {scenario.scenario: skipped(scenario, operators) for scenario in scenarios}
    ordered = sorted(operators, key=lambda piece: (EFFECTS.index(piece.tag.option("effect") or ""), piece.tag.name))
    rows = [_row(piece, scenarios, absent) for piece in ordered]
    return (
        "\n".join(["| operator | what it does | effect | evidence | applies in |", "|---|---|---|---|---|", *rows])
        + "\n"
    )


def main() -> None:
    """Print the table."""
    print(table(), end="")


def _row(piece: Registered, scenarios: Sequence[Scenario], absent: Mapping[str, Mapping[str, str]]) -> str:
    title, evidence = _told(piece)
    places = [s.scenario for s in scenarios if piece.tag.name not in absent[s.scenario]]
    where = "all" if len(places) == len(scenarios) else ", ".join(places) or "none"
    seldom = "" if piece.tag.option("seldom") else " (every session)"
    cells = (f"`{piece.tag.name}`{seldom}", title, str(piece.tag.option("effect")), evidence, where)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _told(piece: Registered) -> tuple[str, str]:
    """What the file's docstring says: its first sentence and its evidence."""
    module = inspect.getmodule(piece.function)
    text = inspect.cleandoc((module and module.__doc__) or "")
    title = text.split("\n\n")[0].partition(": ")[2]
    evidence = re.search(r"Evidence: (.+?)(?:\n\n|$)", text, re.DOTALL)
    return " ".join(title.split()), " ".join(evidence[1].split()) if evidence else ""


if __name__ == "__main__":
    main()
