"""Carrying: an entry brings the model calls of its replay along, so that it replays where nothing else lies."""

from __future__ import annotations

import json
import random
import re
import shutil
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from entries import entry
from fuzzturn.cli import run
from fuzzturn.cli.carrying import Carrying, carrying
from fuzzturn.cli.options import choose
from fuzzturn.cli.staging import Staging
from fuzzturn.corpus import Entry, entry_files, load_entry, write_entry
from fuzzturn.document import load
from fuzzturn.project import Project
from orbit_upstream import travel_desk
from upstream import Upstream, said

pytestmark = pytest.mark.usefixtures("litellm_session")
ROOT = Path(__file__).parent.parent
KEY = "sk-very-secret-key-0123456789"
HOSTED = ("--agent", "litellm/desk", "--agent-option", "compaction=summary_keep_recent")
BEHIND_PROXY = ("--agent", "proxy", "--agent-option", "target=desk.py:build")
JUDGE = ("--judge", "litellm/gullible")
SEEN = ("--judge-context", "agent")
DESK = '''"""An agent over OpenAI's API that tells nothing and keeps four messages once there are many words."""

import json
from urllib.request import ProxyHandler, Request, build_opener

OPENER = build_opener(ProxyHandler({}))


class Desk:
    def __init__(self, environment, base_url):
        self.environment, self.url, self.messages = environment, f"{base_url}/chat/completions", []

    def reply(self, message):
        self.messages.append({"role": "user", "content": message})
        if len(json.dumps(self.messages)) > 2400:
            self.messages = self.messages[-4:]
        while (answer := self.ask()).get("tool_calls"):
            for call in answer["tool_calls"]:
                result = self.environment.call(call["function"]["name"], **json.loads(call["function"]["arguments"]))
                told = {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)}
                self.messages.append(told)
        return answer["content"]

    def ask(self):
        body = {"model": "desk", "messages": self.messages}
        request = Request(self.url, json.dumps(body).encode(), {"Content-Type": "application/json"})
        answer = json.load(OPENER.open(request))["choices"][0]["message"]
        self.messages.append(answer)
        return answer


def build(environment, *, base_url):
    return Desk(environment, base_url)
'''


def gullible(body: dict[str, Any]) -> dict[str, Any]:
    """The travel desk, and a judge that likes everything."""
    if body["model"] == "desk":
        return travel_desk(body)
    return said(json.dumps({"quotes": [], "reason": f"Fine. {KEY}", "score": 4}))


@dataclass(frozen=True)
class Kept:
    """What a campaign left behind."""

    folder: Path
    code: int
    out: str

    @property
    def entries(self) -> list[Entry]:
        return [load_entry(path) for path in entry_files(self.folder / "corpus")]


def campaign(folder: Path, answer: Any, *words: str, sessions: int = 2) -> Kept:
    """A campaign in `folder` on a model that answers so."""
    (folder / "desk.py").write_text(DESK)
    out = StringIO()
    with pytest.MonkeyPatch.context() as patch, Upstream(answer) as upstream, redirect_stdout(out):
        patch.setenv("OPENAI_API_KEY", KEY)
        patch.setenv("COLUMNS", "200")
        patch.chdir(folder)
        at = ["--api-base", upstream.url, "--seed", "7", "--budget-sessions", str(sessions)]
        code = run(["fuzz", "lisbon_offsite", *at, *words])
    return Kept(folder, code, out.getvalue())


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory, litellm_session: None) -> Kept:
    """Found once: a model plays, a model judges."""
    return campaign(tmp_path_factory.mktemp("hosted"), gullible, *HOSTED, *JUDGE, *SEEN, sessions=1)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, where the commands run; what a test copies into it is all that there is."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("COLUMNS", "200")
    (here := tmp_path / "here").mkdir()
    monkeypatch.chdir(here)
    return here


def moved(kept: Kept, to: Path) -> list[Path]:
    """The corpus and the agent's code and nothing else; the corpus files."""
    shutil.copytree(kept.folder / "corpus", to / "corpus")
    shutil.copy(kept.folder / "desk.py", to)
    return entry_files(Path("corpus"))


