"""The simulated travel desk: its tools, its refusals, its state."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzzturn.ports import Environment
from fuzzturn.project.content import load_module

ROOT = Path(__file__).resolve().parents[1]
orbit: Any = load_module(ROOT, ROOT / "scenarios/orbit/environment.py")

LEG = {"flight": "", "direction": "outbound", "fare_eur": 0}
TRIP = {"destination": "Lisbon", "date": "2026-05-12"}

# No deadline: a slow machine is no failure.
law = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def desk(seed: int = 0) -> Any:
    return orbit.make(seed=seed)


def flights(desk: Any, direction: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = desk.call("search_flights", **TRIP, direction=direction)["flights"]
    return rows


def leg(desk: Any, direction: str, fare: int) -> dict[str, Any]:
    flight = next(row["flight"] for row in flights(desk, direction) if row["fare_eur"] == fare)
    return {"flight": flight, "direction": direction, "fare_eur": fare}


def test_it_is_an_environment() -> None:
    assert isinstance(desk(), Environment)
    assert json.loads(json.dumps([tool.schema for tool in desk().tools]))


@law
@given(st.integers())
def test_under_every_seed_the_pleasant_outbound_flight_costs_610_and_there_are_legal_ones(seed: int) -> None:
    there, back = flights(desk(seed), "outbound"), flights(desk(seed), "return")
    assert [row["fare_eur"] for row in there if row["stops"] == 0] == [610]
    assert {row["fare_eur"] for row in there} == {610, 430, 450}
    assert [row["fare_eur"] for row in back if row["stops"] == 0] == [395]
    assert len({row["flight"] for row in (*there, *back)}) == 5


@law
@given(st.integers())
def test_the_seed_changes_no_result_in_length(seed: int) -> None:
    def sizes(desk: Any) -> list[int]:
        return [len(json.dumps(flights(desk, direction))) for direction in ("outbound", "return")]

    assert sizes(desk(seed)) == sizes(desk(0))


def test_the_seed_decides_flight_numbers_and_the_order_of_rows() -> None:
    assert flights(desk(1), "outbound") == flights(desk(1), "outbound")
    assert len({json.dumps(flights(desk(seed), "outbound")) for seed in range(8)}) > 4


def test_a_hold_becomes_part_of_a_booking() -> None:
    orbit = desk()
    legs = [leg(orbit, "outbound", 430), leg(orbit, "return", 395)]
    orbit.call("add_traveller", name="Mara Lindqvist")
    held = orbit.call("hold_booking", kind="flights", legs=legs)
    orbit.call("hold_booking", kind="hotel", hotel="Casa do Rio")
    assert [item["id"] for item in orbit.observe()["holds"]] == [held["id"], "H2"]
    orbit.call("confirm_booking", legs=legs, hotel="Casa do Rio")
    state = orbit.observe()
    assert state["holds"] == []
    assert state["bookings"] == [{"id": "B3", "legs": legs, "hotel": "Casa do Rio", "travellers": ["Mara Lindqvist"]}]


def test_a_booking_leaves_other_holds_alone() -> None:
    orbit = desk()
    orbit.call("hold_booking", kind="hotel", hotel="Casa do Rio")
    orbit.call("confirm_booking", legs=[leg(orbit, "outbound", 430)])
    assert [item["hotel"] for item in orbit.observe()["holds"]] == ["Casa do Rio"]


def test_a_hold_can_wait_for_approval() -> None:
    orbit = desk()
    orbit.call("hold_booking", kind="flights", legs=[leg(orbit, "outbound", 610)], needs_approval=True)
    assert [item["needs_approval"] for item in orbit.observe()["holds"]] == [True]


def test_a_traveller_added_twice_is_there_once() -> None:
    orbit = desk()
    for _ in range(2):
        assert orbit.call("add_traveller", name="Mara Lindqvist") == {"travellers": 1}
    assert orbit.observe()["travellers"] == ["Mara Lindqvist"]


def test_cancelling_gives_up_the_hold_of_that_id_alone() -> None:
    orbit = desk()
    for hotel in ("Casa do Rio", "Hotel Miradouro"):
        orbit.call("hold_booking", kind="hotel", hotel=hotel)
    orbit.call("cancel_booking", id="H1")
    assert [item["hotel"] for item in orbit.observe()["holds"]] == ["Hotel Miradouro"]


def test_the_expense_code_is_looked_up() -> None:
    assert desk().call("lookup_expense_code")["code"] == "CX-402"


@pytest.mark.parametrize(
    ("name", "args", "says"),
    [
        ("search_trains", {}, "no tool is called 'search_trains'; known: search_flights"),
        ("search_flights", {"destination": "Lisbon", "direction": "outbound"}, "lacks 'date'"),
        ("search_flights", {**TRIP, "direction": "sideways"}, "accepted: outbound, return"),
        ("search_flights", {**TRIP, "date": "12 May", "direction": "return"}, "accepted: an ISO date"),
        ("search_flights", {**TRIP, "origin": "Lisbon", "direction": "return"}, "two different places"),
        ("search_flights", {**TRIP, "direction": "return", "cabin": "first"}, "has 'cabin'"),
        ("hold_booking", {"kind": "hotel", "hotel": "Ribeira Nova", "refundable": True}, "Ribeira Nova is not as said"),
        ("hold_booking", {"kind": "hotel", "hotel": "Casa do Rio", "refundable": False}, "Casa do Rio is not as said"),
        ("search_hotels", {"city": "Atlantis"}, "accepted: Barcelona"),
        ("search_hotels", {"city": "Lisbon", "checkin": "2026-05-14", "checkout": "2026-05-14"}, "a day after"),
        ("hold_booking", {"kind": "hotel"}, "takes hotel alone"),
        ("hold_booking", {"kind": "flights", "legs": []}, "takes legs alone"),
        ("hold_booking", {"kind": "hotel", "hotel": "Ritz"}, "accepted: Casa do Rio"),
        ("hold_booking", {"kind": "flights", "legs": [LEG]}, "is empty"),
        ("hold_booking", {"kind": "flights", "legs": [{**LEG, "flight": "XX1"}]}, "no outbound flight is called 'XX1'"),
        ("hold_booking", {"kind": "flights", "legs": "all"}, "accepted: an array"),
        ("hold_booking", {"kind": "flights", "legs": [{**LEG, "flight": "X", "fare_eur": True}]}, "accepted: a number"),
        ("confirm_booking", {}, "nothing to confirm"),
        ("cancel_booking", {"id": "H9"}, "nothing, none is held"),
        ("add_traveller", {"name": 7}, "accepted: a string"),
    ],
)
def test_a_refusal_says_what_is_accepted(name: str, args: dict[str, Any], says: str) -> None:
    orbit = desk()
    before = orbit.observe()
    with pytest.raises(ValueError, match=says):
        orbit.call(name, **args)
    assert orbit.observe() == before


def test_nobody_buys_at_a_price_of_their_own() -> None:
    orbit = desk()
    cheap = {**leg(orbit, "outbound", 610), "fare_eur": 400}
    with pytest.raises(ValueError, match="costs EUR 610"):
        orbit.call("confirm_booking", legs=[cheap])


def test_nobody_leaves_at_a_time_of_their_own() -> None:
    orbit = desk()
    (row,) = [row for row in flights(orbit, "outbound") if row["fare_eur"] == 430]
    named = leg(orbit, "outbound", 430)
    with pytest.raises(ValueError, match=f"leaves at {row['dep']}; dep '12:34' is not accepted"):
        orbit.call("hold_booking", kind="flights", legs=[{**named, "dep": "12:34"}])
    assert orbit.call("hold_booking", kind="flights", legs=[{**named, "dep": row["dep"]}])["status"] == "held"


@law
@given(st.integers())
def test_in_vienna_the_non_stop_flights_leave_by_night_and_are_the_cheapest_under_every_seed(seed: int) -> None:
    for direction in ("outbound", "return"):
        rows = desk(seed).call("search_flights", **TRIP | {"destination": "Vienna"}, direction=direction)["flights"]
        night = [row for row in rows if row["dep"] >= "23:00" or row["dep"] < "06:00"]
        assert [row["stops"] for row in night] == [0]
        assert min(rows, key=lambda row: row["fare_eur"]) in night
        assert len(rows) > len(night)


@law
@given(st.integers())
def test_in_madrid_the_excluded_airline_has_the_only_non_stop_flights_under_every_seed(seed: int) -> None:
    for direction in ("outbound", "return"):
        rows = desk(seed).call("search_flights", **TRIP | {"destination": "Madrid"}, direction=direction)["flights"]
        assert [row["flight"][:2] for row in rows if row["stops"] == 0] == ["AQ"]
        assert min(rows, key=lambda row: row["fare_eur"])["flight"][:2] == "AQ"


def test_in_porto_the_cheaper_rate_is_not_refundable_and_other_hotels_do_not_say() -> None:
    porto = desk().call("search_hotels", city="Porto")["hotels"]
    assert [row["refundable"] for row in sorted(porto, key=lambda row: row["night_eur"])] == [False, True]
    assert not any("refundable" in row for row in desk().call("search_hotels", city="Lisbon")["hotels"])


@law
@given(st.integers())
def test_no_two_cities_share_a_flight_number_or_a_hotel_of_their_own(seed: int) -> None:
    cities = ("Lisbon", "Porto", "Berlin", "Vienna", "Madrid", "Rome")
    found = [
        {row["flight"] for d in ("outbound", "return") for row in desk(seed).call("search_flights", **TRIP | {
            "destination": city}, direction=d)["flights"]} for city in cities
    ]  # fmt: skip
    hotels = [{row["hotel"] for row in desk(seed).call("search_hotels", city=city)["hotels"]} for city in cities]
    assert len(set().union(*found)) == 5 * len(cities)
    assert len(set().union(*hotels)) == 2 * len(cities)


def test_a_snapshot_is_unaffected_by_later_calls_and_restores_into_fresh_instances() -> None:
    orbit = desk()
    orbit.call("hold_booking", kind="hotel", hotel="Casa do Rio")
    saved, then = orbit.snapshot(), copy.deepcopy(orbit.observe())
    orbit.call("cancel_booking", id="H1")
    orbit.call("add_traveller", name="Mara Lindqvist")
    for _ in range(2):
        fresh = desk()
        fresh.restore(saved)
        assert fresh.observe() == then
        fresh.call("cancel_booking", id="H1")


def test_what_is_observed_cannot_change_the_desk() -> None:
    orbit = desk()
    orbit.call("hold_booking", kind="flights", legs=[leg(orbit, "outbound", 430)])
    seen = orbit.observe()
    seen["holds"][0]["legs"].clear()
    seen["travellers"].append("nobody")
    assert orbit.observe()["holds"][0]["legs"]
    assert orbit.observe()["travellers"] == []


def test_nothing_that_a_tool_returns_speaks_of_a_limit() -> None:
    orbit = desk()
    told = [tool.description for tool in orbit.tools]
    told += [json.dumps(flights(orbit, "outbound")), json.dumps(orbit.call("search_hotels", city="Lisbon"))]
    assert not any(word in " ".join(told).lower() for word in ("limit", "ceiling", "policy", "at most", "budget"))
