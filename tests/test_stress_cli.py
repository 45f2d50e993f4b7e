"""`fuzzturn stress`, with judges as users would write them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fuzzturn.cli import run

NOTING = """
from fuzzturn.ports import Verdict


class noting:
    def score(self, prompt):
        with open("calls.txt", "a") as file:
            file.write("asked\\n")
        return Verdict(0 if "610" in prompt.turn and "450" in prompt.text else 4)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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


def test_it_says_beforehand_what_it_asks_and_asks_each_text_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "noting.py").write_text(NOTING)
    words = ["stress", "lisbon_offsite", "--agent-option", "compaction=none", "--judge", "noting.py:noting",
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
    assert run(["stress", "lisbon_offsite", "--search", "--out", ".", "--json", "gaps.json"]) == 1
    said = capsys.readouterr().out
    assert "BLOCK GAP" in said
    kept = sorted((folder / "corpus").rglob("*.yaml"))
    assert kept
    assert len(json.loads((folder / "gaps.json").read_text())["findings"]) == len(kept)
    run(["replay", str(kept[0])])
    assert "FAILING" in capsys.readouterr().out


FLAKY = """
import asyncio

from fuzzturn.ports import Verdict


class flaky:
    def __init__(self):
        self.seen = set()

    async def score(self, prompt):
        await asyncio.sleep(0)
        if prompt.text not in self.seen and len(prompt.text) % 3 == 0:
            self.seen.add(prompt.text)
            raise OSError("429")
        return Verdict(0 if "610" in prompt.turn and "450" in prompt.text else 4)


class careless:
    def score(self, prompt):
        return 4
"""


def test_a_judge_that_fails_now_and_then_comes_out_the_same_for_any_workers(folder: Path) -> None:
    (folder / "flaky.py").write_text(FLAKY)
    one, eight = (stressed("flaky.py:flaky", "lisbon_offsite", "--workers", n) for n in ("1", "8"))
    assert one == eight
    assert one[1]["overall"]["unscored"]["error"] > 0


def test_a_judge_that_gives_no_verdict_is_told_what_it_returns(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "flaky.py").write_text(FLAKY)
    assert run(["stress", "lisbon_offsite", "--judge", "flaky.py:careless"]) == 2
    assert "returned 4; it returns a Verdict" in capsys.readouterr().err


def test_without_a_judge_there_is_nothing_to_stress(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stress", "--judge", "none"]) == 2
    assert "the judge that is to be stressed" in capsys.readouterr().err
