"""What holds for every compaction policy, whatever the conversation."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzzturn.compaction import NOT_KEPT, Policy, by_rule, is_summary, policy, policy_names, survives
from fuzzturn.session import Chat
from fuzzturn.tokens import messages_tokens
from histories import Messages, conversations

# No deadline: a slow machine is no failure.
law = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

CLEARED = "-"
RULES = st.sampled_from(["move_back", "move_forward", "drop_orphans", "synthesize"])
SOME = st.integers(1, 8)
TOKENS = st.integers(1, 300)
ROOM = st.one_of(st.fixed_dictionaries({"keep": SOME}), st.fixed_dictionaries({"keep_tokens": TOKENS}))
TRIGGER = st.one_of(
    st.fixed_dictionaries({"threshold": TOKENS}),
    st.fixed_dictionaries(
        {"threshold_messages": SOME, "threshold": TOKENS, "trigger": st.sampled_from(["any", "all"])}
    ),
    st.fixed_dictionaries({"threshold_fraction": st.sampled_from([0.2, 1.0]), "window": TOKENS}),
)
SUMMARY = st.fixed_dictionaries(
    {
        "summary_input_limit": st.one_of(st.none(), TOKENS),
        "summary_role": st.sampled_from(["user", "system", "assistant"]),
    }
)


def both(*parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(*parts).map(lambda drawn: {option: value for part in drawn for option, value in part.items()})


OPTIONS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "none": st.just({}),
    "last_messages": st.fixed_dictionaries({"keep": SOME, "pair_rule": RULES}),
    "last_tokens": st.fixed_dictionaries({"keep_tokens": TOKENS, "pair_rule": RULES}),
    "head_tail": both(TRIGGER, ROOM, SUMMARY, st.fixed_dictionaries({"keep_first": SOME, "pair_rule": RULES})),
    "fraction_split": both(
        SUMMARY,
        st.fixed_dictionaries({"threshold_fraction": st.just(0.5), "window": TOKENS}),
        st.fixed_dictionaries({"preserve": st.sampled_from([0.1, 0.3, 0.7, 1.0])}),
    ),
    "summary_keep_recent": both(TRIGGER, ROOM, SUMMARY, st.fixed_dictionaries({"pair_rule": RULES})),
    "user_only": both(TRIGGER, SUMMARY, st.fixed_dictionaries({"budget": TOKENS})),
    "clear_tool_results": both(TRIGGER, st.fixed_dictionaries({"keep": SOME, "placeholder": st.just(CLEARED)})),
    "interval": both(SUMMARY, st.fixed_dictionaries({"interval": st.integers(1, 3), "overlap": st.integers(0, 2)})),
}


def made(drawn: tuple[str, dict[str, Any], bool]) -> Policy:
    name, options, pinned = drawn
    return policy("pinned", inner=name, **options) if pinned else policy(name, **options)


def of(*names: str, pinned: st.SearchStrategy[bool] | None = None) -> st.SearchStrategy[Policy]:
    """Policies of these names, some of them as they are under `pinned`."""
    control = st.booleans() if pinned is None else pinned
    return st.one_of([st.tuples(st.just(name), OPTIONS[name], control) for name in names]).map(made)


POLICIES = of(*OPTIONS)


def kept(result: Sequence[Chat], messages: Messages) -> list[int]:
    """Which messages of the list are in the result: they themselves, not equal ones."""
    places = {id(message): i for i, message in enumerate(messages)}
    return [places[id(message)] for message in result if id(message) in places]


def written(result: Sequence[Chat], messages: Messages) -> list[Chat]:
    own = {id(message) for message in messages}
    return [message for message in result if id(message) not in own]


def newest(messages: Sequence[Chat]) -> int | None:
    return max((i for i, m in enumerate(messages) if m["role"] == "user" and not is_summary(m)), default=None)


def test_every_policy_is_held_against_the_laws() -> None:
    assert {*OPTIONS, "pinned"} == set(policy_names())


@law
@given(conversations(), POLICIES)
def test_calls_and_results_stay_together_both_ways(messages: Messages, compact: Policy) -> None:
    result = list(compact(messages).messages)
    while result:
        message = result.pop(0)
        assert message["role"] != "tool"
        calls = [call["id"] for call in message.get("tool_calls", ())]
        assert [result.pop(0)["tool_call_id"] for _ in calls] == calls


@law
@given(conversations(), POLICIES)
def test_something_is_left_of_something(messages: Messages, compact: Policy) -> None:
    assert bool(compact(messages).messages) == bool(messages)


@law
@given(conversations(), of(*(name for name in OPTIONS if name != "clear_tool_results")))
def test_the_newest_user_turn_stays_as_it_is(messages: Messages, compact: Policy) -> None:
    if (begin := newest(messages)) is not None:
        tail = messages[begin:]
        assert list(compact(messages).messages[-len(tail) :]) == tail


@law
@given(conversations(), of("clear_tool_results"))
def test_where_results_are_cleared_every_message_stays_and_so_do_all_other_words(
    messages: Messages, compact: Policy
) -> None:
    """The newest turn's own results may go too: the policy counts results and knows no turns."""
    result = compact(messages).messages
    assert len(result) == len(messages)
    for old, new in zip(messages, result, strict=True):
        assert new is old or (old["role"] == "tool" and new == {**old, "content": CLEARED})


