"""Tap: what model calls tell of an agent, and what they leave open."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzturn.adapters.proxy.compare import Known, change
from fuzzturn.adapters.proxy.merging import merged
from fuzzturn.adapters.proxy.tap import POLICY, SHORTENED, Exchange, Seen, Tap
from fuzzturn.session import Compaction, Event, Message, ModelCall, ToolCall
from fuzzturn.tokens import messages_tokens
from upstream import asked, said

Chat = dict[str, Any]
TOOLS = [{"type": "function", "function": {"name": "buy", "parameters": {}}}]
SYSTEM: Chat = {"role": "system", "content": "You sell lamps. Be brief."}
SUMMARISE: Chat = {"role": "system", "content": "Summarise the conversation."}
RULE = "One rule: never spend more than 50 coins on one thing."
SUMMARY = "The user looks for a lamp and has a rule about spending."


def user(text: str) -> Chat:
    return {"role": "user", "content": text}


def assistant(text: str) -> Chat:
    return {"role": "assistant", "content": text}


def call(messages: Sequence[Chat], answer: Any = "Noted, of course.", *, tools: Any = TOOLS, **more: Any) -> Exchange:
    body = {"model": "m", "messages": list(messages)} | ({"tools": tools} if tools else {})
    completion = said(answer) if isinstance(answer, str) else answer
    return Exchange(path="/chat/completions", body=body, answer=completion, usage=completion["usage"], **more)


def results(answer: Chat, content: Any) -> list[Chat]:
    message = answer["choices"][0]["message"]
    tool = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": content}
    return [message, tool]


KEPT = "I will keep to that."
HISTORY = [user("Hello, I look for a lamp."), assistant("Noted, of course."), user(RULE), assistant(KEPT)]


def begun(*, tools: Any = TOOLS, system: Chat = SYSTEM) -> Tap:
    """A session of two turns: hello and the rule."""
    tap = Tap()
    tap.take(HISTORY[0]["content"], [call([system, HISTORY[0]], tools=tools)])
    tap.take(RULE, [call([system, *HISTORY[:3]], KEPT, tools=tools)])
    return tap


def compaction(tap: Tap, text: str, *exchanges: Exchange) -> Compaction | None:
    seen = tap.take(text, exchanges)
    assert len(seen) == 1
    return seen[0].compaction


def summariser(read: Sequence[Chat], output: str = SUMMARY, *, instruction: Chat = SUMMARISE) -> Exchange:
    return call([instruction, *read], output, tools=None)


def transcript(messages: Sequence[Chat], how: str) -> list[Chat]:
    if how == "messages":
        return list(messages)
    plain = "\n".join(f"{m['role']}: {m['content']}" for m in messages)
    return [user({"text": plain, "json": json.dumps([*messages], indent=1), "xml": plain.replace("'", "&#x27;"),
                  "json in json": json.dumps({"transcript": json.dumps(messages)})}[how])]  # fmt: skip


def test_a_growing_conversation_loses_nothing() -> None:
    tap = begun()
    later = [SYSTEM, *HISTORY, user("Buy one.")]
    answer = asked("buy", {"price": 90})
    first, second = tap.take(
        "Buy one.", [call(later, answer), call([*later, *results(answer, '{"ok": true}')], "Done.")]
    )
    assert first.compaction is second.compaction is None
    assert first.call.context == (*later,)
    assert first.call.usage == answer["usage"]
    assert first.executed == (ToolCall("buy", {"price": 90}, {"ok": True}, id="call_1"),)
    assert second.executed == ()


@pytest.mark.parametrize("how", ["messages", "text", "json", "xml", "json in json"])
def test_a_summarisers_call_is_known_by_what_it_read_and_where_its_output_stands(how: str) -> None:
    read = transcript(HISTORY, how)
    later = [SYSTEM, user(f"Summary so far:\n{SUMMARY}"), user("Buy one.")]
    lost = compaction(begun(), "Buy one.", summariser(read), call(later))
    assert lost == Compaction(
        policy=POLICY,
        before=messages_tokens([SYSTEM, *HISTORY[:3], user("Buy one.")]),
        after=messages_tokens(later),
        dropped=HISTORY[:3],
        summary=SUMMARY,
        summariser_input=[SUMMARISE, *read],
    )


def test_a_summariser_that_read_only_the_end_is_known_by_its_output_and_has_not_read_the_rest() -> None:
    later = [SYSTEM, user(f"Summary so far: {SUMMARY}"), user("Buy one.")]
    lost = compaction(begun(), "Buy one.", summariser(HISTORY[:1]), call(later))
    assert lost is not None
    assert lost.summariser_input == (SUMMARISE, HISTORY[0])
    assert RULE not in json.dumps(lost.summariser_input)


def test_a_summary_in_the_system_prompt_is_found() -> None:
    with_summary = {"role": "system", "content": f"{SYSTEM['content']}\n\nEarlier: {SUMMARY}"}
    lost = compaction(begun(), "Buy one.", summariser(HISTORY), call([with_summary, user("Buy one.")]))
    assert lost is not None
    assert (lost.summary, lost.summariser_input) == (SUMMARY, (SUMMARISE, *HISTORY))
    unseen = compaction(begun(), "Buy one.", call([with_summary, user("Buy one.")]))
    assert unseen is not None
    assert unseen.summary is not None
    assert SUMMARY in unseen.summary
    assert unseen.summariser_input is None


def test_a_summariser_that_asks_at_the_end_of_the_same_conversation_is_found_a_turn_later() -> None:
    """As LangGraph's classic node does it: the same messages, an instruction at the end, no system prompt anywhere."""
    tap = Tap()
    tap.take(HISTORY[0]["content"], [call(HISTORY[:1], tools=None)])
    asking = [*HISTORY, user("Create a summary of the conversation above.")]
    tap.take(RULE, [call(HISTORY[:3], KEPT, tools=None), call(asking, SUMMARY, tools=None)])
    head = {"role": "system", "content": f"Summary of the conversation earlier: {SUMMARY}"}
    (seen,) = tap.take("Buy one.", [call([head, user("Buy one.")], tools=None)])
    assert seen.compaction is not None
    assert seen.compaction.summary == SUMMARY
    assert seen.compaction.summariser_input == (*asking,)


