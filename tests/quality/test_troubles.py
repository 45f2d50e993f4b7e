"""The planted troubles are what they say: each shows under its own operator's edits, and the correct agent has none."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings

from benchmarks.troubles.campaigns import OPERATORS, SELDOM, bench, campaign, run, shown
from benchmarks.troubles.planted import TROUBLES, Trouble
from benchmarks.troubles.script import ROOM
from fuzzturn.document import dump, parse
from fuzzturn.filler import filler
from fuzzturn.measure import called_tools, guarded_turns
from fuzzturn.scenario_file import parse_scenario, scenario_to_data
from fuzzturn.variant import Disturb, Insert, Pad, Tamper, Variant, Word, edit_from_json, edit_to_json
from fuzzturn.vary import draw, skipped, variants

BASE = asyncio.run(bench().run(Variant(ROOM)))
GUARDED = guarded_turns(ROOM, BASE.measured.session, bench().registry)
CALLED = called_tools(BASE.measured.session)
DRAWN = variants(ROOM, operators=OPERATORS, guarded=GUARDED, called=CALLED, themed=True)
FOLDER = Path(__file__).resolve().parents[2] / "benchmarks/troubles"
BY_OPERATOR = {trouble.operator: trouble for trouble in TROUBLES}
each_trouble = pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.operator)


@cache
def own(operator: str) -> tuple[Variant, ...]:
    """Variants with one draw of the operator's edits and nothing else; with padding where a cut has to come later."""
    pieces = [piece for piece in OPERATORS if piece.tag.name == operator]
    strategy = variants(ROOM, operators=pieces, guarded=GUARDED, called=CALLED, themed=True)
    drawn = (v for v in draw(strategy, 30, seed=1) if {e.operator for e in v.edits} == {operator})
    return tuple(_padded(variant) if operator == "eviction_injection" else variant for variant in drawn)


def _padded(variant: Variant) -> Variant:
    return variant.with_edits([*variant.edits, Pad(operator="t", anchor="second", tokens=900)])


def showing(trouble: Trouble) -> Iterator[Variant]:
    """Those of the operator's own variants that show the trouble."""
    faulty = bench(trouble.agent)
    for variant in own(trouble.operator):
        if shown(asyncio.run(faulty.run(variant)).failures, trouble):
            yield variant


def test_there_is_one_trouble_for_each_operator_that_is_about_one_kind_of_trouble() -> None:
    assert sorted(trouble.operator for trouble in TROUBLES) == sorted(SELDOM)
    assert len({trouble.agent for trouble in TROUBLES}) == len({trouble.says for trouble in TROUBLES}) == len(TROUBLES)


def test_every_operator_has_something_to_vary_in_the_scenario() -> None:
    assert skipped(ROOM, OPERATORS, guarded=GUARDED, called=CALLED) == {}


def test_the_script_as_written_is_clean_for_every_agent() -> None:
    for agent in [trouble.agent for trouble in TROUBLES]:
        trial = asyncio.run(bench(agent).run(Variant(ROOM)))
        assert trial.failures == ()
        assert trial.measured.goal_reached
    assert all(CALLED[turn] for turn in ("find", "hold", "order", "chair", "second"))


@each_trouble
def test_the_operators_edits_alone_show_the_trouble_and_the_correct_agent_survives_them(trouble: Trouble) -> None:
    variant = next(showing(trouble), None)
    assert variant is not None
    assert asyncio.run(bench().run(variant)).failures == ()


def test_the_correct_agent_is_clean_under_all_operators() -> None:
    result = run(campaign(sessions=150, seed=3))
    assert (result.others, result.sessions) == ((), 151)


@pytest.mark.parametrize("operator", ["oscillate", "supersede_partial"])
def test_a_campaign_finds_it_and_shrinks_it_to_the_operators_edits(operator: str) -> None:
    trouble = BY_OPERATOR[operator]
    result = run(campaign(trouble.agent, sessions=80), trouble)
    assert result.minimal
    assert operator in result.operators
    assert result.user_turns is not None
    assert result.user_turns <= 6


def test_without_the_operator_the_same_campaign_finds_nothing_of_it() -> None:
    trouble = BY_OPERATOR["supersede_partial"]
    result = run(campaign(trouble.agent, sessions=42, without=trouble.exposed_by), trouble)
    assert (result.first_session, result.others) == (None, ())


def test_the_kept_results_are_of_these_troubles_all_found_and_none_without_its_operators() -> None:
    kept = json.loads((FOLDER.parent / "troubles.json").read_text(encoding="utf-8"))
    assert [(row["operator"], row["exposed_by"]) for row in kept["troubles"]] == [
        (trouble.operator, list(trouble.exposed_by)) for trouble in TROUBLES
    ]
    assert all(row["with"]["minimal"] and row["without"]["first_session"] is None for row in kept["troubles"])
    assert kept["correct"]["others"] == []


def test_no_fault_knows_an_operators_words_or_a_turns_name() -> None:
    files = ("reading", "lifecycles", "memory", "summaries", "tools", "steward", "book")
    code = "\n".join((FOLDER / f"{name}.py").read_text(encoding="utf-8") for name in files)
    texts = {filler(2000), *(side.user for side in ROOM.interruptions)}
    for operator in SELDOM:
        for edit in (edit for variant in own(operator) for edit in variant.edits):
            texts |= {edit.text} if isinstance(edit, Word | Tamper | Disturb) else set()
            texts |= {re.sub(r"\{\w+\}", "", edit.user)} if isinstance(edit, Insert) else set()
    parts = {part for text in texts for part in re.split(r"[.,:;?] ?", text) if len(part) > 12}
    assert len(parts) > 30
    assert [part for part in parts if part in code] == []
    assert not re.search(r"fuzzturn\.(variant|vary|edits|spots|offers|filler|search)", code)
    assert not [line.id for line in ROOM.turns if f'"{line.id}"' in code and line.id not in ("find", "order", "chair")]


def test_an_agent_restored_from_a_snapshot_goes_on_as_if_nothing_had_happened() -> None:
    for trouble in TROUBLES:
        played = bench(trouble.agent)
        variant = own(trouble.operator)[0]
        asyncio.run(played.run(variant))
        assert asyncio.run(played.tree.distrust(variant.spoken)) is None


@settings(max_examples=40, deadline=None)
@given(DRAWN)
def test_every_drawn_variant_is_a_scenario_that_can_be_written_and_read(variant: Variant) -> None:
    written = parse(dump(scenario_to_data(variant.spoken)), file="v.yaml")
    assert parse_scenario(written, spoken_turns=True) == variant.spoken


@settings(max_examples=60, deadline=None)
@given(DRAWN)
def test_edits_come_back_from_json_as_they_were(variant: Variant) -> None:
    assert variant.with_edits(edit_from_json(edit_to_json(edit)) for edit in variant.edits) == variant
