"""The one token count that every budget and threshold uses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzturn.tokens import PER_MESSAGE, message_tokens, messages_tokens, text_tokens


@pytest.mark.parametrize(("text", "tokens"), [("", 4), ("a", 5), ("abcd", 5), ("abcde", 6), ("ü" * 8, 6)])
def test_a_text_costs_a_quarter_of_its_characters_rounded_up_and_four(text: str, tokens: int) -> None:
    assert text_tokens(text) == tokens


@given(st.text())
def test_a_message_with_text_costs_what_the_text_costs(text: str) -> None:
    assert message_tokens({"role": "user", "content": text}) == text_tokens(text)


def test_a_message_without_content_costs_its_frame() -> None:
    assert message_tokens({"role": "assistant", "content": None}) == PER_MESSAGE


def test_tool_calls_are_counted_as_compact_json() -> None:
    calls = [{"name": "hold", "args": {"fare": 610}}]
    compact = '[{"name":"hold","args":{"fare":610}}]'
    assert message_tokens({"role": "assistant", "content": None, "tool_calls": calls}) == text_tokens(compact)


def test_content_in_parts_is_counted_as_compact_json() -> None:
    content = [{"type": "text", "text": "hi"}]
    assert message_tokens({"role": "user", "content": content}) == text_tokens('[{"type":"text","text":"hi"}]')


@given(st.lists(st.text(max_size=30), max_size=5))
def test_a_context_costs_the_sum_of_its_messages(texts: list[str]) -> None:
    messages = [{"role": "user", "content": text} for text in texts]
    assert messages_tokens(messages) == sum(text_tokens(text) for text in texts)
