"""The pytest plugin: corpus entries as tests, campaigns as tests, and the session behind a failed assertion."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import hypothesis.strategies
import pytest

import fuzzturn.collected  # imported here once: an inner run forgets what it was the first to import
import fuzzturn.vary
from fuzzturn.corpus import Entry, load_entry
from fuzzturn.errors import InputError
from fuzzturn.project import find_project
from fuzzturn.replay import Replayed
from fuzzturn.testing import Play, Shown
from rash import RASH

assert hypothesis
assert fuzzturn.vary

pytest_plugins = ["pytester"]

KEPT = sorted((Path(__file__).parent.parent / "corpus" / "lisbon_offsite").glob("*.yaml"))[:2]
NAMES = [path.stem for path in KEPT]
MENDED = ("--fuzzturn-agent-option", "compaction=none")
SILENT = """
import os

from fuzzturn import Reply


class Silent:
    def __init__(self, environment): ...

    def reply(self, message):
        return Reply("Noted.")


class Broken(Silent):
    def reply(self, message):
        raise OSError("no route for " + os.environ.get("DESK_TOKEN", "anybody"))
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> Path:
    """A project with two open entries."""
    folder = pytester.path / "corpus" / "lisbon_offsite"
    folder.mkdir(parents=True)
    for path in KEPT:
        (folder / path.name).write_bytes(path.read_bytes())
    (pytester.path / "fuzzturn.toml").write_text("")
    (pytester.path / "agents").mkdir()
    (pytester.path / "agents" / "silent.py").write_text(SILENT)
    (pytester.path / "agents" / "rash.py").write_text(RASH)
    return pytester.path


def mark(project: Path, name: str, status: str) -> None:
    path = project / "corpus" / "lisbon_offsite" / f"{name}.yaml"
    path.write_text(re.sub("^status: .*$", f"status: {status}", path.read_text(), flags=re.MULTILINE))


def test_an_open_entry_is_expected_to_fail(project: Path, pytester: pytest.Pytester) -> None:
    result = pytester.runpytest("corpus", "-ra")
    assert result.ret == 0
    result.assert_outcomes(xfailed=2)
    result.stdout.fnmatch_lines([f"XFAIL corpus/lisbon_offsite/{name}.yaml::leg_ceiling - open *" for name in NAMES])
    result.stdout.no_fnmatch_line("*corpus mark*")


def test_an_open_entry_that_passes_is_named_to_be_marked(project: Path, pytester: pytest.Pytester) -> None:
    result = pytester.runpytest("corpus", *MENDED, "-o", "xfail_strict=true")
    assert result.ret == 0
    result.assert_outcomes(xpassed=2)
    result.stdout.fnmatch_lines([f"fuzzturn corpus mark {name} --fixed" for name in NAMES])


def test_a_fixed_entry_that_fails_again_is_a_failure_with_the_finding(project: Path, pytester: pytest.Pytester) -> None:
    mark(project, NAMES[0], "fixed")
    assert pytester.runpytest("corpus", *MENDED).parseoutcomes() == {"passed": 1, "xpassed": 1}
    result = pytester.runpytest("corpus", "--junit-xml=junit.xml")
    assert result.ret == 1
    result.assert_outcomes(failed=1, xfailed=1)
    result.stdout.fnmatch_lines([
        f"REGRESSED {NAMES[0]}  lisbon_offsite: leg_ceiling (no_leg_over)", "*marked fixed; kept with 4 turns*",
        "*user*One rule from finance*", "*the four signals at turn 4*", "*judge*agent*4*blind*", "*When it was kept:*",
        f"*see it again: fuzzturn replay corpus/lisbon_offsite/{NAMES[0]}.yaml",
    ])  # fmt: skip
    result.stdout.no_fnmatch_line("*collected.py*")  # no trace: it would show nothing but the plugin
    written = (project / "junit.xml").read_text()
    assert 'errors="0" failures="1"' in written
    assert '<property name="fuzzturn_outcome" value="FAILING"' in written


def test_runxfail_shows_what_the_open_entries_are(project: Path, pytester: pytest.Pytester) -> None:
    result = pytester.runpytest("corpus", "--runxfail", "-k", NAMES[0])
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"FAILING {NAMES[0]}  lisbon_offsite: leg_ceiling (no_leg_over)"])


