"""Adding a run: what a run of fuzz found goes into the corpus as if it were found again, once."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from fuzzturn.cli import run
from fuzzturn.corpus import ENTRIES, amend, count_in, counted_in, entry_files, load_entry
from fuzzturn.errors import InputError
from fuzzturn.records import Run

ROOT = Path(__file__).parent.parent
SHORT, LONG = "1e447ade", "d91914f6"


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run of fuzz that found two things, in a folder that is the current one; the corpus is empty."""
    monkeypatch.chdir(tmp_path)
    made = Run.create(tmp_path, "fuzz")
    made.append("sessions", {})
    shutil.copytree(ROOT / "corpus", made.folder / ENTRIES)
    made.close({})
    return made


def at(name: str) -> Path:
    return Path("corpus") / "lisbon_offsite" / f"{name}.yaml"


def add(capsys: Any, *words: str, code: int = 0) -> list[str]:
    capsys.readouterr()
    assert run(["corpus", "add", *words]) == code
    return "".join(capsys.readouterr()).splitlines()


@pytest.mark.parametrize("by", ["id", "folder", "folder from here"])
def test_a_run_is_added_by_its_id_or_its_folder(found: Run, capsys: Any, by: str) -> None:
    name = {"id": found.id, "folder": str(found.folder), "folder from here": f".fuzzturn/runs/{found.id}"}[by]
    lines = add(capsys, name)
    assert [line.partition(": ")[2] for line in lines] == [f"new -> {at(id)}" for id in (SHORT, LONG)]
    assert at(SHORT).read_bytes() == (ROOT / at(SHORT)).read_bytes()


def test_what_is_known_is_counted_once_a_run(found: Run, capsys: Any) -> None:
    add(capsys, str(found.folder / ENTRIES / "lisbon_offsite" / f"{SHORT}.yaml"))
    assert f": known, seen 2 times -> {at(SHORT)}" in add(capsys, found.id)[0]
    assert [load_entry(at(id)).seen for id in (SHORT, LONG)] == [2, 1]
    before = at(SHORT).read_bytes()
    assert [": known, nothing is new -> " in line for line in add(capsys, found.id)] == [True, True]
    assert at(SHORT).read_bytes() == before


def test_a_run_that_was_counted_elsewhere_counts_here(found: Run, tmp_path: Path, capsys: Any) -> None:
    """As with --out, or where the run comes from another machine."""
    count_in(found.folder, tmp_path / "out" / "corpus")
    add(capsys, found.id)
    shutil.copytree(found.folder, again := tmp_path / "downloads" / found.id)
    assert ": known, seen 2 times -> " in add(capsys, str(again))[0]


def test_what_is_marked_fixed_stays_and_is_told_of(found: Run, capsys: Any) -> None:
    shutil.copytree(ROOT / "corpus", "corpus")
    amend(at(SHORT), "status", "fixed")
    guard = at(SHORT).read_bytes()
    lines = add(capsys, found.id)
    assert lines[0].endswith(f": new -> {at(f'{SHORT}-again')}")
    assert lines[1] == f"    {at(SHORT)} is marked fixed and stays as it is"
    assert at(SHORT).read_bytes() == guard


def test_one_bad_entry_keeps_no_other_out_and_the_run_counts_when_it_is_mended(found: Run, capsys: Any) -> None:
    (file := found.folder / ENTRIES / "lisbon_offsite" / f"{SHORT}.yaml").write_text("schema: [")
    lines = add(capsys, found.id, code=2)
    assert any(f"{file}:1:9: not YAML" in line for line in lines)
    assert entry_files(Path("corpus")) == [at(LONG)]
    assert not counted_in(found.folder, Path("corpus"))


def test_a_run_that_found_nothing_is_no_mistake(found: Run, capsys: Any) -> None:
    shutil.rmtree(found.folder / ENTRIES)
    assert add(capsys, found.id) == [f"{found.id}: there is no corpus file in it"]
    assert not Path("corpus").exists()


def test_a_run_that_is_none_is_named_with_those_that_are(found: Run, capsys: Any) -> None:
    (line,) = add(capsys, "fuzz-0002", code=2)
    told = "there is no such file or folder, nor a run of that name; did you mean 'fuzz-0001'? (known: fuzz-0001)"
    assert line == f"fuzz-0002: {told}"
    assert "nor a run of that name" in add(capsys, "../runs/fuzz-0001", code=2)[0]


def test_a_run_s_folder_that_cannot_be_written_to_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "counted.txt").mkdir()
    with pytest.raises(InputError, match=r"counted\.txt: cannot be written: Is a directory"):
        count_in(tmp_path, tmp_path / "corpus")


def test_a_run_of_fuzz_holds_what_it_found_and_its_own_corpus_has_counted_it(found: Run, capsys: Any) -> None:
    words = ["--seed", "7", "--budget-sessions", "1", "--judge-context", "agent", "--out", "nightly"]
    assert run(["fuzz", "lisbon_offsite", *words]) == 1
    folder = Path("nightly") / ".fuzzturn" / "runs" / "fuzz-0001"
    kept, held = (entry_files(home) for home in (Path("nightly") / "corpus", folder / ENTRIES))
    assert [path.read_bytes() for path in held] == [path.read_bytes() for path in kept] != []
    assert counted_in(folder, Path("nightly") / "corpus")
    assert not counted_in(folder, Path("corpus"))
    assert all(": new -> corpus/" in line for line in add(capsys, str(folder)))
    assert [path.read_bytes() for path in entry_files(Path("corpus"))] == [path.read_bytes() for path in held]
