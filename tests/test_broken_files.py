"""Broken files: what a user with a mistake in a file is told, word for word. The files are in tests/broken/.

`<name>.expected` beside `<name>.yaml` (json, lock, toml) holds every line that is printed for it, and nothing more.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest
import yaml

from fuzzturn.check import check_scenario
from fuzzturn.corpus import load_entry
from fuzzturn.document import reading
from fuzzturn.errors import InputError
from fuzzturn.project import find_project
from fuzzturn.project.content import pieces
from fuzzturn.registry import Registry
from fuzzturn.rubric_file import LOCK, load_lock, load_rubric, verify

BROKEN = Path(__file__).parent / "broken"
FILES = sorted(f for f in BROKEN.glob("*/*") if f.suffix in (".yaml", ".json", ".lock", ".toml") and f.name != LOCK)


@cache
def _registry() -> Registry:
    return Registry(pieces(BROKEN, "world"))


def _scenario(file: Path) -> list[str]:
    checked = check_scenario(file, _registry())
    return [str(problem) for problem in checked.errors] + [f"warning: {problem}" for problem in checked.warnings]


def _refused(read: Callable[[], object]) -> list[str]:
    with pytest.raises(InputError) as caught:
        read()
    return str(caught.value).splitlines()


def _config(file: Path, folder: Path) -> list[str]:
    """Settings have a name of their own, so the file is read as a copy that has it."""
    shutil.copy(file, folder / "fuzzturn.toml")
    said = _refused(lambda: find_project(folder))
    return [line.replace(str(folder / "fuzzturn.toml"), f"config/{file.name}") for line in said]


_READERS: Mapping[str, Callable[[Path], list[str]]] = {
    "scenario": _scenario,
    "corpus": lambda file: _refused(lambda: load_entry(file)),
    "rubric": lambda file: _refused(lambda: verify(load_rubric(file), load_lock(file.parent / LOCK))),
    "lock": lambda file: _refused(lambda: load_lock(file)),
}


def said_of(file: Path, folder: Path) -> list[str]:
    """What is printed for a file, with paths from tests/broken; `folder` = an empty one."""
    kind = file.parent.name
    said = _config(file, folder) if kind == "config" else _READERS[kind](file)
    return [line.replace(f"{BROKEN}/", "") for line in said]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_a_broken_file_is_answered_with_exactly_these_words(file: Path, tmp_path: Path) -> None:
    expected = file.with_suffix(".expected").read_text(encoding="utf-8").splitlines()
    assert said_of(file, tmp_path) == expected


def test_every_expectation_has_its_file() -> None:
    assert {f.with_suffix("") for f in BROKEN.glob("*/*.expected")} == {f.with_suffix("") for f in FILES}
    assert len(FILES) > 40


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_every_message_says_where(file: Path) -> None:
    for line in file.with_suffix(".expected").read_text(encoding="utf-8").splitlines():
        assert line.removeprefix("warning: ").startswith((f"{file.parent.name}/{file.name}:", "the rubric "))


@pytest.mark.parametrize("file", [f for f in FILES if f.parent.name == "scenario"], ids=lambda file: file.name)
def test_without_libyaml_the_words_are_the_same(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_PARSER", yaml.SafeLoader)
    assert said_of(file, tmp_path) == file.with_suffix(".expected").read_text(encoding="utf-8").splitlines()
