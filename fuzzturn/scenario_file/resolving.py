"""Resolving: the file's shorthand replaced by what the model holds, part by part and at the same addresses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from fuzzturn.document import Address, Document, read_text, shown
from fuzzturn.errors import InputError, Problem
from fuzzturn.scenario import Constraint, Line, Scenario, System
from fuzzturn.scenario_file.placeholders import spoken
from fuzzturn.scenario_file.script import Row, Script

__all__ = ["RESERVED", "SHORTHAND", "not_yet", "resolved", "system_text"]

SHORTHAND: Mapping[type[BaseModel], tuple[str, ...]] = {Constraint: ("state_at_turn",), System: ("file",)}
"""The keys that a file has and the model does not."""
RESERVED: Mapping[type[BaseModel], tuple[str, ...]] = {
    Scenario: ("language",),
    Constraint: ("language",),
    Line: ("speaker", "only_if", "language"),
}
"""The keys that later work will give a meaning to."""


def not_yet(script: Script, data: dict[str, Any]) -> Iterator[tuple[Address, Problem]]:
    """What is reserved must neither pass in silence nor look misspelt. null is as good as absent."""
    scenario = Row((), data)
    for rows, model in (((scenario,), Scenario), (script.constraints, Constraint), (script.turns, Line)):
        for row in rows:
            for key in RESERVED[model]:
                if row.data.get(key) is not None:
                    yield _later(script, (*row.at, key), repr(key))
    for row in (*script.turns, *script.answers, *script.interruptions):
        if isinstance(row.data.get("user"), tuple):
            yield _later(script, (*row.at, "user"), "a message of several parts", "one text")


def system_text(document: Document, system: object) -> tuple[str | None, list[Problem]]:
    """The text under `system`, read from the file it names where it names one; None where it has none to give."""
    if not isinstance(system, dict):
        return None, []
    if ("file" in system) == ("text" in system):
        return None, [document.problem(("system",), "'system' takes one of file and text", "{file: policy.md}")]
    if "text" in system:
        return system["text"], []
    try:
        return _text_beside(document, system["file"]), []
    except InputError as error:
        what = "; ".join(problem.what for problem in error.problems)
        accepted = "a text file inside the scenario's folder"
        return None, [document.problem(("system", "file"), f"{shown(system['file'])}: {what}", accepted)]


def resolved(script: Script, data: dict[str, Any], system: str | None) -> dict[str, Any]:
    """The data as `Scenario` takes it. Parts of the wrong shape stay as they are, for the model to refuse."""
    statements = script.statements
    states = {turn.at: stated for turn, stated in zip(script.turns, script.states, strict=True)}
    ids = {turn.place: turn.id for turn in script.turns if turn.id}
    whole = _without(data, RESERVED[Scenario])
    if isinstance(data.get("system"), dict):
        whole["system"] = {"text": system}
    whole |= _each(data, "constraints", lambda row: _without(row.data, (*SHORTHAND[Constraint], *RESERVED[Constraint])))
    whole |= _each(data, "turns", lambda row: _turn(row, statements, states.get(row.at, ())))
    whole |= _each(data, "answers", lambda row: _said(row, statements))
    whole |= _each(data, "interruptions", lambda row: _said(row, statements))
    whole |= _each(data, "assertions", lambda row: _assertion(row, ids))
    return {key: _with_lists_in_args(value) for key, value in whole.items()}


def _turn(row: Row, statements: Mapping[str, str], states: tuple[str, ...]) -> dict[str, Any]:
    turn = _said(row, statements)
    written = turn.get("states", ())
    if isinstance(written, tuple) and len(states) > len(written) and all(isinstance(name, str) for name in written):
        turn["states"] = states
    return _without(turn, RESERVED[Line])


def _said(row: Row, statements: Mapping[str, str]) -> dict[str, Any]:
    user = row.text("user")
    return row.data | ({"user": spoken(user, statements)} if user else {})


def _assertion(row: Row, ids: Mapping[int, str]) -> dict[str, Any]:
    assertion = dict(row.data)
    if (id := ids.get(row.number("turn") or 0)) is not None:
        assertion["turn"] = id
    if isinstance(calls := assertion.get("must_call"), tuple):
        assertion["must_call"] = tuple({"name": call} if isinstance(call, str) else call for call in calls)
    return assertion


def _each(data: dict[str, Any], key: str, change: Callable[[Row], dict[str, Any]]) -> dict[str, Any]:
    if not isinstance(items := data.get(key), tuple):
        return {}
    rows = (Row((key, index), item) if isinstance(item, dict) else item for index, item in enumerate(items))
    return {key: tuple(change(row) if isinstance(row, Row) else row for row in rows)}


def _without(data: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in keys}


def _with_lists_in_args(value: Any) -> Any:
    """`args` are compared with and handed on as tool calls' arguments, and those hold lists."""
    if isinstance(value, tuple):
        return tuple(_with_lists_in_args(item) for item in value)
    if isinstance(value, dict):
        return {key: _lists(item) if key == "args" else _with_lists_in_args(item) for key, item in value.items()}
    return value


def _lists(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_lists(item) for item in value]
    return {key: _lists(item) for key, item in value.items()} if isinstance(value, dict) else value


def _later(script: Script, at: Address, what: str, instead: str | None = None) -> tuple[Address, Problem]:
    return at, script.problem(at, f"{what} is reserved: not yet", instead or "leave it out")


def _text_beside(document: Document, name: object) -> str:
    """The text of a file in the scenario's folder. It is named by data, so it must not lead anywhere else."""
    if document.file is None:
        raise InputError("'file' is relative to the scenario file, and this scenario comes from none")
    folder = Path(document.file).parent.resolve()
    if not isinstance(name, str) or not (folder / name).resolve().is_relative_to(folder):
        raise InputError("not a path inside the scenario's folder")
    return read_text(folder / name)
