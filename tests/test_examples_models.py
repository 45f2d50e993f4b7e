"""The examples that need a model: a function of messages, litellm, and the node agent behind the recording proxy."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fuzzturn.cli import run

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
pytestmark = pytest.mark.usefixtures("litellm_session")
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed; it runs the example")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The server of examples/scripted_server.py, on a free port."""
    command = [sys.executable, str(EXAMPLES / "scripted_server.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.kill()


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def fuzz(*arguments: str, sessions: int = 6) -> dict[str, Any]:
    """The result of a small campaign on Lisbon that finds something."""
    fixed = ["--seed", "0", "--judge-context", "agent", "--json", "out.json", "--budget-sessions", str(sessions)]
    assert run(["fuzz", "lisbon_offsite", *fixed, *arguments]) == 1
    result: dict[str, Any] = json.loads(Path("out.json").read_text())
    return result


def is_the_blind_spot(result: dict[str, Any]) -> bool:
    """A ceiling that compaction took, broken, and a judge that saw what the agent saw gives it a 4."""
    shortest = min(result["findings"], key=lambda finding: finding["n_turns"])
    told = (shortest["kind"], shortest["constraint"], shortest["visibility"], shortest["why"]["no_compaction"])
    return told == ("blind_spot", "leg_ceiling", "absent", "clean") and shortest["minimal"]


def test_a_function_of_messages_forgets_the_ceiling_under_a_policy_of_ours() -> None:
    spec = f"{EXAMPLES / 'chat_function.py'}:answer"
    assert is_the_blind_spot(fuzz("--agent", spec, "--agent-option", "compaction=summary_keep_recent"))


def test_a_model_behind_litellm_does_too(url: str) -> None:
    at = ["--agent", "litellm/scripted", "--api-base", url, "--agent-option", "compaction=summary_keep_recent"]
    result = fuzz(*at, "--budget-turns", "100")
    assert {finding["kind"] for finding in result["findings"]} == {"blind_spot"}
    assert result["agent_errors"] == []
    assert result["spent"]["by_role"]["agent"]["prompt_tokens"] > 0


@needs_node
def test_the_node_agent_behind_the_proxy_is_seen_recorded_and_played_again_for_nothing(url: str) -> None:
    command = f"command=node {EXAMPLES / 'node_agent.mjs'}"
    behind = [
        "run",
        "lisbon_offsite",
        "--agent",
        "proxy",
        "--agent-option",
        "target=process",
        "--agent-option",
        command,
    ]
    assert run([*behind, "--api-base", url, "--json", "first.json"]) == 0
    assert run([*behind, "--api-base", url, "--json", "again.json", "--offline"]) == 0
    first, again = (json.loads(Path(name).read_text()) for name in ("first.json", "again.json"))
    assert first["sessions"] == again["sessions"]
    assert first["spent"]["model_calls"]["made"] == again["spent"]["model_calls"]["recorded"] > 12
    assert again["spent"]["model_calls"]["made"] == 0
    session = json.loads(Path(".fuzzturn/runs/run-0001/sessions.jsonl").read_text())
    seen = [event for turn in session["turns"] for event in turn["events"] if event["event"] == "model_call"]
    assert len(seen) == first["spent"]["model_calls"]["made"]
    assert all(event["context"] and event["recorded"] is False for event in seen)
