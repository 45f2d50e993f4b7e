"""Models from the command line: the Lisbon blind spot through litellm, recorded, bounded in money, and kept secret."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from fuzzturn.cli import run
from orbit_upstream import travel_desk
from upstream import BROKEN, MALFORMED, Fault, Upstream, busy, said

pytestmark = pytest.mark.usefixtures("litellm_session")
KEY = "sk-very-secret-key-0123456789"
COMPACTION = ("--agent-option", "compaction=summary_keep_recent")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("fuzzturn.calls.gateway.FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fuzz(upstream: Upstream | None, *more: str, sessions: int = 8, json_file: str = "out.json") -> int:
    base = ("--api-base", upstream.url) if upstream else ()
    return run(["fuzz", "lisbon_offsite", "--agent", "litellm/desk", *base, "--seed", "7", "--budget-sessions",
                str(sessions), "--json", json_file, *more])  # fmt: skip


def result(file: str = "out.json") -> dict[str, Any]:
    read: dict[str, Any] = json.loads(Path(file).read_text())
    return read


@dataclass(frozen=True)
class Found:
    """A campaign that was carried out once: where, what it said, how many requests it took."""

    folder: Path
    said: CompletedProcess[str]
    asked: int


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    folder = tmp_path_factory.mktemp("found")
    with Upstream(travel_desk) as upstream:
        at = ["--agent", "litellm/desk", "--api-base", upstream.url, "--judge-context", "agent"]
        more = ["--seed", "7", "--budget-sessions", "6", "--json", "first.json"]
        command = [sys.executable, "-m", "fuzzturn", "fuzz", "lisbon_offsite", *at, *more, *COMPACTION]
        said = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, env=os.environ | {"OPENAI_API_KEY": KEY}
        )
        return Found(folder, said, len(upstream.requests))


def findings(file: str) -> list[dict[str, Any]]:
    """What was found, but for where it is kept."""
    return [{key: value for key, value in one.items() if key != "corpus_file"} for one in result(file)["findings"]]


def test_the_blind_spot_is_found_through_a_model(found: Found, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(found.folder)
    assert found.said.returncode == 1
    shortest = min(result("first.json")["findings"], key=lambda finding: finding["n_turns"])
    assert (shortest["kind"], shortest["constraint"], shortest["n_turns"]) == ("blind_spot", "leg_ceiling", 4)
    assert shortest["why"]["mechanism"] == "lost_by_summariser"
    spent = result("first.json")["spent"]
    assert (spent["model_calls"]["made"], spent["tokens"], spent["usd"]) == (found.asked, 110 * found.asked, None)
    told = f"agent: {found.asked} model calls made, {100 * found.asked} prompt and {10 * found.asked} completion tokens"
    assert told in found.said.stderr
    kept = (
        f"fuzzturn replay corpus/lisbon_offsite/{shortest['id']}.yaml --agent litellm/desk --api-base http://127.0.0.1"
    )
    assert kept in found.said.stdout


def claims(file: str) -> list[dict[str, Any]]:
    """The findings without what it took to shrink them: what is recorded takes nothing."""
    return [{key: value for key, value in finding.items() if key != "shrinking"} for finding in findings(file)]


def test_the_same_campaign_again_asks_nothing_and_finds_the_same(found: Found, home: Path) -> None:
    """In a process of its own, too: what Hypothesis draws depends on the modules that are loaded."""
    shutil.copytree(found.folder / ".fuzzturn", home / ".fuzzturn")
    again = [argument for argument in found.said.args if not argument.startswith(("--api-base", "http"))]
    done = subprocess.run([*again, "--offline", "--json", "out.json"], capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert claims("out.json") == claims(str(found.folder / "first.json"))
    spent = result()["spent"]
    assert (spent["agent_turns"], spent["model_calls"]["made"], spent["by_role"]) == (0, 0, {})


def test_a_kept_finding_replays_from_the_record(found: Found, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(found.folder, home, dirs_exist_ok=True)
    assert run(["replay", "corpus", "--agent", "litellm/desk", "--offline"]) == 0
    assert capsys.readouterr().out.count("FAILING") == len(findings("first.json"))
    assert run(["replay", "corpus"]) == 3, "no model is asked because a file says so"
    assert "needs what is not here: no agent is called 'litellm/desk'" in capsys.readouterr().out
    assert run(["replay", "corpus", "--agent", "litellm/other", *COMPACTION, "--offline"]) == 3
    assert 'differs at model: recorded "desk", asked "other"' in capsys.readouterr().out


@pytest.mark.parametrize("option", ["extra: '{\"top_p\": 0.5}'", "base_url: http://127.0.0.1:9/v1"])
def test_a_kept_file_is_not_believed_when_it_names_a_server(
    found: Found, home: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(found.folder, home, dirs_exist_ok=True)
    (entry, *_) = sorted(home.glob("corpus/*/*.yaml"))
    entry.write_text(entry.read_text().replace("  options:\n", f"  options:\n    {option}\n", 1))
    assert option in entry.read_text()
    assert run(["replay", str(entry), "--agent", "litellm/desk", "--offline"]) == 0, "asked as without the option"
    assert capsys.readouterr().out.startswith("FAILING")


def test_offline_without_a_record_ends_with_3_and_names_the_call(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fuzz(None, "--offline") == 3
    said_so = capsys.readouterr().err
    assert "stopped by --offline" in said_so
    assert "this call is not recorded: agent call litellm of model desk, 1 messages" in said_so
    assert run(["run", "lisbon_offsite", "--agent", "litellm/desk", "--offline"]) == 3


def test_the_key_is_in_no_file_of_the_run_though_the_server_repeats_it(home: Path) -> None:
    def leaking(body: dict[str, Any]) -> dict[str, Any]:
        completion = travel_desk(body)
        completion["choices"][0]["message"]["content"] = f"With {KEY}: {completion['choices'][0]['message']['content']}"
        return completion

    with Upstream(leaking, faults=[BROKEN]) as upstream:
        fuzz(upstream, *COMPACTION, "--budget-turns", "30", sessions=2)
        assert (
            run(["run", "lisbon_offsite", "--agent", "litellm/desk", "--api-base", upstream.url, "--json", "r.json"])
            < 2
        )
    files = [path for path in home.rglob("*") if path.is_file()]
    assert {"calls.sqlite", "run.json", "sessions.jsonl", "out.json", "r.json"} <= {path.name for path in files}
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
    assert "With [redacted]: " in (home / ".fuzzturn" / "runs" / "run-0001" / "sessions.jsonl").read_text()


@pytest.mark.parametrize("workers", [1, 4])
def test_the_cap_on_money_stops_the_campaign_within_a_call_a_worker_and_keeps_everything(
    home: Path, capsys: pytest.CaptureFixture[str], workers: int
) -> None:
    (home / "fuzzturn.toml").write_text('price = ["desk=10/0"]\n')  # 0.001 dollars a call
    with Upstream(travel_desk) as upstream:
        code = fuzz(upstream, *COMPACTION, "--budget-usd", "0.15", "--workers", str(workers))
        assert 150 <= len(upstream.requests) <= 150 + workers
    told = capsys.readouterr().err
    assert "stopped by --budget-usd after" in told
    spent = result()["spent"]
    assert 0.15 <= spent["usd"] <= 0.15 + 0.001 * workers
    assert spent["by_role"]["agent"]["calls"] == len(upstream.requests)
    sessions = (home / ".fuzzturn/runs/fuzz-0001/sessions.jsonl").read_text().splitlines()
    assert len(sessions) == spent["sessions"] > 4
    assert code == (1 if result()["findings"] else 4 if result()["undecided"] else 0)


def test_a_cap_that_no_price_can_hold_is_refused_before_anything_is_asked(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Upstream(travel_desk) as upstream:
        assert fuzz(upstream, "--budget-usd", "1") == 2
        assert len(upstream.requests) == 0
    assert 'what a call of model desk costs is not known; price = ["desk=0.15/0.60"]' in capsys.readouterr().err


def test_faults_that_pass_change_nothing_and_are_counted(home: Path) -> None:
    faults: list[Fault | None] = [None, busy(0.01), None, BROKEN, None, MALFORMED, None, Fault(status=503), None]
    for out, injected in (("fine", []), ("faulty", faults * 2)):
        with Upstream(travel_desk, faults=injected) as upstream:
            at = ["--agent", "litellm/desk", "--api-base", upstream.url, "--out", out, "--json", f"{out}.json"]
            assert run(["run", "lisbon_offsite", *at]) == 0
    fine, faulty = result("fine.json"), result("faulty.json")
    assert fine["sessions"] == faulty["sessions"]
    assert fine["spent"]["model_calls"]["made"] == faulty["spent"]["model_calls"]["made"]
    assert faulty["spent"]["model_calls"]["retried"] == {"rate limit": 2, "server error 500": 4, "server error 503": 2}


def test_a_wrong_key_is_said_once_and_ends_with_3(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused = Fault(status=401, body=b'{"error": {"message": "Incorrect API key provided"}}')
    with Upstream(travel_desk, faults=[refused] * 99) as upstream:
        assert fuzz(upstream) == 3
        assert len(upstream.requests) == 1
    assert capsys.readouterr().err.count("Incorrect API key provided") == 1


def test_an_agent_whose_server_cannot_parse_it_is_broken_and_breaks_no_constraint(home: Path) -> None:
    peg = Fault(status=500, body=b'{"error": {"message": "the model produced output that does not match"}}')
    with Upstream(travel_desk, faults=[None, *[peg] * 999]) as upstream:
        assert fuzz(upstream, sessions=2) == 3
    found = result()
    assert found["findings"] == []
    assert len(found["agent_errors"]) == 1
    assert "server error 500" in found["agent_errors"][0]


def test_a_model_judges(home: Path) -> None:
    def both(body: dict[str, Any]) -> dict[str, Any]:
        if body["model"] == "desk":
            return travel_desk(body)
        return said(json.dumps({"quotes": [], "reason": "Fine.", "score": 4}))

    with Upstream(both) as upstream:
        assert fuzz(upstream, *COMPACTION, "--judge", "litellm/gullible", "--judge-context", "full", sessions=6) == 1
    found = result()
    assert {finding["judge_context"] for finding in found["findings"]} == {"full"}
    assert 0 < found["spent"]["by_role"]["judge"]["calls"] <= found["spent"]["judge_calls"]
    assert found["fingerprints"]["judge"]["name"] == "litellm/gullible"


def test_what_it_may_cost_is_said_beforehand_with_every_assumption(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["fuzz", "lisbon_offsite", "--agent", "litellm/gpt-4o-mini", "--judge", "litellm/desk", "--dry-run",
                "--budget-usd", "2.5"]) == 0  # fmt: skip
    said_so = capsys.readouterr().out
    assert "bounded by 2.5 US dollars" in said_so
    assert "agent: about 6030 model calls" in said_so
    assert "about USD " in said_so
    assert "assumed: 2.5 calls a turn" in said_so
    assert "judge: about 200 model calls" in said_so
    assert "at a price that is not known" in said_so


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--agent", "litellm/"], "'litellm/' names no model"),
        (["--agent", "litelm"], "no agent is called 'litelm'"),
        (["--agent", "litellm/desk", "--api-base", "localhost:80"], "--api-base 'localhost:80' is no URL"),
        (["--agent", "litellm/desk", "--agent-option", "tempo=1"], "tempo"),
        (["--agent", "proxy"], "--agent-option target=<any other agent>"),
        (["--agent", "proxy", "--agent-option", "target=orbit"], "--agent-option upstream="),
    ],
)
def test_what_cannot_be_is_bad_input(
    home: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["fuzz", "lisbon_offsite", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_options_of_the_project_s_agent_are_not_given_to_another(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "fuzzturn.toml").write_text('agent = "orbit"\nagent_option = ["threshold=500"]\n')
    assert run(["run", "lisbon_offsite"]) == 1
    (home / "mine.py").write_text("def answer(messages):\n    return 'I forgot the code.'\n")
    assert run(["run", "lisbon_offsite", "--agent", "mine.py:answer"]) == 1, capsys.readouterr().err


def test_a_refused_call_is_shown_where_it_happened(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "mine.py").write_text(
        "def answer(messages):\n"
        "    call = {'id': 'c', 'function': {'name': 'fly', 'arguments': '{}'}}\n"
        "    said = {'role': 'assistant', 'content': 'I forgot the code.'}\n"
        "    return said if messages[-1]['role'] == 'tool' else said | {'tool_calls': [call]}\n"
    )
    assert run(["run", "lisbon_offsite", "--agent", "mine.py:answer"]) == 1
    told = capsys.readouterr().out
    assert "(agent mine.py:answer, judge reference, rubric orbit-turn-quality-v3)" in told
    assert "~ the call of fly was refused: no tool is called 'fly'" in told
