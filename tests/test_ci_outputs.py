"""What CI reads: JUnit, events, GitHub's annotations and its summary; the workflow of the documentation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fuzzturn.ci import Case, annotation, from_workspace, junit, line_of, summary_table
from fuzzturn.cli import run
from rash import RASH

ROOT = Path(__file__).parent.parent
KEPT = sorted((ROOT / "corpus" / "lisbon_offsite").glob("*.yaml"))[0]
AGENTS = (
    f"import os\nfrom pathlib import Path\n\n{RASH}"
    + """

class Silent(Rash):
    def reply(self, message):
        return Reply("The code is CX-402.")


class Broken(Rash):
    def reply(self, message):
        raise OSError("no route for " + os.environ.get("DESK_TOKEN", "anybody"))


class Reader(Silent):
    def __init__(self, environment):
        with Path("seen.txt").open("a") as seen:
            seen.write(f"{len(Path('events.ndjson').read_text().splitlines())}\\n")
"""
)
FUZZ = ("fuzz", "lisbon_offsite", "--judge", "none", "--budget-sessions", "0")
BREAKS, SILENT, BROKEN = (("--agent", f"agents.py:{name}") for name in ("Rash", "Silent", "Broken"))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a scenario of its own, which is not on GitHub whatever runs this test."""
    (tmp_path / "fuzzturn.toml").write_text("")
    (tmp_path / "agents.py").write_text(AGENTS)
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "lisbon_offsite.yaml").write_bytes(
        (ROOT / "scenarios" / "orbit" / "lisbon_offsite.yaml").read_bytes()
    )
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cases(file: Path) -> dict[str, str]:
    """What became of each test case of a JUnit file."""
    return {
        case.attrib["name"]: next((child.tag for child in case), "passed") for case in ET.parse(file).iter("testcase")
    }


