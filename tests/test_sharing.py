"""Sharing: contexts told of in one session hold their common messages once, and say what they said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzturn.errors import PortError
from fuzzturn.session import Chat, ModelCall, remembering

MESSAGES = st.lists(st.fixed_dictionaries({"role": st.sampled_from(["user", "tool"]), "content": st.text(max_size=3)}))


@given(st.lists(MESSAGES, max_size=5))
def test_a_context_says_the_same_whether_or_not_it_shares(contexts: list[list[dict[str, Any]]]) -> None:
    alone = [ModelCall(context).context for context in contexts]
    with remembering([()]):
        assert [ModelCall(context).context for context in contexts] == alone


def test_what_the_agent_changes_later_reaches_no_context() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "a", "parts": [1]}]
    with remembering([()]):
        first = ModelCall(messages)
        messages[0]["parts"].append(2)
        second = ModelCall(messages)
    assert [call.context[0]["parts"] for call in (first, second) if call.context] == [[1], [1, 2]]


def test_a_message_that_stays_is_kept_once() -> None:
    last: list[tuple[Chat, ...]] = [()]
    with remembering(last):
        first = ModelCall([{"role": "user", "content": "a"}])
    with remembering(last):
        second = ModelCall([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])
    assert first.context is not None
    assert second.context is not None
    assert second.context[0] is first.context[0]


def test_a_wrong_entry_is_counted_from_the_start_of_its_context() -> None:
    with remembering([()]):
        ModelCall([{"role": "user", "content": "a"}])
        with pytest.raises(PortError, match="entry 2 is 'b'"):
            ModelCall([{"role": "user", "content": "a"}, "b"])  # type: ignore[list-item]
