"""Writing: a scenario as the data of its file, so that parsing what is written gives an equal scenario."""

from __future__ import annotations

from typing import Any

from fuzzturn.scenario import Scenario
from fuzzturn.scenario_file.placeholders import escaped

__all__ = ["scenario_to_data"]


def scenario_to_data(scenario: Scenario) -> dict[str, Any]:
    """Plain data (dict, list, scalars) in the order of the file format; what has its default value is left out."""
    data: dict[str, Any] = _plain(scenario.model_dump(by_alias=True, exclude_defaults=True))
    for part in ("turns", "answers", "interruptions"):
        for row in data.get(part, ()):
            row["user"] = escaped(row["user"])
    for constraint in data.get("constraints", ()):
        if list(replaced := constraint.get("supersedes", {})) == ["id"]:
            constraint["supersedes"] = replaced["id"]
    for assertion in data.get("assertions", ()):
        if "must_call" in assertion:
            assertion["must_call"] = [_expected(call) for call in assertion["must_call"]]
    return data


def _expected(call: dict[str, Any]) -> dict[str, Any] | str:
    return str(call["name"]) if list(call) == ["name"] else call


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value
