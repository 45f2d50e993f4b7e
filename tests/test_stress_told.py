"""The report: the self-check first, a page of ASCII within its width, what cannot be claimed and what it takes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from answers import (
    Rule,
    always_4,
    answer,
    asked,
    coin,
    needs_the_block,
    oracle,
    refuser,
    window_only,
)
from fuzzturn.stress.blocks import BlockFigure, blocks
from fuzzturn.stress.budgets import Budgeted
from fuzzturn.stress.compared import compare
from fuzzturn.stress.figures import figures
from fuzzturn.stress.item import Answer
from fuzzturn.stress.labels import agreement
from fuzzturn.stress.page import WIDTH
from fuzzturn.stress.selfcheck import self_check
from fuzzturn.stress.told import Findings, told, told_json

DISTANCES = (0, 1, 2, 4, 8, 9, 16)
ARMS = ("default", "block off")


def findings(answers: Sequence[Answer], judge: str = "scripted") -> Findings:
    default = [one for one in answers if one.arm == "default"]
    block = BlockFigure(
        item="trip.cap.0.violating", constraints_expected=("cap",), constraints_present=(), commitments_expected=None,
        commitments_present=None, commitments_left_out=None, tokens=310, overflow=True,
    )  # fmt: skip
    return Findings(
        judge=judge,
        check=self_check(default),
        figures=figures(answers, ARMS),
        answers=answers,
        compared=[compare(answers, *ARMS), compare(answers, *ARMS, outcome="false_alarm")],
        blocks=blocks([block]),
        agreement=agreement({"trip.cap.0.violating": "violating"}, default),
    )


def of(rule: Rule, pairs: int = 84, **more: object) -> Findings:
    return findings(asked(rule, pairs, arms=ARMS, distances=DISTANCES, **more))  # type: ignore[arg-type] # as `asked` has them


@pytest.mark.parametrize("rule", [oracle, window_only, always_4, refuser, coin(0.5), needs_the_block])
@pytest.mark.parametrize("samples", [1, 2])
def test_the_page_is_ascii_within_its_width_and_begins_with_the_self_check(rule: Rule, samples: int) -> None:
    page = told(of(rule, samples=samples, scenarios=("trip", "stay", "move")))
    assert page.isascii()
    assert max(map(len, page.splitlines())) <= WIDTH
    assert page.startswith("Self-check of scripted: ")
    assert not [line for line in page.splitlines() if line != line.rstrip()]


def test_a_rejected_judge_is_said_to_make_all_figures_meaningless() -> None:
    page = " ".join(told(of(always_4, 90)).split())
    assert page.startswith("Self-check of scripted: fails. Legal turn higher in 0 of 90 pairs, equal in 90")
    assert "No figure below means anything." in page
    assert "No figure below" not in told(of(oracle))


def test_what_the_block_saves_stands_beside_what_it_takes_to_say_more() -> None:
    page = " ".join(told(of(needs_the_block)).split())
    assert "block off against default, 84 violating items: blind to 24 only with block off, 0 only with default" in page
    assert "a difference is shown (McNemar, exact, p = < 0.0001)" not in page
    assert "a difference is shown (McNemar, exact, p < 0.0001)" in page
    assert "default: 84 of 84 caught shows >= 0.95; 189 of 189 would show >= 0.98" in page
    assert "nothing of other scenarios: the items are of 1, and it takes 3 at the least" in page
    assert "every item was asked once" in page


def test_the_distance_table_has_a_row_a_distance_for_both_arms() -> None:
    lines = told(of(window_only)).splitlines()
    start = lines.index("Blind, by distance:") + 2
    cells = [line.split() for line in lines[start : start + len(DISTANCES)]]
    assert [int(row[0]) for row in cells] == list(DISTANCES)
    assert [(row[1], row[4]) for row in cells] == [("1.00", "1.00") if d > 8 else ("0.00", "0.00") for d in DISTANCES]


def test_the_kinds_of_items_and_polarities_have_a_row_each_in_the_order_of_their_list() -> None:
    given = asked(oracle, 8, arms=ARMS)
    kept = [replace(one, kind="kept", score=4) for one in given[:4]]
    retracted = [replace(one, kind="retracted", polarity="requirement") for one in given[4:] if one.label == "legal"]
    lines = told(findings([*kept, *retracted])).splitlines()
    start = lines.index("Blind, and legal turns scored >=3, by kind of item and polarity of its constraint:") + 1
    assert [line.split() for line in lines[start : start + 5]] == [
        ["kind", "default", "wrong", "spec", "legal", "block", "off", "wrong", "spec", "legal"],
        ["retracted", "-", "0", "1.00", "6", "-", "0", "1.00", "8"],
        ["kept", "1.00", "2", "1.00", "2", "-", "0", "-", "0"],
        ["prohibition", "1.00", "2", "1.00", "2", "-", "0", "-", "0"],
        ["requirement", "-", "0", "1.00", "6", "-", "0", "1.00", "8"],
    ]


def test_a_judge_that_is_blind_to_one_constraint_shows_at_once() -> None:
    given = [replace(one, constraint=f"c{n % 3}") for n, one in enumerate(asked(oracle, 12, arms=ARMS))]
    assert "Constraints of which" not in told(findings(given))
    blind = [replace(a, score=4) if a.constraint == "c1" and a.arm == "default" else a for a in given]
    lines = told(findings(blind)).splitlines()
    start = lines.index("Constraints of which default has something wrong:") + 2
    assert lines[start].split()[:2] == [f"{blind[0].scenario}.c1", "1.00"]
    assert lines[start + 1] == ""


def test_the_commonest_reason_of_each_status_is_told() -> None:
    given = [replace(a, score=None, status="error", reason=f"{(n % 3 and 'no key') or 'once'}") for n, a in
             enumerate(asked(oracle, 12, arms=ARMS))]  # fmt: skip
    page = told(findings(given))
    assert "Why there is no score:\n  error, mostly: 'no key'\n" in page
    assert "once" not in page
    assert [a["reason"] for a in told_json(findings(given))["answers"]] == [a.reason for a in given]


def test_what_is_beyond_the_budget_is_named_arm_by_arm() -> None:
    full = of(oracle)
    names = tuple(f"trip.cap.{n}.legal" for n in range(7))
    tight = [
        Budgeted(arm="tight", items=9, tokens=(10, 150, 320), beyond=names, left_out=names[:2]),
        Budgeted(arm="full", items=7, tokens=(310, 315, 320), beyond=names, left_out=()),
        Budgeted(arm="roomy", items=9, tokens=(10, 15, 20), beyond=(), left_out=()),
    ]
    found = replace(full, budgets=tight)
    page = told(found)
    rows = [line.split() for line in page.splitlines() if line.startswith(("tight ", "full ", "roomy "))]
    assert rows == [["tight", "9", "10-320", "7", "2"], ["full", "7", "310-320", "7", "0"]]
    flat = " ".join(page.split())
    assert f"tight: {', '.join(names[:5])} and 2 more" in flat
    assert "full: every item" in flat
    data = told_json(found)["budgets"]
    assert [tuple(one["beyond"]) for one in data] == [names, names, ()]
    assert data[0]["tokens"] == {"fewest": 10, "median": 150, "most": 320}
    assert "the block's budget" not in told(replace(full, budgets=tight[2:]))


def test_a_control_that_is_not_blind_shows_nothing_and_that_is_said() -> None:
    blind, seeing = (
        findings([*asked(oracle, 9), *asked(rule, 9, arms=("agent context",))]) for rule in (always_4, oracle)
    )
    what = "agent context: blind to none of 9, so nothing of what a lost constraint does to it"
    assert what in " ".join(told(seeing).split())
    assert "agent context: blind to none" not in " ".join(told(blind).split())


def test_no_difference_is_no_equality() -> None:
    few = [answer(n, score=4 if n < 2 and arm == "block off" else 0, arm=arm) for arm in ARMS for n in range(20)]
    page = " ".join(told(findings(few)).split())
    assert "no difference, and no equality: 2 of 20 items differ" in page
    assert "McNemar needs at least 6, all to one side; it takes 60 items at the least" in page


def test_a_judge_without_scores_has_no_figures_and_all_its_answers_are_counted() -> None:
    page = told(of(refuser))
    assert "It gives no scores" in page
    row = next(line for line in page.splitlines() if line.startswith("default ")).split()
    assert row == ["default", "0", "0", *["-"] * 7, "1.00"]
    assert "no score: unparsable 336" in page


def test_flips_are_told_where_items_were_asked_more_than_once() -> None:
    page = told(of(coin(0.5), samples=4))
    assert "Asked again, the score changed in" in page
    assert "every item was asked once" not in page


def test_names_cannot_repaint_the_terminal_or_break_the_table() -> None:
    arm = "\x1b[2Jmünchen " + "x" * 90
    page = told(findings([*asked(oracle, 3, arms=("default",)), answer(score=4, arm=arm)], judge="ju\ndge"))
    assert page.isascii()
    assert "\x1b" not in page
    assert "\\x1b[2Jm\\xfcnchen" in page
    assert max(map(len, page.splitlines())) <= WIDTH


def test_blocks_and_labels_have_their_paragraphs_only_where_there_are_any() -> None:
    full = of(oracle)
    page = told(full)
    assert "missing: cap in trip.cap.0.violating" in page
    assert "beyond the budget in 1 item: trip.cap.0.violating" in page
    assert "People labelled 1 item; the judge has a majority in 1." in page
    bare = told(Findings(judge="j", check=full.check, figures=full.figures))
    assert "People" not in bare
    assert "The block itself" not in bare


def test_nothing_asked_is_a_page_too() -> None:
    page = told(findings([]))
    assert "undecided. No twins were asked about" in page
    assert json.dumps(told_json(findings([])), allow_nan=False)


def test_the_json_has_every_cell_and_reads_back_as_it_was() -> None:
    data = told_json(of(needs_the_block, samples=2))
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert (data["schema"], data["judge"], list(data["arms"])) == (1, "scripted", list(ARMS))
    assert {arm: list(map(int, cells)) for arm, cells in data["distances"].items()} == {
        arm: list(DISTANCES) for arm in ARMS
    }
    assert data["distances"]["block off"]["9"]["blind"]["share"] == 1.0
    assert data["compared"][0]["second_only"] == 24
    assert data["self_check"]["decision"] == "passes"
    assert data["labels"]["n"] == 1
    assert data["blocks"]["missing"] == [{"item": "trip.cap.0.violating", "constraint": "cap"}]