@law
@given(conversations(), POLICIES)
def test_what_is_dropped_and_what_is_kept_are_the_input_in_its_order(messages: Messages, compact: Policy) -> None:
    result = compact(messages)
    stays, goes = kept(result.messages, messages), kept(result.dropped, messages)
    assert stays == sorted(stays)
    assert goes == sorted(goes)
    assert sorted(stays + goes) == list(range(len(messages)))


@law
@given(conversations(), POLICIES)
def test_what_is_written_is_one_summary_at_most_and_what_stands_for_tool_calls(
    messages: Messages, compact: Policy
) -> None:
    result = compact(messages)
    new = written(result.messages, messages)
    summaries = [message for message in new if is_summary(message)]
    assert len(summaries) == (0 if result.summary is None else 1)
    for message in new:
        stub = [call["function"]["arguments"] for call in message.get("tool_calls", ())]
        assert is_summary(message) or message["content"] in (CLEARED, NOT_KEPT) or set(stub) == {"{}"}


@law
@given(conversations(), POLICIES)
def test_a_policy_makes_the_list_smaller_or_leaves_it(messages: Messages, compact: Policy) -> None:
    result = compact(messages)
    assert (result.before, result.after) == (messages_tokens(messages), messages_tokens(result.messages))
    if result.event() is None:
        assert result.messages == tuple(messages)
    else:
        assert result.after < result.before


@law
@given(conversations(), POLICIES, st.text(max_size=2000))
def test_no_summary_however_long_makes_the_list_larger(messages: Messages, compact: Policy, text: str) -> None:
    plan = compact.plan(messages)
    if plan is not None:
        result = plan.finish(text if plan.reads else None)
        assert messages_tokens(result.messages) <= messages_tokens(messages)


@law
@given(conversations(), POLICIES)
def test_planning_and_finishing_is_the_whole_of_it(messages: Messages, compact: Policy) -> None:
    plan = compact.plan(messages)
    result = compact(messages)
    if plan is None:
        assert result.messages == tuple(messages)
    else:
        assert plan.finish(by_rule(plan.reads) if plan.reads else None) == result


@law
@given(conversations(), POLICIES)
def test_the_same_list_gives_the_same_result_and_stays_as_it_was(messages: Messages, compact: Policy) -> None:
    before = copy.deepcopy(messages)
    assert compact(messages) == compact(copy.deepcopy(messages))
    assert messages == before


@law
@given(conversations(), POLICIES)
def test_compacting_again_and_again_comes_to_an_end(messages: Messages, compact: Policy) -> None:
    result = compact(messages)
    for _ in range(len(messages) + 1):
        if result.event() is None:
            return
        result = compact(result.messages)
    raise AssertionError("it still fires")


@law
@given(conversations(), st.data())
def test_below_its_trigger_a_policy_leaves_everything(messages: Messages, data: st.DataObject) -> None:
    tokens, count = max(messages_tokens(messages), 1), max(len(messages), 1)
    limits = {
        "threshold": tokens, "keep": count, "keep_tokens": tokens, "threshold_fraction": 1, "window": tokens,
        "interval": count,
    }  # fmt: skip
    below = {
        "none": (), "last_messages": ("keep",), "last_tokens": ("keep_tokens",), "interval": ("interval",),
        "fraction_split": ("threshold_fraction", "window"), "head_tail": ("threshold",),
        "summary_keep_recent": ("threshold",), "user_only": ("threshold",), "clear_tool_results": ("threshold",),
    }  # fmt: skip
    name = data.draw(st.sampled_from(sorted(below)))
    compact = policy(name, **{option: limits[option] for option in below[name]})
    assert compact.plan(messages) is None
    assert compact(messages).event() is None


@law
@given(conversations(), conversations(), POLICIES)
def test_under_any_policy_a_conversation_that_goes_on_keeps_its_pairs(
    first: Messages, then: Messages, compact: Policy
) -> None:
    later = [{**m, "tool_call_id": "2" + m["tool_call_id"]} if "tool_call_id" in m else dict(m) for m in then]
    for message in later:
        if "tool_calls" in message:
            message["tool_calls"] = [{**call, "id": "2" + call["id"]} for call in message["tool_calls"]]
    result = compact([*compact(first).messages, *later]).messages
    calls = [call["id"] for message in result for call in message.get("tool_calls", ())]
    results = [message["tool_call_id"] for message in result if message["role"] == "tool"]
    assert calls == results
    assert len(set(calls)) == len(calls)


@law
@given(conversations(), of(*OPTIONS, pinned=st.just(True)))
def test_pinned_keeps_every_user_message_that_a_summary_would_cut(messages: Messages, compact: Policy) -> None:
    result = compact(messages).messages
    for message in messages:
        if message["role"] == "user" and not is_summary(message):
            assert survives(message) or any(message is one for one in result)


@pytest.mark.parametrize("name", [name for name in policy_names() if name not in ("none", "pinned")])
def test_the_laws_are_no_empty_words_since_every_policy_fires(name: str) -> None:
    turn = [{"role": "user", "content": "Some remark. " * 10}]
    messages: list[Chat] = []
    for n in range(8):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        messages += [
            *turn,
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": "x" * 400},
            {"role": "assistant", "content": "Well. " * 20},
        ]
    compact = policy(name, **({"keep": 6} if name == "last_messages" else {}))
    event = compact([*messages, *turn]).event()
    assert event is not None
    assert event.policy == name
