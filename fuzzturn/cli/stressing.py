"""fuzzturn stress: how blind a judge is, whether the protected block helps it, and what breaks the block."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

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
from fuzzturn.errors import FuzzturnError, InputError, Problem, closest

if TYPE_CHECKING:
    from fuzzturn.cli.staging import Staging
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.ports import Judge
    from fuzzturn.rubric import Rubric
    from fuzzturn.scenario import Scenario
    from fuzzturn.stress.arms import Arm
    from fuzzturn.stress.asking import Question
    from fuzzturn.stress.item import Answer, Item
    from fuzzturn.stress.labels import Opinion
    from fuzzturn.stress.told import Findings

SEARCH_SESSIONS = 100


def stress(
    given: Annotated[
        list[str] | None, typer.Argument(metavar="NAMES...", help="scenarios, corpus files; default: all of both")
    ] = None,
    judge: JudgeOption = None,
    arms: Annotated[
        list[str] | None,
        typer.Option("--arms", help="groups of arms beside the default; repeatable, or with commas; default: all"),
    ] = None,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="answers of the judge to each question")] = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say what would be asked, and ask no judge")] = False,
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

    Example: fuzzturn stress lisbon_changes --judge reference --arms block,window
    """
    from fuzzturn.cli.asked import items, subjects
    from fuzzturn.cli.staging import Staging
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.project import find_project
    from fuzzturn.records import write_json
    from fuzzturn.stress.labels import load_labels
    from fuzzturn.stress.told import told, told_json

    wanted = _arms(arms)
    project = find_project()
    options = {"agent": agent, "agent_option": agent_option, "judge": judge, "rubric": rubric, "seed": seed,
               "workers": workers, "api_base": api_base, "offline": offline}  # fmt: skip
    staging = Staging(project, choose(options, project.config, ("window+block",)), out)
    terminal = Terminal(staging.redaction)
    if search:
        return _search(staging, staging.scenarios(given), terminal, json_file)
    if staging.judge is None:
        raise InputError(Problem(what="--judge none", accepted="the judge that is to be stressed"))
    plan = _plan(items(staging, subjects(staging, given or [], terminal), terminal), wanted, repeats, staging.rubric)
    opinions = load_labels(labels, {item.id for item in plan.items}) if labels is not None else None
    for line in _foretold(plan, staging.judge_name, opinions):
        (terminal.say if dry_run else terminal.note)(line)
    if dry_run:
        if json_file is not None:
            write_json(json_file, _sheet(plan), staging.redaction)
        return 0
    found, ended = _found(staging, staging.judge, plan, opinions)
    terminal.say(told(found))
    if json_file is not None:
        write_json(json_file, told_json(found), staging.redaction)
    if ended is not None:
        raise ended
    gap = found.blocks is not None and bool(found.blocks.missing or found.blocks.strange or found.blocks.overflow)
    return int(found.check.decision == "fails" or gap)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a judge is asked: every item in every arm, so many times."""

    items: Sequence[Item]
    arms: Sequence[Arm]
    """The default first."""
    samples: int
    first: Sequence[Question]
    """Those of the default arm."""
    rest: Sequence[Question]


def _plan(items: Sequence[Item], arms: Sequence[Arm], samples: int, rubric: Rubric) -> _Plan:
    from fuzzturn.stress.asking import questions

    first, rest = (list(questions(items, some, samples, rubric)) for some in (arms[:1], arms[1:]))
    return _Plan(items, arms, samples, first, rest)


def _arms(given: Sequence[str] | None) -> list[Arm]:
    """The arms of the groups given, all where none is; the default is always one. Raises InputError."""
    from fuzzturn.stress.arms import ARMS, DEFAULT
    from fuzzturn.stress.item import Group

    known: tuple[Group, ...] = get_args(Group)
    names = [name.strip() for text in given or () for name in text.split(",")]
    problems = [
        Problem(what=f"no group of arms is called {name!r}", accepted=closest(name, known))
        for name in names
        if name not in known
    ]
    if problems:
        raise InputError(problems)
    return [arm for arm in ARMS if arm is DEFAULT or not names or arm.group in names]


def _sheet(plan: _Plan) -> dict[str, Any]:
    """What people need for labelling without a hint: the items as the default arm shows them, by code, in its order."""
    from fuzzturn.context import prompt
    from fuzzturn.stress.labels import code_of

    texts = {question.item.id: prompt(question.arm.context, question.shown) for question in plan.first}
    shown = sorted((code_of(id), id, given.text) for id, given in texts.items() if given is not None)
    return {
        "schema": 1,
        "items": [{"item": code, "text": text} for code, _, text in shown],
        "ids": {code: id for code, id, _ in shown},
    }


def _foretold(plan: _Plan, judge: str, opinions: Mapping[str, Opinion] | None) -> Iterator[str]:
    """What asking takes, of the default arm and of all."""
    from fuzzturn.report import counted
    from fuzzturn.stress.asking import costs

    items, arms = counted(len(plan.items), "item"), counted(len(plan.arms), "arm")
    first, all_ = costs(plan.first), costs([*plan.first, *plan.rest])
    yield (
        f"{judge}: {items} in {arms}, {counted(plan.samples, 'answer')} each: "
        f"{counted(all_.questions, 'question')}, of which {all_.texts} are different texts, asked once each "
        f"({all_.tokens} prompt tokens, and what the judge adds)"
    )
    if len(plan.arms) > 1:
        yield (
            f"the default arm first: {counted(first.questions, 'question')}, {first.texts} different texts "
            f"({first.tokens} prompt tokens); of a judge that fails the self-check no more is asked"
        )
    if opinions is not None:
        yield f"people labelled {counted(len(opinions), 'item')} of {len(plan.items)}"


def _found(
    staging: Staging, judge: Judge, plan: _Plan, opinions: Mapping[str, Opinion] | None
) -> tuple[Findings, BaseException | None]:
    """What came of it, and what ended it early. The self-check first: of a judge that fails it, nothing else is asked.

    Raises what ended it before the first answer.
    """
    from fuzzturn.drive import Meter
    from fuzzturn.memo import Memo
    from fuzzturn.stress.blocking import block_figure
    from fuzzturn.stress.blocks import blocks
    from fuzzturn.stress.budgets import budgets
    from fuzzturn.stress.compared import compare
    from fuzzturn.stress.figures import figures
    from fuzzturn.stress.labels import agreement
    from fuzzturn.stress.selfcheck import self_check
    from fuzzturn.stress.told import Findings

    once = Memo(judge, Meter(), steady=True)
    default, ended = _answers(staging, once, plan.first)
    if ended is not None and not default:
        raise ended
    check = self_check(default)
    answers, arms = default, plan.arms[:1]
    if check.decision != "fails" and ended is None:
        more, ended = _answers(staging, once, plan.rest)
        answers, arms = [*default, *more], plan.arms
    names = [arm.name for arm in arms]
    compared = {arm: compare(answers, names[0], arm.name) for arm in arms[1:]}
    return Findings(
        judge=staging.judge_name,
        check=check,
        figures=figures(answers, names),
        answers=answers,
        compared=[found for arm, found in compared.items() if arm.group == "block"],
        beside=[*compared.values()],
        budgets=budgets(answers, names),
        blocks=blocks(map(block_figure, plan.items)),
        agreement=agreement(opinions, default) if opinions is not None else None,
        stopped=None if ended is None else _stopped(len(answers), plan, ended),
    ), ended


def _stopped(answered: int, plan: _Plan, ended: BaseException) -> str:
    why = "interrupted" if isinstance(ended, KeyboardInterrupt) else str(ended)
    return f"Stopped after {answered} of {len(plan.first) + len(plan.rest)} answers: {why}"


def _answers(
    staging: Staging, judge: Judge, asked: Sequence[Question]
) -> tuple[list[Answer], KeyboardInterrupt | FuzzturnError | None]:
    """The answers, in the order of the questions; and what ended it early, as an interrupt or a server that is gone."""
    from fuzzturn.stress.asking import ask

    given: dict[int, Answer] = {}
    ended: KeyboardInterrupt | FuzzturnError | None = None
    try:
        asyncio.run(ask(asked, judge, staging.judge_name, staging.chosen.workers, given.__setitem__))
    except (KeyboardInterrupt, FuzzturnError) as error:
        ended = error
    return [answer for _, answer in sorted(given.items(), key=lambda pair: pair[0])], ended


def _search(staging: Staging, scripts: Sequence[Scenario], terminal: Terminal, json_file: Path | None) -> int:
    """Variants that make the protected block wrong or useless, shrunk and kept."""
    from fuzzturn.campaign import Campaign
    from fuzzturn.cli.keeping import keep_and_show
    from fuzzturn.records import write_json
    from fuzzturn.search import search
    from fuzzturn.stress.burdens import BURDENS

    operators = [*staging.project.load_strategies().of_kind("operator"), *BURDENS]
    found: list[Mapping[str, Any]] = []
    for script in scripts:
        campaign = Campaign(
            scenario=script, cast=staging.cast(script), registry=staging.registry, operators=operators, judge=None,
            judge_name="none", rubric=staging.rubric, contexts=(), sessions=SEARCH_SESSIONS, kinds=("block_gap",),
            batch=staging.chosen.batch, workers=staging.chosen.workers,
        )  # fmt: skip
        outcome = asyncio.run(search(campaign))
        for one in outcome.found:
            kept = keep_and_show(one, campaign, staging, terminal)
            found.append(kept.record)
            for block in kept.blocks:
                terminal.say(block)
        terminal.note(f"{script.scenario}: {outcome.sessions} sessions, {len(outcome.found)} gaps of the block")
    if not found:
        terminal.say("no gap of the protected block found")
    if json_file is not None:
        write_json(json_file, {"schema": 1, "findings": found}, staging.redaction)
    return int(bool(found))
