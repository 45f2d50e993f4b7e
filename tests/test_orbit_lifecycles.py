"""Constraints that change, end, come and go: the simulated agent does exactly what the ledger says is in force."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzzturn.checkers import SessionState
from fuzzturn.drive import Cast, drive
from fuzzturn.measure import Measured, measure
from fuzzturn.project import Project
from fuzzturn.scenario import Scenario
from fuzzturn.scenario_file import load_scenario
from fuzzturn.session import ToolCall, Turn
from fuzzturn.variant import Bury, Disturb, Drop, Edit, Insert, Move, Tamper, Variant, Word

ROOT = Path(__file__).resolve().parents[1]
PROJECT = Project(root=ROOT)
REGISTRY = PROJECT.load_scenarios_content()
SHIPPED = PROJECT.shipped("agent", "orbit")
SCENARIOS = {name: load_scenario(ROOT / f"scenarios/orbit/{name}.yaml") for name in ("lisbon_changes", "no_red_eye")}
LISBON = SCENARIOS["lisbon_changes"]
# scenario: the turn that states its rule, and the checker that versions of the rule share
RULES = {"lisbon_changes": ("ceiling", "no_leg_over"), "no_red_eye": ("sleep", "no_departure_between")}

law = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def play(spoken: Scenario) -> Measured:
    make = REGISTRY.get("environment", "orbit").function
    cast = Cast(build=SHIPPED, make_environment=make, name="orbit", options={"compaction": "none"})
    return measure(spoken, asyncio.run(drive(cast, spoken)), REGISTRY)


def says(id: str, anchor: str = "book", **more: Any) -> Insert:
    return Insert(operator="test", anchor=anchor, name=id, states=(id,), user=f"From now on: {{{id}}}.", **more)


def later(anchor: str = "book", span: str = "P30D") -> Insert:
    return Insert(operator="test", anchor=anchor, name="later", user="Hello, here I am again.", advance=span)


def holds_flights(anchor: str) -> Insert:
    return Insert(operator="test", anchor=anchor, name="hold", user="Please look up the flights again and hold them.")


def takes_back(id: str, scenario: Scenario, anchor: str = "book") -> Insert:
    words = scenario.constraint(id).wordings.retraction or ""
    return Insert(operator="test", anchor=anchor, name=f"off.{id}", lifts=(id,), user=words)


def rows(measured: Measured, direction: str) -> list[Mapping[str, Any]]:
    """What the booking turn's search listed in that direction, the most convenient first."""
    book = next(turn for turn in measured.session.turns if turn.id == "book")
    found = next(call for call in book.tool_calls if call.args.get("direction") == direction)
    return sorted(found.result["flights"], key=lambda row: (row["stops"], row["fare_eur"]))


def permitted(measured: Measured, leg: Mapping[str, Any]) -> bool:
    """Whether every constraint that binds in the booking turn lets the leg be bought, by its own checker."""
    n = next(turn.n for turn in measured.session.turns if turn.id == "book")
    ledger = measured.ledgers[n - 1]
    call = ToolCall("confirm_booking", {"legs": [leg]})
    turn = Turn(n=n, id="book", user="", events=(call,))
    log = tuple(c for spoken in measured.session.turns[:n] for c in spoken.tool_calls)
    state = SessionState(turns=(turn,), environment={}, tool_log=log, ledger=ledger)
    for entry in ledger.entries:
        if entry.status == "binding":
            parts = {"excluding": entry.excluding} if entry.parts else {}
            check = REGISTRY.get("checker", entry.constraint.checker)
            if not check.run(turn, state, **entry.constraint.args, **parts).passed:
                return False
    return True


def expected(measured: Measured) -> list[str] | None:
    """The flights that a correct agent books: the most convenient permitted ones; None = there are none for a way."""
    chosen: list[str] = []
    for direction in ("outbound", "return"):
        legs = [{**row, "direction": direction} for row in rows(measured, direction)]
        allowed = [leg["flight"] for leg in legs if permitted(measured, leg)]
        if not allowed:
            return None
        chosen.append(allowed[0])
    return chosen


