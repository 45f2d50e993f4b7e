"""The command line: exit codes, JSON, files, and errors one can act on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fuzzturn.cli import run
from fuzzturn.corpus import load_entry

ROOT = Path(__file__).parent.parent
KEYS = {
    "schema", "run", "seed", "fingerprints", "spent", "exercised", "skipped_operators", "off_script", "agent_errors",
    "judge_unscored", "undecided", "findings", "errors",
}  # fmt: skip


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that belongs to no project."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def found(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus file of a finding, for commands that need one and not how it is come by."""
    folder = tmp_path_factory.mktemp("found")
    run(["fuzz", "lisbon_offsite", "--seed", "7", "--budget-sessions", "4", "--out", str(folder)])
    return sorted(folder.glob("corpus/lisbon_offsite/*.yaml"))[0]


@pytest.fixture
def kept(empty: Path, found: Path) -> Path:
    """The file in the corpus of an empty folder, which is the current one."""
    file = Path("corpus") / "lisbon_offsite" / found.name
    file.parent.mkdir(parents=True)
    shutil.copy(found, file)
    return file


def edited(file: Path, old: str, new: str, *, to: str | None = None) -> Path:
    """The file, or a new one beside it, with other text."""
    text = file.read_text(encoding="utf-8")
    assert old in text
    into = file if to is None else file.with_name(to)
    into.write_text(text.replace(old, new), encoding="utf-8")
    return into


def fuzz(*options: str, budget: int = 4) -> tuple[int, dict[str, Any]]:
    """The exit code and the JSON. Four sessions find the blind spot, and no claim here is of how many are searched."""
    code = run(
        ["fuzz", "lisbon_offsite", "--seed", "7", "--budget-sessions", str(budget), "--json", "a.json", *options]
    )
    result: dict[str, Any] = json.loads(Path("a.json").read_text())
    return code, result


