"""Lisbon by messages, spoken to the LangChain agent: what a campaign finds, how small it gets and why it happens."""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path
from typing import Any

import pytest

import kit
from fuzzturn.campaign import Campaign, campaign_bench
from fuzzturn.check import check_scenario
from fuzzturn.drive import Cast, Meter, drive
from fuzzturn.measure import Measured, measure
from fuzzturn.outcome import Finding
from fuzzturn.project import Project
from fuzzturn.scenario import Line, Scenario
from fuzzturn.scenario_file import load_scenario
from fuzzturn.scores import SERIOUSNESS
from fuzzturn.search import search
from fuzzturn.session import Compaction, Session, Turn
from fuzzturn.threshold import Threshold, solve
from fuzzturn.tree import Tree
from fuzzturn.variant import Edit, Insert, Pad, Variant
from fuzzturn.why import loss

ROOT = Path(__file__).parent.parent
FILE = ROOT / "examples/langchain_agent.py"
PROJECT = Project(root=ROOT)
REGISTRY = PROJECT.load_scenarios_content()
SCRIPT = load_scenario(ROOT / "examples/lisbon_by_messages.yaml")

needs_langchain = pytest.mark.skipif(
    importlib.util.find_spec("langchain") is None,
    reason="langchain is not installed; `pip install 'fuzzturn[test]'` brings it",
)


def cast(**options: str) -> Cast:
    make = REGISTRY.get("environment", "orbit").function
    build = PROJECT.load_callable(f"{FILE}:build")
    return Cast(build=build, make_environment=make, name="langchain_agent", options=options)


def campaign(script: Scenario, *, sessions: int, **options: str) -> Campaign:
    """Interruptions and drops only: they cost little to shrink, and padding has a test of its own."""
    operators = PROJECT.load_strategies()
    return Campaign(
        scenario=script,
        cast=cast(**options),
        registry=REGISTRY,
        operators=[operators.get("operator", name) for name in ("interrupt", "drop_optional")],
        judge=PROJECT.shipped("judge", "reference")(),
        judge_name="reference",
        rubric=PROJECT.find_rubric(),
        contexts=SERIOUSNESS,
        sessions=sessions,
    )


def found_by(plan: Campaign) -> list[Finding]:
    outcome = asyncio.run(search(plan))
    assert (outcome.agent_errors, outcome.off_script, outcome.judge_unscored) == ({}, 0, 0)
    return sorted(outcome.found, key=lambda found: len(found.trial.measured.session.turns))


def varied(*edits: Edit) -> Scenario:
    return Variant(SCRIPT, edits).spoken


def pad(anchor: str = "book") -> Pad:
    return Pad(operator="t", anchor=anchor, tokens=12)


def porto(anchor: str) -> Insert:
    bank = next(one for one in SCRIPT.interruptions if one.id == "porto")
    return Insert(operator="t", anchor=anchor, name="porto", user=bank.user, mentions=bank.must_mention_any)


def play(spoken: Scenario, **options: str) -> Measured:
    return measure(spoken, asyncio.run(drive(cast(**options), spoken)), REGISTRY)


def violated(measured: Measured) -> list[str]:
    assert measured.session.error is None
    return [scores.turn for scores in measured.scores if scores.adherence.failed]


def spotless(measured: Measured) -> bool:
    wrong = [s for s in measured.scores if s.adherence.failed or s.assertions.failures or s.progress.breaches]
    return not wrong and measured.goal_reached and not measured.session.off_script and measured.session.error is None


def turn_of(session: Session, id: str) -> Turn:
    return next(turn for turn in session.turns if turn.id == id)


def compactions(session: Session) -> list[Compaction]:
    return [event for turn in session.turns for event in turn.compactions]


def test_the_scenario_file_is_in_order() -> None:
    checked = check_scenario(ROOT / "examples/lisbon_by_messages.yaml", REGISTRY)
    assert (checked.errors, checked.warnings) == ([], [])


@needs_langchain
@pytest.mark.parametrize("words", ["0", "50", "200", "1000"])
def test_the_script_as_written_is_clean_although_the_library_compacts_in_it(words: str) -> None:
    measured = play(SCRIPT, words=words)
    assert len(measured.session.turns) == 12
    assert spotless(measured)
    book = turn_of(measured.session, "book")
    assert [len(call.context or ()) for call in book.model_calls] == [27, 29, 9, 11]
    assert [type(event).__name__ for event in book.events] == [
        "ModelCall", "ToolCall", "ModelCall", "ToolCall", "Compaction", "ModelCall", "ToolCall", "ModelCall", "Message",
    ]  # fmt: skip