def test_dropped_with_nothing_in_place_means_that_no_summariser_was_called() -> None:
    lost = compaction(begun(), "Buy one.", call([SYSTEM, HISTORY[3], user("Buy one.")]))
    assert lost is not None
    assert (lost.dropped, lost.summary, lost.summariser_input) == ((*HISTORY[:3],), None, ())


def test_what_stands_in_place_without_a_call_that_wrote_it_leaves_the_input_unknown() -> None:
    lost = compaction(begun(), "Buy one.", call([SYSTEM, user(SUMMARY), user("Buy one.")]))
    assert lost is not None
    assert (lost.summary, lost.summariser_input) == (SUMMARY, None)


@pytest.mark.parametrize(
    "other",
    [
        summariser([user("Something else altogether.")]),
        summariser(HISTORY, "ok"),
        summariser(HISTORY, "Nothing of this stands in the agent's next call, word for word."),
        call([SUMMARISE, *HISTORY], SUMMARY, tools=[{"type": "function", "function": {"name": "other"}}]),
    ],
)
def test_weak_evidence_of_a_summariser_is_none(other: Exchange) -> None:
    lost = compaction(begun(), "Buy one.", other, call([SYSTEM, user(f"Summary: {SUMMARY}"), user("Buy one.")]))
    assert lost is not None
    assert lost.summariser_input is None


@pytest.mark.parametrize("now", ["10:59 on Tue, 1 December 2026", "0:01 on Wednesday, Jan 2"])
def test_a_clock_in_the_system_prompt_is_no_loss(now: str) -> None:
    def at(time: str) -> Chat:
        return {"role": "system", "content": f"You sell lamps. It is {time}."}

    tap = begun(system=at("10:58 on Monday, 30 Nov 2026"))
    assert compaction(tap, "Buy one.", call([at(now), *HISTORY, user("Buy one.")])) is None
    trimmed = compaction(tap, "Bye.", call([at("7:00 on Sunday 5 May 2027"), HISTORY[3], user("Bye.")]))
    assert trimmed is not None
    assert trimmed.summariser_input == ()


