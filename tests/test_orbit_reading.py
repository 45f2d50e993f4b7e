"""What a user message asks the travel desk to do, and the trip that it speaks of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fuzzturn.project.content import load_module
from fuzzturn.variant import PAD_TOKENS_MIN, filler

ROOT = Path(__file__).resolve().parents[1]
reading: Any = load_module(ROOT, ROOT / "scenarios/orbit/reading.py")

BOTH = {"outbound", "return"}
ALL = BOTH | {"hotel"}


def wanted(message: str) -> dict[str, Any]:
    found = reading.wants(message)
    every = {name: getattr(found, name) for name in found.__slots__ if name not in ("question", "unclear")}
    return {name: set(v) if isinstance(v, frozenset) else v for name, v in every.items() if v or v == ""}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Please find flights to Lisbon.", {"search": BOTH}),
        ("Could you look for a return trip to Lisbon?", {"search": BOTH}),
        ("Get me two seats to Lisbon on 12 May 2026, return on 14 May 2026.", {"search": BOTH}),
        ("What flights are there?", {"search": BOTH}),
        ("Look up the return flight again.", {"search": {"return"}}),
        ("Show me the way there once more.", {"search": {"outbound"}}),
        ("Which hotels are near the river?", {"search": {"hotel"}}),
        ("I'd like a room in Lisbon.", {"search": {"hotel"}}),
        ("Please find a hotel in Lisbon and hold it.", {"search": {"hotel"}, "hold": {"hotel"}}),
        ("Find a quiet hotel. Put it on hold, please.", {"search": {"hotel"}, "hold": {"hotel"}}),
        ("Please reserve a room.", {"hold": {"hotel"}}),
        ("Hold the outbound flight.", {"hold": {"outbound"}}),
        ("Now put both flights on hold.", {"hold": BOTH}),
        ("Book it all.", {"confirm": ALL}),
        ("Confirm.", {"confirm": ALL}),
        ("Go ahead and book the trip.", {"confirm": ALL}),
        ("Confirm the hotel.", {"confirm": {"hotel"}}),
        ("Then finalise the flights.", {"confirm": BOTH}),
        (
            "Please check today's fares again, hold the best pair and confirm everything, hotel included.",
            {"search": BOTH, "hold": BOTH, "confirm": ALL},
        ),
        (
            "Look at the fares once more. Put the two best flights on hold, then buy the flights and the room.",
            {"hold": BOTH, "confirm": ALL, "search": BOTH},
        ),
        ("Please get the flights sorted as well.", {"search": BOTH, "confirm": BOTH}),
        ("And please sort out a hotel in Berlin for her.", {"search": {"hotel"}, "confirm": {"hotel"}}),
        ("There is the hotel too. Please take care of it.", {"search": {"hotel"}, "confirm": {"hotel"}}),
        ("Please see to the hotel.", {"search": {"hotel"}, "confirm": {"hotel"}}),
        ("Could you arrange a room?", {"search": {"hotel"}, "confirm": {"hotel"}}),
        ("Please get flights.", {"search": BOTH}),
        ("Cancel the hotel.", {"cancel": {"hotel"}}),
        ("Please release H2 again.", {"cancel": {"H2"}}),
        ("Please add Mara Lindqvist as the traveller.", {"traveller": "Mara Lindqvist"}),
        ("The traveller is Mara Lindqvist.", {"traveller": "Mara Lindqvist"}),
        ("Put Ana Maria de Souza on the trip.", {"traveller": "Ana Maria de Souza"}),
        ("Please add a traveller.", {"traveller": ""}),
        ("By the way, which expense code do I use?", {"expense_code": True}),
        ("Tell me the cost centre for this.", {"expense_code": True}),
        ("What's the code for my expenses?", {"expense_code": True}),
    ],
)
def test_a_request_is_understood_in_varied_wording(message: str, expected: dict[str, Any]) -> None:
    assert wanted(message) == expected


@pytest.mark.parametrize(
    "message",
    [
        "I am reading a book about hotels.",
        "My colleague booked a flight last year.",
        "The holds at the port are full of fish.",
        "Is there a lounge I can use before the flight?",
        "Is there parking near the hotel?",
        "No leg may cost more than EUR 450.",
        "Never hold a hotel without asking me.",
        filler(PAD_TOKENS_MIN),
        filler(2000),
    ],
)
def test_a_remark_asks_for_nothing_whatever_words_are_in_it(message: str) -> None:
    assert wanted(message) == {}


def test_a_request_that_is_not_understood_is_kept_apart() -> None:
    assert reading.wants("Please send a postcard.").unclear == "Please send a postcard."
    assert reading.wants("Please find a hotel.").unclear is None


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Find flights to Lisbon, out on 12 May 2026 and back on 14 May 2026.", ("Lisbon", "2026-05-12", "2026-05-14")),
        ("Find flights to Lisbon, 2026-05-12 until 2026-05-14.", ("Lisbon", "2026-05-12", "2026-05-14")),
        ("Find flights to Porto from 12 to 14 May 2026.", ("Porto", "2026-05-12", "2026-05-14")),
        ("Find flights back on May 14, 2026, out on May 12th, 2026.", (None, "2026-05-12", "2026-05-14")),
        ("Find flights to Rome on the 1st of June 2026.", ("Rome", "2026-06-01", None)),
        ("Find a hotel in Lisbon.", ("Lisbon", None, None)),
        ("Find flights to Lisbon on 31 June 2026.", ("Lisbon", None, None)),
        ("My flight to Rome on 3 March 2026 was late.", (None, None, None)),
        ("Find the report of 3 March 2026.", (None, None, None)),
        ("Find flights in May.", (None, None, None)),
    ],
)
def test_the_trip_is_what_requests_say_of_it(message: str, expected: tuple[str | None, ...]) -> None:
    found = reading.trip(message)
    assert (found.city, found.out, found.back) == expected


def test_where_the_trip_starts_is_read_too() -> None:
    assert reading.trip("Find flights from Vienna to Lisbon.").origin == "Vienna"


def test_an_answer_to_a_question_needs_no_form() -> None:
    answer = "Lisbon, out on 12 May 2026, back on 14 May 2026."
    assert reading.trip(answer) == reading.Trip()
    assert reading.trip(answer, answering=True) == reading.Trip(None, "Lisbon", "2026-05-12", "2026-05-14")


def test_a_newer_trip_keeps_what_it_does_not_say() -> None:
    known = reading.Trip("Vienna", "Lisbon", "2026-05-12", "2026-05-14")
    assert known.updated(reading.Trip(out="2026-05-11")) == reading.Trip("Vienna", "Lisbon", "2026-05-11", "2026-05-14")
