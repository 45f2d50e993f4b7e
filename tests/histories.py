"""Histories: message lists as an agent has them, to hold compaction against."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

from hypothesis import strategies as st

from fuzzturn.compaction import SUMMARY_HEADING

Messages: TypeAlias = list[dict[str, Any]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def called(id: str, name: str, args: dict[str, Any], result: Any) -> Messages:
    return together([(id, name, args, result)])


def together(calls: Sequence[tuple[str, str, dict[str, Any], Any]]) -> Messages:
    """One message that calls some tools, and their results."""
    made = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
        for id, name, args, _ in calls
    ]
    results = [{"role": "tool", "tool_call_id": id, "content": json.dumps(result)} for id, _, _, result in calls]
    return [{"role": "assistant", "content": "", "tool_calls": made}, *results]


@st.composite
def conversations(draw: st.DrawFn) -> Messages:
    """Turns of a user message, tool calls with one to three results, and an answer; the last may be unfinished."""
    texts = st.one_of(
        st.text(max_size=80),
        st.sampled_from(
            ["Find a flight.", "It rains. Book it, please!\nThanks.", "Which gate?", "word " * 60, SUMMARY_HEADING]
        ),
    )
    messages: Messages = []
    for n in range(draw(st.integers(0, 6))):
        messages.append(user(draw(texts)))
        for k in range(draw(st.integers(0, 2))):
            ids = [f"c{n}.{k}.{i}" for i in range(draw(st.integers(1, 3)))]
            calls = [
                {"id": i, "type": "function", "function": {"name": "look", "arguments": json.dumps({"for": i})}}
                for i in ids
            ]
            messages.append({"role": "assistant", "content": "", "tool_calls": calls})
            results = st.sampled_from(['{"id":"H1"}', '{"rows":[1,2]}', "[]", "not json", "", '"a -> b"'])
            messages += [{"role": "tool", "tool_call_id": i, "content": draw(results)} for i in ids]
        if draw(st.booleans()):
            messages.append(assistant(draw(texts)))
    return messages
