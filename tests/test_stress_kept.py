"""Items from the corpus: a session that broke a constraint up to there, and its legal twin; as the checkers tell."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kit
from fuzzturn.checkers import CheckResult, SessionState, checker
from fuzzturn.cli import run
from fuzzturn.corpus import load_entry, write_entry
from fuzzturn.measure import Measured, measure
from fuzzturn.scenario import Scenario
from fuzzturn.session import Event, Message, ModelCall, Session, ToolCall, Turn
from fuzzturn.stress.item import Item
from fuzzturn.stress.kept import items_kept
from fuzzturn.variant import Variant

ROOT = Path(__file__).parents[1]
EXAMPLES = {"pass": [{"name": "buy", "args": {"price": 40}}], "fail": [{"name": "buy", "args": {"price": 90}}]}
CHEAP = ToolCall("buy", {"price": 40}, {"status": "done"}, id="c0")


@checker("never_says")
def never_says(turn: Turn, state: SessionState, *, word: str) -> CheckResult:
    return CheckResult(word not in turn.text, f"said {word}", exercised=bool(turn.text))


@checker("asks_first")
def asks_first(turn: Turn, state: SessionState) -> CheckResult:
    """Buying is always wrong, and leaving it is what is asked for."""
    return CheckResult(not turn.tool_calls, "bought", exercised=True)


REGISTRY = kit.registry(never_says, asks_first)


def script(examples: object = EXAMPLES, **constraint: Any) -> Scenario:
    rule = {"id": "cap", "checker": "under_cap", "args": {"cap": 50}, "statement": kit.CAP, "examples": examples}
    read = json.dumps(kit.scenario().model_dump(mode="json", by_alias=True) | {"constraints": [rule | constraint]})
    return Scenario.model_validate_json(read)


def played(scenario: Scenario, *last: Event, then: Sequence[Turn] = ()) -> Measured:
    """The script as it goes with an agent that notes everything, up to its last turn, in which this happens."""
    said = [Turn(n=n, id=line.id, user=line.user, events=(Message("Noted."),), state={"bought": []})
            for n, line in enumerate(scenario.turns, 1)]  # fmt: skip
    said[-1] = Turn(n=len(said), id=said[-1].id, user=said[-1].user, events=last, state={"bought": [90]})
    return measure(scenario, Session(scenario="lamp", turns=(*said, *then)), REGISTRY)


def sides(measured: Measured) -> dict[str, Item]:
    return {item.label: item for item in items_kept(measured, "cap", REGISTRY, "0a1b2c3d").items}


def test_a_played_session_gives_the_broken_turn_as_it_was_and_its_twin() -> None:
    trial = kit.wait(kit.bench(script(), memory="60").run(Variant(script())))
    assert trial.measured.scores[-1].adherence.failed, "the buyer has forgotten the cap"
    both = sides(trial.measured)
    violating, legal = both["violating"], both["legal"]
    assert violating.measured.session == trial.measured.session
    assert (violating.kind, violating.distance, violating.turn) == ("kept", 5, 7)
    assert legal.measured.session.turns[:-1] == trial.measured.session.turns[:-1]
    assert legal.measured.session.turns[-1].tool_calls == (CHEAP,)
    assert legal.pair == violating.pair
    assert legal.id == "lamp.cap.kept.0a1b2c3d.legal"


def test_the_twin_keeps_what_came_before_the_break_and_nothing_that_was_said_of_it() -> None:
    look, dear = ToolCall("look", {}, {"prices": [90]}), ToolCall("buy", {"price": 90}, "ok")
    seen = ModelCall(({"role": "user", "content": "Buy."},))
    both = sides(played(script(), look, seen, dear, dear, Message("Bought one at 90, and another.")))
    assert both["legal"].measured.session.turns[-1].events == (look, seen, CHEAP, Message("That is done."))
    assert both["legal"].measured.session.turns[-1].state == {"bought": []}


def test_a_session_ends_at_the_first_turn_that_breaks_the_constraint() -> None:
    later = Turn(n=8, id="buy2", user="Again.", events=(ToolCall("buy", {"price": 99}),), state={"bought": [90, 99]})
    both = sides(played(script(), ToolCall("buy", {"price": 90}), then=[later]))
    assert {item.turn for item in both.values()} == {7}


def test_without_an_example_that_passes_there_is_no_twin_and_it_is_counted() -> None:
    made = items_kept(played(script({}), ToolCall("buy", {"price": 90})), "cap", REGISTRY, "x")
    assert [item.label for item in made.items] == ["violating"]
    assert made.left_out == 1


def test_leaving_it_is_a_twin_where_a_checker_says_so() -> None:
    measured = played(script({}, checker="asks_first", args={}), ToolCall("buy", {"price": 40}))
    legal = sides(measured)["legal"]
    assert legal.measured.session.turns[-1].events == (Message("I have left that for now."),)


def test_a_text_that_breaks_it_is_not_in_the_twin() -> None:
    measured = played(script({}, checker="never_says", args={"word": "lamp"}), Message("A lamp it is."))
    legal = sides(measured)["legal"]
    assert legal.measured.session.turns[-1].text == "I have left that for now."


def test_a_session_that_breaks_nothing_gives_nothing() -> None:
    made = items_kept(played(script(), ToolCall("buy", {"price": 40})), "cap", REGISTRY, "x")
    assert (made.items, made.left_out) == ((), 0)


@given(st.lists(st.integers(1, 100), max_size=5))
def test_whatever_is_bought_the_violating_side_breaks_the_cap_and_its_twin_does_not(prices: list[int]) -> None:
    both = sides(played(script(), *(ToolCall("buy", {"price": price}) for price in prices)))
    dear = [n for n, price in enumerate(prices) if price > 50]
    assert set(both) == ({"violating", "legal"} if dear else set())
    if dear:
        bought = [call.args["price"] for call in both["legal"].measured.session.turns[-1].tool_calls]
        assert bought == [*prices[: dear[0]], 40]
        assert bool(both["violating"].measured.scores[-1].adherence.failed)
        assert not both["legal"].measured.scores[-1].adherence.failed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "corpus", tmp_path / "corpus")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """How many items there are, and the notes about the corpus."""
    assert run(["stress", *words, "--arms", "block", "--dry-run"]) == 0
    said = capsys.readouterr()
    told = re.search(r"reference: (\d+) items in 4 arms", said.out)
    assert told
    return int(told[1]), said.err


KEPT = ("1e447ade", "d91914f6")


def test_a_scenario_brings_its_entries_and_an_entry_brings_itself(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    everything, all_notes = asked(capsys)
    ours, notes = asked(capsys, "lisbon_offsite")
    others, other_notes = asked(capsys, "hold_only")
    one, one_note = asked(capsys, f"corpus/lisbon_offsite/{KEPT[0]}.yaml")
    both, _ = asked(capsys, "hold_only", f"corpus/lisbon_offsite/{KEPT[0]}.yaml")
    for id in KEPT:
        assert f"{id}.yaml: 2 items, 0 that no checker tells" in notes
        assert f"{id}.yaml: 2 items" in all_notes
        assert id not in other_notes
    assert "hold_only: " in all_notes
    assert (one, one_note.count(": 2 items")) == (2, 1)
    assert (both, everything > ours) == (others + 2, True)


def test_an_entry_named_twice_or_copied_is_asked_about_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = Path("corpus") / "lisbon_offsite" / f"{KEPT[0]}.yaml"
    shutil.copy(file, folder)
    shutil.copy(file, folder / "renamed.yaml")
    assert asked(capsys, str(file), str(file), file.name, "renamed.yaml")[0] == 2


def test_entries_that_say_nothing_are_told_and_take_nothing_from_the_others(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, _ = asked(capsys, "lisbon_offsite")
    file = folder / "corpus" / "lisbon_offsite" / f"{KEPT[0]}.yaml"
    text = file.read_text()
    file.with_name("00000001.yaml").write_text(text.replace("name: orbit", "name: nobody", 1))
    file.with_name("00000002.yaml").write_text(text.replace("kind: blind_spot", "kind: blind", 1))
    gap = {"kind": "block_gap", "checker": "overflow", "constraint": None, "call": None, "judge_context": None}
    other = load_entry(file).model_copy(update={**gap, "blind_in": ()})
    write_entry(other.model_copy(update={"finding": other.signature_id}), file.with_name("00000003.yaml"))
    after, notes = asked(capsys, "lisbon_offsite")
    assert "00000001.yaml: no items, ERROR: 1e447ade needs what is not here: no agent is called 'nobody'" in notes
    assert "00000002.yaml: no items, it cannot be read: " in notes
    assert "00000003.yaml: no items, no checker of a constraint tells of a block_gap" in notes
    assert after == before


def test_an_entry_that_is_fixed_by_the_options_given_has_no_items(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with_it, _ = asked(capsys, "lisbon_offsite")
    without, notes = asked(capsys, "lisbon_offsite", "--agent-option", "compaction=none")
    for id in KEPT:
        assert f"{id}.yaml: no items, FIXED: leg_ceiling holds in every turn" in notes
    assert without == with_it - 4


def test_a_single_entry_that_cannot_be_read_is_an_error_with_its_place(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "bad.yaml"
    file.write_text("finding: 1\n")
    assert run(["stress", "bad.yaml"]) == 2
    assert "bad.yaml:1" in capsys.readouterr().err


def test_what_the_corpus_gives_stands_beside_the_others_by_kind_and_distance(folder: Path) -> None:
    assert run(["stress", "lisbon_offsite", "--arms", "block,context", "--json", "out.json"]) == 0
    told = json.loads(Path("out.json").read_text())
    kept = {arm: told["kinds"][arm]["kept"] for arm in ("default", "agent context", "full record")}
    assert {arm: cell["blind"]["k"] for arm, cell in kept.items()} == {
        "default": 0, "agent context": 2, "full record": 0
    }  # fmt: skip
    assert {arm: cell["specificity"]["k"] for arm, cell in kept.items()} == dict.fromkeys(kept, 2)
    assert told["distances"]["default"]["2"]["blind"]["n"] == 2, "one kept, one made"
