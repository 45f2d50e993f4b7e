"""The simulated agent that loses nothing: whatever is done to the script, each finding would be a false alarm.

That covers every operator: limits that are changed, withdrawn, said otherwise or contradicted by a tool, and tools
that fail. It makes no summaries, so there is none to spoil. 5,047 sessions were played by hand (docs/operators.md);
some 500 are played here.
"""

from __future__ import annotations

import asyncio
from functools import cache
from pathlib import Path

import pytest

from fuzzturn.campaign import Campaign
from fuzzturn.cli.options import choose
from fuzzturn.cli.staging import Staging
from fuzzturn.outcome import Outcome
from fuzzturn.project import Project
from fuzzturn.search import search

ROOT = Path(__file__).parents[2]
SCENARIOS = [path.stem for path in Project(root=ROOT).scenario_paths()]
SESSIONS = 500 // len(SCENARIOS) + 1


@cache
def outcome_of(name: str) -> Outcome:
    given = {"agent_option": ["compaction=none"]}
    staging = Staging(Project(root=ROOT), choose(given, {}, ("window+block",)))
    (script,) = staging.scenarios([name])
    campaign = Campaign(
        scenario=script, cast=staging.cast(script), registry=staging.registry,
        operators=staging.project.load_strategies().of_kind("operator"), judge=staging.judge,
        judge_name=staging.judge_name, rubric=staging.rubric, contexts=staging.chosen.contexts, sessions=SESSIONS,
    )  # fmt: skip
    return asyncio.run(search(campaign))


@pytest.mark.parametrize("name", SCENARIOS)
def test_nothing_is_found_in_an_agent_that_sees_everything(name: str) -> None:
    outcome = outcome_of(name)
    assert outcome.sessions > SESSIONS // 2
    assert not outcome.agent_errors
    assert [(found.failure.kind, found.failure.detail, found.trial.variant) for found in outcome.found] == []


def test_every_constraint_of_a_script_was_held_against_something_and_so_were_most_spare_ones() -> None:
    """Else that nothing was found would say little. Some spare ones need what 72 sessions need not have."""
    looked: dict[bool, list[bool]] = {False: [], True: []}
    for name in SCENARIOS:
        for constraint in outcome_of(name).base.measured.spoken.constraints:
            looked[constraint.spare].append(constraint.id in outcome_of(name).coverage)
    assert all(looked[False])
    assert sum(looked[True]) > 0.7 * len(looked[True])