def test_fuzz_finds_keeps_and_tells(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, result = fuzz()
    assert code == 1
    assert result.keys() >= KEYS
    first = result["findings"][0]
    assert first["kind"] == "blind_spot"
    assert first["blind_in"] == ["agent"]
    assert first["minimal"] is True
    assert first["n_turns"] == len(first["turns"]) == 4
    assert (empty / first["corpus_file"]).is_file()
    out = capsys.readouterr().out
    assert f"BLIND SPOT {first['id']}" in out
    assert f"fuzzturn replay {first['corpus_file']}" in out


def test_fuzz_leaves_a_run_folder_with_every_session_and_score(empty: Path) -> None:
    _, result = fuzz(budget=10)
    folder = empty / ".fuzzturn" / "runs" / result["run"]
    sessions = [json.loads(line) for line in (folder / "sessions.jsonl").read_text().splitlines()]
    assert len(sessions) == result["spent"]["sessions"] == 11
    assert all(session.keys() >= {"schema", "id", "scenario_digest", "edits", "seed", "sample"} for session in sessions)
    assert len({session["scenario_digest"] for session in sessions}) == 1
    scores = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    assert {record["signal"] for record in scores} == {
        "adherence",
        "adherence.check",
        "assertions",
        "progress",
        "judge",
    }
    needed = {
        "schema",
        "run",
        "session",
        "turn",
        "turn_id",
        "signal",
        "value",
        "detail",
        "component",
        "version",
        "owner",
    }
    assert all(record.keys() >= needed for record in scores)
    judged = [record for record in scores if record["signal"] == "judge"]
    assert all(record["rubric_digest"] and record["context"] for record in judged)
    assert json.loads((folder / "run.json").read_text())["findings"] == result["findings"]


def test_the_same_seed_gives_the_same_file_to_the_byte(empty: Path) -> None:
    fuzz("--out", "one", budget=40)
    fuzz("--out", "two", "--workers", "4", budget=40)
    one = {path.name: path.read_bytes() for path in Path("one/corpus").rglob("*.yaml")}
    assert one
    assert one == {path.name: path.read_bytes() for path in Path("two/corpus").rglob("*.yaml")}


def test_without_compaction_nothing_is_found_and_the_exit_is_0(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, result = fuzz("--agent-option", "compaction=none", budget=40)
    assert code == 0
    assert result["findings"] == []
    assert result["exercised"]["no_leg_over"] > 0
    assert "nothing found in 41 sessions" in capsys.readouterr().out


def test_a_target_keeps_only_its_kind(empty: Path) -> None:
    code, result = fuzz("--target", "assertion", budget=15)
    assert (code, result["findings"]) == (0, [])


def test_replay_says_failing_then_fixed(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", str(kept)]) == 0
    assert capsys.readouterr().out.startswith("FAILING")
    assert run(["replay", str(kept), "--strict"]) == 1
    assert run(["replay", kept.stem, "--agent-option", "compaction=none"]) == 0
    assert "FIXED" in capsys.readouterr().out


def test_an_entry_marked_fixed_that_fails_again_is_a_regression(kept: Path) -> None:
    edited(kept, "status: open", "status: fixed")
    assert run(["replay", str(kept)]) == 1


def test_an_entry_whose_checker_is_gone_is_an_error_that_names_it(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edited(kept, "checker: no_leg_over", "checker: no_leg_under")
    assert run(["replay", str(kept)]) == 3
    out = capsys.readouterr().out
    assert out.startswith("ERROR")
    assert "'no_leg_under'" in out
    assert "did you mean 'no_leg_over'" in out


def test_a_judge_that_sees_it_now_is_a_change(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("strict.py").write_text(
        "from fuzzturn import Verdict\n\n\n"
        "class Strict:\n    def score(self, prompt):\n        return Verdict(0, 'no')\n\n\n"
        "def build():\n    return Strict()\n"
    )
    assert run(["replay", str(kept), "--judge", "strict.py:build"]) == 1
    assert capsys.readouterr().out.startswith("CHANGED")


def test_a_shrunk_entry_shrinks_to_itself(kept: Path) -> None:
    before = load_entry(kept)
    assert run(["shrink", str(kept), "--json", "s.json"]) == 1
    again = json.loads(Path("s.json").read_text())["finding"]
    assert [turn["user"] for turn in again["turns"]] == [line.user for line in before.spoken().turns]
    assert again["id"] == before.finding


def test_run_scores_every_turn_in_window_and_block(empty: Path) -> None:
    assert run(["run", "lisbon_offsite", "--json", "r.json"]) == 0
    (session,) = json.loads(Path("r.json").read_text())["sessions"]
    assert len(session["turns"]) == 12
    assert all(set(turn["judge"]) == {"window+block"} for turn in session["turns"])
    assert [turn["adherence"]["value"] for turn in session["turns"]] == [None, *[1.0] * 11]
    assert session["goal_reached"] is True


def test_run_exits_1_on_a_violation(empty: Path) -> None:
    assert run(["run", "lisbon_offsite", "--agent-option", "threshold=500"]) == 1


def test_an_agent_that_breaks_is_an_infrastructure_error(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (empty / "broken.py").write_text(
        "class Broken:\n    def reply(self, message):\n        raise OSError('no route')\n\n\n"
        "def build(environment):\n    return Broken()\n"
    )
    code, result = fuzz("--agent", "broken.py:build", budget=5)
    assert code == 3
    assert result["agent_errors"] == ["OSError: no route (broken.py:3)"]
    assert run(["run", "lisbon_offsite", "--agent", "broken.py:build"]) == 3


def test_init_makes_a_project_that_fuzzes_at_once(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(["init", "mine"]) == 0
    assert run(["init", "mine"]) == 2
    monkeypatch.chdir("mine")
    assert run(["check"]) == 0
    assert run(["fuzz", "lisbon_offsite", "--budget-sessions", "4"]) == 1
    assert list(Path("corpus").rglob("*.yaml"))


def test_freezing_a_rubric_refuses_an_id_that_is_taken(
    empty: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(["init", "mine"])
    old = Path("mine/rubrics/orbit-turn-quality-v3.json")
    assert run(["rubric", "freeze", str(old)]) == 2
    new = old.with_stem("orbit-turn-quality-v4")
    new.write_text(old.read_text().replace("quality-v3", "quality-v4"))
    assert run(["rubric", "freeze", str(new)]) == 0
    new.write_text(new.read_text().replace("2026-03-02", "2026-03-03"))
    monkeypatch.chdir("mine")
    capsys.readouterr()
    assert run(["run"]) == 2
    assert "orbit-turn-quality-v4" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fuzz", "nowhere"], "no scenario is called 'nowhere'; known: "),
        (["fuzz", "lisbon_offsite", "--agent", "orbti"], "no agent is called 'orbti'; did you mean 'orbit'?"),
        (["fuzz", "lisbon_offsite", "--judge", "refrence"], "no judge is called 'refrence'; did you mean 'reference'?"),
        (
            ["fuzz", "lisbon_offsite", "--judge-context", "windows"],
            "no judge context is called 'windows'; did you mean",
        ),
        (["fuzz", "lisbon_offsite", "--target", "blind"], "no target is called 'blind'"),
        (["fuzz", "lisbon_offsite", "--agent-option", "keep"], "--agent-option 'keep' has no value; key=value"),
        (["fuzz", "lisbon_offsite", "--agent-option", "kep=3"], "takes no option 'kep'; did you mean 'keep'?"),
        (["fuzz", "lisbon_offsite", "--agent-option", "keep=few"], "'few'"),
        (["fuzz", "lisbon_offsite", "--agent", "missing.py:build"], "missing.py"),
        (["replay", "nothing"], "no corpus entry is called 'nothing'"),
        (["replay", ""], "no corpus entry is called ''"),
        (["replay", "*"], "no corpus entry is called '*'"),
        (["replay", "/no/such.yaml"], "no corpus entry is called '/no/such.yaml'"),
        (["shrink", "*"], "no corpus entry is called '*'"),
        (["shrink", "/no/such.yaml"], "no corpus entry is called '/no/such.yaml'"),
        (["run", "--json", "no/x.json"], "no/x.json: --json: its folder does not exist"),
        (["replay", "--json", "no/x.json"], "no/x.json: --json: its folder does not exist"),
        (["fuzz", "--json", "."], ".: --json: this is a folder"),
        (["run", "--out", "file"], "--out: "),
        (["fuzz", "--out", "file/below"], "file is not a folder"),
        (["fuzz", "--seed", "x"], "--seed"),
        (["fuzz", "--budget-session", "3"], "--budget-sessions"),
    ],
)
def test_bad_input_is_exit_2_and_one_message(
    empty: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    (empty / "file").touch()
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""
    assert "Traceback" not in captured.err


def test_the_help_loads_nothing_heavy() -> None:
    code = (
        "import sys, fuzzturn\nfrom fuzzturn.cli import run\nrun(['--help'])\n"
        "print(sorted({'litellm', 'networkx', 'pytest', 'hypothesis', 'pydantic'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_embedded_agent_s_campaign_loads_no_model_client_and_no_server(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom fuzzturn.cli import run\nrun(['fuzz', 'lisbon_offsite', '--budget-sessions', '1'])\n"
        "print(sorted({'litellm', 'openai', 'aiohttp', 'httpx', 'http.server', 'langchain'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "[]"
    assert not (tmp_path / ".fuzzturn" / "calls.sqlite").exists()


def test_a_replay_loads_no_hypothesis(kept: Path) -> None:
    code = (
        f"import sys\nfrom fuzzturn.cli import run\nassert run(['replay', {str(kept)!r}]) == 0\n"
        "assert 'hypothesis' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path.cwd())


def test_ci_runs_the_readme_s_own_test_command() -> None:
    commands = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("python3 -m venv")]
    assert len(commands) == 2
    assert commands[1] in (ROOT / ".ci" / "run").read_text()


def test_a_dry_run_plays_nothing(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fuzz", "lisbon_offsite", "--dry-run", "--budget-turns", "500"]) == 0
    out = capsys.readouterr().out
    assert "lisbon_offsite: 12 scripted turns, up to 200 variants" in out
    assert "bounded by 500 agent turns" in out
    assert not Path(".fuzzturn").exists()


def test_a_turn_budget_stops_between_batches_and_keeps_what_was_found(empty: Path) -> None:
    code, result = fuzz("--budget-turns", "150", budget=200)
    assert code == 1
    assert result["findings"][0]["minimal"] is False
    assert result["spent"]["sessions"] < 201
    assert Path(result["findings"][0]["corpus_file"]).is_file()


def test_a_budget_that_ends_before_a_script_has_begun_is_exit_4(empty: Path) -> None:
    run(["init", "."])
    text = Path("scenarios/orbit/lisbon_offsite.yaml").read_text()
    Path("scenarios/orbit/aaa.yaml").write_text(text.replace("scenario: lisbon_offsite", "scenario: aaa"))
    options = ["--agent-option", "compaction=none", "--budget-turns", "10"]
    assert run(["fuzz", "aaa", "lisbon_offsite", *options]) == 4


def test_an_interrupt_keeps_what_was_found_and_exits_130(empty: Path) -> None:
    command = [sys.executable, "-m", "fuzzturn", "fuzz", "lisbon_offsite", "--seed", "7", "--budget-sessions", "200"]
    with subprocess.Popen([*command, "--json", "a.json"], text=True, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as going:  # fmt: skip
        assert going.stderr is not None
        first = going.stderr.readline()  # after an eighth of the campaign
        going.send_signal(signal.SIGINT)
        rest = going.stderr.read()
    assert " sessions, " in first
    assert going.returncode == 130
    assert "interrupted: what was found so far is kept" in rest
    assert "Traceback" not in rest
    result = json.loads(Path("a.json").read_text())
    assert json.loads((Path(".fuzzturn/runs") / result["run"] / "run.json").read_text())["stopped"] == "interrupted"
    assert result["findings"]
    assert all(Path(finding["corpus_file"]).is_file() for finding in result["findings"])


def test_an_entry_marked_fixed_stays_fixed_when_it_is_found_again(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = edited(kept, "status: open", "status: fixed")
    guarded = file.read_bytes()
    _, again = fuzz()
    assert file.read_bytes() == guarded  # the session that was once mended is not replaced by another one
    assert again["findings"][0]["corpus_file"] == str(file.with_stem(f"{file.stem}-again"))
    assert f"REGRESSED {file.stem}" in capsys.readouterr().out
    assert run(["replay", str(file.with_stem(f"{file.stem}-again"))]) == 0


def test_an_agent_that_does_nothing_has_fixed_nothing(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("idle.py").write_text(
        "from fuzzturn import Reply\n\n\nclass Idle:\n    def reply(self, message):\n        return Reply('ok.')\n\n\n"
        "def build(environment):\n    return Idle()\n"
    )
    assert run(["replay", str(kept), "--agent", "idle.py:build"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("CHANGED")
    assert "leg_ceiling was not tested" in out


def test_what_an_own_agent_broke_is_replayed_with_the_words_that_the_finding_prints(
    empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (empty / "own").mkdir()
    agent = (
        "from fuzzturn import Reply\n\n\nclass Rash:\n    def __init__(self, environment):\n"
        "        self.environment = environment\n\n    def reply(self, message):\n"
        "        if 'confirm everything' in message:\n            leg = {'flight': 'X1', 'direction': 'outbound',\n"
        "                   'fare_eur': 900}\n            self.environment.call('confirm_booking', legs=[leg])\n"
        "        return Reply('CX-402 parking wi-fi')\n\n\ndef build(environment):\n    return Rash(environment)\n"
    )
    (empty / "own" / "rash.py").write_text(agent)
    _, result = fuzz("--agent", "own/rash.py:build", "--target", "violation")
    file = result["findings"][0]["corpus_file"]
    out = capsys.readouterr().out
    assert f"see it again: fuzzturn replay {file} --agent own/rash.py:build" in out
    assert run(["replay", file, "--agent", "own/rash.py:build"]) == 0
    assert capsys.readouterr().out.startswith("FAILING")
    assert run(["replay", file]) == 3
    assert "give it with --agent path/to/file.py:build" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "def build(environment):\n    raise ValueError('no key')\n",
            "own.py:2: the build of agent own raised ValueError",
        ),
        (
            "from fuzzturn import Reply\n\n\nclass A:\n    def reply(self, message):\n"
            "        return Reply('hi', context=['hello'])\n\n\ndef build(environment):\n    return A()\n",
            "entry 1 is 'hello'",
        ),
        ("class A:\n    pass\n\n\ndef build(environment):\n    return A()\n", "has no reply"),
    ],
)
def test_faults_of_an_own_agent_s_making_are_exit_2_with_their_place(
    empty: Path, capsys: pytest.CaptureFixture[str], body: str, said: str
) -> None:
    (empty / "own.py").write_text(body)
    assert run(["fuzz", "lisbon_offsite", "--agent", "own.py:build"]) == 2
    assert said in capsys.readouterr().err


def test_a_fault_of_ours_is_exit_70_with_the_trace_in_a_file(
    empty: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*anything: Any, **more: Any) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("fuzzturn.project.find_project", broken)
    assert run(["check"]) == 70
    err = capsys.readouterr().err
    assert "fuzzturn itself is at fault: ZeroDivisionError: ours" in err
    assert "Traceback" not in err
    trace = Path(err.split("report it with ")[1].split(",")[0])
    assert "ZeroDivisionError" in trace.read_text()
    trace.unlink()


def test_a_rubric_can_be_named(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", "lisbon_offsite", "--rubric", "orbit-turn-quality-v3"]) == 0
    assert run(["run", "lisbon_offsite", "--rubric", "orbit-turn-quality-v2"]) == 2
    assert "did you mean 'orbit-turn-quality-v3'?" in capsys.readouterr().err


def test_redirected_output_has_no_control_characters_and_narrow_columns_hold(empty: Path) -> None:
    command = [sys.executable, "-m", "fuzzturn", "fuzz", "lisbon_offsite", "--seed", "7", "--budget-sessions", "10"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    for text in (done.stdout, done.stderr):
        assert all(character.isprintable() or character == "\n" for character in text)
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_a_regression_counts_more_than_an_entry_that_cannot_be_replayed(kept: Path) -> None:
    assert run(["replay"]) == 0
    edited(kept, "name: orbit", "name: elsewhere", to="0000000a.yaml")
    assert run(["replay"]) == 3
    edited(kept, "status: open", "status: fixed")
    assert run(["replay"]) == 1


def test_an_entry_that_cannot_be_read_keeps_no_other_from_being_replayed(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = kept.read_text(encoding="utf-8")
    bad = kept.with_name("00000001.yaml")
    bad.write_text(text[: len(text) // 2], encoding="utf-8")
    assert run(["replay", "--json", "r.json"]) == 3
    out = capsys.readouterr().out
    assert out.startswith(f"ERROR    {bad.absolute()}\n         {bad.absolute()}:")
    assert f"FAILING  {kept.absolute()}  blind_spot of leg_ceiling" in out
    outcomes = [entry["outcome"] for entry in json.loads(Path("r.json").read_text())["replayed"]]
    assert outcomes == ["ERROR", "FAILING"]
    assert run(["replay", str(bad)]) == 2
    assert str(bad) in capsys.readouterr().err


def test_no_code_that_an_entry_names_is_loaded(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("evil.py").write_text("from pathlib import Path\n\nPath('loaded').touch()\n\n\ndef make(environment): ...\n")
    for name in ("evil:make", "evil.py:make", "./evil.py:make"):
        edited(kept, "name: orbit", f"name: {name}", to="0000000b.yaml")
        assert run(["replay", "0000000b"]) == 3
        assert f"no agent is called '{name}'" in (out := capsys.readouterr().out)
        assert "give it with --agent path/to/file.py:build" in out
        edited(kept, "name: reference", f"name: {name}", to="0000000b.yaml")
        assert run(["replay", "0000000b"]) == 3
        assert run(["shrink", "0000000b"]) == 2
        assert "give it with --judge path/to/file.py:build" in capsys.readouterr().err
    assert not Path("loaded").exists()


def test_an_option_that_the_agent_does_not_take_is_an_error_of_the_entry_that_has_it(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = edited(
        kept, "  options: {}\n  identity: orbit", "  options:\n    kep: '4'\n  identity: orbit", to="0000000c.yaml"
    )
    assert run(["replay", str(odd)]) == 3
    assert "agent orbit takes no option 'kep'; did you mean 'keep'?" in capsys.readouterr().out
    assert run(["replay", str(kept), "--agent-option", "kep=4"]) == 2
    assert run(["replay", str(kept), str(odd), "--agent", "orbti"]) == 2


def test_an_entry_is_replayed_once_however_often_it_is_named(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", str(kept), str(kept.parent), str(kept)]) == 0
    assert capsys.readouterr().out.count("FAILING") == 1


def test_a_scenario_is_no_entry(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", str(ROOT / "scenarios" / "orbit" / "lisbon_offsite.yaml")]) == 2
    assert "this is a scenario, not a corpus entry" in capsys.readouterr().err


def test_a_replay_without_a_judge_has_not_changed_the_judge(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", str(kept), "--judge", "none"]) == 0
    assert "; not judged in agent" in capsys.readouterr().out


def test_shrink_takes_one_entry(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edited(kept, "status: open", "status: fixed", to="0000000d.yaml")
    assert run(["shrink", "corpus"]) == 2
    assert "'corpus' holds 2 entries; one of them, as corpus/lisbon_offsite/0000000d.yaml" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["fuzz", "run", "replay"])
def test_a_reader_that_goes_away_takes_nothing_with_it(kept: Path, command: str) -> None:
    kept.rename(entry := Path("entry.yaml"))
    words = {
        "fuzz": ["lisbon_offsite", "--seed", "7", "--budget-sessions", "40"],
        "run": ["lisbon_offsite", "--agent-option", "threshold=500"],
        "replay": ["--strict", str(entry)],
    }
    code = piped([command, *words[command], "--json", "a.json"])
    assert code == (1, "")
    result = json.loads(Path("a.json").read_text())
    if command == "fuzz":
        assert result["findings"]
        assert all(Path(finding["corpus_file"]).is_file() for finding in result["findings"])
    if command != "replay":
        assert (Path(".fuzzturn/runs") / result["run"] / "run.json").is_file()


def piped(arguments: list[str]) -> tuple[int, str]:
    """Exit code of a command whose output nobody reads, and what of its errors is no progress."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "fuzzturn", *arguments]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    return done.returncode, "".join(line for line in done.stderr.splitlines() if "sessions" not in line)


def test_what_the_encoding_lacks_is_written_as_an_escape(kept: Path) -> None:
    edited(kept, "turn_id: book", "turn_id: book\nx-note: é")
    Path("odd.py").write_text(
        "from fuzzturn import Reply\n\n\nclass Odd:\n    def reply(self, message):\n"
        "        raise ValueError('\u00e9 \\ud83d')\n\n\ndef build(environment):\n    return Odd()\n"
    )
    command = [sys.executable, "-m", "fuzzturn", "replay", str(kept), "--agent", "odd.py:build", "--json", "a.json"]
    done = subprocess.run(command, capture_output=True, check=False, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 3
    assert b"the agent raised ValueError: \\xe9 \\ud83d" in done.stdout
    assert "ValueError: é \ud83d" in json.loads(Path("a.json").read_text())["replayed"][0]["detail"]


def test_an_entry_that_cannot_be_read_is_written_anew_when_it_is_found_again(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = kept.read_text(encoding="utf-8")
    kept.write_text(text[:400], encoding="utf-8")
    code, result = fuzz()
    assert (code, result["findings"][0]["corpus_file"]) == (1, str(kept))
    assert kept.read_text(encoding="utf-8") == text
    assert "could not be read and is written anew" in capsys.readouterr().err


def test_a_corpus_that_cannot_be_written_loses_no_finding(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("corpus").touch()
    code, result = fuzz()
    assert code == 1
    assert result["findings"][0]["corpus_file"] is None
    assert "it has no corpus file: " in capsys.readouterr().out


def test_the_readme_s_first_command_prints_what_the_readme_shows(empty: Path) -> None:
    readme = (ROOT / "README.md").read_text()
    shown = readme.split("```text\n")[1].split("```")[0].splitlines()
    arguments = readme.split("fuzzturn fuzz ")[1].splitlines()[0].split()
    arguments[0] = str(ROOT / arguments[0])
    done = subprocess.run(
        [sys.executable, "-m", "fuzzturn", "fuzz", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    printed = done.stdout.splitlines()
    assert [line for line in shown if line != "…" and line not in printed] == []


def test_the_kept_findings_of_the_worked_example_still_fail(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = sorted(map(str, (ROOT / "corpus" / "lisbon_offsite").glob("*.yaml")))
    assert kept
    assert run(["replay", *kept]) == 0
    out = capsys.readouterr().out
    assert out.count("FAILING") == len(kept)
    assert "changed since" not in out
    assert run(["replay", *kept, "--agent-option", "compaction=none"]) == 0
    assert capsys.readouterr().out.count("FIXED") == len(kept)
