"""An agent that is a program: what it is given, how it may fail, and that nothing of it stays behind."""

from __future__ import annotations

import asyncio
import gc
import os
import shlex
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import kit
from fuzzturn.adapters.process import build, environ_for
from fuzzturn.drive import Cast, drive
from fuzzturn.errors import InputError
from fuzzturn.replying import AgentFault
from fuzzturn.session import Message, ToolCall

pytestmark = pytest.mark.skipif(os.name != "posix", reason="process groups and pipes of POSIX are needed")

PRELUDE = """
import json, os, signal, subprocess, sys, time
open(sys.argv[1], "w").write(str(os.getpid()))
def send(type, **fields): print(json.dumps({"type": type, **fields}), flush=True)
def hear():
    line = sys.stdin.readline()
    return json.loads(line) if line else sys.exit(0)
def child():
    sleeper = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"])
    note = sys.argv[1] + ".child"
    with open(note + "~", "w") as file:
        file.write(str(sleeper.pid))
    os.replace(note + "~", note)  # whoever waits for it finds it written
opened = hear()
"""
READY = "send('ready')\nhear()\n"
POLITE = "send('ready')\nwhile hear()['type'] == 'say': send('reply', text='ok')\n"


class Program:
    """A program written for one test, and the ids of its processes."""

    def __init__(self, folder: Path, body: str) -> None:
        self.file = folder / "agent.py"
        self.file.write_text(PRELUDE + body, encoding="utf-8")
        self.note = folder / "pid"

    @property
    def command(self) -> str:
        return shlex.join([sys.executable, "-I", "-S", str(self.file), str(self.note)])

    def agent(self, timeout: str = "20", **given: Any) -> Any:
        return build(kit.Shop(), command=self.command, timeout=timeout, session_id="s1", **given)

    def pid(self, of: str = "") -> int:
        return int(Path(str(self.note) + of).read_text(encoding="utf-8"))


def running(pid: int) -> bool:
    """Whether the process is there and no mere zombie that its parent has not collected."""
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not stat.exists() or stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def gone(pid: int) -> bool:
    """The system takes a moment to end what was killed."""
    until = time.monotonic() + 10
    while running(pid) and time.monotonic() < until:
        time.sleep(0.005)
    return not running(pid)


def spoken(player: Any, *messages: str) -> list[Any]:
    """The replies, after which the session is closed and nothing is left running in this process either."""

    async def through() -> list[Any]:
        try:
            return [await player.reply(message) for message in messages]
        finally:
            await player.aclose()
            assert asyncio.all_tasks() == {asyncio.current_task()}

    return asyncio.run(through())


def test_a_program_is_spoken_to_line_by_line_and_its_calls_are_recorded(tmp_path: Path) -> None:
    body = """
send("ready", identity="shopper 1")
while True:
    message = hear()
    if message["type"] == "say" and message["message"].startswith("Buy"):
        send("call", calls=[{"id": "c1", "name": "buy", "args": {"price": 40}}])
    elif message["type"] == "results":
        send("reply", text="Bought: " + message["results"][0]["result"])
    else:
        send("reply", text="Noted.")
"""
    program = Program(tmp_path, body)
    cast = Cast(build=build, make_environment=kit.make_shop, name="p", options={"command": program.command})
    session = asyncio.run(drive(cast, kit.scenario()))
    assert session.error is None
    assert session.turns[0].events == (Message("Noted."),)
    assert session.turns[-1].events == (ToolCall("buy", {"price": 40}, "ok"), Message("Bought: ok"))
    assert gone(program.pid())


def test_options_of_its_own_and_the_seed_reach_the_program(tmp_path: Path) -> None:
    body = READY + "send('reply', text=json.dumps([opened['options'], opened['seed'], opened['session_id']]))\nhear()\n"
    (reply,) = spoken(Program(tmp_path, body).agent(seed=7, mood="good"), "hi")
    assert reply.events == (Message('[{"mood": "good"}, 7, "s1"]'),)


def test_a_program_that_talks_much_on_stderr_does_not_hang(tmp_path: Path) -> None:
    body = READY + "sys.stderr.write('x' * 1_000_000)\nsend('reply', text='ok')\nhear()\n"
    (reply,) = spoken(Program(tmp_path, body).agent(), "hi")
    assert reply.events == (Message("ok"),)


