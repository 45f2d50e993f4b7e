"""Kinds of limit beside prices, in varied wording: what is read in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzzturn.compaction import is_request
from fuzzturn.project.content import load_module
from fuzzturn.variant import filler
from orbit_wordings import AIRLINE, NIGHT, REFUNDABLE, UNPAID

ROOT = Path(__file__).resolve().parents[1]
limits: Any = load_module(ROOT, ROOT / "scenarios/orbit/limits.py")
hours: Any = load_module(ROOT, ROOT / "scenarios/orbit/hours.py")

# No deadline: a slow machine is no failure.
law = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def heard(*texts: str) -> Any:
    known = limits.Limits()
    for text in texts:
        known = known.heard(text)
    return known


def leaving(dep: str) -> Mapping[str, Any]:
    return {"flight": "OS511", "fare_eur": 89, "dep": dep}


def test_each_statement_is_read_as_its_own_kind_and_no_other() -> None:
    for field, texts in (("night", NIGHT), ("refundable", REFUNDABLE), ("airline", AIRLINE), ("unpaid", UNPAID)):
        for text in texts:
            known = heard(text)
            assert known != limits.Limits()
            kinds = {kind.partition(" ")[0] for kind, _ in known.rules} | ({"unpaid"} if known.unpaid else set())
            assert kinds == {field}, text
            assert known.approval is None
            assert limits.mentions_limit(text)


@pytest.mark.parametrize("text", [*NIGHT, *REFUNDABLE, *AIRLINE, *UNPAID])
def test_a_statement_is_no_request_so_that_a_summary_of_requests_loses_it(text: str) -> None:
    assert not is_request(text)


@pytest.mark.parametrize("text", NIGHT)
def test_the_night_begins_at_23_00_and_ends_before_06_00(text: str) -> None:
    forbidden = [
        dep for dep in ("22:59", "23:00", "00:10", "05:59", "06:00", "12:00") if heard(text).against(leaving(dep))
    ]
    assert forbidden == ["23:00", "00:10", "05:59"]


@law
@given(st.integers(0, 1439), st.integers(0, 1439), st.integers(0, 1439))
def test_a_departure_is_forbidden_exactly_within_the_hours(start: int, end: int, dep: int) -> None:
    night = hours.Night(start, end, "")
    within = start <= dep < end if start <= end else dep >= start or dep < end
    assert night.forbids(leaving(f"{dep // 60:02}:{dep % 60:02}")) is within


@pytest.mark.parametrize(
    ("clock", "value"),
    [("23:05", 1385), ("6:30", 390), ("12 am", 0), ("12 pm", 720), ("11pm", 1380), ("midnight", 0), ("24:00", 0),
     ("25:00", None), ("soon", None), (None, None), (7, None)],
)  # fmt: skip
def test_times_are_read_in_either_notation(clock: object, value: int | None) -> None:
    assert hours.minutes(clock) == value


@pytest.mark.parametrize("text", REFUNDABLE)
def test_a_hotel_has_to_be_refundable_and_one_that_does_not_say_is_not_decided(text: str) -> None:
    known = heard(text)
    assert known.against({"hotel": "A", "refundable": False}) == text
    assert known.against({"hotel": "A", "refundable": True}) is None
    assert (known.against({"hotel": "A"}), known.undecided({"hotel": "A"})) == (None, text)
    assert known.undecided(leaving("23:00")) is None


@pytest.mark.parametrize("text", AIRLINE)
def test_an_airline_is_told_by_the_flight_number(text: str) -> None:
    assert heard(text).against({"flight": "AQ612"}) == text
    assert heard(text).against({"flight": "VY612"}) is None


@pytest.mark.parametrize("text", UNPAID)
def test_nothing_may_be_paid_and_an_approval_lets_one_payment_pass(text: str) -> None:
    flights, hotel = {"legs": [leaving("09:00")]}, {"hotel": "A"}
    known = heard(text)
    assert known.against_paying() is None
    assert known.against_paying(hotel) == text
    approved = known.heard("Jonas has approved one payment, for the flights.")
    assert approved.against_paying(flights) is None
    assert approved.against_paying(hotel) == text
    assert approved.against_paying(flights, flights) == text
    assert approved.against_paying({**flights, **hotel}) == text
    assert approved.used([leaving("09:00")], paid=False).against_paying(flights) is None
    assert approved.used([], paid=True).against_paying(flights) == text


@pytest.mark.parametrize(
    ("text", "of"),
    [
        ("Jonas signs off on the flights this once.", "flights"),
        ("Jonas gives his go-ahead for one purchase, the flights.", "flights"),
        ("She agreed to the hotel, this one time.", "hotel"),
        ("I approve this booking.", "everything"),
        ("You have my approval for one payment.", "everything"),
        ("You may confirm one booking.", "everything"),
    ],
)
def test_an_approval_says_what_it_is_for(text: str, of: str) -> None:
    assert heard(UNPAID[0], text).approval.of == of


@pytest.mark.parametrize(
    "text",
    [
        "Has Jonas approved one payment?",
        "Jonas has not approved it yet.",
        "Jonas will approve one payment tomorrow.",
        "Once Jonas approves it, tell me.",
        "You may not confirm anything.",
    ],
)
def test_no_approval_is_read_where_none_is_given(text: str) -> None:
    known = heard(UNPAID[0], text)
    assert (known.approval, known.unpaid is None) == (None, False)


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (NIGHT[0], "Night flights are fine now."),
        (NIGHT[0], "Forget the rule on night flights."),
        (NIGHT[0], "The night flight rule no longer applies."),
        (NIGHT[0], "Flights by night are okay."),
        (NIGHT[0], "You may take a red-eye."),
        (REFUNDABLE[0], "Non-refundable is fine now."),
        (REFUNDABLE[0], "The room need not be refundable any more."),
        (REFUNDABLE[0], "It no longer has to be refundable."),
        (AIRLINE[0], "Aldara is fine again."),
        (AIRLINE[0], "You may book Aldara."),
        (AIRLINE[0], "I have no objections to Aldara any more."),
        (UNPAID[5], "The plan stands, so the freeze is over."),
        (UNPAID[5], "You may confirm now."),
        (UNPAID[5], "The hold-only rule no longer applies."),
        (UNPAID[0], "Approval is no longer needed."),
        (UNPAID[0], "Jonas no longer needs to approve anything."),
    ],
)
def test_a_limit_that_is_taken_back_stands_no_more_and_can_be_set_again(statement: str, text: str) -> None:
    assert heard(statement) != limits.Limits()
    assert heard(statement, text) == limits.Limits()
    assert heard(statement, text, statement) == heard(statement)


@pytest.mark.parametrize(
    "text",
    [
        "We arrived in the middle of the night.",
        "No meetings between 9 and 11.",
        "No noise at night, please.",
        "Is there a red-eye?",
        "My last room was non-refundable.",
        "The deposit was refunded.",
        "Flights have to be refundable.",
        "Aldara lost my bag last year.",
        "Do you know Aldara?",
        "I never paid so much for a coffee before.",
        "We have not paid the cleaner yet.",
        "Please hold the best flights.",
        "Please confirm everything.",
        "Go ahead and book the trip.",
        "Please sort out a hotel.",
        filler(2000),
    ],
)
def test_what_lays_nothing_down_is_read_as_nothing(text: str) -> None:
    assert heard(text) == limits.Limits()


def test_limits_of_several_kinds_stand_side_by_side_and_end_one_by_one() -> None:
    known = heard("No leg may cost more than EUR 450.", NIGHT[0], AIRLINE[0], UNPAID[0])
    assert known.against({"flight": "TP1", "fare_eur": 610, "dep": "09:00"}) == "No leg may cost more than EUR 450."
    assert known.against({"flight": "AQ1", "fare_eur": 100, "dep": "09:00"}) == AIRLINE[0]
    without = known.heard("Forget about the limit.")
    assert without.newest("ceiling") is None
    assert [kind for kind, _ in without.rules] == ["night", "airline AQ"]
    assert without.unpaid == known.unpaid