def test_a_system_prompt_written_anew_may_hold_a_summary_so_the_input_is_unknown() -> None:
    anew = {"role": "system", "content": "You sell lamps; the customer is thrifty."}
    lost = compaction(begun(), "Buy one.", call([anew, user("Buy one.")]))
    assert lost is not None
    assert (lost.summary, lost.summariser_input) == (None, None)


def test_the_same_message_written_down_differently_is_the_same() -> None:
    tap, later = begun(), [SYSTEM, *HISTORY, user("Buy one.")]
    answer = asked("buy", '{"price": 90,  "why":"x"}', id="upstream-id")
    tap.take("Buy one.", [call(later, answer), call([*later, *results(answer, '{"ok": true}')])])
    again = asked("buy", {"why": "x", "price": 90}, id="client-id", text="")
    parts = [m | {"content": [{"type": "text", "text": f" {m['content']} "}]} for m in later]
    rewritten = [*parts, *results(again, '{"ok":true}'), assistant("Noted, of course."), user("Bye.")]
    assert compaction(tap, "Bye.", call(rewritten)) is None


def test_a_tool_result_cut_short_is_evidence_of_its_own_kind() -> None:
    tap, later = begun(), [SYSTEM, *HISTORY, user("Buy one.")]
    answer, long = asked("buy", {"price": 90}), "bought: " + "very " * 30 + "nice"
    tap.take("Buy one.", [call(later, answer), call([*later, *results(answer, long)])])
    done = assistant("Noted, of course.")
    copied = tap.copied()
    cut = compaction(tap, "Bye.", call([*later, *results(answer, "bought: very very…"), done, user("Bye.")]))
    assert cut is not None
    assert (cut.policy, cut.dropped, cut.summary) == (SHORTENED, (results(answer, long)[1],), None)
    assert cut.summariser_input == ()
    cleared = compaction(copied, "Bye.", call([*later, *results(answer, "[cleared]"), done, user("Bye.")]))
    assert cleared is not None
    assert (cleared.policy, cleared.summariser_input) == (SHORTENED, None)


def test_what_an_agent_does_to_its_words_on_the_way_is_no_compaction() -> None:
    """Documents around the newest message only; the answer signed; a note beside what the user says."""
    tap = Tap()
    tap.take("A lamp?", [call([SYSTEM, user("Documents: many.\nQuestion: A lamp?")], "Yes.")])
    signed = assistant("Yes. Your shop.")
    later = [SYSTEM, user("A lamp?"), signed, user("Documents: others, 3.\nQuestion: Which?")]
    assert compaction(tap, "Which?", call(later)) is None


def test_an_agent_without_memory_says_so_by_its_calls() -> None:
    lost = compaction(begun(), "Buy one.", call([SYSTEM, user("Buy one.")]))
    assert lost is not None
    assert (lost.dropped, lost.summariser_input) == ((*HISTORY[:3],), ())


def test_title_makers_guardrails_and_sub_agents_are_not_the_agent_but_are_counted() -> None:
    title = call([user("Make a title for: Hello")], "A lamp", tools=None)
    guard = call([{"role": "system", "content": "Is this safe?"}, user("Hello")], "safe", tools=None)
    sub = call([{"role": "system", "content": "You search."}, user("find lamps")], tools=[{"name": "search"}])
    tap = Tap()
    for main in (call([SYSTEM, user("Hello")]), call([SYSTEM, user("Hello"), assistant("Hm?")])):
        (seen,) = tap.take("Hello", [title, guard, main, sub])
        assert seen.call.context == (*main.body["messages"],)
    assert seen.call.notes == ("3 model call(s) before this one were not the agent's own",)


