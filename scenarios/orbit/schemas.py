"""Schemas: what the tools take, as JSON schemas, and whether arguments fit one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuzzturn.ports import Tool

from .fares import CITIES, DIRECTIONS

__all__ = ["TOOLS", "misfit"]

_TEXT = {"type": "string", "minLength": 1}
_DATE = {"type": "string", "format": "date", "description": "ISO, as in 2026-05-12"}
_CITY = {"type": "string", "enum": list(CITIES)}
_REFUNDABLE = {"type": "boolean", "description": "The hotel's rate as listed; may be left out"}
_LEGS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "flight": _TEXT,
            "direction": {"type": "string", "enum": list(DIRECTIONS)},
            "fare_eur": {"type": "number"},
            "dep": {"type": "string", "description": "Local time of departure as listed, HH:MM; may be left out"},
        },
        "required": ["flight", "direction", "fare_eur"],
    },
}


def _tool(name: str, description: str, properties: Mapping[str, Any], *required: str) -> Tool:
    schema = {"type": "object", "properties": dict(properties), "required": list(required)}
    return Tool(name, description, schema)


TOOLS = (
    _tool(
        "search_flights",
        "Flights of one day in one direction.",
        {
            "origin": _TEXT,
            "destination": _CITY,
            "date": _DATE,
            "direction": {"type": "string", "enum": list(DIRECTIONS)},
        },
        "destination", "date", "direction",
    ),
    _tool(
        "search_hotels",
        "Hotels of a city.",
        {"city": _CITY, "checkin": _DATE, "checkout": _DATE},
        "city",
    ),
    _tool(
        "hold_booking",
        "Keep flights or a hotel for a while without buying. needs_approval: only until somebody approves it.",
        {
            "kind": {"type": "string", "enum": ["flights", "hotel"]},
            "legs": _LEGS,
            "hotel": _TEXT,
            "needs_approval": {"type": "boolean"},
            "refundable": _REFUNDABLE,
        },
        "kind",
    ),
    _tool(
        "confirm_booking",
        "Buy flights, a hotel, or both. Cannot be undone.",
        {"legs": _LEGS, "hotel": _TEXT, "refundable": _REFUNDABLE},
    ),
    _tool("add_traveller", "Put a traveller on the trip.", {"name": _TEXT}, "name"),
    _tool("cancel_booking", "Give up a hold or a booking by its id.", {"id": _TEXT}, "id"),
    _tool("lookup_expense_code", "The expense code to book under.", {"topic": _TEXT}),
)  # fmt: skip

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (Mapping,), "array": (list, tuple), "string": (str,), "boolean": (bool,), "number": (int, float),
}  # fmt: skip


def misfit(schema: Mapping[str, Any], value: Any, where: str) -> str | None:
    """What is wrong with `value` under the part of JSON schema used above, or None where it fits."""
    kind = schema.get("type", "object")
    right_type = isinstance(value, _TYPES[kind]) and (kind != "number" or not isinstance(value, bool))
    if not right_type:
        return f"{where} is {value!r}; accepted: {'an' if kind in ('array', 'object') else 'a'} {kind}"
    if kind == "string":
        return _bad_text(schema, value, where)
    if kind == "array":
        faults = (misfit(schema["items"], item, f"{where}[{i}]") for i, item in enumerate(value))
        return next(filter(None, faults), None)
    return _bad_object(schema, value, where) if kind == "object" else None


def _bad_text(schema: Mapping[str, Any], value: str, where: str) -> str | None:
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is {value!r}; accepted: {', '.join(schema['enum'])}"
    if len(value) < schema.get("minLength", 0):
        return f"{where} is empty; accepted: some text"
    return None


def _bad_object(schema: Mapping[str, Any], value: Mapping[str, Any], where: str) -> str | None:
    properties = schema["properties"]
    if unknown := sorted(map(str, value.keys() - properties.keys())):
        return f"{where} has {unknown[0]!r}; accepted: {', '.join(properties)}"
    if missing := [name for name in schema.get("required", ()) if name not in value]:
        return f"{where} lacks {missing[0]!r}; required: {', '.join(schema['required'])}"
    faults = (misfit(properties[name], item, f"{where}.{name}") for name, item in value.items())
    return next(filter(None, faults), None)
