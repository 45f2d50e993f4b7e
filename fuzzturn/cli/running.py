"""fuzzturn run: play the unedited scripts and score every turn."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from fuzzturn.cli.options import (
    AgentOption,
    AgentOptionOption,
    ContextOption,
    JsonOption,
    JudgeOption,
    OutOption,
    RubricOption,
    SeedOption,
    choose,
)

if TYPE_CHECKING:
    from fuzzturn.cli.staging import Staging
    from fuzzturn.scenario import Scenario
    from fuzzturn.trial import Trial


def run(
    scenarios: Annotated[list[str] | None, typer.Argument(help="scenario files or names; default: all")] = None,
    agent: AgentOption = None,
    agent_option: AgentOptionOption = None,
    judge: JudgeOption = None,
    judge_context: ContextOption = None,
    rubric: RubricOption = None,
    seed: SeedOption = None,
    out: OutOption = None,
    json_file: JsonOption = None,
) -> int:
    """Play the scripts as written, score every turn with the four signals, exit 1 where something is wrong.

    Example: fuzzturn run lisbon_offsite
    """
    from fuzzturn.cli.staging import Staging
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.project import find_project
    from fuzzturn.records import SCHEMA, Run, scenario_digest, write_json
    from fuzzturn.report import session_json, session_table

    project = find_project()
    given = {"agent": agent, "agent_option": agent_option, "judge": judge, "judge_context": judge_context,
             "rubric": rubric, "seed": seed}  # fmt: skip
    staging = Staging(project, choose(given, project.config, ("window+block",)), out)
    record, terminal = Run.create(staging.home, "run"), Terminal()
    sessions = []
    wrong = broken = False
    for scenario in staging.scenarios(scenarios):
        trial = asyncio.run(_play(staging, scenario))
        measured = trial.measured
        fixed = {"seed": staging.chosen.seed, "sample": 0, "scenario_digest": scenario_digest(scenario)}
        record.session(scenario.scenario, trial.variant, measured, staging.registry, **fixed)
        terminal.say(f"{scenario.scenario}  (agent {staging.chosen.agent}, rubric {staging.rubric.rubric_id})")
        terminal.say(session_table(measured, agent=staging.chosen.agent))
        checkers = {c.checker for c in scenario.constraints}
        used = {check.checker for scores in measured.scores for check in scores.adherence.exercised}
        if idle := sorted(checkers - used):
            terminal.say(f"  never exercised, so never tested: {', '.join(idle)}")
        sessions.append(session_json(trial))
        wrong |= bool(trial.failures)
        broken |= measured.session.error is not None
    result = {"schema": SCHEMA, "run": record.id, "seed": staging.chosen.seed, "sessions": sessions}
    record.close(result)
    if json_file is not None:
        write_json(json_file, result)
    return 1 if wrong else 3 if broken else 0


async def _play(staging: Staging, scenario: Scenario) -> Trial:
    """The unedited script, every turn judged."""
    from fuzzturn.drive import Meter
    from fuzzturn.measure import Jury, judged
    from fuzzturn.tree import Tree
    from fuzzturn.trial import Bench, Trial
    from fuzzturn.variant import Variant

    meter = Meter()
    jury = Jury(staging.judge, staging.judge_name, staging.rubric, staging.chosen.contexts, meter)
    bench = Bench(Tree(staging.cast(scenario), scenario, meter), staging.registry, jury, asyncio.Semaphore(1))
    trial = await bench.run(Variant(scenario))
    everything = [scores.n for scores in trial.measured.scores]
    return Trial(trial.variant, await judged(trial.measured, everything, jury), trial.failures)
