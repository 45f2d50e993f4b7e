"""Finding a project, its settings, its content and what a name means in it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzturn.errors import InputError, UnknownName
from fuzzturn.project import Project, content, find_project, lookup, starter_root
from fuzzturn.rubric_file import freeze

_CHECKERS = """
from fuzzturn.checkers import CheckResult, checker
from .limits import LIMIT

@checker({name!r})
def check(turn, state):
    return CheckResult(True, {detail!r} + LIMIT)
"""
_STRATEGY = """
from fuzzturn.registry import tagger

@tagger('operator', 'drop', effect='preserve')
def drop(scenario):
    return 1
"""
_FROZEN = """
import sys
from dataclasses import dataclass

@dataclass(frozen=True, slots=True)
class A:
    a: 'int'

assert sys.modules[__name__].A is A
"""
_SCENARIO = "schema: 1\nscenario: {name}\n"


def _fill(root: Path, name: str = "mine", detail: str = "own") -> Path:
    """Project content: a domain with a checker and a neighbour it imports, a strategy, a scenario."""
    domain = root / "scenarios" / "travel"
    domain.mkdir(parents=True)
    (domain / "checkers.py").write_text(_CHECKERS.format(name=name, detail=detail))
    (domain / "limits.py").write_text("LIMIT = ' 450'\n")
    (domain / f"{name}_trip.yaml").write_text(_SCENARIO.format(name=f"{name}_trip"))
    (root / "strategies").mkdir()
    (root / "strategies" / "drop.py").write_text(_STRATEGY)
    return root


def _rubric(root: Path, name: str, day: str, *, frozen: bool = True) -> None:
    (root / "rubrics").mkdir(exist_ok=True)
    path = root / "rubrics" / f"{name}.json"
    scale = {str(score): f"level {score}" for score in range(5)}
    path.write_text(json.dumps({"schema": 1, "rubric_id": name, "frozen_on": day, "scale": scale}))
    if frozen:
        freeze(path)


@pytest.fixture
def starter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A starter of the tests' own, so that they do not depend on what is shipped."""
    root = tmp_path / "starter"
    root.mkdir()
    monkeypatch.setattr(lookup, "starter_root", lambda: root)
    return _fill(root, "shipped", "from the starter")


@pytest.fixture
def project(tmp_path: Path, starter: Path) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    return Project(_fill(root))


def test_the_nearest_parent_with_settings_is_the_project(tmp_path: Path) -> None:
    (tmp_path / "fuzzturn.toml").write_text("")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "pyproject.toml").write_text('[tool.fuzzturn]\nagent = "mine.py:build"\n')
    (tmp_path / "inner" / "deep").mkdir()
    found = find_project(tmp_path / "inner" / "deep")
    assert found.root == tmp_path / "inner"
    assert dict(found.config) == {"agent": "mine.py:build"}


def test_a_pyproject_of_somebody_else_is_passed_by(tmp_path: Path) -> None:
    (tmp_path / "fuzzturn.toml").write_text(
        'judge_context = ["full", "agent"]\nbudget_sessions = 0\nseed = -3\nx-y = 1\n'
    )
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "pyproject.toml").write_text("[tool.other]\na = 1\n")
    found = find_project(tmp_path / "inner")
    assert found.root == tmp_path
    assert dict(found.config) == {"judge_context": ("full", "agent"), "budget_sessions": 0, "seed": -3}


def test_where_there_is_no_project_the_starter_answers(starter: Path) -> None:
    assert Project().roots == (starter,)
    assert Project().find_scenario("shipped_trip").parent.parent.parent == starter


