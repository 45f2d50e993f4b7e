"""A new project on disk."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzturn.cli import run
from fuzzturn.errors import InputError
from fuzzturn.project import OPTIONS, find_project
from fuzzturn.scaffold import init
from fuzzturn.schemas import schema


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_new_project_holds_the_starters_content_and_an_empty_corpus(tmp_path: Path) -> None:
    written = init(tmp_path / "new")
    tree = _tree(tmp_path / "new")
    assert sorted(tree) == sorted(str(path.relative_to(tmp_path / "new")) for path in written)
    assert {"fuzzturn.toml", ".gitignore", "corpus/.gitkeep", "rubrics/rubrics.lock"} <= set(tree)
    folders = {name.split("/")[0] for name in tree if "/" in name}
    assert folders == {".fuzzturn-schemas", "agents", "corpus", "rubrics", "scenarios", "strategies", "tests"}
    assert tree[".gitignore"] == b".fuzzturn/\n.hypothesis/\n"
    assert not [name for name in tree if "__pycache__" in name]


def test_a_new_project_is_found_and_its_content_loads(tmp_path: Path) -> None:
    init(tmp_path)
    project = find_project(tmp_path)
    assert project.root == tmp_path
    assert dict(project.config) == {}
    piece = project.load_scenarios_content().get("environment", "orbit")
    assert Path(piece.file).is_relative_to(tmp_path)
    assert project.find_rubric().rubric_id == "orbit-turn-quality-v3"


def test_every_setting_that_is_proposed_is_an_option(tmp_path: Path) -> None:
    init(tmp_path)
    settings = tmp_path / "fuzzturn.toml"
    proposed = [line.removeprefix("# ") for line in settings.read_text().splitlines() if " = " in line]
    settings.write_text("\n".join(proposed))
    assert len(find_project(tmp_path).config) == len(proposed) > 5


def test_every_option_is_proposed(tmp_path: Path) -> None:
    init(tmp_path)
    settings = (tmp_path / "fuzzturn.toml").read_text()
    assert [option for option in OPTIONS if f"# {option} = " not in settings and option != "target"] == []


def test_a_scenario_names_its_schema_for_editors(tmp_path: Path) -> None:
    init(tmp_path)
    for file in tmp_path.glob("scenarios/*/*.yaml"):
        first = file.read_text().splitlines()[0]
        path = first.removeprefix("# yaml-language-server: $schema=")
        assert json.loads((file.parent / path).read_text()) == schema("scenario")


def test_the_settings_name_their_schema_for_editors(tmp_path: Path) -> None:
    init(tmp_path)
    first = (tmp_path / "fuzzturn.toml").read_text().splitlines()[0]
    assert json.loads((tmp_path / first.removeprefix("#:schema ")).read_text()) == schema("config")


def test_a_new_project_checks_runs_and_fuzzes_with_the_template_of_an_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["init", "."]) == 0
    assert run(["check"]) == 0
    mine = ["lisbon_offsite", "--agent", "agents/my_agent.py:build"]
    assert run(["run", *mine]) == 0
    assert "goal reached" in capsys.readouterr().out
    assert run(["fuzz", *mine, "--seed", "7", "--budget-sessions", "8"]) == 0
    assert "nothing found in 9 sessions" in capsys.readouterr().out
    forgetful = ["--agent-option", "keep=10", "--seed", "7", "--budget-sessions", "8"]
    assert run(["fuzz", *mine, *forgetful]) == 1
    out = capsys.readouterr().out
    assert "BLIND SPOT" in out
    assert "left it out" in out


def test_the_template_of_a_test_passes_as_it_is_written(tmp_path: Path) -> None:
    init(tmp_path)
    played = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=tmp_path, capture_output=True, text=True
    )
    assert played.returncode == 0, played.stdout + played.stderr
    assert "2 passed" in played.stdout


def test_nothing_is_written_where_anything_would_be_overwritten(tmp_path: Path) -> None:
    (tmp_path / "fuzzturn.toml").write_text("seed = 1\n")
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / ".gitkeep").write_text("")
    before = _tree(tmp_path)
    with pytest.raises(InputError) as caught:
        init(tmp_path)
    assert sorted(Path(problem.file or "").name for problem in caught.value.problems) == [".gitkeep", "fuzzturn.toml"]
    assert _tree(tmp_path) == before


def test_initialising_twice_lists_every_file(tmp_path: Path) -> None:
    written = init(tmp_path)
    with pytest.raises(InputError) as caught:
        init(tmp_path)
    assert len(caught.value.problems) == len(written) - 1  # the .gitignore holds its line by now


def test_a_gitignore_that_has_the_line_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("build/\n.fuzzturn/\n")
    written = init(tmp_path)
    assert tmp_path / ".gitignore" not in written
    assert (tmp_path / ".gitignore").read_text() == "build/\n.fuzzturn/\n"


def test_a_gitignore_without_the_line_is_not_touched_and_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("build/\n")
    with pytest.raises(InputError, match=r"\.gitignore: exists already; add the line \.fuzzturn/ to it yourself"):
        init(tmp_path)


def test_a_file_in_the_place_of_a_folder_is_a_clash(tmp_path: Path) -> None:
    (tmp_path / "strategies").write_text("")
    with pytest.raises(InputError, match="strategies: is a file; a folder of that name"):
        init(tmp_path)
    assert sorted(_tree(tmp_path)) == ["strategies"]


def test_a_folder_that_is_a_project_by_its_pyproject_is_not_made_one_again(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.fuzzturn]\n")
    with pytest.raises(InputError, match="this is a project already"):
        init(tmp_path)
    assert sorted(_tree(tmp_path)) == ["pyproject.toml"]
