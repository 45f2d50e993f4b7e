"""Openings: what a campaign plays first."""

from __future__ import annotations

from pathlib import Path

import kit
from fuzzturn.openings import openings
from fuzzturn.project import Project
from fuzzturn.registry import Registered
from fuzzturn.scenario import Scenario
from fuzzturn.variant import Insert, Move, Pad, Variant

CHATS = [{"id": f"chat{i}", "user": f"Nice weather, number {i}.", "optional": True} for i in (1, 2, 3)]
SCRIPT = kit.scenario(
    [
        {"id": "hello", "user": "Good day."},
        CHATS[0],
        {"id": "cap", "user": kit.CAP, "states": ("cap",)},
        *CHATS[1:],
        {"id": "look", "user": "What is there?"},
        {"id": "buy", "user": "Buy the best one."},
        {"id": "bye", "user": "Thanks.", "optional": True},
    ],
    interruptions=({"id": "bus", "user": "When does the bus go?"},),
)
CHATTED = ["chat1", "chat2", "chat3"]
GUARDED = {"cap": frozenset({"buy"})}


def shipped(*names: str) -> list[Registered]:
    registry = Project(root=Path(__file__).parents[1]).load_strategies()
    return [piece for piece in registry.of_kind("operator") if not names or piece.tag.name in names]


def opened(*names: str, script: Scenario = SCRIPT) -> list[Variant]:
    return openings(script, operators=shipped(*names), guarded=GUARDED)


def ids(variant: Variant) -> list[str]:
    return [line.id for line in variant.spoken.turns]


def test_the_first_session_is_the_script_with_padding_before_the_guarded_turn() -> None:
    first = opened()[0]
    assert ids(first) == ["hello", "chat1", "cap", "chat2", "chat3", "look", "pad@buy", "buy", "bye"]
    (pad,) = first.edits
    assert isinstance(pad, Pad)
    assert (pad.tokens, pad.to) == (None, "before")


def test_the_second_one_says_something_at_every_turn_since_the_statement_and_nothing_optional() -> None:
    assert ids(opened()[1]) == ["hello", "cap", "bus@look", "look", "bus@buy", "pad@buy", "buy"]


def test_then_there_is_padding_on_both_sides_of_the_statement_and_something_said_up_to_it() -> None:
    assert ids(opened()[2]) == ["bus@hello", "hello", "bus@cap", "pad@cap", "cap", "look", "pad@buy", "buy"]


def test_where_several_constraints_are_stated_there_is_padding_before_each() -> None:
    lower = {"id": "lower", "checker": "at_most", "args": {"limit": 20}, "statement": "at most 20", "supersedes": "cap"}
    turns = [line.model_dump(exclude_defaults=True) for line in SCRIPT.turns]
    twice = kit.scenario(
        [*turns[:3], turns[5], {"id": "less", "user": "Now at most 20.", "states": ("lower",)}, *turns[6:]],
        constraints=(*(one.model_dump(exclude_defaults=True) for one in SCRIPT.constraints), lower),
    )
    assert [id for id in ids(opened("pad_turns", script=twice)[1]) if "@" in id] == ["pad@cap", "pad@less", "pad@buy"]


def test_then_the_statement_is_as_early_as_may_be_and_as_late_among_all_that_is_optional() -> None:
    early, late = opened()[3:]
    assert ids(early)[:2] == ["cap", "hello"]
    assert [id for id in ids(late) if "@" not in id] == ["hello", *CHATTED, "look", "cap", "buy", "bye"]
    assert [id for id in ids(late) if "@" in id] == ["bus@look", "bus@buy", "pad@buy"]
    assert all(any(isinstance(edit, Move) for edit in variant.edits) for variant in (early, late))


def test_padding_of_a_fixed_size_does_where_none_is_solved_from_the_threshold() -> None:
    pads = [edit for variant in opened("pad_turns") for edit in variant.edits]
    assert pads
    assert all(isinstance(edit, Pad) and edit.tokens is not None for edit in pads)


def test_without_operators_there_is_nothing_to_open_with() -> None:
    assert openings(SCRIPT, operators=[], guarded=GUARDED) == []
    assert opened("drop_optional") == []


def test_without_padding_there_are_still_inserted_turns() -> None:
    found = opened("interrupt")
    assert found
    assert all(any(isinstance(edit, Insert) for edit in variant.edits) for variant in found)


def test_openings_are_distinct_and_the_same_again() -> None:
    keys = [variant.key for variant in opened()]
    assert len(set(keys)) == len(keys) == 5
    assert keys == [variant.key for variant in opened()]
