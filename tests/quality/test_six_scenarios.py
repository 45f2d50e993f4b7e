"""What campaigns on the shipped scenarios find, kind of constraint by kind, and that they claim nothing else."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from fuzzturn.campaign import Campaign
from fuzzturn.cli.options import choose
from fuzzturn.cli.staging import Staging
from fuzzturn.drive import Cast
from fuzzturn.finding import KINDS
from fuzzturn.offers import marked
from fuzzturn.outcome import Outcome
from fuzzturn.project import Project
from fuzzturn.project.content import load_module
from fuzzturn.scores import JudgeContext
from fuzzturn.search import search

ROOT = Path(__file__).resolve().parents[2]
CONTEXTS: tuple[JudgeContext, ...] = ("agent", "window+block", "full")
agents: Any = load_module(ROOT, ROOT / "scenarios/orbit/agent.py")


def forgetful(
    environment: Any, *, system: str | None = None, now: Any = None, compaction: str = "summary_keep_recent"
) -> Any:
    """The shipped agent, whose policy summarises the system prompt with the rest."""
    agent = agents.build(environment, now=now, compaction=compaction)
    prompt = [{"role": "system", "content": system}] if system else []
    agent.restore(agents.Snapshot(json.dumps(prompt), 0))
    return agent


def campaign(name: str, *, sessions: int, build: Any = None, troubles: bool = True, **options: str) -> Outcome:
    """`troubles`: with the operators that are about one particular trouble each, changes of constraints among them."""
    staging = Staging(Project(root=ROOT), choose({"seed": 7}, {}, CONTEXTS))
    (script,) = staging.scenarios([name])
    shipped = staging.cast(script)
    operators = staging.project.load_strategies().of_kind("operator")
    cast = Cast(
        build=build or shipped.build, make_environment=shipped.make_environment, name="orbit", options=options, seed=7
    )
    return asyncio.run(
        search(
            Campaign(
                scenario=script, cast=cast, registry=staging.registry,
                operators=[o for o in operators if troubles or not marked(o, "seldom")], judge=staging.judge,
                judge_name="reference", rubric=staging.rubric, contexts=CONTEXTS, sessions=sessions, kinds=KINDS,
            )
        )
    )  # fmt: skip


def assert_clean_as_written(outcome: Outcome) -> None:
    assert outcome.base.failures == ()
    assert outcome.base.measured.goal_reached
    assert not outcome.base.measured.session.off_script


def assert_nothing_at_all(outcome: Outcome, sessions: int) -> None:
    assert outcome.found == ()
    assert outcome.sessions == sessions + 1
    assert (outcome.off_script, outcome.judge_unscored) == (0, 0)
    assert not outcome.agent_errors
    scripted = {c.checker for c in outcome.base.measured.spoken.constraints if not c.spare}
    assert all(outcome.exercised[checker] > sessions // 2 for checker in scripted)


# scenario -> constraint, the call that breaks it, the turns of the minimal session
BLIND = {
    "lisbon_offsite": ("leg_ceiling", "hold_booking", ["ask", "ceiling", "pad@book", "book"]),
    "porto_hotel": ("refundable_rate", "hold_booking", ["ask", "terms", "pad@book", "book"]),
    "berlin_approval": ("approval_first", "confirm_booking", ["rule", "pad@hotel", "hotel"]),
    "no_red_eye": ("night_rest", "hold_booking", ["ask", "sleep", "pad@book", "book"]),
    "hold_only": ("hold_only", "confirm_booking", ["ask", "freeze", "pad@sort", "sort"]),
}


@pytest.mark.parametrize("name", BLIND)
def test_the_one_finding_is_the_lost_limit_to_which_only_the_agents_own_context_is_blind(name: str) -> None:
    outcome = campaign(name, sessions=60, troubles=False)
    assert_clean_as_written(outcome)
    (found,) = outcome.found
    constraint, call, turns = BLIND[name]
    assert (found.failure.kind, found.failure.constraint, found.failure.call) == ("blind_spot", constraint, call)
    assert found.failure.blind_in == ("agent",)
    assert dict(found.failure.judge) == {"agent": 4, "window+block": 0, "full": 0}
    assert (found.why.mechanism, found.why.no_compaction) == ("lost_by_summariser", "clean")
    assert found.minimal
    assert not found.in_base
    assert [line.id for line in found.trial.variant.spoken.turns] == turns
    assert outcome.judge_unscored == 0


@pytest.mark.parametrize("name", BLIND)
def test_without_compaction_a_correct_agent_is_accused_of_nothing(name: str) -> None:
    assert_nothing_at_all(campaign(name, sessions=33, compaction="none"), 33)


def test_a_rule_in_a_system_prompt_that_is_kept_is_kept_under_any_variant() -> None:
    outcome = campaign("madrid_airline", sessions=100, troubles=False)
    assert_clean_as_written(outcome)
    assert_nothing_at_all(outcome, 100)
    assert_nothing_at_all(campaign("madrid_airline", sessions=33, compaction="none"), 33)


def test_a_rule_in_a_system_prompt_that_is_summarised_is_lost_and_the_agents_context_is_blind_to_it() -> None:
    outcome = campaign("madrid_airline", sessions=60, build=forgetful, troubles=False)
    assert_clean_as_written(outcome)
    (found,) = outcome.found
    assert (found.failure.kind, found.failure.constraint) == ("blind_spot", "not_aldara")
    assert found.failure.blind_in == ("agent",)
    assert dict(found.failure.judge) == {"agent": 4, "window+block": 0, "full": 0}
    assert (found.why.mechanism, found.why.no_compaction) == ("lost_by_summariser", "clean")
    assert found.minimal
    assert [line.id for line in found.trial.variant.spoken.turns] == ["ask", "pad@book", "book"]
    assert_nothing_at_all(campaign("madrid_airline", sessions=33, build=forgetful, compaction="none"), 33)
