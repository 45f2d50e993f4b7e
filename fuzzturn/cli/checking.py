"""fuzzturn check: everything wrong with the project's files, with places, in one pass."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fuzzturn.errors import InputError, Problem

if TYPE_CHECKING:
    from fuzzturn.check import Checked
    from fuzzturn.project import Project

BAD_INPUT = 2


def check(
    scenarios: Annotated[
        list[str] | None, typer.Argument(help="scenario files or names; default: all, and the corpus")
    ] = None,
) -> int:
    """Check scenario files: shape, names, arguments, and that every checker can fail.

    Example: fuzzturn check scenarios/orbit/lisbon_offsite.yaml
    """
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.project import find_project

    terminal = Terminal()
    project = find_project()
    paths = [project.find_scenario(name) for name in scenarios] if scenarios else list(project.scenario_paths())
    wrong = 0
    for path, checked in _checked(project, [_shown(path) for path in paths], with_corpus=not scenarios):
        lines = [*map(str, checked.errors), *(f"warning: {problem}" for problem in checked.warnings)]
        terminal.say("\n".join([*lines, *([] if checked.errors else [f"{path}: good"])]))
        wrong += len(checked.errors)
    return BAD_INPUT if wrong else 0


def _checked(project: Project, paths: list[Path], *, with_corpus: bool) -> Iterator[tuple[Path, Checked]]:
    from fuzzturn.check import check_scenario

    registry = project.load_scenarios_content()
    project.load_strategies()
    project.find_rubric()
    for path in paths:
        yield path, check_scenario(path, registry)
    if with_corpus and project.root is not None:
        for path in map(_shown, sorted((project.root / "corpus").rglob("*.yaml"))):
            yield path, _readable(path)


def _readable(path: Path) -> Checked:
    """Whether a corpus entry can be read; what it names may be gone, which a replay says."""
    from fuzzturn.check import Checked
    from fuzzturn.corpus import load_entry

    problems: list[Problem] = []
    try:
        load_entry(path)
    except InputError as error:
        problems = list(error.problems)
    return Checked(problems, [])


def _shown(path: Path) -> Path:
    """The path from here, where it is below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
