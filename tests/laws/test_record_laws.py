"""Records: a session written is the session read, whatever was said in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fuzzturn.records import session_from_json, session_to_json
from fuzzturn.session import Compaction, Event, Message, ModelCall, Session, ToolCall, Turn

texts = st.text(max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
chats = st.lists(st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": texts}), max_size=4)
contexts: st.SearchStrategy[Sequence[dict[str, Any]] | None] = st.none() | chats.map(tuple)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(Message, texts),
    st.builds(ModelCall, contexts, st.none() | st.dictionaries(texts, st.integers(), max_size=2)),
    st.builds(
        ToolCall, texts, st.dictionaries(texts, values, max_size=2), values, st.none() | texts, st.none() | texts
    ),
    st.builds(
        Compaction,
        st.none() | texts,
        st.none() | st.integers(0, 9999),
        st.none() | st.integers(0, 9999),
        contexts,
        st.none() | texts,
        contexts,
    ),
)


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    turns = draw(
        st.lists(
            st.builds(
                Turn,
                n=st.just(1),
                id=texts,
                user=texts,
                events=st.lists(events, max_size=5).map(tuple),
                state=st.dictionaries(texts, values, max_size=2),
                auto=st.booleans(),
                error=st.none() | texts,
            ),
            max_size=4,
        )
    )
    asked = draw(st.none() | st.integers(1, 4))
    return Session(scenario=draw(texts), turns=tuple(turns), initial_state={}, off_script_at=asked)


@given(sessions())
def test_a_session_written_and_read_is_the_same_session(session: Session) -> None:
    assert session_from_json(json.loads(json.dumps(session_to_json(session)))) == session


@given(sessions())
def test_a_context_is_written_as_what_it_adds(session: Session) -> None:
    last: Any = ()
    for turn, written in zip(session.turns, session_to_json(session)["turns"], strict=True):
        for event, record in zip(turn.events, written["events"], strict=True):
            if isinstance(event, ModelCall) and event.context is not None:
                same = record["context"]["same"]
                assert tuple(last[:same]) == tuple(event.context[:same])
                assert same == min(len(last), len(event.context)) or last[same] != event.context[same]
                last = event.context
