"""Settings: where the project begins, and which options its file sets. The command line wins over all of them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from fuzzturn.document import read_text
from fuzzturn.errors import InputError, Problem, closest

__all__ = ["OPTIONS", "find_settings"]


class Kind(NamedTuple):
    """What an option takes: in words, and as a test of a TOML value."""

    words: str
    fits: Callable[[Any], bool]


def _number_from(lowest: int) -> Kind:
    return Kind(f"a whole number from {lowest}", lambda value: type(value) is int and value >= lowest)


_TEXT = Kind("a text", lambda value: isinstance(value, str))
_LIST = Kind("a list of texts", lambda value: isinstance(value, list) and all(isinstance(v, str) for v in value))
_AMOUNT = Kind("a number from 0", lambda value: type(value) in (int, float) and value >= 0)
OPTIONS: Mapping[str, Kind] = MappingProxyType({
    "agent": _TEXT, "agent_option": _LIST, "judge": _TEXT, "judge_context": _LIST, "target": _TEXT,
    "seed": Kind("a whole number", lambda value: type(value) is int), "workers": _number_from(1),
    "batch": _number_from(1), "budget_sessions": _number_from(0), "budget_turns": _number_from(1), "rubric": _TEXT,
    "repeats": _number_from(1), "max_minutes": _AMOUNT, "budget_usd": _AMOUNT, "api_base": _TEXT, "price": _LIST,
    "redact": _LIST, "normalise": _LIST, "normaliser": _TEXT,
    "offline": Kind("true or false", lambda value: type(value) is bool),
})  # fmt: skip
"""The keys that a project may set: the names of those options that a command reads from here, with underscores."""


def find_settings(start: Path) -> tuple[Path, Mapping[str, Any]] | None:
    """The project's folder and its options, from `start` upwards; None where there is no project.

    Raises InputError for a file that is not TOML, a key that is no option, a value of another type, and for a folder
    with both files, since nobody could tell which holds.
    """
    for folder in (start.resolve(), *start.resolve().parents):
        found = {file: table for file in _files(folder) if (table := _table(file)) is not None}
        if len(found) > 1:
            what = f"{folder} has both fuzzturn.toml and [tool.fuzzturn] in pyproject.toml"
            raise InputError(Problem(what=what, accepted="one of the two"))
        for file, table in found.items():
            return folder, _checked(file, table)
    return None


def _files(folder: Path) -> list[Path]:
    return [file for file in (folder / "fuzzturn.toml", folder / "pyproject.toml") if file.is_file()]


def _table(file: Path) -> Mapping[str, Any] | None:
    """fuzzturn's part of the file; None where a pyproject.toml has none."""
    try:
        data = tomllib.loads(read_text(file))
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+), column (\d+)", str(error))
        place = (int(line[1]), int(line[2])) if line else (None, None)
        raise InputError(_not_toml(error, file, *place)) from error
    if file.name == "fuzzturn.toml":
        return data
    tool = data.get("tool")
    table = tool.get("fuzzturn") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def _not_toml(error: tomllib.TOMLDecodeError, file: Path, line: int | None, column: int | None) -> Problem:
    """tomllib's words change from one Python to the next, so only what they are about is taken from them."""
    if "overwrite" in str(error) or "twice" in str(error):
        what, accepted = "not TOML: this key or table is given twice", "one of the two"
    else:
        what, accepted = "not TOML from here on", 'key = value, a text in quotes: agent = "orbit"'
    return Problem(file=str(file), line=line, column=column, what=what, accepted=accepted)


def _checked(file: Path, table: Mapping[str, Any]) -> Mapping[str, Any]:
    problems = []
    for key, value in table.items():
        if key.startswith("x-"):
            continue
        line = _line_of(file, key)
        if key not in OPTIONS:
            what, accepted = f"the key {key!r} is no option", closest(key, OPTIONS)
            problems.append(Problem(file=str(file), line=line, what=what, accepted=accepted))
        elif not OPTIONS[key].fits(value):
            what, accepted = f"{key!r} is {value!r}", f"accepted: {OPTIONS[key].words}"
            problems.append(Problem(file=str(file), line=line, what=what, accepted=accepted))
    if problems:
        raise InputError(problems)
    return MappingProxyType({key: _frozen(value) for key, value in table.items() if key in OPTIONS})


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _line_of(file: Path, key: str) -> int | None:
    """The line that sets the key, as far as a look at the text can tell; tomllib keeps no places."""
    lines = read_text(file).splitlines()
    inside = file.name == "fuzzturn.toml"
    for number, line in enumerate(lines, start=1):
        if line.lstrip().startswith("["):
            inside = line.replace(" ", "").startswith("[tool.fuzzturn]")
        elif inside and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            return number
    return None
