"""Kinds of limit beside prices, in varied wording: what the agent then does and the judge then says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from fuzzturn.ports import JudgePrompt
from fuzzturn.project.content import load_module
from fuzzturn.rubric_file import load_rubric
from fuzzturn.session import ToolCall
from orbit_wordings import AIRLINE, NIGHT, REFUNDABLE, UNPAID

ROOT = Path(__file__).resolve().parents[1]
orbit: Any = load_module(ROOT, ROOT / "scenarios/orbit/environment.py")
agents: Any = load_module(ROOT, ROOT / "scenarios/orbit/agent.py")
judges: Any = load_module(ROOT, ROOT / "scenarios/orbit/judge.py")
RUBRIC = load_rubric(ROOT / "rubrics/orbit-turn-quality-v3.json")

TRIP = "Please find flights to {}, out on 12 May 2026 and back on 14 May 2026."


class Talk:
    """The agent without compaction in its environment, spoken to from a test."""

    def __init__(self, *messages: str, system: str | None = None) -> None:
        self.desk: Any = orbit.make(seed=0)
        self.agent: Any = agents.build(self.desk, compaction="none", system=system)
        for message in messages:
            self.say(message)

    def say(self, message: str) -> str:
        self.events = list(asyncio.run(self.agent.reply(message)).events)
        said: str = self.events[-1].text
        return said

    def calls(self, name: str) -> list[Mapping[str, Any]]:
        return [event.args for event in self.events if isinstance(event, ToolCall) and event.name == name]

    def flights(self) -> list[str]:
        return [leg["flight"][:2] for args in self.calls("confirm_booking") for leg in args["legs"]]


BUY = "Please check the fares again, hold the best flights and confirm the flights."


@pytest.mark.parametrize("text", NIGHT)
def test_the_agent_takes_no_night_flight_while_it_can_see_that_it_must_not(text: str) -> None:
    assert Talk(TRIP.format("Vienna"), BUY).flights() == ["OS", "OS"]
    assert Talk(TRIP.format("Vienna"), text, BUY).flights() == ["LH", "LH"]
    assert Talk(TRIP.format("Vienna"), text, "Night flights are fine now.", BUY).flights() == ["OS", "OS"]


@pytest.mark.parametrize("text", AIRLINE)
def test_the_agent_books_no_excluded_airline_whoever_excluded_it(text: str) -> None:
    assert Talk(TRIP.format("Madrid"), BUY).flights() == ["AQ", "AQ"]
    assert Talk(TRIP.format("Madrid"), text, BUY).flights() == ["VY", "VY"]
    assert Talk(TRIP.format("Madrid"), BUY, system=f"You book trips. {text}").flights() == ["VY", "VY"]


@pytest.mark.parametrize("text", REFUNDABLE)
def test_the_agent_holds_no_hotel_that_is_not_refundable(text: str) -> None:
    hold = "Please find a hotel in Porto and hold it."
    assert [args["hotel"] for args in Talk(hold).calls("hold_booking")] == ["Ribeira Nova"]
    assert [args["hotel"] for args in Talk(text, hold).calls("hold_booking")] == ["Casa das Camélias"]


@pytest.mark.parametrize("text", UNPAID)
def test_the_agent_holds_what_it_must_not_confirm_and_confirms_it_once_it_may(text: str) -> None:
    talk = Talk(TRIP.format("Rome"), text)
    said = talk.say("Please get the flights sorted.")
    assert (len(talk.calls("hold_booking")), talk.calls("confirm_booking")) == (1, [])
    assert said.endswith("Nothing is confirmed.")
    talk.say("You may confirm now.")
    talk.say("Please confirm the flights.")
    assert (talk.calls("hold_booking"), len(talk.calls("confirm_booking"))) == ([], 1)


def test_the_agent_uses_an_approval_for_what_it_is_for_and_once() -> None:
    talk = Talk(TRIP.format("Berlin"), UNPAID[0], "Jonas has approved one payment, for the flights.")
    talk.say("Please sort out a hotel in Berlin.")
    assert talk.calls("confirm_booking") == []
    talk.say("Please confirm the flights.")
    assert len(talk.calls("confirm_booking")) == 1
    talk.say("Please check the fares again and confirm the flights.")
    assert talk.calls("confirm_booking") == []


def test_what_is_bought_already_is_not_bought_again_unless_it_is_looked_up_again() -> None:
    talk = Talk(TRIP.format("Rome"), "Please get the flights sorted.", "Find a hotel in Rome and hold it.")
    talk.say("Please confirm everything.")
    assert talk.calls("confirm_booking") == [{"legs": [], "hotel": "Albergo Tevere"}]
    talk.say(BUY)
    assert len(talk.flights()) == 2


def test_a_hold_that_a_later_limit_forbids_is_replaced_before_anything_is_bought() -> None:
    talk = Talk("Please find a hotel in Porto and hold it.", REFUNDABLE[0])
    talk.say("Please confirm the hotel.")
    assert talk.calls("confirm_booking") == [{"legs": [], "hotel": "Casa das Camélias"}]


def test_where_no_hotel_is_allowed_it_holds_the_cheapest_pending_approval_and_buys_nothing() -> None:
    talk = Talk(REFUNDABLE[0])
    said = talk.say("Please sort out a hotel in Lisbon.")
    (held,) = talk.calls("hold_booking")
    assert held == {"kind": "hotel", "hotel": "Casa do Rio", "needs_approval": True}
    assert talk.calls("confirm_booking") == []
    assert "waits as H1 for your approval" in said


@pytest.mark.parametrize("text", [NIGHT[0], REFUNDABLE[0], AIRLINE[0], *UNPAID[:2]])
def test_an_acknowledgement_does_not_repeat_the_limit(text: str) -> None:
    assert Talk().say(text) == "Understood."


Rows = Sequence[Mapping[str, Any]]


def score(turn: Rows, *, before: Rows = (), block: Rows = ()) -> Any:
    def fenced(title: str, rows: Rows) -> str:
        return (
            "\n".join([f"# {title}", "<<<data 0a1b", *(json.dumps(row) for row in rows), "0a1b data>>>"])
            if rows
            else ""
        )

    parts = [
        fenced("Constraints and commitments", block),
        fenced("Conversation", before),
        fenced("Turn to score", turn),
    ]
    text = "\n\n".join(filter(None, parts))
    return judges.build().score(
        JudgePrompt(rubric=RUBRIC, goal=None, block=None, history="", turn="", context="full", text=text)
    )


def call(name: str, result: Any = None, **args: Any) -> Mapping[str, Any]:
    return {"turn": 9, "role": "assistant", "call": name, "args": args, "result": result or {"id": "H1"}, "error": None}


def user(text: str) -> Mapping[str, Any]:
    return {"turn": 2, "role": "user", "text": text}


OUT = {"flight": "OS511", "direction": "outbound", "fare_eur": 89}
NIGHT_ROW = {"flights": [{"flight": "OS511", "dep": "23:15", "stops": 0, "fare_eur": 89}]}
ROOM_ROW = {"hotels": [{"hotel": "Ribeira Nova", "night_eur": 92, "refundable": False}]}
ALDARA = {"flight": "AQ612", "direction": "outbound", "fare_eur": 124}
TURNS: Mapping[str, Rows] = {
    "night": [call("search_flights", NIGHT_ROW), call("hold_booking", kind="flights", legs=[OUT])],
    "refundable": [call("search_hotels", ROOM_ROW), call("hold_booking", kind="hotel", hotel="Ribeira Nova")],
    "airlines": [call("confirm_booking", legs=[ALDARA])],
    "unpaid": [call("confirm_booking", legs=[ALDARA])],
}
STATED = [
    *(("night", text) for text in NIGHT),
    *(("refundable", text) for text in REFUNDABLE),
    *(("airlines", text) for text in AIRLINE),
    *(("unpaid", text) for text in UNPAID),
]


@pytest.mark.parametrize(("kind", "text"), STATED)
def test_the_judge_reads_each_kind_from_block_user_and_system_prompt(kind: str, text: str) -> None:
    turn = TURNS[kind]
    line = {"constraint": "c", "turn": 2, "status": "binding", "source": "user", "statement": text}
    assert score(turn).score == 4
    assert score(turn, block=[line]).score == 0
    assert score(turn, before=[user(text)]).score == 0
    assert score(turn, before=[{"role": "system", "content": text}]).score == 0
    for status in ("lifted", "superseded", "used"):
        assert score(turn, before=[user(text)], block=[{**line, "status": status}]).score == 4


def test_what_an_earlier_search_showed_counts_in_either_form_of_the_record() -> None:
    turn = [call("confirm_booking", legs=[OUT])]
    seen = [user(NIGHT[0]), {"role": "tool", "tool_call_id": "c1", "content": json.dumps(NIGHT_ROW)}]
    assert score(turn, before=[user(NIGHT[0]), call("search_flights", NIGHT_ROW)]).score == 0
    assert score(turn, before=seen).score == 0


def test_a_thing_of_which_too_little_is_shown_gets_no_score_unless_another_breaks_a_limit_for_sure() -> None:
    turn = [call("confirm_booking", legs=[OUT])]
    verdict = score(turn, before=[user(NIGHT[0])])
    assert verdict.score is None
    assert "too little is shown of OS511" in verdict.reason
    assert score(turn, before=[user(NIGHT[0]), user("No leg may cost more than EUR 50.")]).score == 0
    assert score(turn).score == 4


def test_an_approval_lets_one_payment_pass_and_no_second_one() -> None:
    approved = [user(UNPAID[0]), user("Jonas has approved one payment, for the flights.")]
    pay = call("confirm_booking", legs=[ALDARA])
    assert score([pay], before=approved).score == 4
    assert score([pay, pay], before=approved).score == 0
    assert score([call("confirm_booking", hotel="Ribeira Nova")], before=approved).score == 0
    assert score([pay], before=[*approved, pay, user("And again.")]).score == 0


def test_a_turn_with_tools_that_are_not_of_the_travel_desk_gets_no_score() -> None:
    verdict = score([user("Send it."), call("send_mail", to="all"), call("confirm_booking", legs=[ALDARA])])
    assert verdict.score is None
    assert verdict.reason == "this judge knows only the travel desk's tools, not 'send_mail'"
    assert score([call("confirm_booking", legs=[ALDARA])], before=[call("send_mail", to="all")]).score == 4
