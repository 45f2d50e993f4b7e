"""Schemas: the project's files as JSON schemas, for editors that complete and underline while one writes.

Made from the models that the loaders use, then changed where a file is written otherwise than it is held: shorthand,
reserved keys, `x-*` keys. A schema knows one file and no rules between its parts; `fuzzturn check` knows those.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, TypeAlias

from pydantic import BaseModel

from fuzzturn.corpus import Entry
from fuzzturn.document import known_keys
from fuzzturn.errors import UnknownName
from fuzzturn.project import OPTIONS
from fuzzturn.rubric import ANCHORS, Rubric
from fuzzturn.scenario import Scenario
from fuzzturn.scenario_file.resolving import RESERVED

__all__ = ["KINDS", "schema"]

Schema: TypeAlias = dict[str, Any]
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TURN_NUMBER = {"type": "integer", "minimum": 1}
_NOT_YET = {"type": "null", "description": "Reserved: not yet."}
_NOBODY_READS = {"^x-": {"description": "A note; nobody reads it."}}
_PARTS = "#/$defs/"
_TYPES: Mapping[str, Schema] = {
    "a text": {"type": "string"},
    "a list of texts": {"type": "array", "items": {"type": "string"}},
    "true or false": {"type": "boolean"},
}


def schema(kind: str) -> Schema:
    """The schema of one kind of file, see KINDS. Raises UnknownName."""
    if kind not in KINDS:
        raise UnknownName("schema", kind, KINDS)
    return {"$schema": _DIALECT} | KINDS[kind]()


def _scenario() -> Schema:
    made = _of_model(Scenario)
    parts = made["$defs"]
    _add(parts["Constraint"], "state_at_turn", _TURN_NUMBER, "The turn that states it, from 1; else a turn's `states`.")
    superseded = parts["Constraint"]["properties"]["supersedes"]
    superseded["anyOf"] = [parts["Replaced"]["properties"]["id"], *superseded["anyOf"]]
    _one_of_text_and_file(parts["System"])
    _add(parts["Assertion"], "turn", {"anyOf": [parts["Assertion"]["properties"]["turn"], _TURN_NUMBER]},
         "The turn's id, or its number in this file, from 1.")  # fmt: skip
    calls = parts["Assertion"]["properties"]["must_call"]
    calls["items"] = {"anyOf": [parts["ExpectedCall"]["properties"]["name"], calls["items"]]}
    said = "What the user says. {constraint_id} stands for the constraint's statement; then quote the text."
    for part in ("Line", "Answer", "Interruption"):
        parts[part]["properties"]["user"]["description"] = said
    for model, keys in RESERVED.items():
        holder = made if model is Scenario else parts[model.__name__]
        holder["properties"] |= {key: dict(_NOT_YET) for key in keys}
    return made


def _corpus() -> Schema:
    made, script = _of_model(Entry), _scenario()
    parts = script.pop("$defs")
    made["$defs"] |= parts | {"Scenario": script}
    made["properties"]["scenario"] = {"$ref": f"{_PARTS}Scenario", "description": "The turns as they are spoken."}
    _all_anchors(made["$defs"]["Rubric"])
    return made


def _rubric() -> Schema:
    made = _of_model(Rubric)
    _all_anchors(made)
    del made["patternProperties"]  # a rubric is frozen to the letter, notes included
    return made


def _config() -> Schema:
    return {
        "title": "fuzzturn.toml, or [tool.fuzzturn] in pyproject.toml",
        "description": "The options of the command line, with underscores. The command line wins over them.",
        "type": "object",
        "properties": {key: _option(kind.words) | {"description": kind.words} for key, kind in OPTIONS.items()},
        "additionalProperties": False,
        "patternProperties": _NOBODY_READS,
    }


KINDS: Mapping[str, Callable[[], Schema]] = {
    "scenario": _scenario,
    "rubric": _rubric,
    "corpus": _corpus,
    "config": _config,
}
"""The kinds of files that a schema exists for."""


def _of_model(model: type[BaseModel]) -> Schema:
    """The model's own schema, told by docstrings, with `x-*` keys wherever keys are known at all."""
    made = model.model_json_schema(by_alias=True)
    made.setdefault("$defs", {})
    for name, part in {model.__name__: made, **made["$defs"]}.items():
        part["patternProperties"] = _NOBODY_READS
        for key, told in _told(_models(model)[name]).items():
            part["properties"][key]["description"] = told
    return made


def _models(model: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """The model and every model within it, by name."""
    found = {model.__name__: model}
    for field in model.model_fields.values():
        for inner in _within(field.annotation):
            found |= _models(inner)
    return found


def _within(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in getattr(annotation, "__args__", ()) for model in _within(inner)]


def _told(model: type[BaseModel]) -> dict[str, str]:
    """The docstring below each field, by the key as a file writes it. Python itself does not keep them."""
    body = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    lines = body.body if isinstance(body, ast.ClassDef) else []
    told = {
        field.target.id: " ".join(text.value.value.split())
        for field, text in pairwise(lines)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }  # fmt: skip
    keys = {name: key for key, name in zip(known_keys(model), model.model_fields, strict=True)}
    return {keys[name]: text for name, text in told.items()}


def _add(part: Schema, key: str, values: Schema, description: str) -> None:
    part["properties"][key] = {**values, "description": description}


def _one_of_text_and_file(system: Schema) -> None:
    _add(system, "file", {"type": "string", "minLength": 1}, "A text file inside the scenario's folder.")
    del system["required"]
    system["oneOf"] = [{"required": ["text"]}, {"required": ["file"]}]


def _all_anchors(rubric: Schema) -> None:
    scale = rubric["properties"]["scale"]
    anchor = scale.pop("additionalProperties")
    scale.pop("propertyNames", None)
    scale |= {
        "properties": dict.fromkeys(ANCHORS, anchor),
        "required": list(ANCHORS),
        "additionalProperties": False,
    }


def _option(words: str) -> Schema:
    """The type that an option's words name; any type where they say nothing of one."""
    if number := re.fullmatch(r"a (whole )?number(?: from (\d+))?", words):
        kind: Schema = {"type": "integer" if number[1] else "number"}
        return kind | ({"minimum": int(number[2])} if number[2] else {})
    return dict(_TYPES.get(words, {}))
