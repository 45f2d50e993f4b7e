"""Origins: an entry that was found in another version of its scenario says so, wherever it is looked at."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import kit
from entries import entry
from fuzzturn.cli import run
from fuzzturn.corpus import load_entry, script_digest, write_entry
from fuzzturn.replay import SCRIPT, Replayed, changes_told
from fuzzturn.report import Names
from fuzzturn.retold import entry_block

ROOT = Path(__file__).parent.parent
ID = "1e447ade"
CHANGED = "scenario lisbon_offsite has changed since (the entry replays its own copy)"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the Lisbon scenario and one finding in it, kept when the scenario was as it is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "fuzzturn.toml").touch()
    shutil.copytree(
        ROOT / "scenarios" / "orbit", tmp_path / "scenarios" / "orbit", ignore=shutil.ignore_patterns("__*")
    )
    (file := tmp_path / "corpus" / "lisbon_offsite" / f"{ID}.yaml").parent.mkdir(parents=True)
    shutil.copy(ROOT / "corpus" / "lisbon_offsite" / f"{ID}.yaml", file)
    return tmp_path


def edit(project: Path, old: str, new: str) -> None:
    path = project / "scenarios" / "orbit" / "lisbon_offsite.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def said(capsys: Any, *words: str) -> str:
    capsys.readouterr()
    run([*words])
    out: str = capsys.readouterr().out
    return out


def everywhere(capsys: Any) -> list[bool]:
    """Whether it is said by replay, corpus list and corpus show."""
    commands = (["replay", ID], ["corpus", "list"], ["corpus", "show", ID])
    return [CHANGED in said(capsys, *words) for words in commands]


def test_a_scenario_that_says_what_it_said_is_not_mentioned(project: Path, capsys: Any) -> None:
    assert everywhere(capsys) == [False] * 3
    edit(project, "\n", "\n# Only a comment.\n")
    assert everywhere(capsys) == [False] * 3


@pytest.mark.parametrize("key", ["user", "title"])
def test_a_scenario_that_says_something_else_is_named_and_the_entry_fails_as_it_did(
    project: Path, capsys: Any, key: str
) -> None:
    edit(project, f"{key}: ", f"{key}: Now ")
    assert everywhere(capsys) == [True] * 3
    out = said(capsys, "replay", ID)
    assert out.startswith("FAILING")
    assert f"\n         note: {CHANGED}\n" in out
    assert f"\n{ID}: {CHANGED}\n" in said(capsys, "corpus", "list", "--json", "l.json")
    assert json.loads(Path("l.json").read_text())["entries"][0]["scenario_changed"] is True


def test_an_entry_that_does_not_say_what_it_came_from_says_nothing(project: Path, capsys: Any) -> None:
    file = project / "corpus" / "lisbon_offsite" / f"{ID}.yaml"
    old = load_entry(file)
    write_entry(
        old.model_copy(update={"provenance": old.provenance.model_copy(update={"scenario_digest": None})}), file
    )
    assert "scenario_digest" not in file.read_text()
    edit(project, "title: ", "title: Now ")
    assert everywhere(capsys) == [False] * 3
    said(capsys, "corpus", "list", "--json", "l.json")
    assert json.loads(Path("l.json").read_text())["entries"][0]["scenario_changed"] is None


@pytest.mark.parametrize("text", ["title: [", "schema: 1\n"])
def test_a_scenario_that_cannot_be_read_is_no_other_one(project: Path, capsys: Any, text: str) -> None:
    (project / "scenarios" / "orbit" / "lisbon_offsite.yaml").write_text(text)
    assert everywhere(capsys) == [False] * 3


def test_a_scenario_that_is_gone_is_no_other_one(project: Path, capsys: Any) -> None:
    file = project / "corpus" / "lisbon_offsite" / f"{ID}.yaml"
    file.write_text(file.read_text().replace("\n  scenario: lisbon_offsite\n  scen", "\n  scenario: elsewhere\n  scen"))
    assert load_entry(file).provenance.scenario == "elsewhere"
    assert "has changed since" not in said(capsys, "replay", str(file)) + said(capsys, "corpus", "list")


def test_what_has_its_default_value_does_not_count() -> None:
    script = kit.scenario()
    assert script_digest(script) == script_digest(script.model_copy(update={"interruptions": ()}))
    assert script_digest(script) != script_digest(script.model_copy(update={"title": "Another lamp"}))


def test_the_block_of_a_test_says_what_has_changed() -> None:
    names = Names(agent="buyer", agent_identity=None, judge="toy", rubric="r")
    changed = ("checker under_cap", f"{SCRIPT}lamp")
    told = Replayed(outcome="CHANGED", detail="nothing was tested", changed=changed)
    block = entry_block(entry(), told, names=names, again="fuzzturn replay x")
    assert "\n  changed since this entry was written: checker under_cap\n" in block
    assert "\n  scenario lamp has changed since (the entry replays its own copy)\n" in block
    assert changes_told(()) == []
