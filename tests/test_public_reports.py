"""The five rebuilt reports: the page about them does what it says, and only the memory of the report goes wrong."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from fuzzturn.cli import run
from fuzzturn.document import read_text
from fuzzturn.scenario_file import load_scenario

PROJECT = Path(__file__).parent.parent / "examples/public_reports"
SCENARIOS = sorted((PROJECT / "scenarios/workbench").glob("*.yaml"))
EVERY_MEMORY = (
    "drops_orders", "faithful", "keeps_approvals", "reopens_requests", "restores_decisions", "resumes_work",
)  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project, which the commands may write into."""
    folder = tmp_path / "public_reports"
    shutil.copytree(PROJECT, folder, ignore=shutil.ignore_patterns("__pycache__", ".fuzzturn", "corpus"))
    monkeypatch.chdir(folder)
    return folder


def test_the_page_does_what_it_says(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As in docs/: a `sh` block is run, and each line of a `text` block stands in what its last command printed."""
    monkeypatch.setenv("COLUMNS", "100")
    page = read_text(project / "README.md")
    blocks = re.findall(r"^```(sh|text)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert [kind for kind, _ in blocks] == ["sh", "text"] * 6
    assert page.count("```") == 2 * len(blocks)
    shown: list[str] = []
    for kind, body in blocks:
        if kind == "sh":
            shown = [line for command in body.splitlines() for line in printed(command, capfd)]
            continue
        for line in body.splitlines():
            pattern = ".*".join(map(re.escape, plainly(line).split("…")))
            assert any(re.fullmatch(pattern, candidate) for candidate in map(plainly, shown)), line


def printed(line: str, capfd: pytest.CaptureFixture[str]) -> list[str]:
    """What the command printed; it ends as its comment says, else with 0."""
    command, _, comment = line.partition("  # exit code ")
    program, *arguments = shlex.split(command)
    capfd.readouterr()
    assert (program, run(arguments)) == ("fuzzturn", int(comment or 0)), line
    return "".join(capfd.readouterr()).splitlines()


def plainly(line: str) -> str:
    """Blanks count as one."""
    return " ".join(line.split())


def test_the_page_names_every_scenario_with_its_report() -> None:
    page = read_text(PROJECT / "README.md")
    assert len(SCENARIOS) == 5
    for path in SCENARIOS:
        report = read_text(path).split("After ", 1)[1].split(":", 1)[0]
        assert f"| `{path.stem}` | {report} |" in page


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_the_faithful_memory_is_clean_however_the_script_is_varied(path: Path) -> None:
    assert run(["fuzz", path.stem, "--budget-sessions", "20", "--seed", "7", "--json", "out.json"]) == 0
    found = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert (found["findings"], found["agent_errors"], found["off_script"]) == ([], [], 0)
    checkers = {constraint.checker for constraint in load_scenario(path).constraints}
    assert checkers <= {checker for checker, times in found["exercised"].items() if times}


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("memory", EVERY_MEMORY)
def test_every_script_is_clean_as_written(memory: str) -> None:
    for path in SCENARIOS:
        assert run(["run", path.stem, "--agent-option", f"memory={memory}"]) == 0


@pytest.mark.usefixtures("project")
def test_a_memory_that_does_not_exist_is_an_error_that_names_the_closest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", "do_not_push", "--agent-option", "memory=drop_orders"]) == 2
    assert "drops_orders" in capsys.readouterr().err