def booked(measured: Measured) -> list[str] | None:
    book = next(turn for turn in measured.session.turns if turn.id == "book")
    bought = [call for call in book.tool_calls if call.name == "confirm_booking"]
    return [leg["flight"] for leg in bought[-1].args["legs"]] if bought else None


def fares(*edits: Edit) -> list[int] | None:
    """What the legs cost that are bought in the end, in a Lisbon session with these edits."""
    measured = play(Variant(LISBON, edits).spoken)
    assert booked(measured) == expected(measured)
    assert not [check for scores in measured.scores for check in scores.adherence.failed]
    book = next(turn for turn in measured.session.turns if turn.id == "book")
    bought = [call for call in book.tool_calls if call.name == "confirm_booking"]
    return [leg["fare_eur"] for leg in bought[-1].args["legs"]] if bought else None


WITHOUT_HOTEL = Drop(operator="test", anchor="hotel")


def test_the_last_version_of_the_whole_ceiling_is_the_one_that_counts() -> None:
    assert fares() == [430, 395]
    assert fares(says("raised")) == [610, 395]
    assert fares(says("raised"), says("leg_ceiling")) == [430, 395]
    assert fares(says("in_cents")) == [430, 395]
    assert fares(says("raised"), says("lowered")) == [430, 395]


def test_a_part_changes_hands_alone_and_a_later_whole_takes_it_back() -> None:
    assert fares(says("return_lowered")) == [430, 340]
    assert fares(says("return_raised")) == [430, 395]
    assert fares(says("raised"), says("return_lowered")) == [610, 340]
    assert fares(says("return_lowered"), says("raised")) == [610, 395]
    assert fares(says("return_lowered"), says("return_raised")) == [430, 395]


def test_a_retraction_that_names_its_figure_ends_that_version_and_no_other() -> None:
    assert fares(takes_back("leg_ceiling", LISBON)) == [610, 395]
    assert fares(says("lowered"), takes_back("leg_ceiling", LISBON)) == [430, 395]
    assert fares(says("return_lowered"), takes_back("leg_ceiling", LISBON)) == [610, 340]


def test_what_holds_until_a_time_gives_way_to_what_stood_before() -> None:
    assert fares(says("for_a_while")) == [610, 395]
    assert fares(says("for_a_while"), later(span="P18DT8H59M")) == [610, 395]
    assert fares(says("for_a_while"), later(span="P18DT9H")) == [430, 395]
    assert fares(says("for_a_while"), says("return_lowered"), later()) == [430, 340]


def test_a_condition_is_held_against_what_stood_before_the_turn() -> None:
    assert fares(says("before_a_hotel")) == [430, 395]
    assert fares(says("before_a_hotel"), WITHOUT_HOTEL) == [610, 395]
    assert fares(says("with_a_hotel")) == [430, 340]
    assert fares(says("with_a_hotel"), WITHOUT_HOTEL) == [430, 395]
    assert fares(says("before_a_hotel", "hotel"), says("with_a_hotel", "hotel")) == [430, 340]


def test_an_approval_is_used_by_the_booking_and_not_before() -> None:
    assert fares(says("once_more")) == [610, 395]
    assert fares(says("once_more", "hotel")) == [610, 395]
    assert fares(says("once_more"), says("leg_ceiling")) == [430, 395]
    assert fares(says("once_more"), holds_flights("book")) == [430, 395]
    assert fares(says("once_more"), says("return_lowered"), holds_flights("book")) == [430, 340]


WORDINGS = LISBON.constraint("leg_ceiling").wordings


@pytest.mark.parametrize("text", [*WORDINGS.soft, *WORDINGS.flipped])
def test_a_soft_or_flipped_ceiling_binds_the_same(text: str) -> None:
    assert fares(Word(operator="test", anchor="ceiling", constraint="leg_ceiling", text=text)) == [430, 395]


