"""Command line: parses, calls one use case, prints, and turns errors into exit codes.

0 nothing found   1 a finding or regression   2 bad input or usage   3 infrastructure errors only
4 a cap ended it too early   70 internal error   130 interrupted
"""

from __future__ import annotations

import sys
import tempfile
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from fuzzturn import __version__
from fuzzturn.cli import (
    checking,
    corpora,
    fuzzing,
    making,
    proxying,
    replaying,
    rubrics,
    running,
    schemas,
    shrinking,
    stressing,
)
from fuzzturn.errors import FuzzturnError, Halted, InternalError, said

__all__ = ["app", "main"]

BAD_INPUT, ONLY_ERRORS, CAPPED, INTERNAL, INTERRUPTED = 2, 3, 4, 70, 130
# typer carries a click of its own, or uses the installed one: the root of its usage errors has a name but no address
UsageError: type[Exception] = next(cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException")

app = typer.Typer(
    name="fuzzturn",
    help="Property-based fuzzing of multi-turn, tool-calling LLM agents.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(asked: bool) -> None:
    if asked:
        print(f"fuzzturn {__version__}")
        raise typer.Exit


@app.callback()
def fuzzturn(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Property-based fuzzing of multi-turn, tool-calling LLM agents."""


app.command("init")(making.init)
app.command("check")(checking.check)
app.command("schema")(schemas.schema)
app.command("run")(running.run)
app.command("fuzz")(fuzzing.fuzz)
app.command("shrink")(shrinking.shrink)
app.command("replay")(replaying.replay)
app.command("proxy")(proxying.proxy)
app.command("stress")(stressing.stress)
app.add_typer(rubrics.app, name="rubric")
app.add_typer(corpora.app, name="corpus")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None) -> int:
    command = typer.main.get_command(app)
    try:
        code = command.main(args=None if arguments is None else list(arguments), standalone_mode=False)
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        _complain("interrupted")
        return INTERRUPTED
    except UsageError as error:
        error.show()  # type: ignore[attr-defined]
        return BAD_INPUT
    except InternalError as error:
        return _internal(error)
    except Halted as error:
        _complain(str(error))
        return CAPPED if error.why == "usd" else ONLY_ERRORS
    except FuzzturnError as error:
        _complain(str(error))
        return BAD_INPUT
    except Exception as error:  # noqa: BLE001 - the last line: a fault of ours must look like one, with its own code
        return _internal(error)


def _internal(error: Exception) -> int:
    with tempfile.NamedTemporaryFile("w", prefix="fuzzturn-", suffix=".txt", delete=False, encoding="utf-8") as file:
        traceback.print_exception(error, file=file)
    _complain(f"fuzzturn itself is at fault: {said(error)}")
    _complain(f"Please report it with {file.name}, which holds the whole trace.")
    return INTERNAL


def _complain(text: str) -> None:
    from fuzzturn.cli.terminal import Terminal

    Terminal().error(text)
