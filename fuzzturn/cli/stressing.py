"""fuzzturn stress: how blind a judge is, whether the protected block helps it, and what breaks the block."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fuzzturn.cli.options import (
    AgentOption,
    AgentOptionOption,
    ApiBaseOption,
    JsonOption,
    JudgeOption,
    OfflineOption,
    OutOption,
    RubricOption,
    SeedOption,
    WorkersOption,
    choose,
)
from fuzzturn.errors import InputError, Problem

if TYPE_CHECKING:
    from fuzzturn.cli.staging import Staging
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.ports import Judge
    from fuzzturn.scenario import Scenario
    from fuzzturn.stress.arms import Arm
    from fuzzturn.stress.item import Answer, Item
    from fuzzturn.stress.told import Findings

SEARCH_SESSIONS = 100


def stress(
    scenarios: Annotated[list[str] | None, typer.Argument(help="scenario files or names; default: all")] = None,
    judge: JudgeOption = None,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="answers of the judge to each question")] = 1,
    labels: Annotated[
        Path | None, typer.Option("--labels", help="CSV or YAML of item ids and people's labels, to be held against it")
    ] = None,
    search: Annotated[bool, typer.Option("--search", help="look for sessions whose protected block has gaps")] = False,
    rubric: RubricOption = None,
    agent: AgentOption = None,
    agent_option: AgentOptionOption = None,
    seed: SeedOption = None,
    workers: WorkersOption = None,
    api_base: ApiBaseOption = None,
    offline: OfflineOption = False,
    out: OutOption = None,
    json_file: JsonOption = None,
) -> int:
    """Ask a judge about turns whose truth a checker tells, in every context; 1 where it measures nothing.

    Example: fuzzturn stress lisbon_changes --judge reference
    """
    from fuzzturn.cli.staging import Staging
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.project import find_project
    from fuzzturn.records import write_json
    from fuzzturn.stress.told import told, told_json

    project = find_project()
    given = {"agent": agent, "agent_option": agent_option, "judge": judge, "rubric": rubric, "seed": seed,
             "workers": workers, "api_base": api_base, "offline": offline}  # fmt: skip
    staging = Staging(project, choose(given, project.config, ("window+block",)), out)
    terminal = Terminal(staging.redaction)
    scripts = staging.scenarios(scenarios)
    if search:
        return _search(staging, scripts, terminal)
    if staging.judge is None:
        raise InputError(Problem(what="--judge none", accepted="the judge that is to be stressed"))
    items = _items(staging, scripts, terminal)
    found = _found(staging, staging.judge, items, repeats, labels)
    terminal.say(told(found))
    if json_file is not None:
        write_json(json_file, told_json(found), staging.redaction)
    gap = found.blocks is not None and bool(found.blocks.missing or found.blocks.strange or found.blocks.overflow)
    return int(found.check.decision == "fails" or gap)


def _found(staging: Staging, judge: Judge, items: Sequence[Item], samples: int, labels: Path | None) -> Findings:
    """The self-check first: of a judge that fails it, nothing else is asked."""
    from fuzzturn.stress.arms import ARMS, DEFAULT
    from fuzzturn.stress.blocking import block_figure
    from fuzzturn.stress.blocks import blocks
    from fuzzturn.stress.compared import compare
    from fuzzturn.stress.figures import figures
    from fuzzturn.stress.labels import agreement, load_labels
    from fuzzturn.stress.selfcheck import self_check
    from fuzzturn.stress.told import Findings

    opinions = load_labels(labels, {item.id for item in items}) if labels is not None else None
    default = _asked(staging, judge, items, [DEFAULT], samples)
    check = self_check(default)
    rest = [arm for arm in ARMS if arm is not DEFAULT] if check.decision != "fails" else []
    answers = [*default, *_asked(staging, judge, items, rest, samples)]
    against = [arm.name for arm in rest if arm.group == "block"]
    return Findings(
        judge=staging.judge_name,
        check=check,
        figures=figures(answers, [DEFAULT.name, *(arm.name for arm in rest)]),
        compared=[compare(answers, DEFAULT.name, name) for name in against],
        blocks=blocks(map(block_figure, items)),
        agreement=agreement(opinions, default) if opinions is not None else None,
    )


def _asked(staging: Staging, judge: Judge, items: Sequence[Item], arms: Sequence[Arm], samples: int) -> list[Answer]:
    from fuzzturn.stress.asking import ask, questions

    asked = list(questions(items, arms, samples, staging.rubric))
    return asyncio.run(ask(asked, judge, staging.judge_name, staging.chosen.workers))


def _search(staging: Staging, scripts: Sequence[Scenario], terminal: Terminal) -> int:
    """Variants that make the protected block wrong or useless, shrunk and kept."""
    from fuzzturn.campaign import Campaign
    from fuzzturn.cli.keeping import keep_and_show
    from fuzzturn.search import search
    from fuzzturn.stress.burdens import BURDENS

    operators = [*staging.project.load_strategies().of_kind("operator"), *BURDENS]
    found = 0
    for script in scripts:
        campaign = Campaign(
            scenario=script, cast=staging.cast(script), registry=staging.registry, operators=operators, judge=None,
            judge_name="none", rubric=staging.rubric, contexts=(), sessions=SEARCH_SESSIONS, kinds=("block_gap",),
            batch=staging.chosen.batch, workers=staging.chosen.workers,
        )  # fmt: skip
        outcome = asyncio.run(search(campaign))
        for one in outcome.found:
            for block in keep_and_show(one, campaign, staging, terminal).blocks:
                terminal.say(block)
        found += len(outcome.found)
        terminal.note(f"{script.scenario}: {outcome.sessions} sessions, {len(outcome.found)} gaps of the block")
    if not found:
        terminal.say("no gap of the protected block found")
    return int(found > 0)
