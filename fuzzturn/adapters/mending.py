"""Mending: what a model answered, made fit to act on: every fault is mended and noted, or refused and told.

Small models leave out the markup around a call, break its JSON or invent arguments; a token limit cuts a call in two
(measured on a real one). None of it may reach the environment, where a checker would take it for something done, and
none of it may go back to the server unmended, since servers answer a broken call in the history with an error 500.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, best_match
from referencing import Registry
from referencing.exceptions import Unresolvable

from fuzzturn.errors import closest
from fuzzturn.ports import Tool

__all__ = ["Asked", "Mended", "Said", "as_function", "mend", "plain_text"]

CUT_OFF = "length"
"""The finish reason of an answer that reached the token limit."""
_SHOWN = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One answer of a model, as it came. `calls` are OpenAI-style tool calls; `finish` None = not told."""

    text: str | None = None
    calls: Sequence[Mapping[str, Any]] = ()
    finish: str | None = None
    refused: bool = False
    """Whether the API itself says that the text is a refusal."""
    usage: Mapping[str, Any] | None = None
    recorded: bool | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A tool call that the model asks for. `refusal` None = it can be run; else why not, in words for the model."""

    id: str
    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class Mended:
    """An answer that can be acted on, and what was done to it."""

    text: str
    calls: tuple[Asked, ...]
    notes: tuple[str, ...]


def as_function(tool: Tool) -> dict[str, Any]:
    """A tool as chat APIs want it."""
    schema = {"type": "object", "properties": {}, **tool.schema}
    return {"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": schema}}


def plain_text(content: Any) -> str | None:
    """A message's text, where its content is a text or a list of parts; None = it has none."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str)) or None
    return content if isinstance(content, str) else None


def mend(said: Said, tools: Sequence[Tool], *, number: int) -> Mended:
    """The answer with every call checked against the tools. `number` names calls that came without an id."""
    text, notes = said.text or "", []
    raw = [_function(call) for call in said.calls]
    if not raw and (found := _bare(text, tools)):
        notes.append(f"the call of {found[0]['name']} stood in the text, without its markup; it was taken for a call")
        text, raw = "", found
    asked: list[Asked] = []
    for i, call in enumerate(raw):
        one = _asked(call, {tool.name: tool for tool in tools}, str(call.get("id") or f"call_{number + i}"))
        if one.refusal is not None and said.finish == CUT_OFF and one.refusal.startswith(_NOT_JSON):
            notes.append(f"the call of {one.name} was cut off by the token limit; it was dropped")
            continue
        if one.refusal is not None:
            notes.append(f"the call of {one.name} was refused: {one.refusal}")
        asked.append(one)
    if said.finish == CUT_OFF and not said.calls:
        notes.append("the answer was cut off by the token limit")
    return Mended(text, tuple(_unique(asked)), tuple(notes))


_NOT_JSON = "the arguments are not JSON"


def _function(call: Any) -> dict[str, Any]:
    """The parts of a call that matter, whatever stands where a call should."""
    call = call if isinstance(call, Mapping) else {}
    function = call.get("function") if isinstance(call.get("function"), Mapping) else {}
    return {"id": call.get("id"), "name": function.get("name"), "arguments": function.get("arguments")}


def _asked(call: Mapping[str, Any], tools: Mapping[str, Tool], id: str) -> Asked:
    name = str(call.get("name"))
    if name not in tools:
        return Asked(id, name, {}, f"no tool is called {name!r}; {closest(name, tools)}")
    args = _arguments(call.get("arguments"))
    if isinstance(args, str):
        return Asked(id, name, {}, args)
    if misfit := _misfit(args, tools[name]):
        return Asked(id, name, args, misfit)
    return Asked(id, name, args)


def _arguments(given: Any) -> Mapping[str, Any] | str:
    """The arguments as a mapping, or what is wrong with them. Some servers encode them twice, some not at all."""
    for _ in range(2):
        if isinstance(given, str):
            try:
                given = json.loads(given or "{}")
            except ValueError as error:
                return f"{_NOT_JSON} ({error}): {_clipped(str(given))}"
    if given is None:
        return {}
    return given if isinstance(given, Mapping) else f"the arguments are {_clipped(repr(given))}, not an object"


def _misfit(args: Mapping[str, Any], tool: Tool) -> str | None:
    """The most telling way in which the arguments do not fit the tool's schema; None = they fit, or it has none."""
    validator = _validator(json.dumps(dict(tool.schema), default=str))
    try:
        error = validator and best_match(validator.iter_errors(dict(args)))
    except (Unresolvable, re.error, RecursionError):  # the schema's own fault: a reference or pattern that cannot be
        return None
    if error is None:
        return None
    where = error.json_path.removeprefix("$").lstrip(".")
    return f"{where}: {_clipped(error.message)}" if where else _clipped(error.message)


@lru_cache(maxsize=256)
def _validator(schema: str) -> Draft202012Validator | None:
    """Of a schema as JSON; looking it over takes long. None = it is no schema, which is the environment's own fault."""
    try:
        Draft202012Validator.check_schema(json.loads(schema))
    except SchemaError:
        return None
    return Draft202012Validator(json.loads(schema), registry=Registry())  # one that fetches nothing


_FENCED = re.compile(r"```(?:json)?\s*(\{.*?\}|\[.*?\])\s*```|<tool_call>\s*(\{.*?\})\s*(?:</tool_call>|$)", re.DOTALL)


def _bare(text: str, tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Calls written into the text as JSON and nothing else beside them; [] where it is not plainly that."""
    stripped = text.strip()
    marked = [match[1] or match[2] for match in _FENCED.finditer(stripped)]
    rest = _FENCED.sub("", stripped).strip()
    candidates = marked if marked and not rest else [stripped] if stripped[:1] in ("{", "[") else []
    found: list[dict[str, Any]] = []
    for candidate in candidates:
        try:
            values = json.loads(candidate)
        except ValueError:
            return []
        for value in values if isinstance(values, list) else [values]:
            if not _is_call(value, {tool.name for tool in tools}):
                return []
            found.append({"name": value["name"], "arguments": value.get("arguments", value.get("parameters"))})
    return found


def _is_call(value: Any, names: set[str]) -> bool:
    if not isinstance(value, dict) or value.keys() - _CALL_KEYS or len(value) < 2:
        return False
    return isinstance(value.get("name"), str) and value["name"] in names


_CALL_KEYS = frozenset({"name", "arguments", "parameters", "type", "id"})


def _unique(asked: Sequence[Asked]) -> list[Asked]:
    """Ids tell results apart: one that is used twice is numbered."""
    unique: dict[str, Asked] = {}
    for call in asked:
        names = (call.id, *(f"{call.id}_{n}" for n in range(2, len(asked) + 2)))
        id = next(name for name in names if name not in unique)
        unique[id] = call if id == call.id else Asked(id, call.name, call.args, call.refusal)
    return list(unique.values())


def _clipped(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
