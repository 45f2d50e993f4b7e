"""fuzzturn init: a project that fuzzes at once, offline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def init(folder: Annotated[Path, typer.Argument(help="where; default: here")] = Path()) -> int:
    """Make a project with a worked example: scenarios, operators, a rubric, an agent to replace, an empty corpus.

    Example: fuzzturn init my-project
    """
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.scaffold import init as make

    terminal = Terminal()

    for path in make(folder):
        terminal.say(str(path))
    enter = "" if folder.resolve() == Path.cwd() else f"cd {folder} && "
    terminal.say(f"next: {enter}fuzzturn fuzz lisbon_offsite")
    terminal.say(
        "your own agent: agents/my_agent.py is a template; your own scenario: see docs/add-a-scenario.md of fuzzturn"
    )
    return 0