def test_an_entry_that_nothing_tests_any_more_fails_though_it_is_open(project: Path, pytester: pytest.Pytester) -> None:
    result = pytester.runpytest("corpus", "-k", NAMES[0], "--fuzzturn-agent", "agents/silent.py:Silent")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"CHANGED {NAMES[0]}*", "*so leg_ceiling was not tested*"])


def test_what_cannot_be_played_is_an_error_and_keeps_nothing_else_from_being_played(
    project: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_TOKEN", "open sesame")
    (project / "corpus" / "aaaaaaaa.yaml").write_text("schema: [\n")
    result = pytester.runpytest("corpus", "--junit-xml=junit.xml")
    result.assert_outcomes(errors=1, xfailed=2)
    result.stdout.fnmatch_lines(["aaaaaaaa cannot be played: *aaaaaaaa.yaml:*"])
    assert 'errors="1" failures="0"' in (project / "junit.xml").read_text()
    broken = pytester.runpytest("corpus/lisbon_offsite", "--fuzzturn-agent", "agents/silent.py:Broken")
    broken.assert_outcomes(errors=2)  # an open entry's failure is expected, an agent that breaks is not
    broken.stdout.fnmatch_lines(["*the agent raised OSError: no route for [[]redacted]*"])
    unknown = pytester.runpytest("corpus/lisbon_offsite", "--fuzzturn-agent", "orbot")
    unknown.assert_outcomes(errors=2)
    unknown.stdout.fnmatch_lines(["*no agent is called 'orbot'; did you mean 'orbit'*"])


@pytest.mark.parametrize(
    "outcome, opened, fixed",
    [
        ("FIXED", "xpassed", "passed"),
        ("FAILING", "xfailed", "failed"),
        ("RARER", "xfailed", "passed"),
        ("MORE OFTEN", "failed", "failed"),
        ("CHANGED", "failed", "failed"),
        ("ERROR", "errors", "errors"),
    ],
)
def test_every_outcome_of_a_replay_has_its_place(
    outcome: str, opened: str, fixed: str, project: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(path: Path, *_: object, **__: object) -> tuple[Entry, Replayed]:
        return load_entry(path), Replayed(outcome=outcome, detail="as it is")  # type: ignore[arg-type]

    monkeypatch.setattr(fuzzturn.collected, "outcome_of", found)
    for status, expected in (("open", opened), ("fixed", fixed)):
        mark(project, NAMES[0], status)
        pytester.runpytest("corpus", "-k", NAMES[0]).assert_outcomes(**{expected: 1})


def test_entries_are_chosen_and_stopped_at_as_any_test_is(
    project: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(path: Path, *_: object, **__: object) -> tuple[Entry, Replayed]:
        return load_entry(path), Replayed(outcome="FIXED" if path.stem == NAMES[1] else "CHANGED", detail="")

    monkeypatch.setattr(fuzzturn.collected, "outcome_of", fails)
    assert pytester.runpytest("corpus", "-x").parseoutcomes() == {"failed": 1}
    assert pytester.runpytest("corpus").parseoutcomes() == {"failed": 1, "xpassed": 1}
    again = pytester.runpytest("corpus", "--lf").parseoutcomes()
    assert (again["failed"], "xpassed" in again) == (1, False)
    for words in ("leg_ceiling and lisbon_offsite", "blind_spot and open", "no_leg_over", "not fixed"):
        assert pytester.runpytest("corpus", "-k", words).parseoutcomes() == {"failed": 1, "xpassed": 1}, words
    assert pytester.runpytest("-m", "fuzzturn", "--strict-markers").parseoutcomes() == {"failed": 1, "xpassed": 1}
    assert pytester.runpytest("corpus", "-m", "not fuzzturn").ret == pytest.ExitCode.NO_TESTS_COLLECTED
    one = f"corpus/lisbon_offsite/{NAMES[1]}.yaml::leg_ceiling"
    assert pytester.runpytest(one).parseoutcomes() == {"xpassed": 1}


def test_collecting_plays_nothing(project: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzzturn.collected, "outcome_of", None)
    result = pytester.runpytest("--collect-only", "-q")
    assert result.ret == 0
    result.stdout.fnmatch_lines([f"corpus/lisbon_offsite/{name}.yaml::leg_ceiling" for name in NAMES])


def test_workers_of_xdist_share_the_entries_and_the_campaigns(
    project: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("xdist")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # the workers start sooner
    (project / "test_it.py").write_text(
        'import fuzzturn\n\n\n@fuzzturn.fuzz("lisbon_offsite", agent="agents/rash.py:Rash", judge="none", sessions=0)\n'
        "def test_it(): ...\n"
    )
    mark(project, NAMES[0], "fixed")
    result = pytester.runpytest("-p", "xdist", "-p", "fuzzturn", "-n", "2", *MENDED)
    result.assert_outcomes(passed=1, xpassed=1, failed=1)
    result.stdout.fnmatch_lines([f"fuzzturn corpus mark {NAMES[1]} --fixed"])
    result.stdout.fnmatch_lines(["VIOLATION *  lisbon_offsite: leg_ceiling (no_leg_over)"])


def test_other_peoples_files_are_left_alone(pytester: pytest.Pytester) -> None:
    corpus = pytester.path / "corpus"
    corpus.mkdir()
    (corpus / "words.yaml").write_text("language: en\nwords: [a, b]\n")
    (corpus / "broken.yaml").write_text("{{ template }}\n")
    (pytester.path / "settings.yaml").write_text("finding: 12345678\n")
    assert pytester.runpytest().ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert pytester.runpytest("corpus").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_an_entry_is_known_by_what_it_says_where_there_is_no_project(pytester: pytest.Pytester) -> None:
    (pytester.path / "mine.yaml").write_bytes(KEPT[0].read_bytes())
    pytester.runpytest("mine.yaml").assert_outcomes(xfailed=1)


def test_where_there_is_no_corpus_the_plugin_loads_itself_and_nothing_more(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test_one(): ...\n")
    (tmp_path / "data.yaml").write_text("a: 1\n")
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    program = "import sys, pytest; assert pytest.main(sys.argv[1:]) == 0; print('loaded', *sys.modules)"

    def loaded(*options: str) -> set[str]:
        argv = [sys.executable, "-c", program, "-q", "-p", "no:cacheprovider", *options]
        done = subprocess.run(argv, cwd=tmp_path, env=alone, capture_output=True, text=True, check=True)
        return set(done.stdout.splitlines()[-1].split()[1:])

    assert loaded("-p", "fuzzturn") - loaded() == {"fuzzturn", "fuzzturn.plugin"}


FUZZ = """
import os
import fuzzturn
import pytest

RASH = dict(agent="agents/rash.py:Rash", judge="none", sessions=0)


@fuzzturn.fuzz("lisbon_offsite", **RASH)
def test_plain():
    raise SystemError("the body is not reached")


@pytest.mark.parametrize("compaction", ["none", "summary_keep_recent"])
@fuzzturn.fuzz("lisbon_offsite", sessions=0)
def test_many(compaction, outcome, tmp_path):
    assert (outcome.sessions, tmp_path.is_dir()) == (1, True)


@fuzzturn.fuzz("lisbon_offsite", options={"compaction": "none"}, sessions=1)
def test_clean(tmp_path):
    tmp_path.joinpath("reached").touch()


@fuzzturn.fuzz("lisbon_offsite", agent="agents/silent.py:Broken", sessions=0)
def test_broken(): ...


@fuzzturn.fuzz("lisbon_offsite", **RASH, seed=3)
def test_asserting(outcome):
    if [found.failure.constraint for found in outcome.found] == ["leg_ceiling"]:
        assert not outcome.found
"""


def test_a_campaign_is_a_test(project: Path, pytester: pytest.Pytester) -> None:
    (project / "test_it.py").write_text(FUZZ)
    result = pytester.runpytest("test_it.py")
    result.assert_outcomes(passed=3, failed=3)
    result.stdout.fnmatch_lines([
        "*test_plain*", "VIOLATION *  lisbon_offsite: leg_ceiling (no_leg_over)",
        "*see it again: pytest test_it.py::test_plain", "*AgentError: the agent raised OSError: no route for anybody*",
        "*test_asserting*", "*- fuzzturn -*", "VIOLATION *  lisbon_offsite: leg_ceiling (no_leg_over)",
    ])  # fmt: skip
    result.stdout.no_fnmatch_line("*SystemError*")
    assert len(list((project / "corpus").rglob("*.yaml"))) == len(KEPT)  # nothing was added


def test_a_campaign_is_found_out_of_its_project_and_from_any_folder(
    project: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "fuzzturn.toml").write_text('agent = "agents/rash.py:Rash"\njudge = "none"\n')
    (project / "tests").mkdir()
    source = 'import fuzzturn\n\n\n@fuzzturn.fuzz("lisbon_offsite", sessions=0)\ndef test_it(): ...\n'
    (project / "tests" / "test_it.py").write_text(source)
    (project / "elsewhere").mkdir()
    monkeypatch.chdir(project / "elsewhere")
    pytester.runpytest("../tests").assert_outcomes(failed=1)
    pytester.runpytest("../tests", "--fuzzturn-agent", "orbit").assert_outcomes(passed=1)


def test_a_setting_that_is_none_is_refused_where_it_is_written() -> None:
    with pytest.raises(InputError, match="no setting of a campaign is called 'sead'; did you mean 'seed'"):
        fuzzturn.fuzz("lisbon_offsite", sead=1)
    with pytest.raises(InputError, match="repeats is 0; accepted: a whole number from 1"):
        fuzzturn.fuzz("lisbon_offsite", repeats=0)

    async def test_later() -> None: ...

    with pytest.raises(InputError, match="test_later is async"):
        fuzzturn.fuzz("lisbon_offsite")(test_later)


PLAY = """
from hypothesis import Phase, given, settings

import fuzzturn

FEW = settings(max_examples=8, deadline=None, derandomize=True, database=None, phases=[Phase.generate])


def test_nothing_breaks(play):
    trial = play("lisbon_offsite", agent="agents/rash.py:Rash")
    assert not trial.failures


def test_the_agent_of_the_command_line(play):
    assert not play("lisbon_offsite").failures


@FEW
@given(fuzzturn.variants("lisbon_offsite"))
def test_no_variant_breaks_anything(play, variant):
    assert not play(variant, agent="orbit").failures


def test_another_failure_has_nothing_to_show(play):
    assert not play("lisbon_offsite", agent="orbit").failures
    assert 1 == 2
"""


def test_an_assertion_shows_the_session_that_it_is_about(project: Path, pytester: pytest.Pytester) -> None:
    (project / "test_it.py").write_text(PLAY)
    result = pytester.runpytest("test_it.py", "--hypothesis-show-statistics")
    result.assert_outcomes(failed=3, passed=1)
    shown = result.stdout.str()
    assert shown.count("- fuzzturn -") == 2
    result.stdout.fnmatch_lines([
        "*_ test_nothing_breaks _*", "*- fuzzturn -*", "VIOLATION  lisbon_offsite: leg_ceiling (no_leg_over)",
        "*seen in a session of 12 turns, not shrunk*", "*the four signals at turn 11*",
        "*see it again: pytest test_it.py::test_nothing_breaks", "*_ test_no_variant_breaks_anything _*",
        "*- fuzzturn -*", "VIOLATION  lisbon_offsite: leg_ceiling (no_leg_over)",
    ])  # fmt: skip
    assert re.search(r"\d+\.\d+%, compaction", shown)
    assert re.search(r"\d+\.\d+%, lost: leg_ceiling", shown)


def test_play_belongs_to_the_project_of_the_test_and_takes_the_agent_of_the_command_line(
    project: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "test_it.py").write_text(PLAY)
    (project / "elsewhere").mkdir()
    monkeypatch.chdir(project / "elsewhere")
    asked = ("--fuzzturn-agent", "agents/rash.py:Rash", "-k", "test_the_agent_of_the_command_line")
    result = pytester.runpytest("../test_it.py", *asked)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*- fuzzturn -*", "VIOLATION  lisbon_offsite: leg_ceiling*"])


def test_options_of_the_command_line_are_for_the_agent_that_a_test_does_not_name() -> None:
    spoken, play = load_entry(KEPT[0]).spoken(), Play(find_project())
    assert play(spoken).failures
    Shown.begin({"agent": None, "agent_option": ["compaction=none"]})
    assert not play(spoken).failures
    assert play(spoken, agent="orbit").failures
    assert play(spoken, options={"compaction": "summary_keep_recent"}).failures  # what the test says wins


def test_events_are_told_to_nobody_outside_a_hypothesis_test(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr("hypothesis.event", told.append)
    entry = load_entry(KEPT[0])
    assert fuzzturn.play(entry.spoken(), agent="orbit").failures
    assert told == []
