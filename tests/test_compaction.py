"""Compaction: what goes, what stays, and what a summary by rule keeps of what went."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzzturn.compaction import (
    NOTHING_ASKED,
    SUMMARY_HEADING,
    SUMMARY_TOKENS,
    by_rule,
    is_question,
    is_request,
    is_summary,
    none,
    notes,
    policy,
    sentences,
    summary_keep_recent,
)
from fuzzturn.errors import InputError, UnknownName
from fuzzturn.tokens import messages_tokens, text_tokens
from histories import Messages, assistant, called, conversations, user

# No deadline: a slow machine is no failure.
law = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


POLICIES = st.builds(summary_keep_recent, st.integers(1, 400), st.integers(1, 8))


@law
@given(conversations(), POLICIES)
def test_nothing_is_lost_between_what_is_dropped_and_what_is_kept(messages: Messages, compact: Any) -> None:
    result = compact(messages)
    kept = result.messages[1:] if result.dropped else result.messages
    assert [*result.dropped, *kept] == messages
    assert not result.dropped or is_summary(result.messages[0])


@law
@given(conversations(), POLICIES)
def test_a_tool_result_stays_with_the_message_that_called_it(messages: Messages, compact: Any) -> None:
    kept = compact(messages).messages
    called_here = {call["id"] for m in kept for call in m.get("tool_calls", ())}
    assert {m["tool_call_id"] for m in kept if m["role"] == "tool"} == called_here


@law
@given(conversations(), st.integers(1, 8))
def test_under_the_threshold_nothing_changes(messages: Messages, keep: int) -> None:
    result = summary_keep_recent(max(messages_tokens(messages), 1), keep)(messages)
    assert result.messages == tuple(messages)
    assert result.event() is None


@law
@given(conversations(), POLICIES)
def test_a_compaction_makes_the_context_smaller_or_does_not_happen(messages: Messages, compact: Any) -> None:
    result = compact(messages)
    assert result.before == messages_tokens(messages)
    assert result.after == messages_tokens(result.messages)
    assert result.after < result.before if result.dropped else result.after == result.before


@law
@given(conversations(), st.integers(1, 400), st.integers(1, 8))
def test_the_same_messages_give_the_same_result_and_stay_as_they_were(messages: Messages, limit: int, n: int) -> None:
    before = copy.deepcopy(messages)
    first, second = summary_keep_recent(limit, n)(messages), summary_keep_recent(limit, n)(copy.deepcopy(messages))
    assert first == second
    assert messages == before


@law
@given(conversations())
def test_the_newest_user_message_and_what_follows_it_stay(messages: Messages) -> None:
    newest = max((i for i, m in enumerate(messages) if m["role"] == "user" and not is_summary(m)), default=None)
    if newest is not None:
        tail = messages[newest:]
        assert list(summary_keep_recent(1, 1)(messages).messages[-len(tail) :]) == tail


@law
@given(st.lists(conversations(), min_size=1, max_size=6))
def test_a_summary_does_not_grow_however_often_it_is_made_anew(parts: list[Messages]) -> None:
    compact = summary_keep_recent(60, 1)
    kept: tuple[Any, ...] = ()
    for part in parts:
        result = compact((*kept, *part))
        kept = result.messages
        assert result.summary is None or text_tokens(result.summary) <= SUMMARY_TOKENS


@law
@given(conversations())
def test_a_summary_read_and_written_again_is_the_same(messages: Messages) -> None:
    summary = by_rule(messages)
    again = by_rule([user(f"{SUMMARY_HEADING}\n{summary}")])
    assert again == summary
    assert [note.line for note in notes(summary)] == ([] if summary == NOTHING_ASKED else summary.split("\n"))


def test_a_summary_keeps_requests_and_results_and_loses_remarks_and_limits() -> None:
    messages = [
        user("Find a train to Graz on Monday. I do not like tunnels."),
        *called("c1", "search_trains", {"to": "Graz"}, {"trains": [{"train": "RJ1"}, {"train": "RJ2"}]}),
        assistant("RJ1 leaves at nine and costs 80."),
        user("Seats above 90 are too dear for us, so never take one. What about lunch?"),
        assistant("Understood."),
        user("Please hold RJ1."),
        *called("c2", "hold", {"train": "RJ1"}, {"id": "T7", "status": "held"}),
    ]
    assert by_rule(messages).split("\n") == [
        "Asked: Find a train to Graz on Monday.",
        'Done: search_trains {"to":"Graz"} -> "2 found"',
        "Asked: What about lunch?",
        "Asked: Please hold RJ1.",
        'Done: hold {"train":"RJ1"} -> {"id":"T7","status":"held"}',
    ]


def test_a_later_summary_takes_over_what_an_earlier_one_said() -> None:
    compact = summary_keep_recent(20, 1)
    first = compact([user("Find a train to Graz."), assistant("Here is one. " * 20), user("Lovely.")])
    second = compact([*first.messages, assistant("Thank you. " * 20), user("Book it.")])
    assert second.dropped[0] == first.messages[0]
    assert second.summary == first.summary == "Asked: Find a train to Graz."


def test_what_is_asked_or_done_again_is_noted_once_at_its_newest_place() -> None:
    twice = [user("Find a train."), user("Which gate?"), user("Find a train.")]
    assert by_rule(twice) == "Asked: Which gate?\nAsked: Find a train."


def test_a_full_summary_gives_up_counts_and_questions_before_requests() -> None:
    messages = [user("Find a train to Graz.")]
    for i in range(60):
        messages += [user(f"Is platform number {i} covered by a roof?"), *called(f"c{i}", "look", {"n": i}, [1, 2])]
    messages += [*called("h", "hold", {"train": "RJ1"}, {"id": "T7"}), user("Now book it.")]
    kept = by_rule(messages)
    assert text_tokens(kept) <= SUMMARY_TOKENS
    assert kept.startswith("Asked: Find a train to Graz.")
    assert kept.endswith('Done: hold {"train":"RJ1"} -> {"id":"T7"}\nAsked: Now book it.')
    assert "look" not in kept


def test_a_summary_that_would_not_be_smaller_is_not_used() -> None:
    messages = [user("Go."), user("Find a train to Graz, please, and show it.")]
    assert summary_keep_recent(1, 1)(messages).messages == tuple(messages)


def test_a_summary_alone_is_not_summarised_again() -> None:
    messages = [user(f"{SUMMARY_HEADING}\nAsked: Find a train."), user("Well. " * 40)]
    assert summary_keep_recent(1, 1)(messages).event() is None


def test_the_event_tells_what_was_dropped_and_what_the_summariser_read() -> None:
    messages = [user("Find a train."), assistant("Here. " * 40), user("Thanks.")]
    event = summary_keep_recent(30, 1)(messages).event()
    assert event is not None
    assert (event.policy, event.summary) == ("summary_keep_recent", "Asked: Find a train.")
    assert event.dropped == event.summariser_input == tuple(messages[:2])
    assert event.before == messages_tokens(messages)


def test_another_summariser_can_stand_in() -> None:
    compact = summary_keep_recent(30, 1, lambda messages: f"{len(messages)} messages went")
    result = compact([user("Find a train."), assistant("Here. " * 40), user("Thanks.")])
    assert result.messages[0] == user(f"{SUMMARY_HEADING}\n2 messages went")


def test_the_policy_none_drops_nothing() -> None:
    messages = [user("word " * 4000)]
    assert none()(messages).messages == policy("none")(messages).messages == tuple(messages)


def test_a_policy_is_found_by_name_and_a_wrong_name_gets_the_known_ones() -> None:
    messages = [user("Find a train."), assistant("Here. " * 40), user("Thanks.")]
    named = policy("summary_keep_recent", threshold=30, keep=1)(messages)
    assert named == summary_keep_recent(30, 1)(messages)
    with pytest.raises(UnknownName, match="summary_keep_recent"):
        policy("summary_keep")


@pytest.mark.parametrize("numbers", [(0, 4), (900, 0), (-1, 1)])
def test_a_policy_without_room_is_refused(numbers: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="from 1 up"):
        summary_keep_recent(*numbers)


@pytest.mark.parametrize(
    "sentence",
    [
        "Book it.",
        "please find a room",
        "Could you look again?",
        "Now, hold it.",
        "I'd like a seat.",
        "OK, then go ahead.",
    ],
)
def test_orders_polite_questions_and_wishes_are_requests(sentence: str) -> None:
    assert is_request(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Never book a night train.", "Please do not hold it.", "Book nothing above 90.", "Keep every seat under 90.",
        "The hold is fine.", "I am a vegetarian.", "My colleague booked it.", "Bookings are slow today.",
    ],
)  # fmt: skip
def test_remarks_preferences_and_prohibitions_are_no_requests(sentence: str) -> None:
    assert not is_request(sentence)


@law
@given(st.text())
def test_sentences_are_parts_of_their_text_in_order(text: str) -> None:
    place = 0
    for sentence in sentences(text):
        place = text.index(sentence, place) + len(sentence)


def test_a_sentence_ends_before_a_space_only() -> None:
    assert sentences("It costs 4.50 today. Is it?\nYes!") == ("It costs 4.50 today.", "Is it?", "Yes!")
    assert [is_question(s) for s in ("Is it?", 'He said "why?"', "It is.")] == [True, True, False]