def events(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_finding_is_a_failure_with_its_block(project: Path) -> None:
    assert run([*FUZZ, *BREAKS, "--junit", "j.xml"]) == 1
    assert cases(project / "j.xml") == {"leg_ceiling": "failure", "milestones": "passed", "assertions": "passed"}
    failure = next(ET.parse(project / "j.xml").iter("failure"))
    assert failure.attrib["type"] == "violation"
    assert "turn" in failure.attrib["message"]
    assert "the four signals at turn" in (failure.text or "")
    suite = next(ET.parse(project / "j.xml").iter("testsuite"))
    assert (suite.attrib["tests"], suite.attrib["failures"], suite.attrib["errors"]) == ("3", "1", "0")


def test_an_agent_that_breaks_is_an_error_and_what_nothing_tested_is_no_pass(project: Path) -> None:
    assert run([*FUZZ, *BROKEN, "--junit", "j.xml"]) == 3
    assert cases(project / "j.xml") == {
        "leg_ceiling": "skipped", "milestones": "skipped", "assertions": "skipped", "agent": "error",
    }  # fmt: skip


def test_a_scenario_that_was_not_reached_is_an_error(project: Path) -> None:
    other = project / "scenarios" / "other.yaml"
    other.write_text((project / "scenarios" / "lisbon_offsite.yaml").read_text().replace("lisbon_offsite", "other"))
    code = run(
        ["fuzz", "lisbon_offsite", "other", "--judge", "none", "--budget-turns", "1", *SILENT, "--junit", "j.xml"]
    )
    assert code == 4
    assert cases(project / "j.xml")["campaign"] == "error"


def test_only_the_kinds_that_were_looked_for_are_cases(project: Path) -> None:
    assert run([*FUZZ, *BREAKS, "--target", "progress", "--junit", "j.xml"]) == 0
    assert cases(project / "j.xml") == {"milestones": "passed"}


def test_what_ends_the_command_is_told_too(project: Path) -> None:
    (project / "scenarios" / "lisbon_offsite.yaml").write_text("schema: 1\n")
    assert run([*FUZZ, "--junit", "j.xml", "--ndjson", "e.ndjson"]) == 2
    assert cases(project / "j.xml") == {"campaign": "error"}
    assert [event["event"] for event in events(project / "e.ndjson")] == ["error", "ended"]
    assert events(project / "e.ndjson")[-1]["code"] is None


def test_events_are_one_object_a_line_in_order(project: Path) -> None:
    assert run([*FUZZ, *BREAKS, "--ndjson", "e.ndjson"]) == 1
    told = events(project / "e.ndjson")
    assert [event["event"] for event in told] == ["started", "session", "finding", "searched", "ended"]
    assert {event["schema"] for event in told} == {1}
    started, session, finding, searched, ended = told
    assert (started["command"], started["scenarios"], started["seed"]) == ("fuzz", ["lisbon_offsite"], 0)
    assert (session["n"], session["failures"][0]["about"]) == (0, "leg_ceiling")
    assert (searched["findings"], searched["sessions"]) == ([finding["id"]], 1)
    assert Path(finding["corpus_file"]).is_file()
    assert ended["code"] == 1


def test_events_are_written_while_the_campaign_runs(project: Path) -> None:
    asked = ["fuzz", "lisbon_offsite", "--judge", "none", "--budget-sessions", "2", "--agent", "agents.py:Reader"]
    assert run([*asked, "--ndjson", "events.ndjson"]) == 0
    seen = [int(line) for line in (project / "seen.txt").read_text().split()]
    assert seen[0] == 1
    assert seen[-1] > 1


def test_no_secret_reaches_a_file_or_an_annotation(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = "a<b>&100%:z,9"
    for name, value in {"DESK_TOKEN": secret, "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "summary.md"}.items():
        monkeypatch.setenv(name, value)
    assert run([*FUZZ, *BROKEN, "--junit", "j.xml", "--ndjson", "e.ndjson"]) == 3
    said = capsys.readouterr().out
    assert "::error title=the agent broke::the agent raised OSError: no route for [redacted]" in said
    for text in ((project / "j.xml").read_text(), (project / "e.ndjson").read_text(), said):
        assert "no route for [redacted]" in text
        assert "100%" not in text


def test_github_is_shown_the_line_of_the_constraint_and_a_summary(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project / "summary.md"))
    (project / "summary.md").write_text("before\n")
    assert run([*FUZZ, *BREAKS]) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::error")]
    source = (project / "scenarios" / "lisbon_offsite.yaml").read_text().splitlines()
    at = next(n for n, text in enumerate(source, 1) if "id: leg_ceiling" in text)
    assert line.startswith(f"::error file=scenarios/lisbon_offsite.yaml,line={at},title=VIOLATION ")
    assert "%0Asee it again: fuzzturn replay corpus/" in line
    summary = (project / "summary.md").read_text()
    assert summary.startswith("before\n### fuzzturn fuzz\n")
    assert summary.count("\n| ") == 3


def test_anywhere_else_nothing_is_said_to_github(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*FUZZ, *BREAKS]) == 1
    assert "::error" not in capsys.readouterr().out


def test_a_dry_run_writes_nothing(project: Path) -> None:
    assert run([*FUZZ, "--dry-run", "--junit", "j.xml", "--ndjson", "e.ndjson"]) == 0
    assert not [*project.glob("j.xml"), *project.glob("e.ndjson")]


@pytest.mark.parametrize("option", ["--junit", "--ndjson", "--json"])
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_played(
    option: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*FUZZ, option, "nowhere/file"]) == 2
    assert f"nowhere/file: {option}: its folder does not exist" in capsys.readouterr().err
    assert run([*FUZZ, option, "scenarios"]) == 2
    assert f"scenarios: {option}: this is a folder" in capsys.readouterr().err
    assert not (project / ".fuzzturn").exists()


def replayed(project: Path, status: str, *more: str) -> tuple[int, dict[str, str]]:
    entry = project / "kept.yaml"
    entry.write_text(re.sub("^status: .*$", f"status: {status}", KEPT.read_text(), flags=re.MULTILINE))
    code = run(["replay", "kept.yaml", "--junit", "j.xml", "--ndjson", "e.ndjson", *more])
    return code, cases(project / "j.xml")


def test_a_replay_tells_known_failures_from_regressions(project: Path) -> None:
    assert replayed(project, "open") == (0, {"kept leg_ceiling": "skipped"})
    assert replayed(project, "open", "--strict") == (1, {"kept leg_ceiling": "failure"})
    assert replayed(project, "fixed") == (1, {"kept leg_ceiling": "failure"})
    assert replayed(project, "fixed", "--agent-option", "compaction=none") == (0, {"kept leg_ceiling": "passed"})
    assert replayed(project, "fixed", *SILENT) == (1, {"kept leg_ceiling": "failure"})
    assert replayed(project, "open", *BROKEN) == (3, {"kept leg_ceiling": "error"})
    started, told, ended = events(project / "e.ndjson")
    assert (started["entries"], ended["code"]) == (["kept.yaml"], 3)
    assert (told["event"], told["outcome"], told["status"], told["code"]) == ("replayed", "ERROR", "open", 3)


