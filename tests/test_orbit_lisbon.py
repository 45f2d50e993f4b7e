"""The Lisbon scenario with the simulated agent: clean as written, fragile to more talk, sound without compaction."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzzturn.check import check_scenario
from fuzzturn.drive import Cast, drive
from fuzzturn.measure import Measured, guarded_turns, measure
from fuzzturn.project import Project
from fuzzturn.scenario import Scenario
from fuzzturn.scenario_file import load_scenario
from fuzzturn.session import ModelCall
from fuzzturn.tokens import messages_tokens
from fuzzturn.variant import Drop, Edit, Insert, Move, Pad, Variant

ROOT = Path(__file__).resolve().parents[1]
PROJECT = Project(root=ROOT)
REGISTRY = PROJECT.load_scenarios_content()
LISBON = load_scenario(ROOT / "scenarios/orbit/lisbon_offsite.yaml")
CEILING = "no leg may cost more than EUR 450"
MILESTONES = {"outbound_identified", "return_identified", "hotel_held", "traveller_added", "confirmed"}

# No deadline: a slow machine is no failure.
law = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def play(spoken: Scenario, *, seed: int = 0, **options: str) -> Measured:
    cast = Cast(
        build=PROJECT.shipped("agent", "orbit"),
        make_environment=REGISTRY.get("environment", "orbit").function,
        name="orbit",
        options=options,
        seed=seed,
    )
    return measure(spoken, asyncio.run(drive(cast, spoken)), REGISTRY)


def varied(*edits: Edit) -> Scenario:
    return Variant(LISBON, edits).spoken


def pad(anchor: str, tokens: int) -> Pad:
    return Pad(operator="pad", anchor=anchor, tokens=tokens)


def question(anchor: str, n: int) -> Insert:
    bank = LISBON.interruptions[n]
    return Insert(operator="ask", anchor=anchor, name=bank.id, user=bank.user, mentions=bank.must_mention_any)


def violated(measured: Measured) -> list[str]:
    return [scores.turn for scores in measured.scores if scores.adherence.failed]


def blemishes(measured: Measured) -> Mapping[str, Any]:
    """Everything but violations that a session should not show."""
    found = {
        "assertions": [scores.turn for scores in measured.scores if scores.assertions.failures],
        "breaches": [scores.turn for scores in measured.scores if scores.progress.breaches],
        "missing": MILESTONES - measured.scores[-1].progress.satisfied,
        "off_script": measured.session.off_script,
        "error": measured.session.error,
    }
    return {what: value for what, value in found.items() if value}


def test_the_scenario_file_is_in_order() -> None:
    checked = check_scenario(ROOT / "scenarios/orbit/lisbon_offsite.yaml", REGISTRY)
    assert (checked.errors, checked.warnings) == ([], [])
    assert [line.id for line in LISBON.turns if line.after] == ["book"]
    assert "450" not in LISBON.title + LISBON.goal.says


@pytest.mark.parametrize("seed", range(5))
def test_the_script_as_written_is_clean_under_every_seed(seed: int) -> None:
    measured = play(LISBON, seed=seed)
    assert len(measured.session.turns) == 12
    assert violated(measured) == []
    assert blemishes(measured) == {}
    assert measured.goal_reached


def test_progress_rises_with_the_milestones() -> None:
    progress = {scores.turn: scores.progress.value for scores in play(LISBON).scores}
    assert [progress[turn] for turn in ("ask", "ceiling", "hotel", "traveller", "weather", "book", "thanks")] == [
        0.4, 0.4, 0.6, 0.8, 0.8, 1.0, 1.0,
    ]  # fmt: skip


def test_the_ceiling_is_still_in_the_context_of_every_call_that_holds_or_confirms() -> None:
    book = next(turn for turn in play(LISBON).session.turns if turn.id == "book")
    acting = [i for i, call in enumerate(book.tool_calls) if call.name in ("hold_booking", "confirm_booking")]
    contexts = [book.seen_by(i) or () for i in acting]
    assert len(contexts) == 2
    assert all(any(CEILING in message["content"] for message in context) for context in contexts)
    counted = [[message for message in context if message["role"] != "system"] for context in contexts]
    assert all(700 <= messages_tokens(context) <= 880 for context in counted)


def test_its_checker_has_something_to_look_at_in_the_booking_turn_alone() -> None:
    guarded = guarded_turns(LISBON, play(LISBON).session, REGISTRY)
    assert guarded.keys() == {constraint.id for constraint in LISBON.constraints}
    assert set(guarded.values()) == {frozenset({"book"})}


@pytest.mark.parametrize("tokens", [100, 300, 600])
@pytest.mark.parametrize("anchor", [line.id for line in LISBON.turns[2:11]])
def test_one_padding_turn_between_ceiling_and_booking_makes_it_violate(anchor: str, tokens: int) -> None:
    measured = play(varied(pad(anchor, tokens)))
    assert violated(measured) == ["book"]
    assert blemishes(measured) == {}


def test_padding_after_the_booking_harms_nothing() -> None:
    assert violated(play(varied(pad("thanks", 1000)))) == []


def test_three_side_questions_are_as_bad_as_padding() -> None:
    questions = [question("agenda", 0), question("dinner", 1), question("dinner", 2)]
    measured = play(varied(*questions))
    assert violated(measured) == ["book"]
    assert blemishes(measured) == {}


def test_a_ceiling_stated_just_before_the_booking_survives_the_padding() -> None:
    later = Move(operator="move", anchor="ceiling", offset=8)
    assert violated(play(varied(later, pad("trams", 300)))) == []


@pytest.mark.parametrize("wording", LISBON.constraint("leg_ceiling").paraphrases)
def test_every_paraphrase_is_kept_while_visible_and_lost_like_the_statement(wording: str) -> None:
    reworded = [
        line.model_copy(update={"user": line.user.replace(CEILING, wording)}) if line.states else line
        for line in LISBON.turns
    ]
    spoken = LISBON.model_copy(update={"turns": tuple(reworded)})
    assert wording in spoken.line("ceiling").user
    assert violated(play(spoken)) == []
    assert violated(play(Variant(spoken, (pad("trams", 300),)).spoken)) == ["book"]


def test_a_smaller_memory_fails_on_the_script_as_written() -> None:
    assert [violated(play(LISBON, threshold=str(tokens))) for tokens in (400, 500, 600)] == [["book"]] * 3


def test_the_model_calls_tell_their_contexts() -> None:
    events = [event for turn in play(LISBON).session.turns for event in turn.events if isinstance(event, ModelCall)]
    assert len(events) == 20
    assert all(event.context for event in events)


ANCHORS = st.sampled_from([line.id for line in LISBON.turns])
EDITS = st.one_of(
    st.builds(Drop, operator=st.just("drop"), anchor=st.sampled_from([t.id for t in LISBON.turns if t.optional])),
    st.builds(pad, ANCHORS, st.integers(12, 2000)),
    st.builds(question, ANCHORS, st.integers(0, len(LISBON.interruptions) - 1)),
    st.builds(Move, operator=st.just("move"), anchor=st.just("ceiling"), offset=st.integers(-1, 8)),
)


@law
@given(st.lists(EDITS, max_size=8), st.integers(0, 1000))
def test_without_compaction_no_edit_makes_it_fail_in_any_way(edits: list[Edit], seed: int) -> None:
    measured = play(varied(*edits), seed=seed, compaction="none")
    assert violated(measured) == []
    assert blemishes(measured) == {}


@law
@given(st.lists(EDITS, max_size=8), st.integers(1, 1200), st.integers(1, 8))
def test_what_compaction_costs_is_the_limit_and_nothing_else(edits: list[Edit], threshold: int, keep: int) -> None:
    measured = play(varied(*edits), threshold=str(threshold), keep=str(keep))
    assert set(violated(measured)) <= {"book"}
    assert blemishes(measured) == {}


@law
@given(st.lists(EDITS, max_size=8), st.integers(0, 12))
def test_a_session_goes_on_from_a_snapshot_as_if_nothing_had_been(edits: list[Edit], after: int) -> None:
    spoken = varied(*edits)
    build, make = PROJECT.shipped("agent", "orbit"), REGISTRY.get("environment", "orbit").function

    async def through() -> tuple[list[Any], list[Any]]:
        whole: list[Any] = []
        resumed: list[Any] = []
        world = make(seed=3)
        agent = build(world)
        for i, line in enumerate(spoken.turns):
            if i == after:
                world_then, agent_then = world.snapshot(), agent.snapshot()
                world_too = make(seed=3)
                agent_too = build(world_too)
                world_too.restore(world_then)
                agent_too.restore(agent_then)
            whole.append([dataclasses.asdict(event) for event in (await agent.reply(line.user)).events])
            if i >= after:
                resumed.append([dataclasses.asdict(event) for event in (await agent_too.reply(line.user)).events])
        return whole[after:], resumed

    whole, resumed = asyncio.run(through())
    assert whole == resumed
