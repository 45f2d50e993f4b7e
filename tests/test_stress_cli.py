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
    assert "is so for every judge, whatever the agent saw" in " ".join(said.split())
    assert "is not known" not in said
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


ENDING = """
import os
import signal

from fuzzturn.errors import Halted
from fuzzturn.ports import Verdict


class interrupted:
    def __init__(self):
        self.asked = 0

    def score(self, prompt):
        self.asked += 1
        if self.asked >= 40:
            self.end()
        return Verdict(0 if "610" in prompt.turn and "450" in prompt.text else 4)

    def end(self):
        if self.asked == 40:
            os.kill(os.getpid(), signal.SIGINT)


class gone(interrupted):
    def end(self):
        raise Halted("refused", "the server is gone")
"""


@pytest.mark.parametrize("judge, code, why", [("interrupted", 130, "interrupted"), ("gone", 3, "the server is gone")])
def test_what_was_answered_before_it_ended_is_told_and_kept(
    folder: Path, capsys: pytest.CaptureFixture[str], judge: str, code: int, why: str
) -> None:
    (folder / "ending.py").write_text(ENDING)
    ended, told = stressed(f"ending.py:{judge}", "lisbon_offsite")
    assert ended == code
    said = capsys.readouterr()
    assert said.out.startswith(told["stopped"][:20])
    assert re.fullmatch(rf"Stopped after \d+ of \d+ answers: {why}", told["stopped"])
    assert why in said.err
    given = [answer["score"] for answer in told["answers"]]
    assert 18 < len(given) < 60
    assert told["arms"]["default"]["scored"] == 18
    assert told["overall"]["scored"] == len([score for score in given if score is not None])


def test_what_ends_it_before_the_first_answer_leaves_nothing_to_tell(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "ending.py").write_text(ENDING.replace(">= 40", ">= 1"))
    assert run(["stress", "lisbon_offsite", "--judge", "ending.py:gone", "--json", "out.json"]) == 3
    assert capsys.readouterr().out == ""
    assert not (folder / "out.json").exists()


def test_people_label_the_items_of_a_dry_run_without_a_hint(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stress", "lisbon_offsite", "--dry-run", "--json", "items.json"]) == 0
    sheet = json.loads((folder / "items.json").read_text())
    assert len(sheet["items"]) == 18
    assert [one["item"] for one in sheet["items"]] == sorted(sheet["ids"])
    assert not any(word in one["item"] for one in sheet["items"] for word in ("violating", "legal"))
    rows = [f"{code},{id.rpartition('.')[2]}" for code, id in sheet["ids"].items()]
    (folder / "people.csv").write_text("\n".join(["item,label", *rows[:-1]]))
    capsys.readouterr()
    assert run(["stress", "lisbon_offsite", "--dry-run", "--labels", "people.csv"]) == 0
    assert "people labelled 17 items of 18" in capsys.readouterr().out
    _, told = stressed("reference", "lisbon_offsite", "--arms", "single", "--labels", "people.csv")
    assert (told["labels"]["labelled"], told["labels"]["checkers_kappa"]) == (17, 1.0)


def test_a_dry_run_looks_at_the_labels_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "people.csv").write_text("item,label\nnobody,legal\n")
    assert run(["stress", "lisbon_offsite", "--dry-run", "--labels", "people.csv"]) == 2
    assert "people.csv:2" in capsys.readouterr().err


def test_every_arm_is_held_against_the_default_item_by_item(folder: Path) -> None:
    _, told = stressed("reference", "lisbon_changes", "--arms", "window,block")
    beside = [found["second"] for found in told["beside_default"]]
    assert beside == [arm for arm in told["arms"] if arm != "default"]
    assert {found["second"] for found in told["compared"]} < set(beside)


BROKEN = """
from fuzzturn.ports import Verdict


class Mute(Exception):
    def __str__(self):
        raise ValueError("no words")


class mute:
    def score(self, prompt):
        raise Mute


class nobody:
    @property
    def identity(self):
        raise OSError("no model")

    def score(self, prompt):
        return Verdict(4)


class numbers:
    def score(self, prompt):
        return Verdict(4, quotes=(1, None))


def nothing():
    return None
"""


def test_a_judge_whose_exception_has_no_text_gives_no_score(folder: Path) -> None:
    (folder / "broken.py").write_text(BROKEN)
    _, told = stressed("broken.py:mute", "lisbon_offsite", "--arms", "single")
    assert told["overall"]["scored"] == 0 < told["overall"]["unscored"]["error"]
    assert "the judge raised Mute: Mute, whose text cannot be read (broken.py:" in told["answers"][0]["reason"]


@pytest.mark.parametrize(
    "judge, why",
    [
        ("nobody", "the identity of nobody raised OSError: no model"),
        ("nothing", "the build of judge broken:nothing returned None, which has no score(prompt)"),
        ("numbers", "quotes"),
    ],
)
def test_a_judge_that_is_none_is_told_so(
    folder: Path, capsys: pytest.CaptureFixture[str], judge: str, why: str
) -> None:
    (folder / "broken.py").write_text(BROKEN)
    assert run(["stress", "lisbon_offsite", "--judge", f"broken.py:{judge}"]) == 2
    assert why in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--judge", "--agent"])
def test_a_file_without_the_name_of_a_function_is_told_what_is_missing(
    folder: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    (folder / "broken.py").write_text(BROKEN)
    assert run(["run", "lisbon_offsite", option, "broken.py"]) == 2
    assert "'broken.py' names a file and no function; broken.py:build or another name" in capsys.readouterr().err


def test_without_a_judge_there_is_nothing_to_stress(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["stress", "--judge", "none"]) == 2
    assert "the judge that is to be stressed" in capsys.readouterr().err
