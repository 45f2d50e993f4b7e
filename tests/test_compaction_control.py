"""The control: with everything pinned that a summary would lose, a campaign over the shipped script finds nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

from fuzzturn.campaign import Campaign
from fuzzturn.cli.options import choose
from fuzzturn.cli.staging import Staging
from fuzzturn.drive import Cast
from fuzzturn.finding import KINDS
from fuzzturn.offers import marked
from fuzzturn.outcome import Outcome
from fuzzturn.project import Project
from fuzzturn.scores import JudgeContext
from fuzzturn.search import search

ROOT = Path(__file__).resolve().parents[1]
ALL: tuple[JudgeContext, ...] = ("agent", "window", "window+block", "full")


def campaign(sessions: int, **options: str) -> Outcome:
    """With the operators whose edits no agent can lose a limit over but by compaction: none that spoils a summary."""
    staging = Staging(Project(root=ROOT), choose({"seed": 7}, {}, ALL))
    script = staging.scenarios(["lisbon_offsite"])[0]
    cast = staging.cast(script)
    operators = staging.project.load_strategies().of_kind("operator")
    cast = Cast(build=cast.build, make_environment=cast.make_environment, name="orbit", options=options, seed=7)
    return asyncio.run(
        search(
            Campaign(
                scenario=script, cast=cast, registry=staging.registry,
                operators=[o for o in operators if not marked(o, "disturbs")], judge=staging.judge,
                judge_name="reference", rubric=staging.rubric, contexts=ALL, sessions=sessions, kinds=KINDS,
            )
        )
    )  # fmt: skip


def test_pinned_finds_nothing_in_sixty_sessions_and_its_inner_policy_does_in_a_few() -> None:
    options = {"threshold": "700", "keep": "2"}
    assert campaign(10, compaction="head_tail", **options).found
    outcome = campaign(60, compaction="pinned", inner="head_tail", **options)
    assert outcome.found == ()
    assert outcome.sessions == 61
    assert outcome.exercised["no_leg_over"] >= 54  # where a search fails nothing is held
    assert (outcome.off_script, outcome.agent_errors, outcome.judge_unscored) == (0, {}, 0)
