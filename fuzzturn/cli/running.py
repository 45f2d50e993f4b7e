"""fuzzturn run: play the unedited scripts and score every turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

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
    RepeatsOption,
    RubricOption,
    SeedOption,
    choose,
)
from fuzzturn.errors import Halted

if TYPE_CHECKING:
    from fuzzturn.cli.staging import Staging
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.deciding import Decider
    from fuzzturn.drive import Meter
    from fuzzturn.records import Run
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
    repeats: RepeatsOption = None,
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
    from fuzzturn.records import SCHEMA, Run, write_json

    project = find_project()
    given = {"agent": agent, "agent_option": agent_option, "judge": judge, "judge_context": judge_context,
             "rubric": rubric, "seed": seed, "repeats": repeats, "api_base": api_base, "offline": offline}  # fmt: skip
    staging = Staging(project, choose(given, project.config, ("window+block",)), out)
    record, terminal = Run.create(staging.home, "run", staging.redaction), Terminal(staging.redaction)
    playing = _Playing(staging, record, terminal, Meter())
    all_series: list[_Series] = []
    for scenario in staging.scenarios(scenarios):
        all_series.append(playing.series(scenario))
        if all_series[-1].trials:  # what was played before a halt is kept
            _show(all_series[-1], staging, terminal)
        if all_series[-1].halted is not None:
            break
    for line in bill_lines(staging.bill):
        terminal.note(line)
    result = {"schema": SCHEMA, "run": record.id, "seed": staging.chosen.seed,
              "spent": spent_on_models(staging.bill, playing.meter.told_tokens),
              **_scored(all_series, staging.chosen.repeats)}  # fmt: skip
    record.close(result)
    if json_file is not None:
        write_json(json_file, result, staging.redaction)
    return _conclude(all_series, terminal)


@dataclass
class _Series:
    """The runs of one script, in order of samples."""

    trials: list[Trial] = field(default_factory=list)
    halted: Halted | None = None
    """What ended it before all runs were played."""


@dataclass(frozen=True)
class _Playing:
    staging: Staging
    record: Run
    terminal: Terminal
    meter: Meter

    def series(self, scenario: Scenario) -> _Series:
        """Every run of the unedited script, each recorded as soon as it is over."""
        from fuzzturn.deciding import Decider
        from fuzzturn.measure import Jury
        from fuzzturn.records import scenario_digest
        from fuzzturn.report import counted

        staging, series, name = self.staging, _Series(), scenario.scenario
        chosen = staging.chosen
        decider = Decider(Jury(staging.judge, staging.judge_name, staging.rubric, chosen.contexts, self.meter))
        digest, begun = scenario_digest(scenario), self.meter.agent_turns
        with nullcontext() if chosen.repeats == 1 else self.terminal.campaign(name, chosen.repeats - 1) as tell:

            def hear(trial: Trial) -> None:
                sample = len(series.trials)
                session = name if chosen.repeats == 1 else f"{name}-{sample:05d}"
                fixed = {"seed": chosen.seed, "sample": sample, "scenario_digest": digest}
                self.record.session(session, trial.variant, trial.measured, staging.registry, **fixed)
                series.trials.append(trial)
                if tell is not None:
                    wrong = sum(bool(each.failures) for each in series.trials)
                    tell(len(series.trials), wrong, self.meter.agent_turns - begun)

            try:
                asyncio.run(_play(staging, scenario, decider, hear))
            except Halted as error:
                series.halted = error
        for reason, times in decider.unanswered.most_common(3):
            self.terminal.note(f"{name}: a judged milestone was left undecided {counted(times, 'time')}: {reason}")
        return series


async def _play(staging: Staging, scenario: Scenario, decider: Decider, hear: Callable[[Trial], None]) -> None:
    """The unedited script once for each sample, every turn judged and every judged milestone decided.

    One jury for all: it is asked once for equal text, so what varies between runs is the agent.
    """
    from fuzzturn.measure import judged
    from fuzzturn.tree import Tree
    from fuzzturn.trial import Bench, Trial
    from fuzzturn.variant import Variant

    jury, cast = decider.jury, staging.cast(scenario)
    for sample in range(staging.chosen.repeats):
        tree = Tree(replace(cast, sample=sample), scenario, jury.meter)
        trial = await Bench(tree, staging.registry, jury, asyncio.Semaphore(1)).run(Variant(scenario))
        everything = [scores.n for scores in trial.measured.scores]
        measured = await decider.decided(await judged(trial.measured, everything, jury))
        hear(Trial(trial.variant, measured, trial.failures))


def _show(series: _Series, staging: Staging, terminal: Terminal) -> None:
    from fuzzturn.repeats import repeats
    from fuzzturn.report import session_table
    from fuzzturn.tabulate import repeats_table

    chosen, runs = staging.chosen, [trial.measured for trial in series.trials]
    playing = f"agent {chosen.agent}, judge {chosen.judge}, rubric {staging.rubric.rubric_id}"
    terminal.say(f"{runs[0].spoken.scenario}  ({playing})")
    if len(runs) < chosen.repeats:
        terminal.say(f"  stopped after {len(runs)} of {chosen.repeats} runs")
    once = chosen.repeats == 1
    terminal.say(session_table(runs[0], agent=chosen.agent) if once else repeats_table(repeats(runs), chosen.agent))
    checkers = {c.checker for c in runs[0].spoken.constraints}
    used = {check.checker for run in runs for scores in run.scores for check in scores.adherence.exercised}
    if idle := sorted(checkers - used):
        terminal.say(f"  never exercised, so never tested: {', '.join(idle)}")


def _scored(all_series: Sequence[_Series], asked: int) -> dict[str, Any]:
    """Every session; where scripts were to be played several times, what their runs come to as well."""
    from fuzzturn.repeats import repeats
    from fuzzturn.results import session_json
    from fuzzturn.tabulate import repeats_json

    sessions = [session_json(trial) | {"sample": k} for series in all_series for k, trial in enumerate(series.trials)]
    if asked == 1:
        return {"sessions": sessions}
    played = [[trial.measured for trial in series.trials] for series in all_series if series.trials]
    return {"sessions": sessions, "repeats": [repeats_json(repeats(runs)) | {"asked": asked} for runs in played]}


def _conclude(all_series: Sequence[_Series], terminal: Terminal) -> int:
    """The exit code."""
    trials = [trial for series in all_series for trial in series.trials]
    halted = [series.halted for series in all_series if series.halted is not None]
    for error in halted:
        terminal.error(str(error))
    broken = halted or any(trial.measured.session.error is not None for trial in trials)
    return 1 if any(trial.failures for trial in trials) else 3 if broken else 0
