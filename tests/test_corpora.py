"""`fuzzturn corpus` and what `fuzz` says of a corpus: what is kept, listed, merged, removed, marked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzturn.cli import run
from fuzzturn.corpus import amend, entry_files, load_entry, write_entry
from fuzzturn.corpus.versions import STEPS

ROOT = Path(__file__).parent.parent
SHORT, LONG = "1e447ade", "d91914f6"


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The kept findings of the worked example in a folder that is the current one and no project."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    shutil.copytree(ROOT / "corpus", tmp_path / "corpus")
    return Path("corpus")


def at(corpus: Path, name: str) -> Path:
    return corpus / "lisbon_offsite" / f"{name}.yaml"


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capsys.readouterr()
    assert run(["corpus", *words]) == code
    out, err = capsys.readouterr()
    return out + err


def changed(file: Path, old: str, new: str, *, to: str | None = None) -> Path:
    text = file.read_text(encoding="utf-8")
    assert old in text
    into = file if to is None else file.with_stem(to)
    into.write_text(text.replace(old, new, 1), encoding="utf-8")
    return into


def test_the_list_has_a_line_for_each_entry_and_json_has_more(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head, *lines = said(capsys, "list", "--json", "l.json").splitlines()
    assert head.split() == ["id", "status", "kind", "constraint", "scenario", "turns", "seen", "rate", "file"]
    assert [line.split() for line in lines] == [
        [id, "open", "blind_spot", "leg_ceiling", "lisbon_offsite", turns, "1", "1/1", str(at(corpus, id))]
        for id, turns in ((SHORT, "4"), (LONG, "10"))
    ]
    listed = json.loads(Path("l.json").read_text())
    assert listed["schema"] == 1
    assert listed["unreadable"] == []
    assert listed["entries"][0]["failing"] == {"k": 1, "n": 1, "low": 0.2065, "high": 1.0}
    assert [entry["finding"] for entry in listed["entries"]] == [SHORT, LONG]


def test_an_empty_corpus_is_no_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                       capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert said(capsys, "list") == "the corpus is empty\n"
    assert said(capsys, "dedupe") == "0 of 0 files merged, 0 look-alikes kept\n"
    assert said(capsys, "prune") == "there is nothing to remove\n"


def test_one_bad_file_keeps_no_other_from_the_list(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at(corpus, LONG).write_text("schema: 1\nfinding: x\n")
    out = said(capsys, "list", "--json", "l.json", code=2)
    assert f"{SHORT}  open" in out
    assert f"{at(corpus, LONG)}:2:10: 'finding' is 'x'" in out
    assert [bad["file"] for bad in json.loads(Path("l.json").read_text())["unreadable"]] == [str(at(corpus, LONG))]


def test_show_tells_an_entry_as_a_finding_is_told(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(capsys, "show", SHORT)
    assert out.startswith(f"BLIND SPOT {SHORT}  lisbon_offsite: leg_ceiling (no_leg_over)\n  turn 4: hold_booking")
    assert "\n    2 S   user  One rule from finance: no leg may cost more than EUR 450.\n" in out
    assert "\n    4 V   user  Please check today's fares again" in out
    assert "\n    adherence    0.00\n    assertions   not scored\n    progress     0.40\n" in out
    assert "\n  The summariser read the statement at turn 4 and left it out.\n" in out
    assert out.endswith(f"see it again: fuzzturn replay {at(corpus, SHORT)}\n")
    assert max(map(len, out.splitlines())) <= 100


def test_show_moves_no_cursor_whatever_an_entry_says(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed(at(corpus, SHORT), "title: ", 'title: "\\e[2J" #')
    changed(at(corpus, SHORT), "detail: '", 'detail: "\\e]52;c;evil\\a \\u202e"\nx-detail: \'')
    out = said(capsys, "show", SHORT)
    assert "\\x1b]52;c;evil\\x07" in out
    assert not [character for character in out if ord(character) < 32 and character != "\n"]


def test_show_an_entry_whose_records_somebody_made_up(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = at(corpus, SHORT)
    text = file.read_text()
    file.write_text(
        text[: text.index("\nrecords:")] + "\nrecords:\n  - {turn: 4, adherence: [1], progress: {value: x}}\n"
    )
    assert "progress     not scored" in said(capsys, "show", SHORT)


def test_mark_edits_one_line_and_a_fixed_entry_that_fails_is_a_regression(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = at(corpus, SHORT)
    before = file.read_bytes()
    assert said(capsys, "mark", SHORT, "--fixed") == f"{file}: fixed\n"
    assert file.read_bytes() == before.replace(b"status: open", b"status: fixed")
    assert run(["replay", SHORT, "--agent-option", "compaction=none"]) == 0
    assert run(["replay", SHORT]) == 1
    assert said(capsys, "mark", SHORT, "--fixed") == f"{file} is marked fixed already\n"
    assert said(capsys, "mark", str(corpus), "--open").splitlines() == [
        f"{file}: open", f"{at(corpus, LONG)} is marked open already",
    ]  # fmt: skip
    assert file.read_bytes() == before
    assert "--fixed or --open" in said(capsys, "mark", SHORT, code=2)
    assert "no corpus entry is called 'nobody'" in said(capsys, "mark", "nobody", "--open", code=2)


def test_dedupe_says_first_and_then_merges_what_says_the_same(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = at(corpus, "found-by-ida")
    shutil.copy(at(corpus, SHORT), copy)
    longer = changed(at(corpus, LONG), "  turns: 10\n", "  turns: 11\n", to="another")
    fixed = changed(at(corpus, SHORT), "status: open", "status: fixed", to=f"{SHORT}-guard")
    plan = said(capsys, "dedupe", "--dry-run")
    assert f"to merge {copy} into {at(corpus, SHORT)}: a copy" in plan
    assert (
        f"to merge {longer} into {at(corpus, LONG)}: the same finding in a session that is not shorter: 11 turns"
        in plan
    )
    assert f"kept {fixed} beside {at(corpus, SHORT)}: the same finding, but fixed and there open" in plan
    assert plan.endswith("2 of 5 files to merge, 1 look-alike kept\n")
    assert len(entry_files(corpus)) == 5
    assert said(capsys, "dedupe").endswith("2 of 5 files merged, 1 look-alike kept\n")
    assert entry_files(corpus) == [at(corpus, name) for name in (f"{SHORT}-guard", SHORT, LONG)]
    assert load_entry(at(corpus, LONG)).seen == 2
    assert at(corpus, SHORT).read_bytes() == (ROOT / at(corpus, SHORT)).read_bytes()
    assert said(capsys, "dedupe").endswith("0 of 3 files merged, 1 look-alike kept\n")


def test_prune_removes_only_what_cannot_be_played_and_only_with_yes(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = changed(at(corpus, SHORT), "check: hotel_held", "check: hotel_hold")
    changed(at(corpus, LONG), "status: open", "status: fixed")
    (broken := at(corpus, "broken")).write_text("schema: 1\n")
    for options in ([], ["--dry-run"], ["--yes", "--dry-run"]):
        out = said(capsys, "prune", *options, code=2)
        assert f"to remove {gone}: no milestone is called 'hotel_hold'; did you mean 'hotel_held'?" in out
        assert "nothing was removed; --yes removes them" in out
        assert f"{broken} stays" in out
        assert len(entry_files(corpus)) == 3
    assert f"removed {gone}: " in said(capsys, "prune", "--yes", code=2)
    assert entry_files(corpus) == [broken, at(corpus, LONG)]
    broken.unlink()
    assert said(capsys, "prune", "--yes") == "there is nothing to remove\n"


def test_add_takes_files_and_folders_from_elsewhere(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.move(corpus, "theirs")
    theirs = Path("theirs")
    assert said(capsys, "add", "theirs").splitlines() == [
        f"{at(theirs, id)}: new -> {at(corpus, id)}" for id in (SHORT, LONG)
    ]
    before = at(corpus, SHORT).read_bytes()
    assert before == at(theirs, SHORT).read_bytes()
    assert "known, nothing is new" in said(capsys, "add", str(at(theirs, SHORT)))
    assert at(corpus, SHORT).read_bytes() == before
    smaller = load_entry(at(theirs, LONG))
    provenance = smaller.provenance.model_copy(update={"turns": 9})
    write_entry(smaller.model_copy(update={"provenance": provenance, "seen": 3}), at(theirs, LONG))
    out = said(capsys, "add", str(at(theirs, LONG)))
    assert f"shorter than before: 9 turns for 10; seen 4 times -> {at(corpus, LONG)}" in out


def test_add_refuses_what_is_not_for_this_project_and_adds_the_rest(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.move(corpus, "theirs")
    alien = changed(at(Path("theirs"), SHORT), "environment: orbit", "environment: os.system")
    out = said(capsys, "add", "theirs", code=2)
    assert f"{alien}:" in out
    assert "no environment is called 'os.system'" in out
    assert [path.stem for path in entry_files(corpus)] == [LONG]
    assert "there is no such file or folder" in said(capsys, "add", "nowhere.yaml", code=2)


def test_add_says_where_a_finding_that_is_marked_fixed_stands(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(corpus, "theirs")
    changed(at(corpus, SHORT), "status: open", "status: fixed")
    changed(at(Path("theirs"), SHORT), "  turns: 4\n", "  turns: 3\n")
    out = said(capsys, "add", str(at(Path("theirs"), SHORT)))
    assert f": new -> {at(corpus, f'{SHORT}-again')}" in out
    assert f"{at(corpus, SHORT)} is marked fixed and stays as it is" in out


def test_migrate_rewrites_older_files_and_says_which(
    corpus: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STEPS, 0, lambda data: data)
    changed(at(corpus, SHORT), "schema: 1", "schema: 0")
    at(corpus, "new").write_text("schema: 2\nfuzzturn: 8.0.0\n")
    refused = f"{at(corpus, SHORT)}:1:9: schema 0 is older than 1, which this fuzzturn reads; fuzzturn corpus migrate"
    assert refused in said(capsys, "list", code=2)
    out = said(capsys, "migrate", str(corpus), code=2)
    assert f"{at(corpus, SHORT)}: migrated from schema 0" in out
    assert f"{at(corpus, LONG)}: is of this version" in out
    assert "fuzzturn '8.0.0' wrote it; a newer fuzzturn reads it" in out
    assert at(corpus, SHORT).read_text().startswith("schema: 1\nfuzzturn: ")
    assert load_entry(at(corpus, SHORT)).finding == SHORT


def test_looking_at_a_corpus_loads_neither_hypothesis_nor_an_agent(corpus: Path) -> None:
    program = (
        "import sys\nfrom fuzzturn.cli import run\n"
        "assert run(['corpus', 'list']) == run(['corpus', 'show', sys.argv[1]]) == 0\n"
        "assert run(['corpus', 'mark', sys.argv[1], '--fixed']) == run(['corpus', 'dedupe']) == 0\n"
        "loaded = {'hypothesis', 'litellm', 'pytest', 'networkx'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, SHORT],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr


# What fuzz says


def fuzz(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[str, list[dict[str, object]]]:
    capsys.readouterr()
    run(["fuzz", "lisbon_offsite", "--seed", "7", "--budget-sessions", "4", "--judge-context", "agent",
         "--target", "blind_spot", "--json", "f.json", *options])  # fmt: skip
    found: list[dict[str, object]] = json.loads(Path("f.json").read_text())["findings"]
    assert found
    return capsys.readouterr().out, found


def test_fuzz_says_new_then_shorter_then_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    out, found = fuzz(capsys)
    file = Path(str(found[0]["corpus_file"]))
    assert (found[0]["known"], found[0]["seen"]) == ("new", 1)
    assert f"  see it again: fuzzturn replay {file}\n  new\n" in out
    turns = load_entry(file).provenance.turns
    pretend(file, turns + 2)
    assert f"\n  shorter than before: {turns} turns for {turns + 2}; seen 2 times\n" in fuzz(capsys)[0]
    assert load_entry(file).provenance.turns == turns
    pretend(file, turns - 1)
    before = file.read_text().splitlines()
    out, found = fuzz(capsys)
    assert f"\n  known, seen 3 times; the file keeps its session of {turns - 1} turns\n" in out
    assert (found[0]["known"], found[0]["seen"]) == ("known", 3)
    assert [line for line in file.read_text().splitlines() if line not in before] == ["seen: 3"]


def pretend(file: Path, turns: int) -> None:
    """Have the file say that its session has so many turns."""
    now = load_entry(file)
    provenance = now.provenance.model_copy(update={"turns": turns})
    write_entry(now.model_copy(update={"provenance": provenance}), file)


def test_fuzz_keeps_findings_of_agents_with_other_options_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _, found = fuzz(capsys)
    file = Path(str(found[0]["corpus_file"]))
    before = file.read_bytes()
    out, again = fuzz(capsys, "--agent-option", "threshold=899")
    assert again[0]["id"] == found[0]["id"]
    assert again[0]["corpus_file"] != found[0]["corpus_file"]
    assert f"\n  new beside one of an agent with other options: threshold=899, there none ({file})\n" in out
    assert file.read_bytes() == before
    assert run(["replay", str(again[0]["corpus_file"])]) == 0


def test_shrink_replaces_a_longer_session_and_keeps_its_history_status_and_count(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = at(corpus, SHORT)
    pretend(file, 6)
    amend(file, "seen", 5)
    assert run(["shrink", SHORT]) == 1
    now = load_entry(file)
    assert "\n  shorter than before: 4 turns for 6\n" in capsys.readouterr().out
    assert (now.provenance.turns, now.seen, now.status) == (4, 5, "open")
    assert [(past.turns, past.tokens) for past in now.history] == [(6, 574)]
