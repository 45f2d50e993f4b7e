"""fuzzturn run: play the unedited scripts and score every turn."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Annotated

import typer

from fuzzturn.cli.options import (
    AgentOption,
    AgentOptionOption,
    ContextOption,
    JsonOption,
    JudgeOption,
    OutOption,
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
    seed: SeedOption = None,
    out: OutOption = None,
    json_file: JsonOption = None,
) -> int:
    """Play the scripts as written, score every turn with the four signals, exit 1 on a violation.

    Example: fuzzturn run lisbon_offsite
    """
    from fuzzturn.cli.staging import Staging
    from fuzzturn.project import find_project
    from fuzzturn.records import SCHEMA, Run
    from fuzzturn.report import session_json, session_table

    project = find_project()
    given = {k: v for k, v in locals().items() if k in ("agent", "agent_option", "judge", "judge_context", "seed")}
    staging = Staging(project, choose(given, project.config, ("window+block",)), out)
    record = Run.create(staging.home, "run")
    sessions = []
    violated = broken = False
    for scenario in staging.scenarios(scenarios):
        trial = asyncio.run(_play(staging, scenario))
        measured = trial.measured
        record.session(scenario.scenario, trial.variant, measured, staging.registry, seed=staging.chosen.seed)
        print(f"{scenario.scenario}  (agent {staging.chosen.agent}, rubric {staging.rubric.rubric_id})")
        print(session_table(measured, agent=staging.chosen.agent))
        sessions.append(session_json(trial))
        violated |= any(scores.adherence.failed for scores in measured.scores)
        broken |= measured.session.error is not None
    result = {"schema": SCHEMA, "run": record.id, "seed": staging.chosen.seed, "sessions": sessions}
    record.close(result)
    if json_file is not None:
        json_file.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if violated else 3 if broken else 0


async def _play(staging: Staging, scenario: Scenario) -> Trial:
    """The unedited script, every turn judged."""
    from fuzzturn.drive import Meter
    from fuzzturn.measure import Jury, judged
    from fuzzturn.tree import Tree
    from fuzzturn.trial import Bench, Trial
    from fuzzturn.variant import Variant

    meter = Meter()
    name = staging.judge_note.name if staging.judge_note else "none"
    jury = Jury(staging.judge, name, staging.rubric, staging.chosen.contexts, meter)
    bench = Bench(Tree(staging.cast(scenario), scenario, meter), staging.registry, jury, asyncio.Semaphore(1))
    trial = await bench.run(Variant(scenario))
    everything = [scores.n for scores in trial.measured.scores]
    return Trial(trial.variant, await judged(trial.measured, everything, jury), trial.failures)