def test_a_project_that_is_the_starter_is_asked_once(starter: Path) -> None:
    assert Project(starter).roots == (starter,)
    assert Project(starter).load_scenarios_content().names("checker") == ("shipped",)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("\nseeed = 1\n", r"fuzzturn\.toml:2: the key 'seeed' is no option; did you mean 'seed'\?"),
        ("seed = '1'\n", r"fuzzturn\.toml:1: 'seed' is '1'; accepted: a whole number"),
        ("seed = true\n", r"fuzzturn\.toml:1: 'seed' is True; accepted: a whole number"),
        ("workers = 0\n", r"fuzzturn\.toml:1: 'workers' is 0; accepted: a whole number from 1"),
        ("judge_context = 'full'\n", r"fuzzturn\.toml:1: 'judge_context' is 'full'; accepted: a list of texts"),
        ("seed = \n", r"fuzzturn\.toml:1:8: not TOML"),
    ],
)
def test_settings_that_cannot_be_used_say_where_and_what_is_accepted(tmp_path: Path, settings: str, said: str) -> None:
    (tmp_path / "fuzzturn.toml").write_text(settings)
    with pytest.raises(InputError, match=said):
        find_project(tmp_path)


def test_every_wrong_setting_is_said_at_once_and_only_in_our_table(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.a]\nagnt = 1\n[tool.fuzzturn]\nagnt = 1\nworker = 2\n")
    with pytest.raises(InputError) as caught:
        find_project(tmp_path)
    assert [(problem.line, problem.what) for problem in caught.value.problems] == [
        (4, "the key 'agnt' is no option"),
        (5, "the key 'worker' is no option"),
    ]


def test_two_settings_files_in_one_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "fuzzturn.toml").write_text("")
    (tmp_path / "pyproject.toml").write_text("[tool.fuzzturn]\n")
    with pytest.raises(InputError, match=r"has both .* one of the two"):
        find_project(tmp_path)


def test_content_is_found_in_the_project_and_then_in_the_starter(project: Project) -> None:
    registry = project.load_scenarios_content()
    assert registry.names("checker") == ("mine", "shipped")
    assert registry.get("checker", "mine").function(None, None).detail == "own 450"
    assert registry.get("checker", "shipped").function(None, None).detail == "from the starter 450"


def test_a_projects_own_piece_hides_the_starters(starter: Path, tmp_path: Path) -> None:
    root = tmp_path / "other"
    root.mkdir()
    registry = Project(_fill(root, "shipped", "hides it")).load_scenarios_content()
    assert registry.get("checker", "shipped").function(None, None).detail == "hides it 450"


def test_strategies_are_loaded_by_themselves(project: Project) -> None:
    assert project.load_strategies().get("operator", "drop").tag.option("effect") == "preserve"
    assert project.load_scenarios_content().names("operator") == ()


def test_content_folders_never_become_packages_of_that_name(project: Project) -> None:
    project.load_scenarios_content()
    project.load_strategies()
    names = {piece.function.__module__ for piece in project.load_scenarios_content().of_kind("checker")}
    assert all(name.startswith("_fuzzturn_") and name.endswith(".scenarios.travel.checkers") for name in names)
    assert len(names) == 2
    assert "scenarios.travel" not in sys.modules


def test_the_same_file_is_loaded_once(project: Project) -> None:
    assert project.root is not None
    file = project.root / "scenarios" / "travel" / "limits.py"
    first = content.load_module(project.root, file)
    assert content.load_module(project.root, file.parent / ".." / "travel" / "limits.py") is first
    assert sys.modules[first.__name__] is first


def test_a_folder_that_lies_elsewhere_is_content_as_well(project: Project, tmp_path: Path) -> None:
    assert project.root is not None
    for folder in ("strategies", "scenarios"):
        here, there = project.root / folder, tmp_path / "shared" / folder
        there.parent.mkdir(parents=True, exist_ok=True)
        here.rename(there)
        here.symlink_to(there)
    assert project.load_strategies().names("operator") == ("drop",)
    assert "mine" in project.load_scenarios_content().names("checker")
    check = project.load_callable(f"{project.root}/scenarios/travel/checkers.py:check")
    assert check is project.load_scenarios_content().get("checker", "mine").function