FAULTS: Mapping[str, tuple[str, str]] = {
    "ends": ("hear(); sys.exit(3)", "the program ended with exit code 3 before it answered"),
    "ends at once": ("sys.exit(5)", "ended with exit code 5"),
    "says why": ("hear(); sys.stderr.write('no key\\n'); sys.exit(1)", "exit code 1 .*; its stderr ends: 'no key'"),
    "raises": ("hear(); {}['lamp']", "exit code 1 before it answered; its stderr ends: .*KeyError: "),
    "is killed": ("hear(); os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)", "was ended by SIGTERM"),
    "writes garbage": ("hear(); print('Loading', flush=True); hear()", "'Loading'; accepted: one JSON object"),
    "writes half a line": ("hear(); sys.stdout.write('{\"ty'); sys.exit(0)", "ended within the line '{\"ty'"),
    "closes stdout": ("hear(); os.close(1); time.sleep(60)", "closed its stdout before it answered"),
    "writes without end": ("hear(); sys.stdout.write('x' * 2**25); hear()", "a line of more than 16777216 bytes"),
    "reports": ("hear(); send('error', message='no model'); hear()", "the agent reports: no model"),
}  # fmt: skip


@pytest.mark.parametrize("how", FAULTS)
def test_a_program_that_fails_is_at_fault_and_gone(tmp_path: Path, how: str) -> None:
    body, complaint = FAULTS[how]
    program = Program(tmp_path, f"send('ready')\n{body}\n")
    with pytest.raises(AgentFault, match=complaint):
        spoken(program.agent(), "hi")
    assert gone(program.pid())


@pytest.mark.parametrize("message", ["hi", "x" * 1_000_000])
def test_a_program_that_hangs_is_ended_whether_or_not_it_reads(tmp_path: Path, message: str) -> None:
    program = Program(tmp_path, "send('ready')\ntime.sleep(60)\n")
    with pytest.raises(AgentFault, match=r"no answer to 'say' within 0\.5 seconds"):
        spoken(program.agent(timeout="0.5"), message)
    assert gone(program.pid())


def test_a_program_that_stops_listening_is_told_by_how_it_ends(tmp_path: Path) -> None:
    program = Program(tmp_path, "send('ready')\nos.close(0)\ntime.sleep(0.1)\nos._exit(9)\n")
    with pytest.raises(AgentFault, match="the program ended with exit code 9 before it answered"):
        spoken(program.agent(), "x" * 1_000_000)


def test_a_program_that_does_not_even_open_is_ended(tmp_path: Path) -> None:
    program = Program(tmp_path, "time.sleep(60)\n")
    with pytest.raises(AgentFault, match=r"no answer to 'open' within 0\.5 seconds"):
        spoken(program.agent(timeout="0.5"), "hi")
    assert gone(program.pid())


def test_a_second_answer_to_the_same_message_is_named(tmp_path: Path) -> None:
    twice = 'os.write(1, b\'{"type": "reply", "text": "a"}\\n{"type": "reply", "text": "again"}\\n\')\nhear()\n'
    with pytest.raises(AgentFault, match=r"wrote the line '.*again.*', which nobody asked for; accepted: one line for"):
        spoken(Program(tmp_path, READY + twice).agent(), "one", "two")


def test_a_program_that_ends_between_two_turns_is_found_out_in_the_next(tmp_path: Path) -> None:
    program = Program(tmp_path, READY + "send('reply', text='ok')\nsys.exit(4)\n")
    with pytest.raises(AgentFault, match="the program ended with exit code 4"):
        spoken(program.agent(), "one", "two")


def test_a_fault_is_recorded_as_the_agents_error_and_ends_the_session(tmp_path: Path) -> None:
    program = Program(tmp_path, READY + "send('reply', text='ok')\nhear(); print('oops', flush=True)\nhear()\n")
    options = {"command": program.command, "snapshots": "no"}
    cast = Cast(build=build, make_environment=kit.make_shop, name="p", options=options)
    session = asyncio.run(drive(cast, kit.scenario()))
    assert len(session.turns) == 2
    assert "AgentFault: the answer to 'say' is 'oops'; accepted: one JSON object" in str(session.error)


