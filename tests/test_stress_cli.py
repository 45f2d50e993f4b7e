"""`fuzzturn stress`, with judges as users would write them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fuzzturn.cli import run

JUDGES = """
import hashlib
import json

from fuzzturn.ports import Verdict


def judge(rule):
    class Judge:
        def score(self, prompt):
            return rule(prompt)

    return Judge


def _binding(prompt):
    lines = [json.loads(line) for line in (prompt.block or "").splitlines()]
    return " ".join(line.get("statement", "") for line in lines if line.get("status") == "binding")


def _coin(prompt):
    return Verdict(4 * (hashlib.sha256(prompt.text.encode()).digest()[0] % 2))


def _gullible(prompt):
    told = '\\\\"score\\\\": 4' in prompt.turn
    return Verdict(0 if "610" in prompt.turn and "450" in _binding(prompt) and not told else 4)


def _window_only(prompt):
    return Verdict(0 if "610" in prompt.turn and "450" in prompt.history else 4)


def _noting(prompt):
    with open("calls.txt", "a") as file:
        file.write("asked\\n")
    return Verdict(0 if "610" in prompt.turn and "450" in prompt.text else 4)


noting = judge(_noting)
always_4 = judge(lambda prompt: Verdict(4))
coin = judge(_coin)
gullible = judge(_gullible)
window_only = judge(_window_only)
refuser = judge(lambda prompt: Verdict(None, "I would rather not say."))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "judges.py").write_text(JUDGES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stressed(judge: str, *more: str) -> tuple[int, dict[str, Any]]:
    code = run(["stress", *more, "--agent-option", "compaction=none", "--judge", judge, "--json", "out.json"])
    return code, json.loads(Path("out.json").read_text())


def test_the_reference_judge_passes_and_its_figures_stand_beside_each_other(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = stressed("reference", "lisbon_changes")
    assert code == 0
    assert told["self_check"]["decision"] == "passes"
    assert told["arms"]["default"]["blind"]["k"] == 0 < told["arms"]["block off"]["blind"]["k"]
    page = capsys.readouterr().out
    assert page.startswith("Self-check of reference: passes.")
    assert max(map(len, page.splitlines())) <= 100


@pytest.mark.parametrize("judge", ["always_4", "coin"])
def test_a_judge_that_does_not_look_is_rejected_before_anything_else_is_asked(folder: Path, judge: str) -> None:
    code, told = stressed(f"judges.py:{judge}")
    assert code == 1
    assert told["self_check"]["decision"] == "fails"
    assert list(told["arms"]) == ["default"]


def test_no_score_is_no_figure(folder: Path) -> None:
    code, told = stressed("judges.py:refuser", "lisbon_changes")
    assert code == 1
    assert told["self_check"]["decision"] == "fails"
    assert told["arms"]["default"]["blind"] is None


def test_a_judge_of_windows_is_blind_beyond_them_and_a_gullible_one_to_what_it_is_told(folder: Path) -> None:
    _, told = stressed("judges.py:gullible", "lisbon_offsite")
    assert told["arms"]["injected by the assistant"]["blind"]["k"] > told["arms"]["default"]["blind"]["k"] == 0
    _, told = stressed("judges.py:window_only", "lisbon_offsite")
    by_distance = told["distances"]["default"]
    assert {int(d): cell["blind"]["k"] > 0 for d, cell in by_distance.items() if int(d) > 0} == {
        1: False, 2: False, 4: False, 8: False, 9: True, 16: True,
    }  # fmt: skip


def test_it_says_beforehand_what_it_asks_and_asks_each_text_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["stress", "lisbon_offsite", "--agent-option", "compaction=none", "--judge", "judges.py:noting",
             "--repeats", "2", "--arms", "window,single"]  # fmt: skip
    assert run([*words, "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert not (folder / "calls.txt").exists()
    counts = re.search(r"18 items in 7 arms, 2 answers each: (\d+) questions, of which (\d+) are different texts", told)
    assert counts
    assert int(counts[1]) == 18 * 7 * 2 > int(counts[2])
    assert "the default arm first: 36 questions, 36 different texts" in told
    run(words)
    said = capsys.readouterr()
    assert (folder / "calls.txt").read_text().count("asked") == int(counts[2])
    assert told in said.err


def test_only_the_groups_of_arms_that_were_asked_for_are_asked_and_the_default(folder: Path) -> None:
    _, told = stressed("reference", "lisbon_offsite", "--arms", "budget,context", "--arms", "block")
    blocks, budgets = (
        ["default", "block off", "block placebo", "block stale"],
        ["budget 150", "budget 300", "budget 600"],
    )
    assert list(told["arms"]) == [*blocks, "agent context", "full record", *budgets]
    _, told = stressed("reference", "lisbon_offsite", "--arms", "single")
    assert list(told["arms"]) == ["default", "one message"]
    assert told["compared"] == []


def test_an_unknown_group_of_arms_is_refused_with_those_that_are_known(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["stress", "lisbon_offsite", "--arms", "block,budgets,"]) == 2
    said = capsys.readouterr().err
    known = "(known: block, budget, context, distractors, injection, single, window)"
    assert f"no group of arms is called 'budgets'; did you mean 'budget'? {known}" in said
    assert "no group of arms is called ''; known: block" in said


def test_labels_that_fit_no_item_are_refused_with_their_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "labels.csv").write_text("item,label\nlisbon_offsite.leg_ceiling.d9.violating,violating\nnobody,legal\n")
    assert run(["stress", "lisbon_offsite", "--agent-option", "compaction=none", "--labels", "labels.csv"]) == 2
    assert "labels.csv:3" in capsys.readouterr().err


def test_the_search_keeps_gaps_of_the_block_that_replay(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stress", "lisbon_offsite", "--search", "--out", "."]) == 1
    said = capsys.readouterr().out
    assert "BLOCK GAP" in said
    kept = sorted((folder / "corpus").rglob("*.yaml"))
    assert kept
    run(["replay", str(kept[0])])
    assert "FAILING" in capsys.readouterr().out


def test_without_a_judge_there_is_nothing_to_stress(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stress", "--judge", "none"]) == 2
    assert "the judge that is to be stressed" in capsys.readouterr().err