def test_a_module_is_known_to_python_before_it_runs(project: Project) -> None:
    assert project.root is not None
    file = project.root / "scenarios" / "travel" / "frozen.py"
    file.write_text(_FROZEN)
    assert content.load_module(project.root, file).A(1).a == 1


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import math\n\nmath.sqrt(-1)\n", r"broken\.py:3: cannot be loaded: ValueError: math domain error"),
        ("a = 1\ndef f(:\n", r"broken\.py:2: cannot be loaded: SyntaxError"),
        ("from .missing import x\n", r"broken\.py:1: cannot be loaded: ModuleNotFoundError"),
        ("from fuzzturn.checkers import checker\n\nchecker('')\n", r"broken\.py:3: cannot be loaded: InputError"),
    ],
)
def test_a_file_that_fails_names_the_line_and_is_not_kept(project: Project, source: str, said: str) -> None:
    assert project.root is not None
    file = project.root / "scenarios" / "travel" / "broken.py"
    file.write_text(source)
    with pytest.raises(InputError, match=said) as caught:
        project.load_scenarios_content()
    assert isinstance(caught.value.__cause__, Exception)
    assert not [name for name in sys.modules if name.endswith("travel.broken")]


def test_a_failure_in_a_neighbour_names_the_neighbours_line(project: Project) -> None:
    assert project.root is not None
    (project.root / "scenarios" / "travel" / "limits.py").write_text("\n\nLIMIT = 1 / 0\n")
    with pytest.raises(InputError, match=r"limits\.py:3: cannot be loaded: ZeroDivisionError"):
        project.load_scenarios_content()


def test_files_that_begin_with_an_underscore_are_for_their_neighbours_only(project: Project) -> None:
    assert project.root is not None
    (project.root / "scenarios" / "travel" / "_draft.py").write_text("1 / 0\n")
    assert "mine" in project.load_scenarios_content().names("checker")


def test_a_name_with_a_dot_cannot_be_a_module(project: Project) -> None:
    assert project.root is not None
    (project.root / "scenarios" / "travel" / "a.b.py").write_text("")
    with pytest.raises(InputError, match=r"'a\.b' has a dot; a name without dots"):
        project.load_scenarios_content()


def test_a_scenario_is_found_by_path_by_name_and_in_the_starter(project: Project, starter: Path) -> None:
    assert project.root is not None
    own = project.root / "scenarios" / "travel" / "mine_trip.yaml"
    assert project.find_scenario(str(own)) == own
    assert project.find_scenario("mine_trip") == own
    assert project.find_scenario("shipped_trip") == starter / "scenarios" / "travel" / "shipped_trip.yaml"
    assert project.scenario_paths() == (own,)


def test_an_unknown_scenario_is_answered_with_the_closest_match(project: Project) -> None:
    with pytest.raises(UnknownName, match="no scenario is called 'shiped_trip'; did you mean 'shipped_trip'"):
        project.find_scenario("shiped_trip")


def test_two_scenarios_of_one_name_have_to_be_told_apart_by_path(project: Project) -> None:
    assert project.root is not None
    (project.root / "scenarios" / "other").mkdir()
    (project.root / "scenarios" / "other" / "mine_trip.yaml").write_text("")
    with pytest.raises(InputError, match="two scenarios are called 'mine_trip'"):
        project.find_scenario("mine_trip")


def test_the_rubric_frozen_last_is_taken_where_none_is_named(project: Project, starter: Path) -> None:
    assert project.root is not None
    _rubric(starter, "shipped-v1", "2026-05-05")
    assert project.find_rubric().rubric_id == "shipped-v1"
    _rubric(project.root, "mine-v1", "2026-01-01")
    _rubric(project.root, "mine-v2", "2026-02-01")
    assert project.find_rubric().rubric_id == "mine-v2"
    assert project.find_rubric("mine-v1").frozen_on == "2026-01-01"
    assert project.find_rubric("shipped-v1").frozen_on == "2026-05-05"


def test_two_rubrics_of_one_day_have_to_be_named(project: Project) -> None:
    assert project.root is not None
    _rubric(project.root, "a", "2026-01-01")
    _rubric(project.root, "b", "2026-01-01")
    with pytest.raises(InputError, match="a and b are both frozen on 2026-01-01; name the one you mean"):
        project.find_rubric()


