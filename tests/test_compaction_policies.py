"""What each compaction policy keeps and loses, which constraint dies of which, and how a policy is asked for."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fuzzturn.compaction import (
    NO_SUMMARY,
    NOT_KEPT,
    NOTHING_ASKED,
    OPTION_NAMES,
    SUMMARY_HEADING,
    TOO_LONG,
    by_rule,
    none,
    notes,
    policy,
    policy_names,
    policy_options,
    scripted,
    summary_keep_recent,
    survives,
)
from fuzzturn.errors import InputError, PortError, UnknownName
from fuzzturn.session import Chat
from fuzzturn.tokens import messages_tokens
from histories import Messages, assistant, called, together, user

LIMIT = "No leg may cost more than EUR 450."
ROW = "fare and hour " * 115
"""About 400 tokens, as a search gives them."""


def trip(stated_at: int, turns: int = 16) -> Messages:
    """Turns of a question, a search, its rows and an answer; one of them states a limit, too."""
    messages: Messages = []
    for n in range(1, turns + 1):
        asked = f"Which flights are there on day {n}?"
        messages += [
            user(f"{asked} {LIMIT}" if n == stated_at else asked),
            *called(f"c{n}", "search", {"day": n}, ROW),
            assistant(f"Here is what I found for day {n}."),
        ]
    return messages


def told(messages: Sequence[Chat], sentence: str = LIMIT) -> bool:
    return any(sentence in str(message["content"]) for message in messages)


FAMILIES: dict[str, dict[str, Any]] = {
    "summary_keep_recent": {"threshold": 4000, "keep": 20},
    "user_only": {"threshold": 4000, "budget": 20_000},
    "fraction_split": {"threshold_fraction": 0.5, "window": 8000, "preserve": 0.3},
    "head_tail": {"threshold_messages": 40, "keep_first": 2, "keep": 18},
    "last_tokens": {"keep_tokens": 3000},
    "clear_tool_results": {"threshold": 4000, "keep": 3},
    "last_messages": {"keep": 40},
    "interval": {"interval": 12, "overlap": 3},
    "none": {},
    "pinned": {"threshold": 4000, "keep": 20},
}
"""One a family, with the sizes that real systems ship with where those are of this scale."""

KEPT_WHERE_STATED_AT: dict[str, tuple[int, ...]] = {
    "summary_keep_recent": (),
    "user_only": (1, 4, 8),
    "fraction_split": (),
    "head_tail": (1,),
    "last_tokens": (),
    "clear_tool_results": (1, 4, 8),
    "last_messages": (8,),
    "interval": (),
    "none": (1, 4, 8),
    "pinned": (1, 4, 8),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_which_family_loses_a_limit_depends_on_the_turn_that_states_it(name: str) -> None:
    compact = policy(name, **FAMILIES[name])
    results = {turn: compact(trip(turn)) for turn in (1, 4, 8)}
    assert tuple(turn for turn, result in results.items() if told(result.messages)) == KEPT_WHERE_STATED_AT[name]
    assert all(result.dropped for result in results.values()) == (name != "none")


def test_the_table_names_every_policy() -> None:
    assert {*FAMILIES} == {*KEPT_WHERE_STATED_AT} == {*policy_names()}


def searches(words: int) -> Messages:
    """Nine turns of three searches each, so many words in every result; the first turn states the limit."""
    messages: Messages = []
    for n in range(9):
        asked = f"Please look at day {n}, all three airlines."
        calls = [(f"c{n}.{i}", "search", {"airline": i}, "carriers " * words) for i in range(3)]
        messages += [user(asked if n else f"{asked} {LIMIT}"), *together(calls), assistant("Three found.")]
    return messages


@pytest.mark.parametrize(
    ("words", "limit", "outcome"),
    [
        (50, 4000, "reached"),
        (200, 4000, "never reached"),
        (1000, 4000, "not called"),
        (50, None, "reached"),
        (200, None, "reached"),
        (1000, None, "reached"),
    ],
)
def test_what_the_summariser_may_read_decides_whether_a_limit_can_reach_it(
    words: int, limit: int | None, outcome: str
) -> None:
    """Measured with langchain 1.5.2, which reads 4000 tokens at most unless told otherwise."""
    compact = policy("summary_keep_recent", threshold_messages=30, keep=12, summary_input_limit=limit)
    result = compact(searches(words))
    assert told(result.dropped)
    assert not told(result.messages)
    if not result.summariser_input:
        assert (outcome, result.summary) == ("not called", TOO_LONG)
    else:
        assert outcome == ("reached" if told(result.summariser_input) else "never reached")
        assert result.summary == by_rule(result.summariser_input)


def test_what_the_summariser_reads_is_the_newest_within_its_limit_from_a_user_message_on() -> None:
    plan = policy("summary_keep_recent", threshold=900, keep=4, summary_input_limit=1000).plan(trip(1))
    assert plan is not None
    assert plan.dropped[-len(plan.reads) :] == plan.reads
    assert plan.reads[0]["role"] == "user"
    assert messages_tokens(plan.reads) <= 1000 < messages_tokens(plan.dropped[-len(plan.reads) - 4 :])


@pytest.mark.parametrize("role", ["user", "system", "assistant"])
def test_an_earlier_summary_can_be_the_first_thing_that_is_read(role: str) -> None:
    compact = policy("summary_keep_recent", threshold=60, keep=1, summary_role=role, summary_input_limit=200)
    first = compact([user("Find a train."), assistant("Here. " * 40), user("Thanks.")])
    second = compact([*first.messages, assistant("You are welcome. " * 10), user("Now book it.")])
    assert second.summariser_input[0] == first.messages[0]
    assert second.summary == first.summary == "Asked: Find a train."


def group(*results: str) -> Messages:
    return together([(f"c{i}", "look", {"n": i}, text) for i, text in enumerate(results)])


TORN = [user("Look at both."), *group("first " * 30, "second " * 30), assistant("Both are fine."), user("Thanks.")]


def test_move_back_keeps_a_torn_group_whole_and_move_forward_lets_it_go() -> None:
    back = policy("last_messages", keep=3, pair_rule="move_back")(TORN)
    assert list(back.messages) == TORN[1:]
    for rule in ("move_forward", "drop_orphans"):
        assert list(policy("last_messages", keep=3, pair_rule=rule)(TORN).messages) == TORN[4:]


def test_synthesize_writes_the_call_of_a_result_that_stays() -> None:
    kept = policy("last_messages", keep=3, pair_rule="synthesize")(TORN).messages
    assert list(kept[1:]) == TORN[3:]
    (call,) = kept[0]["tool_calls"]
    assert (call["id"], call["function"]) == ("c1", {"name": "look", "arguments": "{}"})


def headed(rule: str, keep_first: int, keep: int = 2) -> Sequence[Chat]:
    messages = [*TORN[:-1], *[assistant("And so on. " * 40)] * 2, user("Thanks."), assistant("Welcome.")]
    return policy("head_tail", threshold=60, keep_first=keep_first, keep=keep, pair_rule=rule)(messages).messages


@pytest.mark.parametrize(
    ("rule", "head"), [("move_back", TORN[:1]), ("drop_orphans", TORN[:1]), ("move_forward", TORN[:4])]
)
def test_at_the_end_of_the_head_a_torn_group_goes_or_is_completed(rule: str, head: Messages) -> None:
    kept = headed(rule, 3)
    assert list(kept[: len(head)]) == head
    assert str(kept[len(head)]["content"]).startswith(SUMMARY_HEADING)


def test_synthesize_writes_the_result_of_a_call_that_stays_before_the_summary() -> None:
    kept = headed("synthesize", 3)
    assert list(kept[:3]) == TORN[:3]
    assert kept[3] == {"role": "tool", "tool_call_id": "c1", "content": NOT_KEPT}
    assert str(kept[4]["content"]).startswith(SUMMARY_HEADING)


def test_synthesize_does_not_take_one_group_apart_at_both_ends() -> None:
    messages = [user("Look."), *group("a", "word " * 90, "c"), user("Thanks.")]
    kept = policy("head_tail", threshold=60, keep_first=3, keep=2, pair_rule="synthesize")(messages).messages
    assert [message["role"] for message in kept] == ["user", "user", "assistant", "tool", "user"]
    assert [call["id"] for call in kept[2]["tool_calls"]] == [kept[3]["tool_call_id"]] == ["c2"]


def summaries(messages: Sequence[Chat]) -> int:
    return sum(str(message["content"]).startswith(SUMMARY_HEADING) for message in messages)


@pytest.mark.parametrize(("name", "options"), [("head_tail", {"keep_first": 2}), ("pinned", {}), ("user_only", {})])
def test_an_earlier_summary_is_read_again_and_never_kept_beside_the_new_one(name: str, options: Any) -> None:
    compact = policy(name, threshold=100, **({} if name == "user_only" else {"keep": 1}), **options)
    messages: Sequence[Chat] = trip(1)[:8]
    for n in range(3):
        later = [*messages, assistant("Well. " * 40), user(f"Find train {n}.")]
        result = compact(later)
        assert result.dropped
        assert summaries(result.messages) == 1
        messages = result.messages


@pytest.mark.parametrize("name", ["summary_keep_recent", "head_tail", "user_only", "pinned"])
def test_nobody_is_asked_to_summarise_a_summary_alone(name: str) -> None:
    options = {"budget": 1} if name == "user_only" else {"keep": 1}
    earlier = user(f"{SUMMARY_HEADING}\n{'Find a train. ' * 60}")
    assert policy(name, threshold=1, **options).plan([earlier, user("It rains. " * 40)]) is None
    assert policy("pinned", threshold=1, keep=1).plan([user("It rains."), earlier, user("Go on.")]) is None


def test_a_summary_that_makes_the_list_no_smaller_is_not_used() -> None:
    plan = policy("summary_keep_recent", threshold=1, keep=1).plan([user("Go. " * 40), user("Now.")])
    assert plan is not None
    room = len("Go. " * 40) - len(SUMMARY_HEADING) - 1
    assert plan.finish("x" * room).event() is None
    assert plan.finish("x" * (room - 4)).event() is not None


@pytest.mark.parametrize("rule", ["move_back", "move_forward", "drop_orphans", "synthesize"])
def test_a_list_without_a_user_message_keeps_its_newest_group(rule: str) -> None:
    messages = [assistant("Well. " * 40), *called("a", "look", {"for": "x" * 90}, "here")]
    for options in ({"keep": 1}, {"keep_tokens": 1, "threshold": 1}):
        compact = policy("head_tail" if "threshold" in options else "last_messages", pair_rule=rule, **options)
        assert compact(messages).messages[-1] == messages[-1]


def test_user_only_drops_what_the_agent_promised_and_takes_user_messages_newest_first() -> None:
    remarks = [user(f"Remark number {n} about the weather.") for n in range(4)]
    messages = [m for remark in remarks for m in (remark, assistant("I promise to call you. " * 9))]
    result = policy("user_only", threshold=60, budget=2 * messages_tokens(remarks[:1]))([*messages, user("And now?")])
    assert list(result.messages[:2]) == remarks[2:]
    assert result.messages[2]["content"] == f"{SUMMARY_HEADING}\n{NOTHING_ASKED}"
    assert result.messages[3:] == (user("And now?"),)
    assert list(result.summariser_input) == messages
    assert not told(result.messages, "promise")


def test_a_message_beyond_the_budget_hides_the_older_ones_even_if_they_would_fit() -> None:
    messages = [user(LIMIT), user("word " * 200), user("Hm."), assistant("Well. " * 90), user("Book it.")]
    kept = policy("user_only", threshold=60, budget=100)(messages).messages
    assert kept[0] == user("Hm.")
    assert not told(kept)


def test_fraction_split_cuts_at_a_user_message_only() -> None:
    messages = trip(1)
    exact = messages_tokens(messages[-8:]) / messages_tokens(messages)
    assert list(policy("fraction_split", window=2000, preserve=exact)(messages).messages[1:]) == messages[-8:]
    result = policy("fraction_split", window=2000)(messages)
    assert result.messages[1]["role"] == "user"
    assert messages_tokens(result.messages[1:]) <= 0.3 * result.before < messages_tokens(messages[-24:])


def test_interval_counts_finished_turns_and_reads_the_overlap_twice() -> None:
    compact = policy("interval", interval=2, overlap=1)
    messages = trip(1, turns=4)
    assert compact(messages[:12]).event() is None  # two finished, the third under way
    first = compact(messages[:13])
    assert list(first.dropped) == messages[:8]
    assert list(first.summariser_input) == messages[:12]
    assert list(first.messages[1:]) == messages[8:13]
    assert compact(first.messages).event() is None
    more = [*first.messages, *messages[13:], *trip(0, turns=2)[:5]]
    assert list(compact(more).summariser_input[1:5]) == messages[8:12]


def test_clearing_spares_the_newest_results_the_excluded_tools_and_what_was_cleared() -> None:
    messages = [user("Look."), *called("a", "look", {}, "x" * 90), *called("b", "ask", {}, "y" * 90)]
    messages += [*called("c", "look", {}, "z" * 90), *called("d", "look", {}, "u" * 90)]
    compact = policy("clear_tool_results", threshold=50, keep=1, placeholder="gone", exclude_tools="ask, none")
    result = compact(messages)
    contents = [m["content"] for m in result.messages if m["role"] == "tool"]
    assert contents == ["gone", messages[4]["content"], "gone", messages[8]["content"]]
    assert [message["tool_call_id"] for message in result.dropped] == ["a", "c"]
    assert (result.summary, result.summariser_input) == (None, ())
    assert compact(result.messages).event() is None
    short = called("s", "look", {}, "ok")
    assert list(compact([*short, *messages]).messages[:2]) == short  # the placeholder would be no smaller


def test_thresholds_count_tokens_messages_or_a_share_of_the_window_and_combine() -> None:
    messages = trip(1)
    size, count = messages_tokens(messages), len(messages)

    def fires(**options: Any) -> bool:
        return policy("summary_keep_recent", keep=8, **options).plan(messages) is not None

    assert [fires(threshold=limit) for limit in (size, size - 1)] == [False, True]
    assert [fires(threshold_messages=limit) for limit in (count, count - 1)] == [False, True]
    assert [fires(threshold_fraction="0.5", window=limit) for limit in (2 * size, 2 * size - 1)] == [False, True]
    assert fires(threshold=size, threshold_messages=1)
    assert not fires(threshold=size, threshold_messages=1, trigger="all")
    assert fires(threshold=1, threshold_messages=1, trigger="all")


def test_the_newest_messages_may_be_counted_in_tokens() -> None:
    messages = trip(1)
    result = policy("summary_keep_recent", keep_tokens=1000)(messages)
    tail = result.messages[1:]
    exact = messages_tokens(messages[-8:])
    assert list(policy("last_tokens", keep_tokens=exact)(messages).messages) == messages[-8:]
    assert messages_tokens(tail) <= 1000 < messages_tokens(messages[-len(tail) - 4 :])


def test_the_summary_stands_in_the_role_that_is_asked_for() -> None:
    for role in ("user", "system", "assistant"):
        assert policy("summary_keep_recent", summary_role=role)(trip(1)).messages[0]["role"] == role


def test_pinned_keeps_whole_messages_before_the_summary_and_still_compacts() -> None:
    messages = [user(f"Find a train. {LIMIT}"), *trip(0)[:12], user("It rains."), assistant("Yes."), user("Book it.")]
    plain, result = summary_keep_recent(200, 1)(messages), policy("pinned", threshold=200, keep=1)(messages)
    assert [message["content"] for message in result.messages] == [
        messages[0]["content"], "It rains.", plain.messages[0]["content"], "Book it.",
    ]  # fmt: skip
    assert (told(plain.messages), told(result.messages)) == (False, True)
    assert result.policy == "pinned"


def test_what_survives_a_summary_is_requests_and_questions_that_fit() -> None:
    assert survives(user("Find a train. Which gate?\nBook it."))
    assert not survives(user("Find a train. I dislike tunnels."))
    assert not survives(user("Find a train " + "soon " * 100 + "."))
    assert not survives({"role": "user", "content": [{"type": "text", "text": "Find a train."}]})


def test_a_model_may_take_its_time_between_the_two_steps() -> None:
    async def model(messages: Sequence[Chat]) -> str:
        await asyncio.sleep(0)
        return f"{len(messages)} messages went"

    async def compacted(compact: Any, messages: Messages) -> Any:
        plan = compact.plan(messages)
        return plan.finish(await model(plan.reads) if plan.reads else None)

    result = asyncio.run(compacted(summary_keep_recent(), trip(1)))
    assert result.summary == "60 messages went"
    assert asyncio.run(compacted(policy("last_messages"), trip(1))).summary is None


def test_a_summary_is_given_where_something_is_read_and_only_there() -> None:
    plan = summary_keep_recent().plan(trip(1))
    dropping = policy("last_messages").plan(trip(1))
    assert plan is not None
    assert dropping is not None
    assert plan.finish(" \n").summary == NO_SUMMARY
    with pytest.raises(PortError, match="a summary is a text"):
        plan.finish(None)
    with pytest.raises(PortError, match="nothing to summarise"):
        dropping.finish("a text")


@pytest.mark.parametrize("text", [TOO_LONG, NO_SUMMARY, NOTHING_ASKED])
def test_what_stands_for_a_summary_that_is_missing_is_no_request(text: str) -> None:
    assert notes(f"{SUMMARY_HEADING}\n{text}") == ()


def test_scripted_texts_come_one_after_another_and_the_last_one_stays() -> None:
    compact = policy("summary_keep_recent", scripted(["one", "two"]), threshold=60, keep=1)
    messages: tuple[Chat, ...] = ()
    said = []
    for _ in range(3):
        result = compact([*messages, user("Go on."), assistant("Well. " * 60), user("And?")])
        said.append(result.summary)
        messages = result.messages
    assert said == ["one", "two", "two"]
    for texts in ([], ["one", "one"]):
        with pytest.raises(InputError, match="texts that differ"):
            scripted(texts)


def test_options_given_as_text_are_those_given_as_values() -> None:
    texts = {"threshold_messages": "30", "threshold": "none", "keep_tokens": "200", "summary_input_limit": "NONE"}
    values = {"threshold_messages": 30, "threshold": None, "keep_tokens": 200, "summary_input_limit": None}
    assert policy("head_tail", **texts).identity == policy("head_tail", **values).identity
    assert policy("clear_tool_results", exclude_tools="a, b").settings["exclude_tools"] == ("a", "b")
    assert policy("clear_tool_results", exclude_tools=("a", "b")).identity.endswith("exclude_tools=a,b")


def test_an_identity_names_every_setting_in_force_that_is_not_neutral() -> None:
    assert policy("summary_keep_recent").identity == "summary_keep_recent, threshold=900, keep=4"
    assert policy("none", threshold=3).identity == none().identity == "none"
    assert policy("head_tail").identity == "head_tail, threshold=900, keep=4, keep_first=2"
    assert policy("head_tail", threshold_messages=9, keep_tokens=7).identity == (
        "head_tail, threshold_messages=9, keep_tokens=7, keep_first=2"
    )
    assert policy("pinned").identity == "pinned, inner=summary_keep_recent, threshold=900, keep=4"


@pytest.mark.parametrize("name", [name for name in policy_names() if name not in ("none", "pinned")])
def test_the_options_that_a_policy_names_are_those_that_it_takes(name: str) -> None:
    assert {*policy(name).settings} <= {*policy_options(name)} <= {*policy_options("pinned")}
    with pytest.raises(InputError, match=f"{name} takes no option 'inner'; .*known: .*{policy_options(name)[0]}"):
        policy(name, inner="none")


@pytest.mark.parametrize(
    ("name", "options", "complaint"),
    [
        ("head_tail", {"keep_frist": 3}, "head_tail takes no option 'keep_frist'; did you mean 'keep_first'?"),
        ("last_messages", {"budget": 3}, "last_messages takes no option 'budget'; known: keep, pair_rule"),
        ("none", {"kep": 3}, "none takes no option 'kep'; did you mean 'keep'?"),
        ("none", {"keep": 0}, "keep is 0; a whole number from 1 up is accepted"),
        ("pinned", {"inner": "last_messages", "budget": 3}, "last_messages takes no option 'budget'"),
        ("pinned", {"inner": "pinned"}, "no compaction policy is called 'pinned'"),
        ("last_messages", {"keep": "many"}, "keep is 'many'; a whole number from 1 up is accepted"),
        ("last_messages", {"pair_rule": "tear"}, "one of move_back, move_forward, drop_orphans, synthesize"),
        ("user_only", {"budget": -1}, "budget is -1; a whole number from 0 up is accepted"),
        ("user_only", {"threshold": True}, "threshold is True; a whole number from 1 up is accepted, or none"),
        ("fraction_split", {"preserve": "1.5"}, "preserve is '1.5'; a number above 0 and at most 1 is accepted"),
        ("fraction_split", {"preserve": 0}, "preserve is 0"),
        ("fraction_split", {"preserve": "nan"}, "preserve is 'nan'"),
        ("fraction_split", {"window": "none"}, "threshold_fraction is a share of window"),
        ("summary_keep_recent", {"window": 9}, "threshold_fraction is a share of window"),
        ("summary_keep_recent", {"threshold": "none"}, "no threshold is given, so it would never compact"),
        ("summary_keep_recent", {"keep": 1, "keep_tokens": 1}, "keep and keep_tokens are both given"),
        ("summary_keep_recent", {"summary_role": "tool"}, "one of user, system, assistant"),
        ("summary_keep_recent", {"summarise": "me"}, "takes no option 'summarise'"),
        ("clear_tool_results", {"placeholder": " "}, "a text that is not blank"),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_would_be(name: str, options: Any, complaint: str) -> None:
    with pytest.raises(InputError) as caught:
        policy(name, **options)
    assert complaint in str(caught.value)


def test_all_that_is_wrong_is_said_at_once_and_a_wrong_name_gets_the_closest() -> None:
    with pytest.raises(InputError) as caught:
        policy("last_messages", keep=0, pair_rule="x", inner="y")
    assert len(caught.value.problems) == 3
    for ask in (
        lambda: policy("head_tale"),
        lambda: policy_options("head_tale"),
        lambda: policy("pinned", inner="head_tale"),
    ):
        with pytest.raises(UnknownName, match="did you mean 'head_tail'"):
            ask()


def test_the_page_on_policies_lists_every_policy_and_every_option() -> None:
    page = (Path(__file__).parent.parent / "docs/compaction-policies.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert listed == {*policy_names(), *policy_options("pinned")}
    assert {"inner", *(option for name in policy_names() for option in policy_options(name))} == {*OPTION_NAMES}