def test_an_entry_replays_offline_where_only_the_corpus_lies(hosted: Kept, elsewhere: Path, capsys: Any) -> None:
    assert hosted.code == 1
    (only,) = hosted.entries
    assert {call.role for call in only.calls} == {"agent", "judge"}
    assert f"  carries the {len(only.calls)} model calls of its replay: " in hosted.out
    (file,) = moved(hosted, elsewhere)
    assert run(["replay", *HOSTED, *JUDGE, "--offline"]) == 0
    assert capsys.readouterr().out.startswith("FAILING")
    assert not list(elsewhere.rglob("*.sqlite")), "no record was begun"
    assert KEY not in file.read_text()
    assert run(["corpus", "show", file.stem]) == 0
    agents = sum(call.role == "agent" for call in only.calls)
    assert f"  carries {len(only.calls)} model calls (agent {agents}, judge " in capsys.readouterr().out


def test_an_entry_gives_its_items_to_stress_offline_and_asks_no_judge(
    hosted: Kept, elsewhere: Path, capsys: Any
) -> None:
    (file,) = moved(hosted, elsewhere)
    assert run(["stress", str(file), *HOSTED, *JUDGE, "--offline", "--dry-run"]) == 0
    said = capsys.readouterr()
    assert "litellm/gullible: 2 items in 21 arms" in said.out
    assert f"{file}: 2 items, 0 that no checker tells" in said.err
    file.write_text(re.sub(r"(?ms)^calls:\n.*", "calls: []\n", file.read_text()))
    assert run(["stress", str(file), *HOSTED, *JUDGE, "--offline", "--dry-run"]) == 2
    assert f"{file}: no items, ERROR: " in capsys.readouterr().err


def test_the_same_campaign_carries_the_same_bytes(hosted: Kept, elsewhere: Path) -> None:
    """From its record: nothing is asked."""
    shutil.copytree(hosted.folder / ".fuzzturn", elsewhere / ".fuzzturn")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fuzzturn.calls.CallRecord.keep", lambda *_: pytest.fail("a call was made"))
        again = campaign(elsewhere, lambda body: pytest.fail("a call was made"), *HOSTED, *JUDGE, *SEEN, sessions=1)
    written, first = (entry_files(kept.folder / "corpus")[0].read_bytes() for kept in (again, hosted))
    assert written == first


def test_where_the_agent_is_not_seen_the_judge_s_calls_are_carried_and_it_is_not_played_again(
    tmp_path: Path, elsewhere: Path, capsys: Any
) -> None:
    kept = campaign(tmp_path, gullible, "--agent", "orbit", *JUDGE, "--judge-context", "full")
    assert {call.role for entry in kept.entries for call in entry.calls} == {"judge"}
    moved(kept, elsewhere)
    assert run(["replay", *JUDGE, "--offline"]) == 0
    assert capsys.readouterr().out.count("FAILING") == len(kept.entries)


def test_a_replay_that_may_ask_a_model_asks_it_and_not_the_file(hosted: Kept, elsewhere: Path, capsys: Any) -> None:
    moved(hosted, elsewhere)
    with Upstream(lambda body: said("I am mended and book nothing.")) as upstream:
        assert run(["replay", *HOSTED, *JUDGE, "--api-base", upstream.url]) == 1
        assert len(upstream.requests) > 0
    assert capsys.readouterr().out.startswith("CHANGED")


def test_what_the_entry_does_not_carry_is_looked_for_in_the_record(hosted: Kept, elsewhere: Path, capsys: Any) -> None:
    (file,) = moved(hosted, elsewhere)
    text = file.read_text()
    first, second = (text.index("  - key: ", at) for at in (text.index("\ncalls:"), text.index("role: agent")))
    file.write_text(text[:first] + text[second:])
    assert run(["replay", *HOSTED, *JUDGE, "--offline"]) == 3
    assert "this call is not recorded: agent call" in capsys.readouterr().out
    shutil.copytree(hosted.folder / ".fuzzturn", elsewhere / ".fuzzturn")
    assert run(["replay", *HOSTED, *JUDGE, "--offline"]) == 0
    assert capsys.readouterr().out.startswith("FAILING")


