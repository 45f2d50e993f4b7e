"""fuzzturn proxy: the address it prints works, each call is told of, and Ctrl-C ends it with a sum."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai
import pytest

from fuzzturn.cli.proxying import proxy
from fuzzturn.errors import InputError
from upstream import Fault, Upstream, said

RULE = {"role": "user", "content": "Never spend more than 50 coins on one thing."}
SUMMARY = "They looked for a lamp, and the user spoke of a rule on spending."
TOOLS: Any = [{"type": "function", "function": {"name": "buy", "parameters": {"type": "object", "properties": {}}}}]


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def proxied(asking: Callable[[str], None], capsys: pytest.CaptureFixture[str], **options: Any) -> str:
    """What the command says while `asking` is given its base URL, and then Ctrl-C."""
    said_so_far: list[str] = []
    failed: list[BaseException] = []

    def client() -> None:
        try:
            while not (found := re.search(r"base URL: (\S+)/<any session name>/v1", "".join(said_so_far))):
                time.sleep(0.01)
                said_so_far.append(capsys.readouterr().out)
            asking(found[1])
        except BaseException as error:  # noqa: BLE001 - raised again below, in the test's own thread
            failed.append(error)
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=client)
    thread.start()
    code = proxy(**options)
    thread.join()
    if failed:
        raise failed[0]
    assert code == 0
    return "".join(said_so_far) + capsys.readouterr().out


def ask(url: str, session: str, messages: list[Any], **more: Any) -> Any:
    plain = openai.DefaultHttpxClient(verify=False)  # reading the certificates takes longer than all the rest
    where = f"{url}/{session}/v1"
    with openai.OpenAI(base_url=where, api_key="sk-secret-1234", max_retries=0, http_client=plain) as client:
        return client.chat.completions.create(model="m", messages=messages, **more).choices[0].message


def conversation(url: str) -> None:
    history: list[Any] = [RULE]
    for text in ("Hello.", "A lamp.", "Which one?"):
        history += [{"role": "assistant", "content": ask(url, "mine", history, tools=TOOLS).content}]
        history += [{"role": "user", "content": text}]
    orders: list[Any] = [
        {"role": "system", "content": "Summarise."},
        {"role": "user", "content": json.dumps(history[:-1])},
    ]
    summary = ask(url, "mine", orders).content
    ask(url, "mine", [{"role": "user", "content": f"So far: {summary}"}, history[-1]], tools=TOOLS)


def answer(body: dict[str, Any]) -> dict[str, Any]:
    return said(f"Answer {len(body['messages'])}." if body.get("tools") else SUMMARY)


def test_every_call_is_told_of_with_what_left_the_context(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "calls.json"
    with Upstream(answer) as upstream:
        told = proxied(conversation, capsys, upstream=upstream.url, json_file=file)
        assert len(upstream.requests) == 5
        again = proxied(conversation, capsys, upstream=upstream.url)
        assert len(upstream.requests) == 5
    assert "mine 1: m, 1 messages, 15 tokens; 100 prompt and 10 completion tokens used; live\n" in told
    assert "mine 4: m, 2 messages" in told
    assert re.search(r"mine 4: .*live, not the agent's own\n", told)
    evidence = (
        "5 messages disappeared, a new one of 21 tokens stands in their place, written by a call that read 2 messages"
    )
    assert f"  {evidence}\n" in told
    assert "5 model calls in 1 session\n" in told
    assert "live" not in again
    assert again.count("; recorded") == 5
    assert "5 model calls answered from the record, free" in again
    assert evidence in again
    calls = json.loads(file.read_text())["calls"]
    assert [call["own"] for call in calls] == [True, True, True, False, True]
    assert calls[-1]["compaction"] | {"before": 0, "after": 0} == {
        "policy": "seen by the proxy", "before": 0, "after": 0, "dropped": 5, "summary": SUMMARY, "summariser_read": 2,
    }  # fmt: skip
    assert not any(b"sk-secret-1234" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_what_is_secret_is_in_no_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "fuzzturn.toml").write_text('redact = ["rule on [a-z]+"]')
    with Upstream(answer) as upstream:
        proxied(conversation, capsys, upstream=upstream.url, json_file=tmp_path / "calls.json")
    assert "spoke of a [redacted]." in (tmp_path / "calls.json").read_text()
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".toml"]
    assert not any(b"rule on spending" in data for data in written)


def test_a_call_that_fails_is_told_of_and_the_proxy_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    def asking(url: str) -> None:
        with pytest.raises(openai.AuthenticationError):
            ask(url, "s", [RULE])
        ask(url, "s", [RULE])

    with Upstream(answer, [Fault(status=401)]) as upstream:
        told = proxied(asking, capsys, upstream=upstream.url)
    assert re.search(r"s 1: .*; usage not told; failed\n  it failed: .*status 401", told)
    assert re.search(r"s 2: .*; live\n", told)


def test_offline_a_call_that_is_not_recorded_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    def asking(url: str) -> None:
        with pytest.raises(openai.NotFoundError, match="not recorded"):
            ask(url, "s", [RULE])

    told = proxied(asking, capsys, upstream="http://127.0.0.1:9/v1", offline=True)
    assert "it failed: --offline, and this call is not recorded" in told


def test_without_an_upstream_or_with_a_port_that_is_taken_it_says_what_it_needs() -> None:
    with pytest.raises(InputError, match="--upstream"):
        proxy()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InputError, match="cannot be had"):
            proxy(upstream="http://127.0.0.1:9/v1", port=taken.getsockname()[1])
