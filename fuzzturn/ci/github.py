"""GitHub: what GitHub's runner takes from a step: annotations in its output, and a summary in Markdown.

Both are documented as "workflow commands for GitHub Actions".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from fuzzturn.errors import InputError, Problem

__all__ = ["annotation", "append_summary", "from_workspace", "summary_table"]

_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}
_CELL = {"\\": "\\\\", "|": "\\|", "`": "\\`", "*": "\\*", "_": "\\_", "<": "&lt;", "\n": " ", "\r": " "}


def annotation(
    text: str, *, title: str, file: str | None, line: int | None, level: Literal["error", "warning"] = "error"
) -> str:
    """The workflow command, one line, that marks `line` (from 1; None = the file) with an error or a warning."""
    place = {"file": file, "line": line if file else None, "title": title}
    told = ",".join(f"{key}={_escaped(str(value), _PROPERTY)}" for key, value in place.items() if value is not None)
    return f"::{level} {told}::{_escaped(text, _DATA)}"


def summary_table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A heading and a table in Markdown; the cells are text and never markup."""
    lines = [head, ["---"] * len(head), *([_escaped(str(cell), _CELL) for cell in row] for row in rows)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"### {_escaped(title, _CELL)}\n\n{table}\n\n"


def append_summary(text: str, environ: Mapping[str, str]) -> None:
    """Add to the step's summary, where the runner takes one. Raises InputError where it cannot be written."""
    if not (file := environ.get("GITHUB_STEP_SUMMARY")):
        return
    try:
        with Path(file).open("a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
    except OSError as error:
        raise InputError(Problem(file=file, what=f"cannot be written: {error.strerror}")) from error


def from_workspace(path: Path, environ: Mapping[str, str]) -> str:
    """The path as annotations want it: from the root of the repository where it lies in it, with slashes."""
    root, whole = Path(environ.get("GITHUB_WORKSPACE") or Path.cwd()).resolve(), path.resolve()
    return (whole.relative_to(root) if whole.is_relative_to(root) else path).as_posix()


def _escaped(text: str, by: Mapping[str, str]) -> str:
    return "".join(by.get(character, character) for character in text)