def test_without_tools_and_system_prompt_the_agent_is_who_goes_on_with_the_conversation() -> None:
    tap = Tap()
    title, history = call([user("Make a title for: Hello")], "A lamp", tools=None), [user("Hello")]
    (first,) = tap.take("Hello", [title, call(history, "Hm?", tools=None)])
    assert (first.call.context, first.compaction) == ((*history,), None)
    history += [assistant("Hm?"), user("A lamp.")]
    aside = call([user("Is this rude? A lamp.")], "no", tools=None)
    (second,) = tap.take("A lamp.", [aside, call(history, tools=None)])
    assert (second.call.context, second.compaction) == ((*history,), None)
    (third,) = tap.take("Now.", [summariser(history), call([user(f"So far: {SUMMARY}"), user("Now.")], tools=None)])
    assert third.compaction is not None
    assert third.compaction.summary == SUMMARY


def test_an_agent_that_hands_the_conversation_over_to_another_is_followed() -> None:
    tap, booking = begun(), [{"type": "function", "function": {"name": "book"}}]
    desk: Chat = {"role": "system", "content": "You book."}
    first = call([SYSTEM, *HISTORY, user("Buy one.")], asked("hand_over", {}, id="h"))
    second = call([desk, *HISTORY, user("Buy one.")], "Done.", tools=booking)
    seen = tap.take("Buy one.", [first, second])
    assert [one.call.context for one in seen] == [tuple(e.body["messages"]) for e in (first, second)]
    assert [one.compaction for one in seen] == [None, None]


def test_a_short_word_of_the_user_does_not_hide_that_a_longer_message_is_gone() -> None:
    tap = Tap()
    tap.take("Please book, and pay no more than 50.", [call([SYSTEM, user("Please book, and pay no more than 50.")])])
    lost = compaction(tap, "ok", call([SYSTEM, user("ok")]))
    assert lost is not None
    assert len(lost.dropped or ()) == 1


def test_another_conversation_of_the_same_agent_is_no_loss() -> None:
    tap = begun()
    aside, back = call([SYSTEM, user("Check this answer: fine?")]), call([SYSTEM, *HISTORY, user("Buy one.")])
    assert [seen.compaction for seen in tap.take("Buy one.", [aside, back])] == [None, None]


def test_a_call_whose_result_never_shows_is_not_reported() -> None:
    answer = asked("buy", {"price": 90})
    (seen,) = begun().take("Buy one.", [call([SYSTEM, *HISTORY, user("Buy one.")], answer)])
    assert seen.executed == ()
    assert seen.call.notes == ("asked for buy, and no result was seen in this turn",)


def test_ids_that_a_server_uses_again_still_find_their_own_result() -> None:
    tap, messages = begun(), [SYSTEM, *HISTORY, user("Buy two.")]
    one, two = asked("buy", {"price": 1}), asked("buy", {"price": 2})
    after_one = [*messages, *results(one, "first")]
    seen = tap.take(
        "Buy two.", [call(messages, one), call(after_one, two), call([*after_one, *results(two, "second")])]
    )
    assert [[executed.result for executed in one.executed] for one in seen] == [["first"], ["second"], []]


def test_the_bill_is_told_of_a_summariser_when_most_of_a_real_conversation_is_in_its_call() -> None:
    tap = begun()
    bodies = {
        "summariser": summariser(transcript(HISTORY, "json")).body,
        "guardrail": summariser([user("Buy one.")]).body,
        "agent": call([SYSTEM, *HISTORY]).body,
    }
    found = {name: tap.role("/chat/completions", body) for name, body in bodies.items()}
    assert found == {"summariser": "summariser", "guardrail": "agent", "agent": "agent"}
    assert Tap().role("/chat/completions", bodies["summariser"]) == "agent"


def test_a_snapshot_goes_on_as_the_session_would_have_and_is_not_changed_by_it() -> None:
    tap = begun()
    saved = tap.copied()
    trimmed = call([SYSTEM, user("Buy one.")])
    first = tap.take("Buy one.", [summariser(HISTORY), trimmed])
    assert saved.copied().take("Buy one.", [summariser(HISTORY), trimmed]) == first
    assert saved.take("Buy one.", [summariser(HISTORY), trimmed]) == first