def test_a_regression_is_shown_in_the_scenario_where_the_project_has_it(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    replayed(project, "open")
    assert "::error" not in capsys.readouterr().out
    replayed(project, "fixed")
    line = capsys.readouterr().out.splitlines()[-1]
    assert re.match(r"::error file=scenarios/lisbon_offsite.yaml,line=\d\d,title=FAILING kept::leg_ceiling: ", line)
    (project / "scenarios" / "lisbon_offsite.yaml").unlink()
    replayed(project, "fixed")
    assert "::error file=kept.yaml,line=" in capsys.readouterr().out


@given(st.text(), st.text())
def test_an_annotation_is_one_line_and_says_what_it_was_given(title: str, text: str) -> None:
    line = annotation(text, title=title, file="a,b:c.yaml", line=3)
    assert not {"\n", "\r"} & set(line)
    properties, _, said = line.removeprefix("::error ").partition("::")
    told = dict(pair.split("=", 1) for pair in properties.split(","))
    assert {key: plain(value) for key, value in told.items()} == {"file": "a,b:c.yaml", "line": "3", "title": title}
    assert plain(said) == text


def plain(escaped: str) -> str:
    """As the runner reads it: the percent sign last."""
    for character, code in (("\r", "%0D"), ("\n", "%0A"), (":", "%3A"), (",", "%2C"), ("%", "%25")):
        escaped = escaped.replace(code, character)
    return escaped


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2)))
def test_a_cell_of_the_summary_never_ends_it(rows: list[list[str]]) -> None:
    lines = summary_table("t", ("a", "b"), rows).split("\n")
    assert len(lines) == 2 + 2 + len(rows) + 2
    for line in lines[2:-2]:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3, line


@given(st.text(), st.text(), st.sampled_from(["failure", "error", "skipped"]))
def test_whatever_a_text_holds_the_file_is_xml_and_says_it(name: str, text: str, verdict: Any) -> None:
    case = Case(group="g", name=name, verdict=verdict, kind="k", message=text, text=text)
    root = ET.fromstring(junit("s", [case, Case(group="g", name="n")], 1.5))
    (found,) = root.iter(verdict)
    written = "".join(ch if _fits_xml(ch) else f"\\u{ord(ch):04x}" for ch in text)
    assert found.attrib["message"] == written
    assert (found.text or "") == re.sub("\r\n?", "\n", written)
    counted = {key: value for key, value in root[0].attrib.items() if key in ("failures", "errors", "skipped")}
    assert sorted(counted.values()) == ["0", "0", "1"]


def _fits_xml(character: str) -> bool:
    code = ord(character)
    return character in "\t\n\r" or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000


def test_a_constraint_a_milestone_and_a_turn_have_a_line(tmp_path: Path) -> None:
    file = ROOT / "scenarios" / "orbit" / "lisbon_offsite.yaml"
    lines = file.read_text().splitlines()
    for name in ("leg_ceiling", "hotel_held", "code"):
        assert f"id: {name}" in lines[(line_of(file, name) or 0) - 1]
    assert line_of(file, "nobody") is None
    assert line_of(tmp_path / "gone.yaml", "leg_ceiling") is None


def test_paths_are_those_of_the_repository(tmp_path: Path) -> None:
    at = {"GITHUB_WORKSPACE": str(tmp_path)}
    assert from_workspace(tmp_path / "a" / "b.yaml", at) == "a/b.yaml"
    assert from_workspace(Path("/elsewhere/b.yaml"), at) == "/elsewhere/b.yaml"


def test_the_workflow_of_the_documentation_runs_what_the_documentation_runs(project: Path) -> None:
    text = (ROOT / "docs" / "in-ci.md").read_text()
    (written,) = re.findall(r"```yaml file=\.github/workflows/fuzzturn\.yml\n(.*?)```", text, re.DOTALL)
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    shown = [line.partition(" #")[0].strip() for block in blocks for line in block.splitlines()]
    ran = [line for step in steps(yaml.safe_load(written)) for line in step.splitlines()]
    ours = [line.replace("${{ github.run_number }}", "7") for line in ran if line.startswith(("fuzzturn", "pytest"))]
    assert len(ours) == 3
    for line in ours:
        if line.startswith("fuzzturn fuzz "):  # the whole night's search, which is not carried out here
            assert run([*line.split()[1:], "--dry-run"]) == 0
        else:
            assert line in shown


def steps(workflow: dict[str, Any]) -> Iterator[str]:
    for job in workflow["jobs"].values():
        yield from (step["run"] for step in job["steps"] if "run" in step)