@needs_langchain
@pytest.mark.parametrize("edit", [pad(), pad("sea"), porto("sea")])
def test_one_turn_more_is_enough_to_lose_the_ceiling(edit: Edit) -> None:
    measured = play(varied(edit))
    assert violated(measured) == ["book"]
    assert "EUR 610" in turn_of(measured.session, "book").text


@needs_langchain
def test_without_compaction_nothing_is_lost() -> None:
    spoken = varied(*[pad() for _ in range(8)], porto("sea"), porto("trams"), porto("slides"))
    assert violated(play(spoken)) == ["book"]
    kept = play(spoken, compaction="none")
    assert spotless(kept)
    assert compactions(kept.session) == []


@needs_langchain
def test_a_script_with_one_search_more_violates_by_itself_and_the_finding_says_so() -> None:
    searching = [
        Line(id=line.id, user="Please find a flight to Porto on 12 May 2026.") if line.id == "guests" else line
        for line in SCRIPT.turns
    ]
    script = SCRIPT.model_copy(update={"turns": tuple(searching)})
    (found,) = found_by(campaign(script, sessions=0))
    assert found.in_base
    assert found.minimal
    assert found.failure.constraint == "leg_ceiling"


@needs_langchain
@pytest.mark.parametrize("words, mechanism", [("200", "lost_by_summariser"), ("1000", "never_reached_summariser")])
def test_a_small_campaign_finds_shrinks_and_explains_the_blind_spot(words: str, mechanism: str) -> None:
    found = found_by(campaign(SCRIPT, sessions=20, words=words))[0]
    assert (found.failure.kind, found.failure.constraint, found.failure.call) == (
        "blind_spot", "leg_ceiling", "hold_booking",
    )  # fmt: skip
    assert "agent" in found.failure.blind_in
    assert {"full", "window+block"}.isdisjoint(found.failure.blind_in)
    assert found.failure.visibility == "absent"
    assert (found.why.mechanism, found.why.no_compaction, found.why.restated) == (mechanism, "clean", "clean")
    assert (found.in_base, found.minimal) == (False, True)
    spoken = [line.id for line in found.trial.variant.spoken.turns]
    assert {"ceiling", "book"} <= set(spoken)
    assert 9 <= len(spoken) <= min(13, len(found.original.spoken.turns))
    assert found.identity is not None
    assert found.identity.startswith("simulated model, LangChain 1.")


@needs_langchain
def test_a_summariser_that_is_not_called_at_all_is_told_from_one_that_forgets() -> None:
    # The last of what goes is a search whose result alone is larger than what the summariser may read.
    variant = Variant(SCRIPT, (porto("weather"),))
    trial = asyncio.run(_trial(campaign(SCRIPT, sessions=0, words="2000"), variant))
    (compaction,) = compactions(trial.measured.session)
    assert compaction.dropped is not None
    assert len(compaction.dropped) == 23
    assert compaction.summariser_input == ()
    assert compaction.summary is not None
    assert "too long to summarize" in compaction.summary
    (failure,) = trial.failures
    assert loss(trial.measured, failure) == ("never_reached_summariser", 13)


async def _trial(plan: Campaign, variant: Variant) -> Any:
    return await campaign_bench(plan).run(variant)


@needs_langchain
def test_the_threshold_is_found_in_messages_and_padding_solved_from_it_breaks_the_booking() -> None:
    tree = Tree(cast(), SCRIPT, Meter())
    threshold = kit.learned(tree, [12, 4000])
    assert threshold is not None
    assert threshold.unit == "messages"
    assert threshold.low == 29
    assert threshold.high in (30, 31)  # said to be 30, looked at only when the count is odd
    assert _padded(tree, threshold, "before") == ["book"]
    assert _padded(tree, threshold, "after") == ["book"]


def _padded(tree: Tree, threshold: Threshold, to: Any) -> list[str]:
    symbolic = Variant(SCRIPT, (Pad(operator="t", anchor="book", to=to),))
    solved = asyncio.run(solve(tree, symbolic, threshold)).spoken
    return violated(measure(solved, asyncio.run(tree.play(solved)), REGISTRY))
