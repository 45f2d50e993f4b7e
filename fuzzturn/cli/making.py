"""fuzzturn init: a project that fuzzes at once, offline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def init(folder: Annotated[Path, typer.Argument(help="where; default: here")] = Path()) -> int:
    """Make a project with a worked example: scenarios, operators, a rubric, an empty corpus.

    Example: fuzzturn init my-project
    """
    from fuzzturn.scaffold import init as make

    for path in make(folder):
        print(path)
    print(f"next: cd {folder} && fuzzturn fuzz")
    return 0
