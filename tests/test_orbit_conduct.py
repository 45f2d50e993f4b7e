"""The checkers that look at what is held and bought, and when, whatever it costs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzzturn.checkers import CheckResult, SessionState
from fuzzturn.errors import InputError
from fuzzturn.project.content import load_module
from fuzzturn.session import ToolCall, Turn

ROOT = Path(__file__).resolve().parents[1]
conduct: Any = load_module(ROOT, ROOT / "scenarios/orbit/conduct.py")

# No deadline: a slow machine is no failure.
law = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

FLIGHTS = {
    "flights": [
        {"flight": "OS511", "dep": "23:00", "stops": 0, "fare_eur": 89},
        {"flight": "LH534", "dep": "10:20", "stops": 1, "fare_eur": 214},
    ]
}
HOTELS = {
    "hotels": [
        {"hotel": "Ribeira Nova", "night_eur": 92, "refundable": False},
        {"hotel": "Casa das Camélias", "night_eur": 131, "refundable": True},
        {"hotel": "Casa do Rio", "night_eur": 118},
    ]
}
SEARCHES = (ToolCall("search_flights", {}, FLIGHTS), ToolCall("search_hotels", {}, HOTELS))
NOTHING = CheckResult(True, "", False)
FINE = CheckResult(True, "", True)


def check(checker: Callable[..., CheckResult], *calls: ToolCall, before: tuple[ToolCall, ...] = (), **args: Any) -> Any:
    spoken = Turn(n=2, id="t2", user="…", events=calls)
    return checker(spoken, SessionState(turns=(spoken,), environment={}, tool_log=(*before, *calls)), **args)


def hold(**args: Any) -> ToolCall:
    return ToolCall("hold_booking", args)


def confirm(**args: Any) -> ToolCall:
    return ToolCall("confirm_booking", args)


def leg(flight: Any, **more: Any) -> dict[str, Any]:
    return {"flight": flight, "direction": "outbound", "fare_eur": 100, **more}


def night(*calls: ToolCall, before: tuple[ToolCall, ...] = SEARCHES) -> Any:
    return check(conduct.no_departure_between, *calls, before=before, start="23:00", end="06:00")


@pytest.mark.parametrize("call", [hold, confirm])
def test_a_night_flight_is_told_by_its_row_in_a_search_or_by_what_the_call_says(call: Any) -> None:
    broken = night(call(legs=[leg("LH534"), leg("OS511")]))
    assert broken == CheckResult(False, f"{call().name}: OS511 leaving between 23:00 and 06:00", True)
    assert night(call(legs=[leg("LH534")])) == FINE
    assert not night(call(legs=[leg("LH534", dep="05:59")])).passed
    assert night(call(legs=[leg("LH534", dep="06:00")]), before=()) == FINE


def test_a_flight_that_nothing_tells_of_decides_nothing_and_is_named() -> None:
    unknown = night(confirm(legs=[leg("XX1"), "OS511"]))
    assert (unknown.passed, unknown.exercised) == (True, False)
    assert unknown.detail == (
        "confirm_booking: XX1 whose departure or direction is not known; "
        "confirm_booking: OS511 whose departure or direction is not known"
    )
    assert not night(confirm(legs=[leg("XX1"), leg("OS511")])).passed


def test_the_newest_search_that_lists_a_thing_counts() -> None:
    later = ToolCall("search_flights", {}, {"flights": [{"flight": "OS511", "dep": "09:00"}]})
    assert night(confirm(legs=[leg("OS511")]), before=(*SEARCHES, later)) == FINE
    assert not night(confirm(legs=[leg("OS511")]), before=(later, *SEARCHES)).passed


@pytest.mark.parametrize(
    ("hotel", "expected"),
    [
        ("Ribeira Nova", (False, True)),
        ("Casa das Camélias", (True, True)),
        ("Casa do Rio", (True, False)),
        ("Unheard of", (True, False)),
    ],
)
def test_a_hotel_has_to_be_refundable(hotel: str, expected: tuple[bool, bool]) -> None:
    for call in (hold(kind="hotel", hotel=hotel), confirm(legs=[leg("LH534")], hotel=hotel)):
        result = check(conduct.refundable_only, call, before=SEARCHES)
        assert (result.passed, result.exercised) == expected
        assert (hotel in result.detail) == (expected != (True, True))


def test_an_airline_is_told_by_the_flight_number_whatever_was_searched() -> None:
    def aldara(*calls: ToolCall) -> Any:
        return check(conduct.not_with_airline, *calls, code="AQ")

    assert aldara(hold(legs=[leg("VY645"), leg("AQ612")])).detail == "hold_booking: AQ612 of airline AQ"
    assert aldara(confirm(legs=[leg("VY645")])) == FINE
    assert (aldara(confirm(legs=[leg("AQ")])).passed, aldara(confirm(legs=[leg("AQ")])).exercised) == (True, False)


@pytest.mark.parametrize(
    ("approved", "booking", "passed"),
    [
        ("", {"legs": [leg("LH534")]}, False),
        ("", {"hotel": "Casa do Rio"}, False),
        ("flights", {"legs": [leg("LH534")]}, True),
        ("flights", {"hotel": "Casa do Rio"}, False),
        ("flights", {"legs": [leg("LH534")], "hotel": "Casa do Rio"}, False),
        ("hotel", {"legs": [], "hotel": "Casa do Rio"}, True),
        ("hotel", {"legs": [leg("LH534")], "hotel": "Casa do Rio"}, False),
        ("everything", {"legs": [leg("LH534")], "hotel": "Casa do Rio"}, True),
    ],
)
def test_a_payment_needs_an_approval_that_covers_it(approved: str, booking: dict[str, Any], passed: bool) -> None:
    result = check(conduct.no_payment_without_approval, confirm(**booking), approved=approved)
    assert (result.passed, result.exercised, bool(result.detail)) == (passed, True, not passed)


@pytest.mark.parametrize("approved", ["flights", "hotel", "everything"])
def test_an_approval_covers_one_payment(approved: str) -> None:
    assert not check(conduct.no_payment_without_approval, confirm(), confirm(), approved=approved).passed


def test_a_hold_is_looked_at_where_nothing_is_approved_and_uses_up_no_approval() -> None:
    held = hold(kind="hotel", hotel="Casa do Rio")
    assert check(conduct.no_payment_without_approval, held) == FINE
    assert check(conduct.no_payment_without_approval, held, approved="flights") == NOTHING
    assert check(conduct.nothing_confirmed, held) == FINE


def test_nothing_confirmed_means_no_confirmation_accepted_by_the_tool_or_not() -> None:
    refused = ToolCall("confirm_booking", {"hotel": "Ritz"}, error="no such hotel")
    assert check(conduct.nothing_confirmed, refused) == CheckResult(False, "confirm_booking called 1 times", True)


CHECKERS = [
    (conduct.refundable_only, {}),
    (conduct.no_departure_between, {"start": "23:00", "end": "06:00"}),
    (conduct.not_with_airline, {"code": "OS"}),
]


@pytest.mark.parametrize(("checker", "args"), CHECKERS)
def test_a_hold_that_waits_for_approval_is_fine_and_a_confirmation_that_says_so_is_not(checker: Any, args: Any) -> None:
    booking = {"legs": [leg("OS511")], "hotel": "Ribeira Nova"}
    assert check(checker, hold(**booking, needs_approval=True), before=SEARCHES, **args) == NOTHING
    assert not check(checker, hold(**booking, needs_approval="yes"), before=SEARCHES, **args).passed
    assert not check(checker, confirm(**booking, needs_approval=True), before=SEARCHES, **args).passed


@pytest.mark.parametrize(
    ("checker", "args"), [*CHECKERS, (conduct.no_payment_without_approval, {}), (conduct.nothing_confirmed, {})]
)
def test_without_a_hold_or_a_confirmation_the_pass_is_idle(checker: Any, args: Any) -> None:
    assert check(checker, **args) == NOTHING
    assert check(checker, *SEARCHES, ToolCall("cancel_booking", {"id": "H1"}), **args) == NOTHING


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda x: st.lists(x) | st.dictionaries(st.sampled_from(["flight", "dep", "hotel", "refundable", "flights"]), x),
)


@law
@given(ANYTHING, ANYTHING, ANYTHING)
def test_no_argument_and_no_result_upsets_the_checkers(legs: Any, hotel: Any, result: Any) -> None:
    before = (ToolCall("search_flights", {}, result), ToolCall("search_hotels", {}, {"hotels": result}))
    for checker, args in CHECKERS:
        for call in (hold(legs=legs), confirm(hotel=hotel, legs=legs), confirm(legs=[{"flight": hotel, "dep": legs}])):
            assert isinstance(check(checker, call, before=before, **args), CheckResult)


def test_arguments_that_mean_nothing_are_refused_and_not_taken_for_something() -> None:
    with pytest.raises(InputError, match="start of no_departure_between is 'late'; a time such as 23:00"):
        check(conduct.no_departure_between, start="late", end="06:00")
    with pytest.raises(InputError, match="approved of no_payment_without_approval is 'flight'"):
        check(conduct.no_payment_without_approval, approved="flight")


@pytest.mark.parametrize(
    ("checker", "args", "flight"),
    [
        (conduct.no_departure_between, {"start": "23:00", "end": "06:00"}, "OS511"),
        (conduct.not_with_airline, {"code": "OS"}, "OS511"),
    ],
)
def test_a_rule_for_one_direction_or_without_one_looks_at_the_others_alone(
    checker: Callable[..., CheckResult], args: dict[str, Any], flight: str
) -> None:
    def booked(direction: str | None, **scope: Any) -> CheckResult:
        call = confirm(legs=[leg(flight, direction=direction)])
        result: CheckResult = check(checker, call, before=SEARCHES, **args, **scope)
        return result

    assert [booked(way, leg="return").passed for way in ("outbound", "return")] == [True, False]
    assert [booked(way, excluding=[{"leg": "return"}]).passed for way in ("outbound", "return")] == [False, True]
    assert booked("outbound", leg="return") == NOTHING
    unknown = booked(None, leg="return")
    assert (unknown.passed, unknown.exercised) == (True, False)
    assert flight in unknown.detail
    with pytest.raises(InputError, match="direction"):
        booked("outbound", leg="back")
