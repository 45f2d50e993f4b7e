"""fuzzturn schema: the shape of a file as a JSON schema, for editors."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def schema(kind: Annotated[str, typer.Argument(help="scenario, rubric, corpus or config")]) -> int:
    """Print the JSON schema of one kind of file. An editor with a YAML language server completes and underlines by it.

    Example: fuzzturn schema scenario > scenario.schema.json
    """
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.schemas import schema as made

    Terminal().say(json.dumps(made(kind), indent=2, ensure_ascii=False))
    return 0
