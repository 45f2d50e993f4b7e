"""fuzzturn rubric: freeze a rubric's anchors before any result exists."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Freeze the judge's anchors.", no_args_is_help=True)


@app.callback()
def rubric() -> None:
    """Freeze the judge's anchors."""


@app.command("freeze")
def freeze(file: Annotated[Path, typer.Argument(help="rubrics/<rubric_id>.json")]) -> int:
    """Write the rubric's digest into rubrics.lock. A rubric that differs from the lock is refused from then on.

    Example: fuzzturn rubric freeze rubrics/orbit-turn-quality-v4.json
    """
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.rubric_file import freeze as lock

    Terminal().say(f"{file.stem} {lock(file)}")
    return 0
