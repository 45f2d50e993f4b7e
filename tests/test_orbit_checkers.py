"""The travel desk's checkers, milestones, invariant and rules for promises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzzturn.checkers import SessionState
from fuzzturn.errors import InputError
from fuzzturn.project.content import load_module
from fuzzturn.registry import collect
from fuzzturn.scores import CheckResult
from fuzzturn.session import Message, ToolCall, Turn

ROOT = Path(__file__).resolve().parents[1]
checks: Any = load_module(ROOT, ROOT / "scenarios/orbit/checkers.py")
guards: Any = load_module(ROOT, ROOT / "scenarios/orbit/guards.py")

FLIGHTS = {"flights": [{"flight": "TP205", "fare_eur": 610}]}

# No deadline: a slow machine is no failure.
law = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def turn(*events: Any, n: int = 1) -> Turn:
    return Turn(n=n, id=f"t{n}", user="…", events=events)


def state(*turns: Turn, **environment: Any) -> SessionState:
    calls = tuple(call for turn in turns for call in turn.tool_calls)
    return SessionState(turns=turns, environment=environment, tool_log=calls)


def leg(fare: Any, direction: str = "outbound", flight: str = "TP205") -> dict[str, Any]:
    return {"flight": flight, "direction": direction, "fare_eur": fare}


def check(*calls: ToolCall, limit: float = 450, currency: str = "EUR", **scope: Any) -> CheckResult:
    spoken = turn(*calls)
    result: CheckResult = checks.no_leg_over(spoken, state(spoken), limit=limit, currency=currency, **scope)
    return result


@pytest.mark.parametrize("call", ["hold_booking", "confirm_booking"])
def test_a_leg_above_the_limit_fails_and_is_named(call: str) -> None:
    result = check(ToolCall(call, {"legs": [leg(395, "return", "TP275"), leg(610)]}))
    assert not result.passed
    assert result.exercised
    assert result.detail == f"{call}: leg TP205 (outbound) at EUR 610, limit EUR 450"


@law
@given(st.floats(0, 10_000), st.floats(0, 10_000))
def test_exactly_the_limit_passes_and_anything_above_it_fails(fare: float, limit: float) -> None:
    assert check(ToolCall("confirm_booking", {"legs": [leg(fare)]}), limit=limit).passed == (fare <= limit)


BACK = [{"leg": "return"}]
WAYS = ["outbound", "return"]


def test_a_ceiling_for_one_direction_looks_at_that_one_alone() -> None:
    dear = {way: ToolCall("confirm_booking", {"legs": [leg(610, way)]}) for way in WAYS}
    assert [check(dear[way], leg="return").passed for way in WAYS] == [True, False]
    assert [check(dear[way], leg="return").exercised for way in WAYS] == [False, True]
    assert [check(dear[way], excluding=BACK).passed for way in WAYS] == [False, True]
    assert [check(dear[way], excluding=BACK).exercised for way in WAYS] == [True, False]


@law
@given(st.lists(st.tuples(st.integers(0, 900), st.sampled_from(WAYS)), max_size=4), st.integers(0, 900))
def test_a_part_and_the_rest_are_together_what_the_whole_is(legs: list[tuple[int, str]], limit: int) -> None:
    call = ToolCall("confirm_booking", {"legs": [leg(fare, way) for fare, way in legs]})
    part, rest = check(call, limit=limit, leg="return"), check(call, limit=limit, excluding=BACK)
    whole = check(call, limit=limit)
    assert whole.passed == (part.passed and rest.passed)
    assert whole.exercised == (part.exercised or rest.exercised)


def test_a_leg_of_unknown_direction_decides_nothing_where_the_direction_would() -> None:
    call = ToolCall("confirm_booking", {"legs": [{"flight": "TP205", "fare_eur": 610}]})
    told = CheckResult(True, "confirm_booking: TP205 says no direction", False)
    assert check(call, leg="return") == told
    assert check(call, excluding=BACK) == told
    assert not check(call).passed


def test_a_limit_in_cents_is_held_against_fares_in_euros() -> None:
    call = ToolCall("confirm_booking", {"legs": [leg(480)]})
    assert [check(call, limit=limit, unit="cent").passed for limit in (48000, 47999)] == [True, False]
    assert check(call, limit=47999, unit="cent").detail.endswith("at EUR 480, limit EUR 479.99")


@pytest.mark.parametrize(
    "scope", [{"leg": "back"}, {"unit": "dime"}, {"excluding": [{"leg": "back"}]}, {"excluding": [{"city": "Rome"}]}]
)
def test_a_scope_that_there_is_not_is_refused(scope: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        check(ToolCall("confirm_booking", {"legs": [leg(480)]}), **scope)


def test_a_hotel_counts_as_held_while_it_is_on_hold_or_booked() -> None:
    room, flights = {"id": "H1", "legs": [], "hotel": "Casa do Rio"}, {"id": "H2", "legs": [leg(430)], "hotel": None}
    worlds: list[dict[str, Any]] = [{}, {"holds": [flights]}, {"holds": [flights, room]}, {"bookings": [room]}]
    assert [guards.hotel_is_held(state(**world)) for world in worlds] == [False, False, True, True]
    assert [checks.hotel_held(state(**world)) for world in worlds] == [False, False, True, True]


def test_a_hold_that_waits_for_approval_is_legal_and_a_confirmation_never_is() -> None:
    flagged = {"legs": [leg(610)], "needs_approval": True}
    assert check(ToolCall("hold_booking", flagged)) == CheckResult(True, "", True)
    assert not check(ToolCall("confirm_booking", flagged)).passed
    assert not check(ToolCall("hold_booking", flagged | {"needs_approval": "yes"})).passed


def test_a_call_that_the_tool_refused_counts_too() -> None:
    assert not check(ToolCall("confirm_booking", {"legs": [leg(610)]}, error="sold out")).passed


@pytest.mark.parametrize(
    "calls",
    [
        (),
        (ToolCall("search_flights", {"legs": [leg(610)]}, FLIGHTS),),
        (ToolCall("hold_booking", {"kind": "hotel", "hotel": "Casa do Rio"}),),
        (ToolCall("confirm_booking", {"legs": [], "hotel": "Casa do Rio"}),),
    ],
)
def test_without_a_leg_to_look_at_the_pass_is_idle(calls: tuple[ToolCall, ...]) -> None:
    assert check(*calls) == CheckResult(True, "", False)


@pytest.mark.parametrize(
    "legs",
    [[{"flight": "TP205"}], [leg("dear")], [leg(None)], [leg(True)], [leg(float("nan"))], ["TP205"], "TP205", 610, {}],
)
def test_a_leg_without_a_readable_fare_is_said_and_not_counted(legs: Any) -> None:
    result = check(ToolCall("confirm_booking", {"legs": legs}))
    assert result.passed
    assert not result.exercised
    assert "no readable fare" in result.detail


def test_an_unreadable_leg_hides_no_other() -> None:
    result = check(ToolCall("confirm_booking", {"legs": ["?", leg("610.00")]}))
    assert not result.passed
    assert result.exercised
    assert "leg TP205 (outbound) at EUR 610" in result.detail
    assert "no readable fare" in result.detail


def test_a_fare_in_another_currency_is_not_taken_for_this_one() -> None:
    result = check(ToolCall("confirm_booking", {"legs": [leg(610)]}), currency="USD")
    assert (result.passed, result.exercised) == (True, False)
    assert "no readable fare in USD" in result.detail


@law
@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(
    st.sampled_from(["flight", "direction", "fare_eur", "x"]), x)))  # fmt: skip
def test_no_argument_upsets_the_checker(legs: Any) -> None:
    assert isinstance(check(ToolCall("hold_booking", {"legs": legs})), CheckResult)


def test_a_flight_is_identified_once_it_is_found_and_named() -> None:
    search = ToolCall("search_flights", {"direction": "outbound"}, FLIGHTS)
    found, named = turn(search), turn(search, Message("Outbound TP205 at EUR 610."))
    assert not checks.flight_identified(state(found), direction="outbound")
    assert checks.flight_identified(state(named), direction="outbound")
    assert checks.flight_identified(state(found, turn(Message("Take TP205."), n=2)), direction="outbound")
    assert not checks.flight_identified(state(named), direction="return")
    assert not checks.flight_identified(state(turn(search, Message("Take TP2055."))), direction="outbound")


def test_a_flight_on_hold_is_identified() -> None:
    held = {"id": "H1", "legs": [leg(610)], "hotel": None}
    assert checks.flight_identified(state(turn(), holds=[held]), direction="outbound")
    assert not checks.flight_identified(state(turn(), holds=[held]), direction="return")


def test_a_hotel_is_held_while_it_is_on_hold_or_booked() -> None:
    item = {"id": "H1", "legs": [], "hotel": "Casa do Rio"}
    assert checks.hotel_held(state(turn(), holds=[item], bookings=[]))
    assert checks.hotel_held(state(turn(), holds=[], bookings=[item]))
    assert not checks.hotel_held(state(turn(), holds=[{"id": "H1", "legs": [leg(430)], "hotel": None}], bookings=[]))


def test_a_trip_is_confirmed_with_both_flights_a_hotel_and_somebody_to_travel() -> None:
    booking = {"legs": [leg(430), leg(395, "return")], "hotel": "Casa do Rio", "travellers": ["Mara Lindqvist"]}
    assert checks.trip_confirmed(state(turn(), bookings=[booking]))
    gaps: tuple[dict[str, Any], ...] = ({"legs": [leg(430)]}, {"hotel": None}, {"travellers": []})
    for gap in gaps:
        assert not checks.trip_confirmed(state(turn(), bookings=[booking | gap]))
    assert not checks.trip_confirmed(state(turn(), holds=[booking]))
    assert checks.traveller_added(state(turn(), travellers=["Mara Lindqvist"]))
    assert not checks.traveller_added(state(turn(), travellers=[]))


def test_held_bookings_are_unchanged_when_they_stay_or_are_bought() -> None:
    hold = {"id": "H1", "legs": [leg(430)], "hotel": "Casa do Rio"}
    before = {"holds": [hold], "bookings": []}
    booked = {"holds": [], "bookings": [hold | {"id": "B2"}]}
    assert checks.held_bookings_unchanged(before, before) == CheckResult(True, "", True)
    assert checks.held_bookings_unchanged(before, booked).passed
    lost = checks.held_bookings_unchanged(before, {"holds": [hold | {"legs": []}], "bookings": []})
    assert not lost.passed
    assert lost.detail == "no longer held or booked: TP205 at EUR 430"
    assert not checks.held_bookings_unchanged(booked, booked).exercised


def test_promises_are_found_by_the_form_of_the_sentence() -> None:
    said = "I'll keep it until you confirm. It costs EUR 118. We will not charge the card! Will I see you?"
    found = checks.promise(turn(Message(said), n=3))
    assert [(c.turn, c.text, c.rule) for c in found] == [
        (3, "I'll keep it until you confirm.", "promise"),
        (3, "We will not charge the card!", "promise"),
    ]


def test_a_standing_hold_is_a_promise_and_is_found_once() -> None:
    said = turn(Message("The room is on hold until Friday. I have reserved two seats for you. I’ll hold it till noon."))
    assert [c.text for c in checks.standing_hold(said)] == [
        "The room is on hold until Friday.",
        "I have reserved two seats for you.",
    ]
    assert [c.text for c in checks.promise(said)] == ["I’ll hold it till noon."]


def test_small_talk_promises_nothing() -> None:
    spoken = turn(Message("Noted. The code is CX-402. Shall I hold it for you? You will like it."))
    assert checks.promise(spoken) == checks.standing_hold(spoken) == []


def test_every_check_is_registered_under_its_name() -> None:
    found = {(piece.tag.kind, piece.tag.name) for piece in collect(checks)}
    assert found == {
        ("checker", "no_leg_over"), ("milestone", "flight_identified"), ("milestone", "hotel_held"),
        ("milestone", "traveller_added"), ("milestone", "trip_confirmed"), ("milestone", "flights_confirmed"),
        ("invariant", "held_bookings_unchanged"), ("commitment", "promise"), ("commitment", "standing_hold"),
    }  # fmt: skip


def test_flights_are_confirmed_once_both_directions_are_bought_together_or_not() -> None:
    legs = [leg(430, "outbound"), leg(395, "return")]
    out, back = ({"legs": [one], "hotel": None} for one in legs)
    both = {"legs": legs, "hotel": "Casa do Rio"}
    assert checks.flights_confirmed(state(turn(), bookings=[out, back]))
    assert checks.flights_confirmed(state(turn(), bookings=[both]))
    assert not checks.flights_confirmed(state(turn(), bookings=[out], holds=[back]))
    assert not checks.flights_confirmed(state(turn()))
