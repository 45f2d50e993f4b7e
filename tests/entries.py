"""Entries: a corpus entry of the toy world, for tests of what becomes of corpus files."""

from __future__ import annotations

from typing import Any

import kit
from fuzzturn.corpus import Entry
from fuzzturn.scenario_file import scenario_to_data

__all__ = ["entry"]


def entry(**fields: Any) -> Entry:
    """The entry of a toy blind spot, with other fields; `provenance` and `agent` are added to what is there."""
    provenance = {"scenario": "lamp", "operators": ("pad",), "seed": 0, "turns_found": 9, "tokens_found": 99,
                  "turns": 7, "tokens": 70} | fields.pop("provenance", {})  # fmt: skip
    given: dict[str, Any] = {
        "finding": "0a1b2c3d", "kind": "blind_spot", "constraint": "cap", "checker": "under_cap", "turn": 7,
        "turn_id": "buy", "detail": "spent [90]", "call": "buy", "visibility": "absent", "judge_context": "agent",
        "blind_in": ("agent",), "failing": {"k": 1, "n": 1, "low": 0.2, "high": 1.0}, "minimal": True,
        "why": {"mechanism": "unknown", "no_compaction": "clean", "restated": "clean", "judge": {"agent": 4}},
        "agent": {"name": "buyer"} | fields.pop("agent", {}), "judge": {"name": "toy"},
        "rubric": kit.RUBRIC.model_dump(by_alias=True), "provenance": provenance,
        "scenario": scenario_to_data(kit.scenario()),
    }  # fmt: skip
    return Entry.model_validate(given | fields)
