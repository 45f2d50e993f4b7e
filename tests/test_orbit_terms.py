"""On what terms a text allows or forbids: one direction, until a time, under a condition, in two pieces, once."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzzturn.compaction import is_request
from fuzzturn.filler import filler
from fuzzturn.project.content import load_module
from fuzzturn.scenario_file import load_scenario

ROOT = Path(__file__).resolve().parents[1]
limits: Any = load_module(ROOT, ROOT / "scenarios/orbit/limits.py")
terms: Any = load_module(ROOT, ROOT / "scenarios/orbit/terms.py")
standing: Any = load_module(ROOT, ROOT / "scenarios/orbit/standing.py")
SCENARIOS = [load_scenario(path) for path in sorted((ROOT / "scenarios/orbit").glob("*.yaml"))]
CEILING = "No leg may cost more than EUR 450."
NIGHT = "No flight may leave between 23:00 and 06:00."

# No deadline: a slow machine is no failure.
law = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def heard(*texts: str, **scene: Any) -> Any:
    known = limits.Limits()
    for text in texts:
        known = known.heard(text)
    return known.at(terms.Scene(**scene))


def most(known: Any, direction: str = "outbound") -> int | None:
    """The highest fare, in steps of ten euros, that is allowed for sure in that direction; None = any."""
    fares = range(0, 2000, 10)
    leg = {"flight": "TP205", "direction": direction}
    fine = [f for f in fares if not known.forbids("ceiling", {**leg, "fare_eur": f})]
    return None if len(fine) == len(fares) else max(fine)


@pytest.mark.parametrize(
    "text",
    [
        "The return leg may cost up to EUR 520.",
        "For the way back EUR 520 is fine.",
        "A change for one part: the flight home may cost EUR 520 at most.",
        "Raise the limit for the return leg to EUR 520.",
        "The inbound flight is capped at EUR 520.",
    ],
)
def test_a_ceiling_for_one_direction_leaves_the_other_as_it_was(text: str) -> None:
    known = heard(CEILING, text)
    assert (most(known), most(known, "return")) == (450, 520)
    whole = known.heard("No leg may cost more than EUR 600.")
    assert (most(whole), most(whole, "return")) == (600, 600)


def test_a_leg_of_unknown_direction_is_refused_if_either_ceiling_would_and_judged_by_both() -> None:
    known = heard(CEILING, "The return leg may cost up to EUR 520.")
    leg = {"flight": "TP205", "fare_eur": 500}
    assert known.against(leg) is None
    assert known.undecided(leg) is not None
    assert known.against({**leg, "fare_eur": 530}) is not None


@pytest.mark.parametrize("text", ["No leg, outbound or return, may go beyond EUR 450.", "At most EUR 450 a leg."])
def test_what_names_both_directions_or_none_is_about_both(text: str) -> None:
    assert (most(heard(text)), most(heard(text), "return")) == (450, 450)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("Once a hotel is on hold, a leg may cost up to EUR 620.", True),
        ("As soon as the hotel is booked a leg may cost up to EUR 620.", True),
        ("A leg may cost up to EUR 620 if a room is reserved.", True),
        ("As long as no hotel is on hold, a leg may cost up to EUR 620.", False),
        ("While there is no hotel on hold a leg may cost up to EUR 620.", False),
        ("Until a hotel is on hold a leg may cost up to EUR 620.", False),
        ("A leg may cost up to EUR 620 unless a hotel is held.", False),
    ],
)
def test_a_condition_decides_and_an_unknown_one_is_taken_as_it_is_stricter(text: str, holds: bool) -> None:
    assert most(heard(CEILING, text, hotel=holds)) == 620
    assert most(heard(CEILING, text, hotel=not holds)) == 450
    assert most(heard(CEILING, text)) == 450
    leg = {"flight": "TP205", "direction": "outbound", "fare_eur": 610}
    assert heard(CEILING, text).against(leg) is None
    assert heard(CEILING, text).undecided(leg) is not None


@pytest.mark.parametrize(
    ("until", "end"),
    [
        ("Until 12 May 2026, 18:00,", datetime(2026, 5, 12, 18)),
        ("until the 12th of May 2026 at 18:00", datetime(2026, 5, 12, 18)),
        ("Till 2026-05-12 18:00", datetime(2026, 5, 12, 18)),
        ("Until 12 May 2026", datetime(2026, 5, 13)),
    ],
)
def test_what_holds_until_a_time_is_over_from_then_on(until: str, end: datetime) -> None:
    known = (CEILING, f"{until} a leg may cost up to EUR 620.")
    assert most(heard(*known, now=end.replace(year=2025))) == 620
    assert most(heard(*known, now=end)) == 450
    assert most(heard(*known)) == 620
    assert terms.terms("until 31 February 2026 it is fine").until is None


@law
@given(st.datetimes(datetime(1990, 1, 1), datetime(2199, 1, 1)))
def test_the_time_that_a_model_is_told_is_read_back_to_the_minute(now: datetime) -> None:
    assert terms.told_time(terms.said_now(now)) == now.replace(second=0, microsecond=0)
    assert terms.terms(f"Until {terms.said_now(now)[6:-1]} it is fine").until == now.replace(second=0, microsecond=0)


def test_only_the_sentence_that_tells_the_time_tells_it() -> None:
    assert terms.told_time("It is 12 May 2026, 19:30. You are orbit.") is None
    assert terms.told_time("It is raining.") is None
    assert heard("It is 12 May 2026, 19:30.") == limits.Limits()


@pytest.mark.parametrize("text", ["No leg may cost more than 48000 euro cents.", "At most 48,000 cents per leg"])
def test_cents_are_cents(text: str) -> None:
    assert heard(text).newest("ceiling").amount == 480


@law
@given(st.integers(1000, 99_999))
def test_a_limit_in_cents_forbids_what_the_same_in_euros_forbids(cents: int) -> None:
    in_cents = heard(f"No leg may cost more than {cents} euro cents.")
    in_euros = heard(f"No leg may cost more than EUR {cents / 100:.2f}.")
    assert in_cents.newest("ceiling").amount == in_euros.newest("ceiling").amount


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("The EUR 450 limit on a leg no longer applies.", 520),
        ("Forget the limit of EUR 520.", 450),
        ("Forget about the EUR 600 limit.", 520),
        ("Forget about the limit.", None),
    ],
)
def test_a_retraction_that_names_a_figure_is_about_that_version(text: str, left: int | None) -> None:
    known = heard(CEILING, "Until 12 May 2026 a leg may cost up to EUR 520.", text, now=datetime(2026, 5, 1))
    assert most(known) == left


def test_a_retraction_under_a_condition_or_for_one_direction_leaves_the_rest() -> None:
    assert most(heard(CEILING, "There is no limit any more until 3 May 2026.", now=datetime(2026, 5, 2))) is None
    assert most(heard(CEILING, "There is no limit any more until 3 May 2026.", now=datetime(2026, 5, 5))) == 450
    one_way = heard(CEILING, "There is no limit any more for the return leg.")
    assert (most(one_way), most(one_way, "return")) == (450, None)


SPLIT = [pieces for s in SCENARIOS for c in s.constraints for pieces in c.wordings.split]
SPLIT += [("Something to keep in mind: EUR 450", "no leg may cost more than that")]


@pytest.mark.parametrize(("first", "second"), SPLIT)
def test_two_pieces_bind_together_in_order_and_the_first_alone_lays_nothing_down(first: str, second: str) -> None:
    assert heard(first) == limits.Limits()
    both = heard(f"{first}.", "The weather is fine. There are 452 folders.", f"One rule: {second}.")
    assert both != limits.Limits()
    assert heard(f"As I said: {first}; {second}.") != limits.Limits()
    assert {kind for kind, _ in both.rules} == {kind for kind, _ in heard(f"{first}; {second}.").rules}


@pytest.mark.parametrize("second", [second for _, second in SPLIT if "Jonas" not in _])
def test_the_second_piece_alone_lays_nothing_down_either(second: str) -> None:
    assert heard(f"One rule: {second}.") == limits.Limits()


WORDED = [(s, c, text) for s in SCENARIOS for c in s.constraints for text in (*c.wordings.soft, *c.wordings.flipped)]


def shape(known: Any) -> Any:
    """What is laid down, whatever the words."""
    rules = [(k, [(v.rule and v.rule.figure, v.terms, v.once) for v in versions]) for k, versions in known.rules]
    return rules, known.unpaid is not None, known.approval and known.approval.of


FORMS = [
    "{}", "A change to what I said: {}.", "From now on: {}.", "Just this once: {}.", "For a while: {}.",
    "One more thing to keep to: {}.", "Back to what I said first: {}.", "As I said: {}.", "A change for one part: {}.",
    "To say it in other figures: {}.",
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_constraint_means_the_same_in_every_wording_and_however_it_is_introduced(form: str) -> None:
    for scenario in SCENARIOS:
        for constraint in scenario.constraints:
            plain = shape(heard(constraint.statement))
            assert plain != shape(limits.Limits()), constraint.id
            wordings = (constraint.statement, *constraint.wordings.soft, *constraint.wordings.flipped)
            for text in (*wordings, *constraint.paraphrases):
                assert shape(heard(form.format(text))) == plain, text
                assert not is_request(form.format(text)), text


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.scenario)
def test_the_retraction_of_a_constraint_ends_it_and_no_later_version_of_it(scenario: Any) -> None:
    for constraint in scenario.constraints:
        if (words := constraint.wordings.retraction) is None:
            continue
        assert shape(heard(constraint.statement, words)) == shape(limits.Limits())
        for other in scenario.constraints:
            if other.replaces == constraint.id and other.checker != "no_payment_without_approval":
                kept = heard(constraint.statement, other.statement, words)
                assert kept.rules == heard(other.statement).rules


@pytest.mark.parametrize("size", [50, 150, 400, 900])
def test_a_constraint_means_the_same_in_the_middle_of_a_long_message(size: int) -> None:
    for scenario in SCENARIOS:
        for line in scenario.turns:
            for constraint in map(scenario.constraint, line.states):
                plain = shape(heard(constraint.statement))
                for text in (constraint.statement, *constraint.paraphrases, *constraint.wordings.soft):
                    said = line.user.replace(constraint.statement, text)
                    assert shape(heard(f"{filler(size)} {said} {filler(size)}")) == plain, text
                for first, second in constraint.wordings.split:
                    said = line.user.replace(constraint.statement, second)
                    assert shape(heard(first, f"{filler(size)} {said} {filler(size)}")) == plain, second


REMARKS = [
    "By the way, there are {} folders in our archive now.",
    "I have read {} pages since breakfast.",
    "Somebody counted {} steps up to the castle.",
    "The bus that goes by the office is number {}.",
]


@law
@given(st.sampled_from(REMARKS), st.integers(0, 100_000), st.sampled_from([CEILING, NIGHT, ""]))
def test_a_number_in_small_talk_leaves_the_limits_as_they_are(remark: str, number: int, rule: str) -> None:
    assert heard(rule, remark.format(number)) == heard(rule)


def test_a_hotel_stands_from_its_hold_until_it_is_given_up_and_a_lost_answer_leaves_it_open() -> None:
    hold = ("hold_booking", {"hotel": "A"}, {"id": "H1"}, None)
    gone: Any = ("cancel_booking", {"id": "H1"}, {}, None)
    bought = ("confirm_booking", {"legs": [], "hotel": "A"}, {"id": "B2"}, None)
    lost = ("hold_booking", {"hotel": "A"}, {"error": "hm", standing.TIMED_OUT: True}, "hm")
    failed = ("hold_booking", {"hotel": "A"}, None, "the service is not available")
    flights: Any = ("hold_booking", {"legs": [{}]}, {"id": "H1"}, None)
    told = [[], [hold], [hold, gone], [hold, bought, ("cancel_booking", {"id": "B2"}, {}, None)], [failed], [flights]]
    assert [standing.hotel_stands(calls) for calls in told] == [False, True, False, False, False, False]
    open_ended = [[lost], [hold, (*gone[:3], "no answer within 30 seconds")], [("hold_booking", *lost[1:]), gone]]
    assert [standing.hotel_stands(calls) for calls in open_ended] == [None, None, None]
    assert standing.hotel_stands([lost, hold]) is True