def test_items_of_responses_are_chat_messages_and_go_on_from_what_was_seen() -> None:
    tap = Tap()
    output = [
        {"type": "reasoning", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One moment."}]},
        {"type": "function_call", "call_id": "c1", "name": "buy", "arguments": '{"price": 1}'},
    ]
    first = {"model": "m", "instructions": "Sell.", "input": "Buy one.", "tools": TOOLS}
    second = first | {
        "previous_response_id": "r1",
        "input": [{"type": "function_call_output", "call_id": "c1", "output": "ok"}],
    }
    calls = [
        Exchange(path="/responses", body=first, answer={"id": "r1", "output": output}),
        Exchange(path="/responses", body=second, answer={"id": "r2", "output": []}),
        Exchange(path="/responses", body=first | {"previous_response_id": "never seen"}),
    ]
    one, two, unknown = tap.take("Buy one.", calls)
    assert one.call.context == ({"role": "system", "content": "Sell."}, user("Buy one."))
    assert one.executed == (ToolCall("buy", {"price": 1}, "ok", id="c1"),)
    assert two.call.context is not None
    assert [message["role"] for message in two.call.context] == ["system", "user", "assistant", "tool"]
    assert two.compaction is None
    assert unknown.call.context is None
    assert unknown.call.notes == ("what this call saw is not known to the proxy",)


chats = st.lists(
    st.builds(lambda role, text: {"role": role, "content": text}, st.sampled_from(["user", "assistant"]), st.text()),
    max_size=6,
)


@given(chats, chats)
def test_a_conversation_that_only_grows_never_shows_a_loss(before: list[Chat], more: list[Chat]) -> None:
    assert change(before, [*before, *more], Known([], set(), set())) is None


@given(chats, st.data())
def test_whatever_is_called_gone_was_there_and_is_not_any_more(before: list[Chat], data: st.DataObject) -> None:
    after = [message for message in before if data.draw(st.booleans())]
    lost = change(before, after, Known([], set(), set()))
    assert (0 if lost is None else len(lost.gone)) == len(before) - len(after)
    assert lost is None or (lost.standing == () and not lost.unknown_how)


def seen(*executed: ToolCall, compaction: Compaction | None = None) -> Seen:
    return Seen(call=ModelCall([user("x")], {"n": 1}, recorded=False), compaction=compaction, executed=executed)


LOOK, BUY = ToolCall("look", {}, "seen", id="a"), ToolCall("buy", {"price": 1}, "ok", id="b")
LOST = Compaction("p", 9, 5)


def test_what_only_the_proxy_knows_is_given_with_what_the_agent_said() -> None:
    one, two = seen(LOOK), seen(BUY, compaction=LOST)
    assert merged([one, two], [Message("done")], []) == [one.call, LOOK, LOST, two.call, BUY, Message("done")]
    assert merged([], [Message("done")], []) == [Message("done")]


def test_where_the_environment_recorded_calls_the_proxy_only_marks_their_place() -> None:
    one, two = seen(LOOK), seen(BUY)
    assert merged([one, two], [], [ToolCall("buy", {"price": 1}, "from the environment")]) == [one.call, two.call, BUY]


def test_what_the_agent_tells_itself_wins() -> None:
    one, two = seen(LOOK), seen(BUY, compaction=LOST)
    own: list[Event] = [ToolCall("buy", {"price": 1}, "own"), Message("done")]
    assert merged([one, two], own, []) == [one.call, LOST, two.call, *own]
    mine = Compaction("mine")
    assert merged([one, two], [LOOK, mine, *own], []) == [one.call, LOOK, mine, two.call, *own]
    told: list[Event] = [ModelCall([user("own")]), BUY, ModelCall([user("own 2")]), *own[1:]]
    events = merged([one, two], told, [])
    with_usage = [ModelCall([user(text)], {"n": 1}) for text in ("own", "own 2")]
    assert events == [with_usage[0], BUY, LOST, with_usage[1], Message("done")]
    assert [event.recorded for event in events if isinstance(event, ModelCall)] == [False, False]