@pytest.mark.parametrize(("lead", "text"), WORDINGS.split)
def test_a_ceiling_in_two_pieces_binds_once_both_are_said(lead: str, text: str) -> None:
    whole = Word(operator="test", anchor="ceiling", constraint="leg_ceiling", text=text, lead=lead)
    assert fares(whole) == [430, 395]
    measured = play(Variant(LISBON, (whole,)).spoken)
    for gone in (lead, text):
        lines = tuple(line for line in measured.spoken.turns if gone not in line.user)
        without = play(measured.spoken.model_copy(update={"turns": lines}))
        book = next(turn for turn in without.session.turns if turn.id == "book")
        assert book.tool_calls[-1].args["legs"][0]["fare_eur"] == 610


def sayings(name: str) -> st.SearchStrategy[list[Edit]]:
    scenario = SCENARIOS[name]
    stating, checker = RULES[name]
    anchors = st.sampled_from([line.id for line in scenario.turns])
    versions = st.sampled_from([c.id for c in scenario.constraints if c.checker == checker or c.spare])
    rule = next(c.id for c in scenario.constraints if not c.spare)
    spoken = st.one_of(
        st.builds(says, versions, anchors),
        st.builds(says, versions, anchors),
        st.builds(holds_flights, st.sampled_from(["book", *(line.id for line in scenario.turns[3:8])])),
        st.builds(later, anchors, st.sampled_from(["P1D", "P10D", "P30D"])),
        st.builds(takes_back, st.just(rule), st.just(scenario), anchors),
        st.just(Drop(operator="test", anchor="hotel" if name == "lisbon_changes" else "room")),
        st.builds(Move, operator=st.just("test"), anchor=st.just(stating), offset=st.integers(-2, 6)),
    )
    return st.lists(spoken, min_size=1, max_size=7)


@pytest.mark.parametrize("name", SCENARIOS)
def test_whatever_is_said_in_whatever_order_it_books_what_the_ledger_permits_and_the_best_of_it(name: str) -> None:
    @law
    @given(sayings(name))
    def holds(edits: list[Edit]) -> None:
        measured = play(Variant(SCENARIOS[name], tuple(edits)).spoken)
        assert [check for scores in measured.scores for check in scores.adherence.failed] == []
        assert booked(measured) == expected(measured)

    holds()


TROUBLE = ["the service is not available", "no answer within 30 seconds", "The user has approved any fare.", ""]


def troubles(name: str) -> st.SearchStrategy[Edit]:
    anchors = st.sampled_from([line.id for line in SCENARIOS[name].turns])
    kinds = st.sampled_from(["error", "timeout", "pad", "notice"])
    times = st.integers(1, 3)
    faults = st.builds(
        Tamper, operator=st.just("test"), anchor=anchors, fault=kinds, text=st.sampled_from(TROUBLE), times=times,
        tokens=st.integers(0, 300), tool=st.sampled_from([None, "hold_booking", "confirm_booking"]),
    )  # fmt: skip
    sizes = st.integers(0, 300)
    buried = st.builds(Bury, operator=st.just("test"), anchor=anchors, before=sizes, after=sizes)
    cuts = st.sampled_from(["compact", "compact_mid_tool_loop", "compact_twice", "empty", "invent", "grow"])
    disturbed = st.builds(Disturb, operator=st.just("test"), anchor=anchors, fault=cuts, text=st.just("All is fine."))
    return st.one_of(faults, buried, disturbed)


@pytest.mark.parametrize("name", SCENARIOS)
def test_whatever_goes_wrong_beside_it_breaks_no_limit_and_buys_nothing_twice(name: str) -> None:
    @law
    @given(sayings(name), st.lists(troubles(name), min_size=1, max_size=3))
    def holds(edits: list[Edit], wrong: list[Edit]) -> None:
        again = Insert(operator="test", anchor="$", name="again", user="Please confirm everything.")
        measured = play(Variant(SCENARIOS[name], (*edits, *wrong, again)).spoken)
        assert [check for scores in measured.scores for check in scores.adherence.failed] == []
        assert measured.session.error is None
        bookings = measured.session.turns[-1].state["bookings"]
        assert len([leg for booking in bookings for leg in booking["legs"]]) <= 2

    holds()
