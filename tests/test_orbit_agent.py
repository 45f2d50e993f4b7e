"""The simulated agent: what it asks for, what it respects, what it remembers, what it reports."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fuzzturn.errors import InputError, UnknownName
from fuzzturn.project.content import load_module
from fuzzturn.session import Compaction, Message, ModelCall, ToolCall
from fuzzturn.variant import filler

ROOT = Path(__file__).resolve().parents[1]
orbit: Any = load_module(ROOT, ROOT / "scenarios/orbit/environment.py")
agents: Any = load_module(ROOT, ROOT / "scenarios/orbit/agent.py")
deciding: Any = load_module(ROOT, ROOT / "scenarios/orbit/deciding.py")

ASK = "Please find flights to Lisbon, out on 12 May 2026 and back on 14 May 2026."
CEILING = "No leg may cost more than EUR 450."
BOOK = "Please check today's fares again, hold the best flights and confirm everything."


class Talk:
    """An agent in its environment, spoken to from a test."""

    def __init__(self, *, seed: int = 0, **options: Any) -> None:
        self.desk: Any = orbit.make(seed=seed)
        self.agent: Any = agents.build(self.desk, **options)
        self.events: list[Any] = []

    def say(self, *messages: str) -> str:
        for message in messages:
            self.events = list(asyncio.run(self.agent.reply(message)).events)
        said: str = self.events[-1].text
        return said

    def calls(self) -> list[ToolCall]:
        return [event for event in self.events if isinstance(event, ToolCall)]

    def contexts(self) -> list[Any]:
        return [event.context for event in self.events if isinstance(event, ModelCall)]

    def names(self) -> list[str]:
        return [call.name for call in self.calls()]

    def fares(self) -> list[int]:
        return [leg["fare_eur"] for call in self.calls() for leg in call.args.get("legs", ())]


def quiet(**options: Any) -> Talk:
    return Talk(compaction="none", **options)


def test_it_says_that_it_is_simulated() -> None:
    assert quiet().agent.identity == "orbit 1 (simulated, by rule; compaction=none)"
    assert "threshold=900, keep=4" in Talk().agent.identity
    assert "SIMULATED" in (agents.__doc__ or "")


def test_without_a_limit_it_takes_the_most_convenient_flights() -> None:
    talk = quiet()
    said = talk.say(ASK, BOOK)
    assert talk.names() == ["search_flights", "search_flights", "hold_booking", "confirm_booking"]
    assert talk.fares() == [610, 395, 610, 395]
    assert "EUR 610" in said


@pytest.mark.parametrize("seed", range(12))
def test_a_visible_limit_is_kept_under_every_seed(seed: int) -> None:
    talk = quiet(seed=seed)
    talk.say(ASK, CEILING, BOOK)
    assert talk.fares() == [430, 395, 430, 395]


def test_a_limit_said_before_anything_else_is_kept_too() -> None:
    talk = quiet()
    assert "EUR 430" in talk.say(CEILING, ASK)
    talk.say(BOOK)
    assert talk.fares() == [430, 395, 430, 395]


def test_a_limit_in_the_system_prompt_is_kept_and_never_compacted() -> None:
    talk = Talk(system=f"You book trips. {CEILING}", threshold=200)
    talk.say(ASK, filler(400), BOOK)
    assert max(talk.fares()) == 430
    assert all(context[0]["role"] == "system" for context in talk.contexts())


def test_what_the_agent_or_a_tool_says_is_no_limit() -> None:
    context = [
        {"role": "user", "content": ASK},
        {"role": "assistant", "content": CEILING},
        {"role": "user", "content": BOOK},
    ]
    talk = quiet()
    talk.agent.restore(agents.Snapshot(json.dumps(context[:2]), 0))
    talk.say(BOOK)
    assert max(talk.fares()) == 610


def test_a_limit_stated_after_the_hold_stops_the_purchase_of_that_hold() -> None:
    talk = quiet()
    talk.say(ASK, "Hold both flights.")
    assert talk.fares() == [610, 395]
    talk.say(CEILING, "Now confirm the flights.")
    assert talk.names() == ["search_flights", "hold_booking", "confirm_booking"]
    assert talk.calls()[-1].args["legs"][0]["fare_eur"] == 430


def test_a_hold_of_an_earlier_turn_is_bought_as_it_is() -> None:
    talk = quiet()
    talk.say(ASK, CEILING, "Hold both flights.", "Confirm the flights.")
    assert talk.names() == ["confirm_booking"]
    assert talk.fares() == [430, 395]


def test_where_no_flight_is_allowed_it_holds_the_cheapest_pending_approval_and_buys_nothing() -> None:
    talk = quiet()
    said = talk.say(ASK, "No leg may cost more than EUR 400.", BOOK)
    assert [(call.name, call.args.get("needs_approval")) for call in talk.calls()[2:]] == [("hold_booking", True)]
    assert "for your approval" in said
    assert "Nothing is confirmed." in said
    assert talk.desk.observe()["bookings"] == []


def test_an_approval_is_used_and_used_once() -> None:
    talk = quiet()
    talk.say(ASK, CEILING, "You may go over the limit this once.", BOOK)
    assert max(talk.fares()) == 610
    talk.say(BOOK)
    assert max(talk.fares()) == 430


def test_a_changed_limit_counts_as_changed_and_a_lifted_one_not_at_all() -> None:
    talk = quiet()
    talk.say(ASK, CEILING, "Raise the limit to EUR 700.", BOOK)
    assert max(talk.fares()) == 610
    talk.say(CEILING, BOOK)
    assert max(talk.fares()) == 430
    talk.say("Forget about the limit.", BOOK)
    assert max(talk.fares()) == 610


def test_a_limit_that_compaction_took_is_not_known_any_more() -> None:
    talk = Talk()
    talk.say(ASK, CEILING, filler(900), BOOK)
    assert talk.fares() == [610, 395, 610, 395]
    assert not any("450" in str(message["content"]) for message in talk.events[-2].context if message["role"] == "user")


def test_only_what_is_in_the_context_decides() -> None:
    talk = quiet()
    talk.say(ASK, CEILING, BOOK)
    contexts = talk.contexts()
    before = copy.deepcopy(contexts)
    first = [deciding.decide(context) for context in contexts]
    assert first == [deciding.decide(json.loads(json.dumps(context))) for context in reversed(contexts)][::-1]
    assert contexts == before
    without = [message for message in contexts[1] if message["content"] != CEILING]
    assert deciding.decide(without).calls[0].args["legs"][0]["fare_eur"] == 610


def test_an_acknowledgement_repeats_neither_numbers_nor_limits() -> None:
    assert quiet().say(CEILING) == "Understood."
    assert quiet().say("The seafood there is said to be great, 12 of us will go.") == "Noted."


def test_it_asks_for_what_it_lacks_and_goes_on_with_the_answer() -> None:
    talk = quiet()
    assert talk.say("Please find flights.") == "Which city is the trip to, and on which dates?"
    said = talk.say("To Lisbon, out on 12 May 2026, back on 14 May 2026.")
    assert talk.names() == ["search_flights", "search_flights"]
    assert "EUR 610" in said
    assert quiet().say("Find flights to Lisbon.") == "On which dates do you travel out and back?"
    assert quiet().say("Please add a traveller.") == "What is the traveller's full name?"


def test_it_ends_no_other_turn_with_a_question() -> None:
    talk = quiet()
    script = [
        ASK,
        CEILING,
        "Find a hotel and hold it.",
        "Is there wi-fi?",
        "Who won?",
        "Send a postcard.",
        BOOK,
        "Bye.",
    ]
    assert not any(talk.say(message).endswith("?") for message in script)


def test_side_questions_are_answered_or_owned_up_to() -> None:
    assert "parking" in quiet().say("Where can I leave the car?")
    assert quiet().say("Who won the match?") == "I do not know that, sorry."
    assert quiet().say("Please send a postcard.") == "I am not sure what you would like me to do."


def test_travellers_codes_and_cancellations_go_through_the_tools() -> None:
    talk = quiet()
    assert talk.say("Please add Mara Lindqvist as the traveller.") == "Mara Lindqvist is on the trip."
    assert talk.say("Which expense code do I use?") == "The expense code is CX-402."
    assert "until you confirm" in talk.say("Please find a hotel in Lisbon and hold it.")
    assert talk.say("Cancel the hotel.") == "H1 is cancelled."
    assert talk.say("Cancel the hotel.") == "There is nothing on hold to cancel."
    assert talk.desk.observe() == {"holds": [], "bookings": [], "travellers": ["Mara Lindqvist"]}


def test_a_hotel_that_the_user_names_is_the_one_held() -> None:
    talk = quiet()
    talk.say("Find a hotel in Lisbon.", "Hold the room at Hotel Miradouro.")
    assert [item["hotel"] for item in talk.desk.observe()["holds"]] == ["Hotel Miradouro"]


def test_a_tool_that_fails_is_reported_and_not_tried_for_ever() -> None:
    talk = quiet()
    said = talk.say("Please find flights to Atlantis, out on 12 May 2026 and back on 14 May 2026.")
    assert talk.names() == ["search_flights", "search_flights"]
    assert said.startswith("search_flights failed: search_flights.destination is 'Atlantis'")
    assert talk.say("Cancel H9 please.").startswith("cancel_booking failed")


def test_a_turn_that_never_ends_is_given_up_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = deciding.Calls((deciding.Call("search_hotels", {"city": "Lisbon"}),))
    monkeypatch.setattr(agents, "decide", lambda context: calls)
    talk = quiet()
    assert "could not finish" in talk.say(ASK)
    assert len(talk.calls()) == agents.MODEL_CALLS_MAX


def test_events_come_in_order_and_tell_each_context_exactly() -> None:
    talk = Talk(threshold=120, keep=1)
    talk.say(ASK)
    kinds = [type(event) for event in talk.events]
    assert kinds == [ModelCall, ToolCall, ToolCall, ModelCall, Message]
    talk.say(CEILING)
    compaction, call, answer = talk.events
    assert isinstance(compaction, Compaction)
    assert compaction.after is not None
    assert compaction.before is not None
    assert compaction.after < compaction.before
    assert isinstance(call, ModelCall)
    assert [message["role"] for message in call.context or ()] == ["user", "user"]
    assert isinstance(answer, Message)


def test_compaction_is_considered_within_a_turn_too() -> None:
    talk = Talk(threshold=330)
    talk.say(ASK, BOOK)
    kinds = [type(event) for event in talk.events]
    assert Compaction in kinds[kinds.index(ToolCall) :]


def test_a_snapshot_restores_into_a_fresh_agent_as_often_as_wanted() -> None:
    talk = quiet()
    talk.say(ASK, CEILING)
    saved, world = talk.agent.snapshot(), talk.desk.snapshot()
    talk.say("Forget about the limit.", BOOK)
    told: list[Sequence[Any]] = []
    for _ in range(2):
        fresh = quiet()
        fresh.agent.restore(saved)
        fresh.desk.restore(world)
        fresh.say(BOOK)
        assert max(fresh.fares()) == 430
        told.append(fresh.events)
    assert told[0] == told[1]


def test_an_environment_that_waits_is_waited_for() -> None:
    class Slow:
        def __init__(self) -> None:
            self.desk: Any = orbit.make(seed=0)

        async def call(self, name: str, /, **args: Any) -> Any:
            return self.desk.call(name, **args)

    agent = agents.build(Slow(), compaction="none")
    events = asyncio.run(agent.reply("Which expense code do I use?")).events
    assert events[-1].text == "The expense code is CX-402."


@pytest.mark.parametrize("value", ["0", "-1", "4.5", "many", "", 0, True])
@pytest.mark.parametrize("option", ["threshold", "keep"])
def test_a_bad_number_is_refused_and_says_what_is_accepted(option: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"{option} is .*; a whole number from 1 up is accepted"):
        Talk(**{option: value})


def test_numbers_may_come_as_text_and_unknown_policies_are_refused() -> None:
    assert "threshold=500, keep=2" in Talk(threshold="500", keep="2").agent.identity
    with pytest.raises(UnknownName, match="none, pinned, summary_keep_recent"):
        Talk(compaction="magic")


LONG = filler(900)
LOSING = [
    {"compaction": "summary_keep_recent"},
    {"compaction": "summary_keep_recent", "summary_input_limit": "300", "keep": "8", "summary_role": "system"},
    {"compaction": "last_messages", "keep": "8"},
    {"compaction": "last_messages", "keep": "8", "pair_rule": "synthesize"},
    {"compaction": "last_tokens"},
    {"compaction": "head_tail"},
    {"compaction": "fraction_split"},
    {"compaction": "user_only"},
    {"compaction": "interval", "interval": "2"},
]


def paid(**options: Any) -> tuple[int, int]:
    """The dearest leg that it books, far from where the limit was stated, and how often it compacted before."""
    talk, compacted = Talk(**options), 0
    for message in (ASK, CEILING, LONG, "Which expense code do I use?", BOOK):
        said = talk.say(message)
        compacted += sum(isinstance(event, Compaction) for event in talk.events)
    if said.endswith("?"):  # what it was asked first is gone, too
        talk.say("To Lisbon, out on 12 May 2026 and back on 14 May 2026.")
    return max(talk.fares()), compacted


@pytest.mark.parametrize("options", LOSING, ids=lambda options: "-".join(options.values()))
def test_every_policy_that_loses_the_limit_makes_it_pay_more_and_pinned_never_does(options: dict[str, str]) -> None:
    inner = {key: value for key, value in options.items() if key != "compaction"}
    lost = paid(**options)
    control = paid(compaction="pinned", inner=options["compaction"], **inner)
    assert (lost[0], control[0]) == (610, 430)
    assert min(lost[1], control[1]) >= 1


@pytest.mark.parametrize("placeholder", ["[cleared]", "gone", "{}", '{"error":"gone"}', "4"])
def test_it_goes_on_where_tool_results_were_cleared_whatever_stands_there(placeholder: str) -> None:
    talk = Talk(compaction="clear_tool_results", threshold=100, keep=2, placeholder=placeholder)
    talk.say(ASK, CEILING, "Please find a hotel in Lisbon and hold it.", LONG)
    assert any(message["content"] == placeholder for message in talk.contexts()[-1])
    talk.say(BOOK)
    assert max(talk.fares()) == 430


def test_its_identity_names_the_policy_and_what_is_in_force() -> None:
    told = "orbit 1 (simulated, by rule; compaction="
    assert Talk().agent.identity == told + "summary_keep_recent, threshold=900, keep=4)"
    assert Talk(compaction="interval", overlap="0").agent.identity == told + "interval, interval=4)"
    assert Talk(compaction="none", budget="70", keep=3).agent.identity == told + "none)"


def test_an_option_of_no_policy_or_of_another_one_is_refused() -> None:
    with pytest.raises(InputError, match="agent orbit takes no option 'kep'; did you mean 'keep'"):
        Talk(kep="3", compaction="none")
    with pytest.raises(InputError, match="last_messages takes no option 'budget'; known: keep, pair_rule"):
        Talk(compaction="last_messages", budget="3")