def test_a_rubric_is_held_against_the_lock_of_its_own_root(project: Project, starter: Path) -> None:
    assert project.root is not None
    _rubric(starter, "v1", "2026-01-01")
    _rubric(project.root, "v1", "2026-01-01", frozen=False)
    with pytest.raises(InputError, match="is not frozen"):
        project.find_rubric("v1")


def test_an_unknown_rubric_is_answered_with_the_closest_match(project: Project, starter: Path) -> None:
    with pytest.raises(InputError, match="there is no rubric"):
        project.find_rubric()
    _rubric(starter, "shipped-v1", "2026-05-05")
    with pytest.raises(UnknownName, match="did you mean 'shipped-v1'"):
        project.find_rubric("shiped-v1")


def test_a_callable_is_named_by_file(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text("from .beside import A\n\ndef build(environment):\n    return A\n")
    (tmp_path / "beside.py").write_text("A = 7\n")
    monkeypatch.chdir(tmp_path)
    assert project.load_callable("mine.py:build")(None) == 7
    assert project.load_callable(f"{tmp_path / 'mine.py'}:build") is project.load_callable("mine.py:build")


def test_a_callable_in_the_content_is_the_one_that_the_project_loads(project: Project) -> None:
    assert project.root is not None
    spec = f"{project.root / 'scenarios' / 'travel' / 'checkers.py'}:check"
    assert project.load_callable(spec) is project.load_scenarios_content().get("checker", "mine").function


def test_a_callable_is_named_by_module(project: Project) -> None:
    assert project.load_callable("json.decoder:JSONDecoder") is json.JSONDecoder


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("build", "'build' names no function; path/to/file.py:name or package.module:name"),
        ("mine.py:", "names no function"),
        ("a/b:build", "is neither a Python file nor a module"),
        ("missing.py:build", "missing.py: there is no such file"),
        ("no_such_package.here:build", "the module 'no_such_package.here' cannot be imported: ModuleNotFoundError"),
        ("scenarios.orbit.agent:build", "is project content, .*; scenarios/orbit/agent.py:name"),
        ("json:detect_encodin", "no function is called 'detect_encodin'; did you mean 'detect_encoding'"),
        ("json:__all__", "which is not callable; a function or a class"),
    ],
)
def test_a_spec_that_names_nothing_says_what_it_could_be(project: Project, spec: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        project.load_callable(spec)


def test_a_shipped_agent_is_called_after_its_folder(project: Project, starter: Path) -> None:
    (starter / "scenarios" / "travel" / "agent.py").write_text("def build(environment):\n    return 'shipped'\n")
    assert project.shipped("agent", "travel")(None) == "shipped"
    assert project.root is not None
    (project.root / "scenarios" / "travel" / "agent.py").write_text("def build(environment):\n    return 'own'\n")
    assert project.shipped("agent", "travel")(None) == "own"
    with pytest.raises(UnknownName, match="no agent is called 'travl'; did you mean 'travel'"):
        project.shipped("agent", "travl")


def test_a_shipped_judge_is_called_by_the_name_in_its_file(project: Project, starter: Path) -> None:
    (starter / "scenarios" / "travel" / "judge.py").write_text("NAME = 'reference'\n\ndef build():\n    return 4\n")
    assert project.shipped("judge", "reference")() == 4
    with pytest.raises(UnknownName, match="no judge is called 'refrence'; did you mean 'reference'"):
        project.shipped("judge", "refrence")


def test_the_starter_is_in_the_installed_package_or_is_the_checkout() -> None:
    assert (starter_root() / "rubrics" / "orbit-turn-quality-v3.json").is_file()


def test_what_is_shipped_loads_and_its_scenarios_need_no_hypothesis() -> None:
    code = (
        "import sys; from fuzzturn.project import Project; p = Project(); r = p.load_scenarios_content();"
        "p.find_rubric(); print(r.names('environment'), 'hypothesis' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=starter_root(), check=True)
    assert done.stdout == "('orbit',) False\n"
