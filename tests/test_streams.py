"""Streams: put together as the server meant them, redacted across their pieces, else left as they are."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzturn.calls import Answer
from fuzzturn.calls.streams import assembled, without_secrets
from fuzzturn.redaction import Redaction, redaction
from upstream import asked, said, streamed

SECRETS = redaction([r"sk-\w{6,}", r"\d{4}-\d{4}"])
texts = st.text(st.characters(codec="utf-8"), max_size=30)
arguments = st.dictionaries(st.text(max_size=5), st.text(max_size=9) | st.integers() | st.none(), max_size=3)
completions = st.one_of(
    st.builds(said, texts), st.builds(asked, st.text(min_size=1, max_size=8), arguments, text=texts | st.none())
)


def sse(*events: Any, done: bool = True) -> bytes:
    return "".join(f"data: {json.dumps(e)}\n\n" for e in events).encode() + (b"data: [DONE]\n\n" if done else b"")


def chunk(delta: Any, index: int = 0, reason: str | None = None) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": index, "delta": delta, "finish_reason": reason}]}


def stream(body: bytes) -> Answer:
    return Answer(body=body, content_type="text/event-stream; charset=utf-8")


def kept(answer: Answer, secrets: Redaction = SECRETS) -> Any:
    return assembled(without_secrets(answer, secrets).body)


@given(completions, st.booleans(), st.sampled_from(["\n", "\r\n", "\r"]))
def test_a_stream_is_the_completion_that_it_was_made_of(whole: dict[str, Any], usage: bool, newline: str) -> None:
    together = assembled(streamed(whole, usage=usage, newline=newline))
    assert together is not None
    message, expected = together["choices"][0]["message"], whole["choices"][0]["message"]
    assert (message.get("content") or "") == (expected.get("content") or "")
    assert message.get("tool_calls") == expected.get("tool_calls")
    assert together["choices"][0]["finish_reason"] == whole["choices"][0]["finish_reason"]
    assert together.get("usage") == (whole["usage"] if usage else None)
    assert together["object"] == "chat.completion"


@pytest.mark.parametrize(
    "body",
    [
        streamed(said("hello there")).replace(b"data: [DONE]", b""),
        streamed(said("hello there"))[:-60],
        sse(chunk({"content": "hi"}), {"error": {"message": "overloaded"}}),
        sse(),
        sse("not an object"),
        b'data: {"choices": [\n\ndata: [DONE]\n\n',
        sse({"type": "response.created", "response": {"id": "r"}}, done=False),
        json.dumps(said("hello")).encode(),
        b"",
    ],
)
def test_what_is_not_complete_is_no_answer(body: bytes) -> None:
    assert assembled(body) is None


@pytest.mark.parametrize("how", ["completed", "incomplete", "failed"])
def test_an_answer_of_responses_is_complete_when_it_says_so(how: str) -> None:
    response = {"id": "r", "output": [], "usage": {"input_tokens": 3, "output_tokens": 1}}
    begun = {"type": "response.created", "response": {"id": "r"}}
    assert assembled(sse(begun, {"type": f"response.{how}", "response": response}, done=False)) == response


def test_several_choices_and_several_calls_are_kept_apart() -> None:
    def call(index: int, text: str, name: str | None = None) -> dict[str, Any]:
        function = {"arguments": text} if name is None else {"arguments": text, "name": name}
        return {"tool_calls": [{"index": index, "id": name, "type": "function", "function": function}]}

    events = [chunk({"content": "a"}), chunk({"content": "x"}, 1), chunk({"content": "b"}), chunk({"content": "y"}, 1)]
    calls = [call(1, "{", "one"), call(2, "[", "two"), call(1, "}"), call(2, "]")]
    whole = assembled(sse(*events, *(chunk(c) for c in calls), chunk({}, 0, "stop"), chunk({}, 1, "stop")))
    assert whole is not None
    assert [choice["message"]["content"] for choice in whole["choices"]] == ["ab", "xy"]
    made = whole["choices"][0]["message"]["tool_calls"]
    assert [(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in made] == [
        ("one", "one", "{}"), ("two", "two", "[]"),
    ]  # fmt: skip
    assert "index" not in made[0]


def test_a_server_that_does_not_number_its_calls_or_repeats_ids_is_understood() -> None:
    function = {"name": "look", "arguments": "{"}
    begun: dict[str, Any] = {"tool_calls": [{"id": "a", "type": "function", "function": function}]}
    more = {"tool_calls": [{"function": {"arguments": "}"}}]}
    again = {"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"arguments": ""}}]}
    for events in ([begun, more], [{"tool_calls": [{"index": 0, **begun["tool_calls"][0]}]}, again, again]):
        whole = assembled(sse(*(chunk({"role": "assistant", **event}) for event in events), chunk({}, 0, "stop")))
        assert whole is not None
        message = whole["choices"][0]["message"]
        assert (message["role"], [c["id"] for c in message["tool_calls"]]) == ("assistant", ["a"])


def test_a_secret_that_straddles_deltas_is_found() -> None:
    answer = stream(streamed(said("the key is sk-abc defgh"), usage=True))
    secrets = redaction(["is sk-abc def"])
    assert b"sk-abc" in answer.body
    assert kept(answer, secrets)["choices"][0]["message"]["content"] == "the key [redacted]gh"
    assert kept(answer, secrets)["usage"] == kept(answer, Redaction())["usage"]
    assert b"sk-abc" not in without_secrets(answer, secrets).body


def test_a_secret_in_arguments_is_found_one_character_at_a_time() -> None:
    answer = stream(streamed(asked("log_in", {"key": "sk-12345678", "why": 'a "quoted" reason'})))
    call = kept(answer)["choices"][0]["message"]["tool_calls"][0]
    assert json.loads(call["function"]["arguments"]) == {"key": "[redacted]", "why": 'a "quoted" reason'}
    assert call["id"] == "call_1"


def test_a_secret_is_found_in_a_comment_an_event_name_and_a_field_that_nobody_reads() -> None:
    quiet = sse(chunk({"content": "x"}, 0, "stop") | {"trace": "sk-12345678"})
    for body in (quiet, b": sk-12345678\n\n" + sse(chunk({})), b"event: sk-12345678\n" + sse(chunk({}))):
        assert b"sk-1234" not in without_secrets(stream(body), SECRETS).body


def test_the_texts_of_responses_are_redacted_across_deltas_too() -> None:
    place = {"type": "response.output_text.delta", "item_id": "i", "output_index": 0, "content_index": 0}
    deltas = [
        place | {"delta": part, "sequence_number": n, "obfuscation": "x" * n}
        for n, part in enumerate(["sk-1", "23456", "."])
    ]
    whole = {"id": "r", "output": [{"content": [{"type": "output_text", "text": "sk-123456."}]}]}
    answer = stream(sse(*deltas, {"type": "response.completed", "response": whole}, done=False))
    assert b"sk-1" not in (body := without_secrets(answer, SECRETS).body)
    assert [event["delta"] for event in map(json.loads, re.findall(rb"data: (.*)", body)) if "delta" in event] == [
        "[redacted].", "", "",
    ]  # fmt: skip


@given(completions, st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_a_stream_without_secrets_is_kept_byte_for_byte(whole: dict[str, Any], usage: bool, newline: str) -> None:
    answer = stream(streamed(whole, usage=usage, newline=newline))
    assert without_secrets(answer, redaction(["never-said-[0-9]+"])) == answer


@given(
    st.lists(st.sampled_from(["sk-", "abcdef", "1234", "-5678", " ", '"', "\\", "é", "x"]), max_size=12), st.booleans()
)
def test_redacting_twice_is_redacting_once(parts: list[str], call: bool) -> None:
    text = "".join(parts)
    answer = stream(streamed(asked("t", {"a": text}) if call else said(text)))
    once = without_secrets(answer, SECRETS)
    assert without_secrets(once, SECRETS) == once
    assert not any(pattern.search(json.dumps(assembled(once.body))) for pattern in SECRETS.patterns)


def test_a_body_that_is_no_json_is_redacted_as_text() -> None:
    plain = Answer(body=b"sk-12345678 said \xff", content_type="text/plain")
    assert without_secrets(plain, SECRETS).body == "[redacted] said \ufffd".encode()
    assert without_secrets(stream(b"data: sk-12345678\n\n"), SECRETS).body == b"data: [redacted]\n\n"
    assert without_secrets(plain, redaction(["absent"])) == plain
