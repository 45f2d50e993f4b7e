"""fuzzturn check: everything wrong with the scenario files, with places, in one pass."""

from __future__ import annotations

from typing import Annotated

import typer


def check(
    scenarios: Annotated[list[str] | None, typer.Argument(help="scenario files or names; default: all")] = None,
) -> int:
    """Check scenario files: shape, names, arguments, and that every checker can fail.

    Example: fuzzturn check scenarios/orbit/lisbon_offsite.yaml
    """
    from fuzzturn.check import check_scenario
    from fuzzturn.project import find_project

    project = find_project()
    paths = [project.find_scenario(name) for name in scenarios] if scenarios else list(project.scenario_paths())
    registry = project.load_scenarios_content()
    project.load_strategies()
    project.find_rubric()
    wrong = 0
    for path in paths:
        checked = check_scenario(path, registry)
        for problem in checked.errors:
            print(f"{problem}")
        for problem in checked.warnings:
            print(f"warning: {problem}")
        wrong += len(checked.errors)
        if not checked.errors:
            print(f"{path}: good")
    return 2 if wrong else 0
