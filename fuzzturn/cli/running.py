"""fuzzturn run: play the unedited scripts and score every turn."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from fuzzturn.cli.options import (
    AgentOption,
    AgentOptionOption,
    ApiBaseOption,
    ContextOption,
    JsonOption,
    JudgeOption,
    OfflineOption,
    OutOption,
    RubricOption,
    SeedOption,
    choose,
)
from fuzzturn.errors import Halted

if TYPE_CHECKING:
    from fuzzturn.cli.staging import Staging
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.drive import Meter
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
    api_base: ApiBaseOption = None,
    offline: OfflineOption = False,
    out: OutOption = None,
    json_file: JsonOption = None,
) -> int:
    """Play the scripts as written, score every turn with the four signals, exit 1 where something is wrong.

    Example: fuzzturn run lisbon_offsite
    """
    from fuzzturn.cli.spending import bill_lines, spent_on_models
    from fuzzturn.cli.staging import Staging
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.drive import Meter
    from fuzzturn.project import find_project
    from fuzzturn.records import SCHEMA, Run, scenario_digest, write_json
    from fuzzturn.report import session_json

    project = find_project()
    given = {"agent": agent, "agent_option": agent_option, "judge": judge, "judge_context": judge_context,
             "rubric": rubric, "seed": seed, "api_base": api_base, "offline": offline}  # fmt: skip
    staging = Staging(project, choose(given, project.config, ("window+block",)), out)
    record, terminal = Run.create(staging.home, "run", staging.redaction), Terminal(staging.redaction)
    trials: list[Trial] = []
    halted: Halted | None = None
    meter = Meter()
    for scenario in staging.scenarios(scenarios):
        try:
            trial = asyncio.run(_play(staging, scenario, meter))
        except Halted as error:  # what was played before it is kept
            halted = error
            break
        fixed = {"seed": staging.chosen.seed, "sample": 0, "scenario_digest": scenario_digest(scenario)}
        record.session(scenario.scenario, trial.variant, trial.measured, staging.registry, **fixed)
        _show(trial, staging, terminal)
        trials.append(trial)
    for line in bill_lines(staging.bill):
        terminal.note(line)
    result = {"schema": SCHEMA, "run": record.id, "seed": staging.chosen.seed,
              "spent": spent_on_models(staging.bill, meter.told_tokens),
              "sessions": [session_json(trial) for trial in trials]}  # fmt: skip
    record.close(result)
    if json_file is not None:
        write_json(json_file, result, staging.redaction)
    if halted is not None:
        terminal.error(str(halted))
    broken = halted is not None or any(trial.measured.session.error is not None for trial in trials)
    return 1 if any(trial.failures for trial in trials) else 3 if broken else 0


def _show(trial: Trial, staging: Staging, terminal: Terminal) -> None:
    from fuzzturn.report import session_table

    chosen, measured = staging.chosen, trial.measured
    playing = f"agent {chosen.agent}, judge {chosen.judge}, rubric {staging.rubric.rubric_id}"
    terminal.say(f"{measured.spoken.scenario}  ({playing})")
    terminal.say(session_table(measured, agent=chosen.agent))
    checkers = {c.checker for c in measured.spoken.constraints}
    used = {check.checker for scores in measured.scores for check in scores.adherence.exercised}
    if idle := sorted(checkers - used):
        terminal.say(f"  never exercised, so never tested: {', '.join(idle)}")


async def _play(staging: Staging, scenario: Scenario, meter: Meter) -> Trial:
    """The unedited script, every turn judged."""
    from fuzzturn.measure import Jury, judged
    from fuzzturn.tree import Tree
    from fuzzturn.trial import Bench, Trial
    from fuzzturn.variant import Variant

    jury = Jury(staging.judge, staging.judge_name, staging.rubric, staging.chosen.contexts, meter)
    bench = Bench(Tree(staging.cast(scenario), scenario, meter), staging.registry, jury, asyncio.Semaphore(1))
    trial = await bench.run(Variant(scenario))
    everything = [scores.n for scores in trial.measured.scores]
    return Trial(trial.variant, await judged(trial.measured, everything, jury), trial.failures)
