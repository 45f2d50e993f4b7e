"""The examples in another language, behind a URL and as a function: the Lisbon scenario is clean until they forget."""

from __future__ import annotations

import asyncio
import json
import shlex
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from fuzzturn.adapters import http, process
from fuzzturn.campaign import Campaign, campaign_bench
from fuzzturn.drive import Cast, Meter, drive
from fuzzturn.measure import Measured, measure
from fuzzturn.project import Project
from fuzzturn.replying import fold
from fuzzturn.scenario import Scenario, System
from fuzzturn.scenario_file import load_scenario
from fuzzturn.scores import SERIOUSNESS
from fuzzturn.session import Session
from fuzzturn.tree import Tree
from fuzzturn.trial import Trial
from fuzzturn.variant import Edit, Insert, Pad, Variant
from fuzzturn.why import loss

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
PROJECT = Project(root=ROOT)
REGISTRY = PROJECT.load_scenarios_content()
LISBON = load_scenario(ROOT / "scenarios/orbit/lisbon_offsite.yaml")
CEILING = "no leg may cost more than EUR 450"
NODE = shlex.join(["node", str(EXAMPLES / "node_agent.mjs")])

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed; it runs the example")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The server of examples/http_agent.py, on a free port."""
    with subprocess.Popen(
        [sys.executable, str(EXAMPLES / "http_agent.py"), "0"], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.kill()


Casting = Callable[..., Cast]


@pytest.fixture(params=[pytest.param("node", marks=needs_node), "http", "function"])
def casting(request: pytest.FixtureRequest) -> Casting:
    """How to make a cast of one of the examples; options of the agent as on a command line."""
    kind = request.param
    if kind == "node":
        return lambda **options: cast(process.build, command=NODE, **options)
    if kind == "http":
        address = request.getfixturevalue("url")
        return lambda **options: cast(http.build, url=address, **options)
    function = PROJECT.load_callable(f"{EXAMPLES / 'function_agent.py'}:agent")
    return lambda **options: cast(fold(function), **options)


def cast(build: Callable[..., Any], **options: str) -> Cast:
    make = REGISTRY.get("environment", "orbit").function
    return Cast(build=build, make_environment=make, name="example", options=options)


def varied(*edits: Edit) -> Scenario:
    return Variant(LISBON, edits).spoken


def pad(tokens: int) -> Pad:
    return Pad(operator="t", anchor="dinner", tokens=tokens)


def questions() -> list[Insert]:
    bank = LISBON.interruptions
    return [Insert(operator="t", anchor="news", name=b.id, user=b.user, mentions=b.must_mention_any) for b in bank]


def play(plan: Cast, spoken: Scenario) -> Measured:
    return measure(spoken, asyncio.run(drive(plan, spoken)), REGISTRY)


def violated(measured: Measured) -> list[str]:
    return [scores.turn for scores in measured.scores if scores.adherence.failed]


def spotless(measured: Measured) -> bool:
    wrong = [s for s in measured.scores if s.adherence.failed or s.assertions.failures or s.progress.breaches]
    return not wrong and measured.goal_reached and not measured.session.off_script and measured.session.error is None


def test_the_script_as_written_is_clean(casting: Casting) -> None:
    measured = play(casting(), LISBON)
    assert measured.session.error is None
    assert spotless(measured)


def test_more_talk_before_the_booking_makes_it_forget_the_ceiling(casting: Casting) -> None:
    measured = play(casting(), varied(pad(400)))
    assert measured.session.error is None
    assert violated(measured) == ["book"]
    assert "EUR 610" in measured.session.turns[-2].text


def test_with_room_enough_nothing_is_forgotten_and_side_questions_are_answered(casting: Casting) -> None:
    assert spotless(play(casting(threshold="9000"), varied(pad(400), *questions())))


@pytest.mark.parametrize("option", ["threshold_tokens", "mood"])
def test_an_option_that_the_agent_does_not_know_is_its_error(option: str, url: str) -> None:
    session = play(cast(http.build, url=url, **{option: "1"}), LISBON).session
    assert f"the agent reports: ValueError: no option '{option}'; known: threshold, keep" in str(session.error)


@needs_node
def test_the_node_agent_tells_what_it_saw_and_what_its_compaction_took() -> None:
    session = play(cast(process.build, command=NODE), varied(pad(400))).session
    book = next(turn for turn in session.turns if turn.id == "book")
    compaction = next(event for turn in session.turns for event in turn.compactions)
    assert compaction.before is not None
    assert compaction.before > 900
    assert any(CEILING in message["content"] for message in compaction.dropped or ())
    assert compaction.summariser_input == compaction.dropped
    contexts = [call.context for call in book.model_calls]
    assert len(contexts) == 4
    assert all(context is not None and not any(CEILING in m["content"] for m in context) for context in contexts)
    assert [call.name for call in book.tool_calls] == [
        "search_flights", "search_flights", "hold_booking", "confirm_booking",
    ]  # fmt: skip


@needs_node
def test_without_compaction_the_node_agent_keeps_the_ceiling() -> None:
    assert spotless(play(cast(process.build, command=NODE, compaction="none"), varied(pad(400))))


@needs_node
def test_a_ceiling_in_the_system_prompt_is_never_compacted_away() -> None:
    script = varied(pad(400)).model_copy(update={"system": System(text=f"You book travel: {CEILING}.")})
    assert spotless(play(cast(process.build, command=NODE), script))


@pytest.mark.parametrize("kind", [pytest.param("node", marks=needs_node), "http"])
def test_going_on_from_a_snapshot_gives_the_same_session_for_fewer_turns(kind: str, url: str) -> None:
    given: dict[str, Any] = {"command": NODE} if kind == "node" else {"url": url}
    build = process.build if kind == "node" else http.build

    async def both(snapshots: str) -> tuple[Session, Session, int, str | None]:
        tree = Tree(cast(build, **given, snapshots=snapshots), LISBON, Meter())
        played = await tree.play(LISBON), await tree.play(varied(pad(400)))
        spent = tree.meter.agent_turns
        return *played, spent, await tree.distrust(LISBON)

    base, longer, spent, distrust = asyncio.run(both("yes"))
    assert distrust is None
    opaque_base, opaque_longer, opaque_spent, _ = asyncio.run(both("no"))
    assert (base, longer) == (opaque_base, opaque_longer)
    assert (spent, opaque_spent) == (17, 25)


@pytest.mark.parametrize("kind", [pytest.param("node", marks=needs_node), "http"])
def test_what_the_agent_forgot_is_a_blind_spot_and_the_summariser_lost_it(kind: str, url: str) -> None:
    plan = cast(process.build, command=NODE) if kind == "node" else cast(http.build, url=url)
    campaign = Campaign(
        scenario=LISBON,
        cast=plan,
        registry=REGISTRY,
        operators=(),
        judge=PROJECT.shipped("judge", "reference")(),
        judge_name="reference",
        rubric=PROJECT.find_rubric(),
        contexts=SERIOUSNESS,
        sessions=0,
    )
    variant = Variant(LISBON, (pad(400),))
    trial = asyncio.run(trial_of(campaign, variant))
    (failure,) = trial.failures
    assert (failure.kind, failure.constraint, failure.visibility) == ("blind_spot", "leg_ceiling", "absent")
    assert "agent" in failure.blind_in
    assert {"full", "window+block"}.isdisjoint(failure.blind_in)
    assert loss(trial.measured, failure)[0] == "lost_by_summariser"


async def trial_of(campaign: Campaign, variant: Variant) -> Trial:
    return await campaign_bench(campaign).run(variant)


class _Endpoint(ThreadingHTTPServer):
    """A model endpoint that asks for one tool and then says what came back."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Completions)
        self.heard: list[dict[str, Any]] = []


class _Completions(BaseHTTPRequestHandler):
    server: _Endpoint

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.heard.append({"path": self.path, **asked})
        last = asked["messages"][-1]
        call = {"id": "call_7", "type": "function", "function": {"name": "lookup_expense_code", "arguments": "{}"}}
        message: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [call]}
        if last["role"] == "tool":
            message = {"role": "assistant", "content": f"The code is {json.loads(last['content'])['code']}."}
        body = json.dumps({"choices": [{"message": message}], "usage": {"total_tokens": 5}}).encode()
        self.send_response(200 if asked["messages"][0]["content"] != "fail" else 503)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None: ...


@contextmanager
def endpoint() -> Iterator[_Endpoint]:
    with _Endpoint() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@needs_node
def test_where_there_is_a_base_url_the_node_agent_asks_the_endpoint_there() -> None:
    with endpoint() as server:
        player = cast(process.build, command=NODE, base_url=f"http://127.0.0.1:{server.server_port}/v1/")
        line = LISBON.turns[4]
        session = asyncio.run(drive(player, LISBON.model_copy(update={"turns": (line,)})))
    (turn,) = session.turns
    assert turn.error is None
    assert turn.text == "The code is CX-402."
    assert [(call.name, call.id) for call in turn.tool_calls] == [("lookup_expense_code", "call_7")]
    assert [call.usage for call in turn.model_calls] == [{"total_tokens": 5}] * 2
    first, second = server.heard
    assert (first["path"], first["model"], first["stream"]) == ("/v1/chat/completions", "scripted", False)
    assert {tool["function"]["name"] for tool in first["tools"]} >= {"search_flights", "confirm_booking"}
    assert [message["role"] for message in second["messages"]] == ["user", "assistant", "tool"]


@needs_node
def test_an_endpoint_that_fails_is_the_node_agents_error() -> None:
    with endpoint() as server:
        player = cast(process.build, command=NODE, base_url=f"http://127.0.0.1:{server.server_port}/v1")
        line = LISBON.turns[4].model_copy(update={"user": "fail"})
        session = asyncio.run(drive(player, LISBON.model_copy(update={"turns": (line,)})))
    assert "the agent reports: the endpoint answered 503" in str(session.error)


@needs_node
def test_the_node_agent_ends_when_nobody_speaks_to_it_any_more() -> None:
    done = subprocess.run(shlex.split(NODE), input="", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_server_says_what_it_cannot_do_and_serves_on(url: str) -> None:
    host, port = url.split("/")[2].split(":")
    body = json.dumps({"type": "say", "session_id": "unknown", "message": "hi"}).encode()
    for _ in range(2):
        with socket.create_connection((host, int(port)), timeout=20) as line:
            line.sendall(b"POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
            answer = b"".join(iter(lambda: line.recv(4096), b""))
        assert json.loads(answer.partition(b"\r\n\r\n")[2]) == {"type": "error", "message": "KeyError: 'unknown'"}
