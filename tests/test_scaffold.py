"""A new project on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzturn.errors import InputError
from fuzzturn.project import find_project
from fuzzturn.scaffold import init


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_new_project_holds_the_starters_content_and_an_empty_corpus(tmp_path: Path) -> None:
    written = init(tmp_path / "new")
    tree = _tree(tmp_path / "new")
    assert sorted(tree) == sorted(str(path.relative_to(tmp_path / "new")) for path in written)
    assert {"fuzzturn.toml", ".gitignore", "corpus/.gitkeep", "rubrics/rubrics.lock"} <= set(tree)
    assert {name.split("/")[0] for name in tree if "/" in name} == {"corpus", "rubrics", "scenarios", "strategies"}
    assert tree[".gitignore"] == b".fuzzturn/\n"
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
