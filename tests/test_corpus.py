"""Corpus: an entry says only what its own scenario can have, and survives what cannot be written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kit
from entries import entry
from fuzzturn.checkers import SessionState
from fuzzturn.corpus import Entry, load_entry, save_entry
from fuzzturn.document import dump, load
from fuzzturn.errors import InputError
from fuzzturn.scenario import Assertion
from fuzzturn.scenario_file import scenario_to_data
from fuzzturn.session import ToolCall, Turn
from fuzzturn.signals.assertions import assertions

ASKS = Assertion.model_validate(
    {
        "turn": "buy",
        "state_invariants": ("nothing_returned",),
        "must_mention_any": ("receipt",),
        "must_not_call": ("look",),
        "must_call": ({"name": "buy", "times": 2},),
    }
)


def edited(tmp_path: Path, old: str, new: str) -> Path:
    text = saved(tmp_path, entry())
    assert old in text
    file = tmp_path / "entry.yaml"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    return file


def changed(tmp_path: Path, **fields: Any) -> Path:
    """The entry's file with other fields; None = without the field."""
    file = save_entry(entry(), tmp_path)
    data = {key: value for key, value in (load(file).data | fields).items() if value is not None}
    file.write_text(dump(data), encoding="utf-8")
    return file


def saved(tmp_path: Path, entry: Entry) -> str:
    return save_entry(entry, tmp_path).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "constraint: cap",
            "constraint: cep",
            ":5:13: the scenario of this entry has no constraint 'cep'; did you mean 'cap'?",
        ),
        (
            "checker: under_cap",
            "checker: under_cup",
            ":6:10: 'cap' is not checked by 'under_cup'; did you mean 'under_cap'?",
        ),
        ("turn_id: buy", "turn_id: by", ":8:10: the scenario of this entry has no turn 'by'; did you mean 'buy'?"),
        ("finding: ", "finding: '../../x' #", ":2:10: 'finding' is '../../x'; accepted: 8 hexadecimal digits"),
        ("\n  scenario: lamp", "\n  scenario: ../x", "'scenario' is '../x'; accepted: a name of letters"),
        ("kind: blind_spot", "kind: violation", "a judge blind in agent makes it a blind_spot, not a violation"),
        ("\njudge_context: agent", "", "'judge_context' is missing"),
    ],
)
def test_an_entry_of_what_its_scenario_has_not_is_refused_at_its_place(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    file = edited(tmp_path, old, new)
    with pytest.raises(InputError) as refused:
        load_entry(file)
    assert said in str(refused.value)
    assert str(refused.value).startswith(str(file))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"kind": "progress", "constraint": None}, "'milestone' is missing; known: bought"),
        (
            {"kind": "progress", "constraint": None, "milestone": "bought", "checker": "before_needs"},
            "has no progress problem 'before_needs'; did you mean 'before_its_needs'?",
        ),
        (
            {"kind": "progress", "constraint": None, "milestone": "boght", "checker": "before_its_needs"},
            "has no milestone 'boght'; did you mean 'bought'?",
        ),
        ({"kind": "progress", "milestone": "bought", "checker": "before_its_needs"}, "has no constraint; leave it"),
        ({"milestone": "bought"}, "a finding of kind blind_spot has no milestone; leave it out"),
        (
            {"kind": "assertion", "constraint": None, "checker": "must_call: rob_bank"},
            "has no expectation of turn 'buy' 'must_call: rob_bank'",
        ),
    ],
)
def test_kind_and_what_broke_fit_each_other(tmp_path: Path, fields: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        load_entry(changed(tmp_path, **fields))
    assert said in str(refused.value)


def test_an_automatic_turn_is_one_only_where_the_script_answers(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no turn 'auto1'"):
        load_entry(changed(tmp_path, turn_id="auto1"))
    script = scenario_to_data(kit.scenario(answers=({"asks": ("which",), "user": "The near one."},)))
    assert load_entry(changed(tmp_path, turn_id="auto1", scenario=script)).turn_id == "auto1"


@pytest.mark.parametrize("called", [(), ("look", "buy")])
def test_every_expectation_that_can_fail_can_be_an_entry_s(tmp_path: Path, called: tuple[str, ...]) -> None:
    turn = Turn(n=1, id="buy", user="", events=tuple(ToolCall(name) for name in called), state={"bought": []})
    before = {"bought": [40]}
    state = SessionState(turns=(turn,), environment=turn.state, before=before)
    failed = [failure.expectation for failure in assertions(turn, state, [ASKS], kit.registry()).failures]
    assert len(failed) >= 3
    script = scenario_to_data(kit.scenario(assertions=(ASKS.model_dump(exclude_none=True),)))
    for expectation in failed:
        fields = {"kind": "assertion", "constraint": None, "checker": expectation, "scenario": script}
        assert load_entry(changed(tmp_path, **fields)).checker == expectation


def test_a_rubric_edited_by_hand_is_refused(tmp_path: Path) -> None:
    assert f"rubric_digest: {kit.RUBRIC.digest}" in saved(tmp_path, entry())
    with pytest.raises(InputError, match=r":\d+:1: the rubric was edited by hand: its digest is "):
        load_entry(edited(tmp_path, "'4': good", "'4': anything"))


def test_an_entry_without_a_digest_of_its_rubric_is_read(tmp_path: Path) -> None:
    assert load_entry(changed(tmp_path, rubric_digest=None)).rubric_digest is None


def test_a_rubric_without_all_anchors_is_refused(tmp_path: Path) -> None:
    rubric = kit.RUBRIC.model_dump(by_alias=True)
    scale = {key: anchor for key, anchor in kit.RUBRIC.scale.items() if key != "3"}
    with pytest.raises(InputError, match="'scale' has the anchors 4, 2, 1, 0; exactly 0, 1, 2, 3, 4"):
        load_entry(changed(tmp_path, rubric=rubric | {"scale": scale}, rubric_digest=None))


def test_half_a_surrogate_pair_is_replaced_and_counted(tmp_path: Path) -> None:
    records = ({"judge": {"agent": {"score": 4, "reason": "\udfff"}}},)
    once = save_entry(entry(detail="said \ud83d and \ud83d", records=records), tmp_path)
    read = load_entry(once)
    assert read.detail == "said \ufffd and \ufffd"
    assert read.replaced_characters == 3
    assert saved(tmp_path / "again", read) == once.read_text(encoding="utf-8")
    assert "replaced_characters" not in saved(tmp_path / "whole", entry())


def test_an_entry_that_cannot_be_written_says_where(tmp_path: Path) -> None:
    (tmp_path / "corpus").write_text("a file")
    with pytest.raises(InputError, match="cannot be written"):
        save_entry(entry(), tmp_path / "corpus")
