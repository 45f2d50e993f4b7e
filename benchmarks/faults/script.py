"""Script: the twelve turns that are spoken to every faulty agent, in the few versions that the faults ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuzzturn.scenario import Scenario

__all__ = ["RULE_FIRST", "RULE_LATE", "RULE_WITH_TASK", "TWO_RULES", "USUAL"]

_CEILING = "one lamp may cost at most 300 euros"
_LOWER = "one lamp may cost at most 200 euros"
_TURNS: Mapping[str, Mapping[str, Any]] = {
    "hello": {"user": "Good morning, we are furnishing the new reading room.", "optional": True},
    "ask": {"user": "Please find lamps for the reading room."},
    "ask_within": {"user": f"Please find lamps for the reading room, {_CEILING}.", "states": ("ceiling",)},
    "rule": {"user": f"The board has a rule for this, {_CEILING}.", "states": ("ceiling",)},
    "paint": {"user": "The walls were painted in a light green.", "optional": True},
    "chairs": {"user": "Please find chairs as well."},
    "lower": {"user": f"The board has met again and from now on {_LOWER}.", "states": ("lower",)},
    "hold": {"user": "Please reserve the best lamp for a week.", "after": ("ask",)},
    "floor": {"user": "The old floor will be sanded in spring.", "optional": True},
    "contact": {"user": "Please note that Ida Brandt looks after the room."},
    "shelves": {"user": "The shelves come from the old building.", "optional": True},
    "ivy": {"user": "There is ivy in front of the windows.", "optional": True},
    "opening": {"user": "We open with a small reading in June.", "optional": True},
    "order": {"user": "Please order the best lamp now.", "after": ("ask",)},
    "thanks": {"user": "Lovely, that was quick.", "optional": True},
}
_CONSTRAINTS = (
    {"id": "ceiling", "checker": "price_at_most", "args": {"limit": 300}, "statement": _CEILING},
    {
        "id": "lower", "checker": "price_at_most", "args": {"limit": 200}, "statement": _LOWER,
        "supersedes": "ceiling",
    },
)  # fmt: skip
_BANK = (
    {"id": "form", "user": "By the way, which form is it for travel costs?", "must_mention_any": ("F-12",)},
    {"id": "gate", "user": "A driver is asking, at which gate do parcels arrive?", "must_mention_any": ("gate 3",)},
    {"id": "van", "user": "Where can a van be parked on Fridays?", "must_mention_any": ("yard",)},
)


def _script(name: str, ids: Sequence[str], constraints: Sequence[str]) -> Scenario:
    return Scenario.model_validate(
        {
            "schema": 1,
            "scenario": name,
            "title": "Lamps for a reading room",
            "environment": "desk",
            "goal": {"says": "One lamp, ordered", "milestones": ({"id": "ordered", "check": "ordered"},)},
            "constraints": tuple(c for c in _CONSTRAINTS if c["id"] in constraints),
            "turns": tuple({"id": id.removesuffix("_within"), **_TURNS[id]} for id in ids),
            "interruptions": _BANK,
        }
    )


_REST = ("paint", "chairs", "hold", "floor", "contact", "shelves", "ivy", "order", "thanks")
USUAL = _script("lamps", ("hello", "ask", "rule", *_REST), ["ceiling"])
"""The rule is stated just after the first search."""
RULE_FIRST = _script("lamps_rule_first", ("hello", "rule", "ask", *_REST), ["ceiling"])
"""The rule is stated before anything was done."""
TWO_RULES = _script(
    "lamps_two_rules",
    ("hello", "ask", "rule", "paint", "hold", "lower", "floor", "contact", "shelves", "ivy", "order", "thanks"),
    ["ceiling", "lower"],
)
"""A lower ceiling replaces the first one half way."""
RULE_LATE = _script(
    "lamps_rule_late",
    ("hello", "ask", "paint", "chairs", "floor", "contact", "shelves", "rule", "hold", "ivy", "order", "thanks"),
    ["ceiling"],
)
"""The rule is stated when most of the talking is over."""
RULE_WITH_TASK = _script(
    "lamps_rule_with_task",
    (
        "hello",
        "ask_within",
        "paint",
        "chairs",
        "hold",
        "floor",
        "contact",
        "shelves",
        "ivy",
        "opening",
        "order",
        "thanks",
    ),
    ["ceiling"],
)
"""The rule is a part of the message that asks for the search."""
