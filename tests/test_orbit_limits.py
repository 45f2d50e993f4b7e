"""What a text allows and forbids: ceilings on a leg's fare, changes, retractions, one-shot approvals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzzturn.project.content import load_module
from fuzzturn.scenario_file import load_scenario
from fuzzturn.variant import filler

ROOT = Path(__file__).resolve().parents[1]
limits: Any = load_module(ROOT, ROOT / "scenarios/orbit/limits.py")
LISBON = load_scenario(ROOT / "scenarios/orbit/lisbon_offsite.yaml")
CEILING = "No single leg may cost more than EUR 450."
LEG = {"flight": "TP205", "direction": "outbound", "fare_eur": 610}

# No deadline: a slow machine is no failure.
law = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def heard(*texts: str) -> Any:
    known = limits.Limits()
    for text in texts:
        known = known.heard(text)
    return known


def forbids(known: Any, fare: float) -> bool:
    return known.against({"flight": "TP205", "fare_eur": fare}) is not None


@pytest.mark.parametrize(
    "text",
    [
        CEILING,
        "Nothing over 450 EUR per leg please",
        "each flight has to stay at or below €450",
        "Keep every leg at or under 450 euros.",
        "The ceiling is EUR 450 per leg",
        "our cap is 450 per flight",
        "Please don't book any leg above EUR 450.",
        "no leg must exceed EUR 450",
        "450 euros max for each flight",
        "at most EUR 450 a leg",
        "up to €450 per leg is what I can expense",
        "My limit per leg: 450 EUR",
        "No leg, outbound or return, may go beyond EUR 450.",
        "any single leg: EUR 450 or less",
        "I can’t pay more than 450 euros for a flight",
        "Book nothing above EUR 450 per leg",
        "we have a 450-euro limit per leg",
        "never go over EUR 450.00 on a leg",
        "spend no more than EUR 450 on each flight",
        "Legs are capped at EUR 450",
        "limit each leg to EUR 450",
        "Can you keep every leg at EUR 450 at most?",
        "Nothing pricier than EUR 450 for a flight",
        "You may not exceed EUR 450 per leg.",
        "It has been raining. A leg may not cost more than EUR 450! Anyway, the coffee machine works again.",
        LISBON.constraint("leg_ceiling").statement,
        *LISBON.constraint("leg_ceiling").paraphrases,
    ],
)
def test_a_ceiling_is_read_in_many_phrasings(text: str) -> None:
    known = heard(text)
    assert (known.newest("ceiling").amount, forbids(known, 450), forbids(known, 450.01)) == (450, False, True)
    assert known.newest("ceiling").quote in text


@pytest.mark.parametrize("text", ["Keep each leg under EUR 450", "every flight must be below 450 euros"])
def test_under_an_amount_means_less_than_it(text: str) -> None:
    known = heard(text)
    assert forbids(known, 450)
    assert not forbids(known, 449.99)


@pytest.mark.parametrize(
    ("amount", "value"),
    [("EUR 1,200", 1200), ("€1.200,50", 1200.5), ("EUR 99,90", 99.9), ("80 euros", 80), ("EUR 45000", 45000)],
)
def test_amounts_are_read_with_either_separator(amount: str, value: float) -> None:
    assert heard(f"No leg may cost more than {amount}.").newest("ceiling").amount == value


@law
@given(st.integers(10, 99_999))
def test_any_whole_amount_is_read_as_it_stands(amount: int) -> None:
    assert heard(f"No flight above EUR {amount}, please.").newest("ceiling").amount == amount


@pytest.mark.parametrize(
    "text",
    [
        "My last trip cost more than EUR 450.",
        "The fare was over EUR 450 last year",
        "I once flew for less than EUR 100",
        "Is there anything under EUR 450?",
        "The hotel must not exceed EUR 120 a night",
        "The whole trip must stay below EUR 1500 in all",
        "There were more than 400 people at the offsite.",
        "up to 20 people will come",
        "No meetings over 30 minutes please",
        "Nothing above USD 450 per leg",
        "We fly on 12 May 2026, no later",
        "Outbound TP205 at EUR 610.",
        filler(2000),
    ],
)
def test_what_is_no_ceiling_on_a_leg_is_not_read_as_one(text: str) -> None:
    assert heard(text) == limits.Limits()


@pytest.mark.parametrize(
    "text",
    [
        "Make it 500 instead.",
        "Please raise the limit to 500",
        "please raise the ceiling from EUR 450 to EUR 500",
        "Lift the limit to EUR 500",
        "The limit is now EUR 500",
        "500 per leg is fine now",
        "Actually EUR 500 per leg is okay.",
        "Let's say 500 per leg",
        "No leg may cost more than EUR 500.",
    ],
)
def test_a_new_figure_takes_the_place_of_the_old_one(text: str) -> None:
    known = heard(CEILING, text)
    assert (forbids(known, 500), forbids(known, 501)) == (False, True)


@pytest.mark.parametrize(
    "text",
    [
        "Forget about the limit.",
        "the ceiling no longer applies",
        "The EUR 450 limit does not apply any more",
        "Drop the EUR 450 ceiling.",
        "There is no limit any more",
        "Never mind the cap per leg",
        "The limit of EUR 450 is lifted.",
    ],
)
def test_a_retraction_lifts_the_ceiling_and_names_no_new_one(text: str) -> None:
    assert heard(CEILING, text) == limits.Limits()


@pytest.mark.parametrize(
    ("text", "highest"),
    [
        ("You may go over the limit this once.", 9999),
        ("you can go over the limit for this one leg", 9999),
        ("It's fine to exceed the ceiling just this once", 9999),
        ("You have my permission to go over EUR 450 this once", 9999),
        ("you may go over the limit this once, up to EUR 610", 610),
        ("I approve the EUR 610 flight", 610),
        ("I approve EUR 610 for the outbound leg", 610),
        ("I authorise the 610 fare", 610),
    ],
)
def test_an_approval_serves_once(text: str, highest: float) -> None:
    known = heard(CEILING, text)
    assert not forbids(known, highest)
    assert highest == 9999 or forbids(known, highest + 1)
    assert forbids(known.used([LEG], paid=False), 610)


@pytest.mark.parametrize(
    "text",
    ["You may not go over the limit", "You can go over the notes with Mara", "I do not approve the EUR 610 flight"],
)
def test_no_approval_is_read_where_none_is_given(text: str) -> None:
    assert heard(CEILING, text) == heard(CEILING)


def test_later_statements_override_earlier_ones_in_the_order_of_the_text() -> None:
    assert heard(f"Forget about the limit. {CEILING}").newest("ceiling").amount == 450
    assert heard(f"{CEILING} No, make it 500 instead.").newest("ceiling").amount == 500
    assert heard(f"{CEILING} You may go over the limit this once. {CEILING}") == heard(CEILING)


def test_a_bare_figure_means_nothing_unless_a_ceiling_stands_or_it_is_known_to_be_a_rule() -> None:
    assert heard("Make it 500 instead.") == limits.Limits()
    assert limits.Limits().heard("Make it 500 instead.", in_block=True).newest("ceiling").amount == 500


def test_a_fare_that_is_no_number_is_not_known_to_be_too_high() -> None:
    known = heard(CEILING)
    assert known.against({"fare_eur": "610"}) is None
    assert known.against({"fare_eur": True}) is None
    assert known.against({}) is None


@law
@given(st.text(), st.text())
def test_every_quote_stands_in_its_text(before: str, after: str) -> None:
    text = f"{before} {CEILING} {after}"
    known = heard(text)
    assert known.newest("ceiling") is None or known.newest("ceiling").quote in text
