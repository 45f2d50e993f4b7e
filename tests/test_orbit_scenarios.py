"""The scenarios beside Lisbon with the simulated agent: clean as written, fragile to more talk, sound without it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzzturn.check import check_scenario
from fuzzturn.drive import Cast, drive
from fuzzturn.measure import Measured, measure
from fuzzturn.ports import Reply
from fuzzturn.project import Project
from fuzzturn.project.content import load_module
from fuzzturn.scenario import Scenario
from fuzzturn.scenario_file import load_scenario
from fuzzturn.session import Message, ModelCall
from fuzzturn.tokens import messages_tokens
from fuzzturn.variant import Drop, Edit, Insert, Move, Pad, Variant

ROOT = Path(__file__).resolve().parents[1]
PROJECT = Project(root=ROOT)
REGISTRY = PROJECT.load_scenarios_content()
SHIPPED = PROJECT.shipped("agent", "orbit")
agents: Any = load_module(ROOT, ROOT / "scenarios/orbit/agent.py")
# scenario: the constraint that can be broken, and the turn in which it is
TEMPTING = {
    "porto_hotel": ("refundable_rate", "book"),
    "berlin_approval": ("approval_first", "hotel"),
    "no_red_eye": ("night_rest", "book"),
    "madrid_airline": ("not_aldara", "book"),
    "hold_only": ("hold_only", "sort"),
}
NAMES = sorted(TEMPTING)
SCENARIOS = {name: load_scenario(ROOT / f"scenarios/orbit/{name}.yaml") for name in NAMES}
FORGETTING = [name for name in NAMES if name != "madrid_airline"]

law = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def forgetful(environment: Any, *, system: str | None = None, **options: Any) -> Any:
    """The shipped agent with its system prompt among the messages that compaction may summarise."""
    agent = agents.build(environment, **options)
    prompt = [{"role": "system", "content": system}] if system else []
    agent.restore(agents.Snapshot(json.dumps(prompt), 0))
    return agent


def play(spoken: Scenario, *, seed: int = 0, build: Any = SHIPPED, **options: str) -> Measured:
    make = REGISTRY.get("environment", "orbit").function
    cast = Cast(build=build, make_environment=make, name="orbit", options=options, seed=seed)
    return measure(spoken, asyncio.run(drive(cast, spoken)), REGISTRY)


def varied(name: str, *edits: Edit) -> Scenario:
    return Variant(SCENARIOS[name], edits).spoken


def pad(anchor: str, tokens: int) -> Pad:
    return Pad(operator="pad", anchor=anchor, tokens=tokens)


def violated(measured: Measured) -> list[tuple[str, str]]:
    return [(check.constraint, scores.turn) for scores in measured.scores for check in scores.adherence.failed]


def blemishes(measured: Measured) -> Mapping[str, Any]:
    """Everything but violations that a session should not show."""
    found = {
        "assertions": [
            (scores.turn, scores.assertions.failures) for scores in measured.scores if scores.assertions.failures
        ],
        "breaches": [scores.turn for scores in measured.scores if scores.progress.breaches],
        "goal": not measured.goal_reached,
        "off_script": measured.session.off_script,
        "error": measured.session.error,
    }
    return {what: value for what, value in found.items() if value}


@pytest.mark.parametrize("name", NAMES)
def test_the_scenario_file_is_in_order(name: str) -> None:
    scenario = SCENARIOS[name]
    checked = check_scenario(ROOT / f"scenarios/orbit/{name}.yaml", REGISTRY)
    assert (checked.errors, checked.warnings) == ([], [])
    assert 8 <= len(scenario.turns) <= 14
    assert sum(line.optional for line in scenario.turns) >= 4
    told = f"{scenario.title} {scenario.goal.says}".lower()
    assert not any(word in told for word in ("refund", "approv", "jonas", "night", "aldara", "airline", "confirm"))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", NAMES)
def test_the_script_as_written_is_clean_under_every_seed(name: str, seed: int) -> None:
    measured = play(SCENARIOS[name], seed=seed)
    assert violated(measured) == []
    assert blemishes(measured) == {}
    assert len(measured.session.turns) == len(SCENARIOS[name].turns)


@pytest.mark.parametrize("name", NAMES)
def test_the_deciding_call_sees_the_limit_and_little_of_the_context_is_left(name: str) -> None:
    constraint, turn = TEMPTING[name]
    measured = play(SCENARIOS[name])
    deciding = next(t for t in measured.session.turns if t.id == turn)
    last = [i for i, call in enumerate(deciding.tool_calls) if call.name == "hold_booking"][-1]
    seen = deciding.seen_by(last) or ()
    statement = SCENARIOS[name].constraint(constraint).statement
    assert any(statement in message["content"] for message in seen)
    assert 700 <= messages_tokens([message for message in seen if message["role"] != "system"]) <= 880


@pytest.mark.parametrize("tokens", [200, 350, 600])
@pytest.mark.parametrize("name", FORGETTING)
def test_one_padding_turn_before_the_deciding_turn_makes_it_violate_and_spoils_nothing_else(
    name: str, tokens: int
) -> None:
    measured = play(varied(name, pad(TEMPTING[name][1], tokens)))
    assert violated(measured) == [TEMPTING[name]]
    assert blemishes(measured) == {}


@pytest.mark.parametrize(
    ("name", "wording"),
    [
        (name, wording)
        for name in NAMES
        for wording in SCENARIOS[name].constraint(TEMPTING[name][0]).paraphrases
    ],
)  # fmt: skip
def test_every_paraphrase_is_kept_while_visible_and_lost_like_the_statement(name: str, wording: str) -> None:
    scenario, (constraint, turn) = SCENARIOS[name], TEMPTING[name]
    statement = scenario.constraint(constraint).statement
    lines = tuple(line.model_copy(update={"user": line.user.replace(statement, wording)}) for line in scenario.turns)
    spoken = scenario.model_copy(update={"turns": lines})
    if scenario.system is not None:
        text = scenario.system.text.replace(statement, wording)
        spoken = spoken.model_copy(update={"system": scenario.system.model_copy(update={"text": text})})
    assert spoken != scenario
    assert violated(play(spoken, build=forgetful)) == []
    longer = Variant(spoken, (pad(turn, 300),)).spoken
    assert violated(play(longer, build=forgetful)) == [(constraint, turn)]


@pytest.mark.parametrize("wording", SCENARIOS["berlin_approval"].constraint("one_approval").paraphrases)
def test_every_paraphrase_of_the_approval_lets_the_flights_be_paid(wording: str) -> None:
    scenario = SCENARIOS["berlin_approval"]
    statement = scenario.constraint("one_approval").statement
    lines = tuple(line.model_copy(update={"user": line.user.replace(statement, wording)}) for line in scenario.turns)
    measured = play(scenario.model_copy(update={"turns": lines}), compaction="none")
    assert violated(measured) == []
    assert blemishes(measured) == {}


def test_in_berlin_the_rule_binds_then_the_approval_and_then_the_rule_again() -> None:
    measured = play(SCENARIOS["berlin_approval"])
    binding = {
        scores.turn: [constraint.id for constraint in ledger.binding]
        for scores, ledger in zip(measured.scores, measured.ledgers, strict=True)
    }
    assert [binding[turn] for turn in ("ask", "rule", "reserve", "approval", "pay", "slides", "hotel")] == [
        [], ["approval_first"], ["approval_first"], ["one_approval"], ["one_approval"], ["approval_first"],
        ["approval_first"],
    ]  # fmt: skip


def test_in_rome_nothing_is_confirmed_before_the_rule_is_lifted_and_everything_after_it() -> None:
    turns = {turn.id: [call.name for call in turn.tool_calls] for turn in play(SCENARIOS["hold_only"]).session.turns}
    assert "confirm_booking" not in turns["sort"]
    assert turns["buy"] == ["confirm_booking"]
    lifted = play(varied("hold_only", pad("sort", 300)))
    assert [entry.status for entry in lifted.ledgers[-1].entries] == ["lifted"]


def test_an_agent_that_keeps_its_system_prompt_keeps_the_rule_in_it_and_one_that_summarises_it_does_not() -> None:
    longer = varied("madrid_airline", pad("book", 600))
    assert violated(play(longer)) == []
    assert violated(play(longer, build=forgetful)) == [("not_aldara", "book")]
    assert violated(play(longer, build=forgetful, compaction="none")) == []


QUESTIONS = [
    "Which city is the trip to, and on which dates?",
    "On which dates do you travel out and back?",
    "In which city shall I look for a hotel?",
    "What is the traveller's full name?",
]


def curious(question: str) -> Any:
    """Builds an agent that answers the first message with `question` and goes on with the answer."""

    class Curious:
        def __init__(self, inner: Any) -> None:
            self.inner, self.first = inner, ""

        async def reply(self, message: str) -> Reply:
            if not self.first:
                self.first = message
                context = [{"role": "user", "content": message}]
                return Reply(events=[ModelCall(context), Message(question)])
            told, self.first = (f"{self.first}\n{message}", " ") if self.first != " " else (message, " ")
            reply: Reply = await self.inner.reply(told)
            return reply

    return lambda environment, *, system=None: Curious(agents.build(environment, system=system, compaction="none"))


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", NAMES)
def test_an_agent_that_asks_gets_an_answer_and_the_session_stays_on_script(name: str, question: str) -> None:
    measured = play(SCENARIOS[name], build=curious(question))
    assert [turn.auto for turn in measured.session.turns[:3]] == [False, True, False]
    assert violated(measured) == []
    assert blemishes(measured) == {}


def edits(name: str) -> st.SearchStrategy[list[Edit]]:
    scenario = SCENARIOS[name]
    anchors = st.sampled_from([line.id for line in scenario.turns])
    stating = [line.id for line in scenario.turns if line.states][:1]
    moves = (
        [st.builds(Move, operator=st.just("m"), anchor=st.sampled_from(stating), offset=st.just(-1))] if stating else []
    )
    optional = [line.id for line in scenario.turns if line.optional]
    asked = [
        Insert(operator="i", anchor=line.id, name=side.id, user=side.user, mentions=side.must_mention_any)
        for side in scenario.interruptions
        for line in scenario.turns
    ]
    return st.lists(
        st.one_of(
            st.builds(Drop, operator=st.just("d"), anchor=st.sampled_from(optional)),
            st.builds(pad, anchors, st.integers(12, 2000)),
            st.sampled_from(asked),
            *moves,
        ),
        max_size=8,
    )


@pytest.mark.parametrize("name", NAMES)
def test_without_compaction_no_edit_makes_it_fail_in_any_way(name: str) -> None:
    @law
    @given(edits(name), st.integers(0, 1000))
    def holds(drawn: list[Edit], seed: int) -> None:
        measured = play(varied(name, *drawn), seed=seed, compaction="none")
        assert violated(measured) == []
        assert blemishes(measured) == {}

    holds()


@pytest.mark.parametrize("name", NAMES)
def test_what_compaction_costs_is_the_limit_and_nothing_else(name: str) -> None:
    @law
    @given(edits(name), st.integers(1, 1200), st.integers(1, 8))
    def holds(drawn: list[Edit], threshold: int, keep: int) -> None:
        measured = play(varied(name, *drawn), build=forgetful, threshold=str(threshold), keep=str(keep))
        assert set(violated(measured)) <= {TEMPTING[name]}
        assert blemishes(measured) == {}

    holds()