def test_what_is_shrunk_further_carries_its_own_calls(hosted: Kept, elsewhere: Path, capsys: Any) -> None:
    (file,) = moved(hosted, elsewhere)
    shutil.copytree(hosted.folder / ".fuzzturn", elsewhere / ".fuzzturn")
    kept = load_entry(file)
    longer = kept.provenance.model_copy(update={"turns": kept.provenance.turns + 1})
    write_entry(kept.model_copy(update={"provenance": longer, "calls": ()}), file)
    with Upstream(gullible) as upstream:
        assert run(["shrink", str(file), *HOSTED, *JUDGE, "--api-base", upstream.url]) == 1
    (smaller,) = (path for path in entry_files(Path("corpus")) if load_entry(path).size == kept.size)
    shutil.rmtree(".fuzzturn")
    assert run(["replay", str(smaller), *HOSTED, *JUDGE, "--offline"]) == 0
    assert "\nFAILING" in capsys.readouterr().out


ODD = (
    "null",
    "{}",
    '{"choices": []}',
    '{"choices": [7]}',
    '{"choices": [{"message": []}]}',
    '{"choices": [{"message": {"content": {"a": [1]}, "tool_calls": [{"function": 1}]}}]}',
    '{"choices": [{"message": {"tool_calls": [{"function": {"name": "os.system", "arguments": "{}"}}]}}], "usage": 9}',
)


@pytest.mark.parametrize("body", ODD)
def test_whatever_the_answers_in_a_file_say_a_replay_ends_in_an_outcome(
    hosted: Kept, elsewhere: Path, body: str, capsys: Any
) -> None:
    (file,) = moved(hosted, elsewhere)
    kept = load_entry(file)
    for role in ("agent", "judge"):
        calls = tuple(call.model_copy(update={"body": body} if call.role == role else {}) for call in kept.calls)
        write_entry(kept.model_copy(update={"calls": calls}), file)
        code = run(["replay", *HOSTED, *JUDGE, "--offline"])
        assert code in ((3,) if role == "agent" else (0, 3)), "a judge that cannot be read has no part in it"
        assert capsys.readouterr().out.startswith({0: "FAILING", 3: "ERROR"}[code])


def test_too_many_calls_are_left_out_and_the_entry_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzzturn.corpus.limits.MAX_CALLS", 0)
    kept = campaign(tmp_path, gullible, "--agent", "orbit", *JUDGE, "--judge-context", "full", sessions=1)
    (only,) = kept.entries
    assert only.calls == ()
    said_so = "  carries no model calls, `replay --offline` needs .fuzzturn/calls.sqlite: "
    (line,) = (line for line in kept.out.splitlines() if line.startswith(said_so))
    assert line.endswith("1 model calls are more than a file may hold")


def test_of_a_rule_based_agent_nothing_is_carried_and_nothing_is_played() -> None:
    staging = Staging(Project(), choose({}, {}, ("full",)))
    never_read: Any = None
    assert carrying(made := entry(), never_read, staging) == Carrying(made)
    assert not {"calls", "samples"} & load(ROOT / "corpus" / "lisbon_offsite" / "1e447ade.yaml").data.keys()


def test_the_runs_of_an_agent_that_does_not_repeat_itself_replay_as_they_went(
    tmp_path: Path, elsewhere: Path, capsys: Any
) -> None:
    drawn = random.Random(3)

    def moody(body: dict[str, Any]) -> dict[str, Any]:
        """Books in about three of four sessions."""
        last = str(body["messages"][-1]["content"])
        return said("Let me think.") if "book" in last and drawn.random() < 0.25 else travel_desk(body)

    kept = campaign(tmp_path, moody, *BEHIND_PROXY, "--judge", "none", "--repeats", "5", sessions=0)
    (only,) = kept.entries
    assert (only.failing.n, len(only.samples)) == (5, 5)
    assert {call.sample for call in only.calls} == {*only.samples}
    moved(kept, elsewhere)
    assert run(["replay", *BEHIND_PROXY, "--judge", "none", "--offline"]) == 0
    k = only.failing.k
    assert f"broken in {k} of 5 runs" in (out := capsys.readouterr().out)
    assert out.startswith("FAILING")