@pytest.mark.parametrize("end", ["hear()", "time.sleep(60)", "sys.exit(1)"])
def test_with_the_program_ends_what_it_has_started(tmp_path: Path, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzzturn.adapters.process.GRACE_SECONDS", 0.2)
    program = Program(tmp_path, f"child()\n{READY}send('reply', text='ok')\n{end}\n")
    spoken(program.agent(), "hi")
    assert gone(program.pid())
    assert gone(program.pid(".child"))


@pytest.mark.parametrize("body", [POLITE, READY + "send('reply', text='ok')\nsys.stdin.read()\n"], ids=["close", "end"])
def test_a_program_may_still_tidy_up_when_it_hears_close_or_its_input_ends(tmp_path: Path, body: str) -> None:
    program = Program(tmp_path, body + "time.sleep(0.1)\nopen(sys.argv[1] + '.tidy', 'w').write('1')\n")
    spoken(program.agent(), "hi")
    assert program.pid(".tidy") == 1


def test_a_session_that_is_cancelled_in_the_middle_leaves_nothing_behind(tmp_path: Path) -> None:
    program = Program(tmp_path, READY + "child()\ntime.sleep(60)\n")

    async def cancelled() -> None:
        player = program.agent()
        task = asyncio.create_task(player.reply("hi"))
        while not Path(str(program.note) + ".child").exists():
            await asyncio.sleep(0.005)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()
        await player.aclose()

    asyncio.run(cancelled())
    assert gone(program.pid())
    assert gone(program.pid(".child"))


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_session_that_nobody_closes_ends_with_its_agent(tmp_path: Path) -> None:
    program = Program(tmp_path, "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nsend('ready')\nhear()\n"
                      "send('reply', text='ok')\ntime.sleep(60)\n")  # fmt: skip

    async def forgotten() -> None:
        await program.agent().reply("hi")

    asyncio.run(forgotten())
    gc.collect()
    assert gone(program.pid())


def test_no_file_stays_open(tmp_path: Path) -> None:
    program = Program(tmp_path, POLITE)
    spoken(program.agent(), "hi")
    before = len(os.listdir("/dev/fd"))
    for _ in range(3):
        spoken(program.agent(), "hi")
    assert len(os.listdir("/dev/fd")) == before


def test_a_stranger_that_holds_the_pipes_holds_up_nobody(tmp_path: Path) -> None:
    stranger = """
sleeper = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"], start_new_session=True)
open(sys.argv[1] + ".child", "w").write(str(sleeper.pid))
"""
    program = Program(tmp_path, stranger + POLITE)
    before = len(os.listdir("/dev/fd"))
    spoken(program.agent(), "hi")
    assert len(os.listdir("/dev/fd")) == before
    assert running(program.pid(".child"))  # it was not waited for
    os.kill(program.pid(".child"), signal.SIGKILL)


def test_an_agent_that_is_never_spoken_to_starts_nothing(tmp_path: Path) -> None:
    program = Program(tmp_path, POLITE)
    spoken(program.agent())
    assert not program.note.exists()


@pytest.mark.parametrize(
    "command, complaint",
    [
        ("no-such-program --fast", "no program 'no-such-program' can be found and run; a program on PATH"),
        ("", "no program '' can be found"),
        ("node 'agent.mjs", "which is no command line: No closing quotation"),
    ],
)
def test_a_command_that_cannot_be_run_is_refused_when_the_agent_is_built(command: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        build(kit.Shop(), command=command)


def test_a_file_that_is_no_program_is_the_agents_fault(tmp_path: Path) -> None:
    file = tmp_path / "agent"
    file.write_bytes(b"\x00\x01")
    file.chmod(0o755)
    with pytest.raises(AgentFault, match=r"cannot be started: .*format error"):
        spoken(build(kit.Shop(), command=str(file)), "hi")


def test_without_a_base_url_the_environment_is_left_as_it_is() -> None:
    assert environ_for(None, {"A": "1", "OPENAI_BASE_URL": "x"}) == {"A": "1", "OPENAI_BASE_URL": "x"}


def test_a_base_url_leads_sdks_there_past_any_proxy_with_some_key() -> None:
    url = "http://127.0.0.1:9/v1"
    led = {"OPENAI_BASE_URL": url, "OPENAI_API_BASE": url}
    loopback = "127.0.0.1,localhost"
    assert environ_for(url, {"A": "1", "OPENAI_BASE_URL": "x"}) == {
        "A": "1", **led, "OPENAI_API_KEY": "fuzzturn", "NO_PROXY": loopback, "no_proxy": loopback,
    }  # fmt: skip
    given = environ_for(url, {"OPENAI_API_KEY": "mine", "NO_PROXY": "intern"})
    assert (given["OPENAI_API_KEY"], given["NO_PROXY"], given["no_proxy"]) == ("mine", f"intern,{loopback}", loopback)
