"""Operators: what each file promises about itself, and that what it draws keeps the promise."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import pytest

from benchmarks.operators import table
from fuzzturn.document import dump, parse
from fuzzturn.offers import offers
from fuzzturn.project import Project
from fuzzturn.registry import Registered
from fuzzturn.scenario import Scenario
from fuzzturn.scenario_file import load_scenario, parse_scenario, scenario_to_data
from fuzzturn.variant import Insert, Variant, disturbs_the_world, edit_from_json, edit_to_json, preserves
from fuzzturn.vary import draw, variants

ROOT = Path(__file__).parents[1]
PROJECT = Project(root=ROOT)
OPERATORS = PROJECT.load_strategies().of_kind("operator")
SCRIPTS = [load_scenario(path) for path in PROJECT.scenario_paths()]
LISBON = next(script for script in SCRIPTS if script.scenario == "lisbon_offsite")
NAMES = [piece.tag.name for piece in OPERATORS]


def _some(scenario: Scenario, piece: Registered) -> list[Variant]:
    """Variants that have something of the operator's."""
    found = draw(variants(scenario, operators=[piece], themed=True), 12, seed=3)
    return [variant for variant in found if variant.edits]


def test_the_table_in_the_docs_is_what_the_files_say() -> None:
    told = (ROOT / "docs" / "operators.md").read_text(encoding="utf-8").partition("<!-- operators -->\n")[2]
    assert told == table(), "python -m benchmarks.operators prints it"


@pytest.mark.parametrize("piece", OPERATORS, ids=NAMES)
def test_every_operator_is_a_file_of_its_name_that_tells_its_effect_and_its_evidence(piece: Registered) -> None:
    assert Path(piece.file).stem == piece.tag.name
    module = inspect.getmodule(piece.function)
    text = (module and module.__doc__) or ""
    told = re.search(r"Effect on the ledger: (\w+)", text)
    assert told is not None
    effect = piece.tag.option("effect")
    assert told[1] == ("none" if effect == "environment" else effect)
    assert re.search(r"Evidence: \S", text)


def test_an_operator_that_has_nothing_to_vary_says_what_is_missing() -> None:
    bare = LISBON.model_copy(
        update={
            "constraints": (), "interruptions": (), "starts": None, "assertions": (),
            "turns": tuple(line.model_copy(update={"states": (), "optional": False}) for line in LISBON.turns),
        }
    )  # fmt: skip
    skipped = offers(bare, OPERATORS, {}).skipped
    assert {"supersede", "retract", "soften", "expire", "interrupt", "drop_optional", "restate"} <= skipped.keys()
    assert all(len(reason.split()) > 3 for reason in skipped.values())


@pytest.mark.parametrize("piece", OPERATORS, ids=NAMES)
def test_what_it_draws_is_of_its_effect_survives_json_and_makes_a_scenario(piece: Registered) -> None:
    for variant in _some(LISBON, piece):
        effect = piece.tag.option("effect")
        for edit in variant.edits:
            assert edit_from_json(edit_to_json(edit)) == edit
            assert effect != "preserve" or preserves(edit)
            assert disturbs_the_world(edit) is (effect == "environment")
        written = parse(dump(scenario_to_data(variant.spoken)))
        assert parse_scenario(written, spoken_turns=True) == variant.spoken


def test_a_reminder_is_not_spoken_where_its_constraint_has_ended() -> None:
    script = LISBON.model_copy(
        update={"turns": tuple(
            line.model_copy(update={"lifts": ("leg_ceiling",)}) if line.id == "code" else line for line in LISBON.turns
        )}
    )  # fmt: skip
    for anchor, spoken in (("hotel", True), ("book", False)):
        edit = Insert(
            operator="restate",
            anchor=anchor,
            name="again",
            user="Again: {leg_ceiling}.",
            states=("leg_ceiling",),
            reminder=True,
        )
        assert ("again@" + anchor in [line.id for line in Variant(script, (edit,)).spoken.turns]) is spoken


def test_every_edit_alone_is_a_variant_and_so_is_every_subset() -> None:
    """Written as JSON, which is YAML: our own writer takes ten times as long, and is held by the test above."""
    for variant in draw(variants(LISBON, operators=OPERATORS, themed=True), 60, seed=5):
        for i in range(len(variant.edits)):
            part = variant.with_edits(variant.edits[:i] + variant.edits[i + 1 :]).spoken
            written = parse(json.dumps(scenario_to_data(part), ensure_ascii=False))
            assert parse_scenario(written, spoken_turns=True) == part


def test_an_operator_may_draw_several_edits_at_once() -> None:
    piece = next(p for p in OPERATORS if p.tag.name == "topic_switch")
    found = draw(variants(LISBON, operators=[piece], themed=True), 5, seed=1)
    assert max(len(variant.edits) for variant in found) >= 3
