"""fuzzturn fuzz: search the scenarios, shrink what is found, keep it."""

from __future__ import annotations

from typing import Annotated

import typer

from fuzzturn.cli.options import (
    CONTEXTS,
    AgentOption,
    AgentOptionOption,
    ApiBaseOption,
    BatchOption,
    ContextOption,
    JsonOption,
    JudgeOption,
    JunitOption,
    NdjsonOption,
    OfflineOption,
    OutOption,
    RepeatsOption,
    RubricOption,
    SeedOption,
    WorkersOption,
    choose,
)


def fuzz(
    scenarios: Annotated[list[str] | None, typer.Argument(help="scenario files or names; default: all")] = None,
    target: Annotated[
        str | None,
        typer.Option(
            help="any; blind_spot (the judge gives a 4 to a broken constraint), violation (any broken "
            "constraint), progress (a milestone out of order or lost), assertion, metamorphic (what should make no "
            "difference does)"
        ),
    ] = None,
    budget_sessions: Annotated[int | None, typer.Option(min=0, help="variants played per scenario (200)")] = None,
    budget_turns: Annotated[
        int | None, typer.Option(min=1, help="stop before more agent turns than about this")
    ] = None,
    budget_usd: Annotated[
        float | None, typer.Option(min=0, help="US dollars that model calls may cost in all; no call begins beyond it")
    ] = None,
    max_minutes: Annotated[float | None, typer.Option(min=0, help="stop after about so many minutes")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only say what would be played")] = False,
    agent: AgentOption = None,
    agent_option: AgentOptionOption = None,
    judge: JudgeOption = None,
    judge_context: ContextOption = None,
    rubric: RubricOption = None,
    seed: SeedOption = None,
    repeats: RepeatsOption = None,
    workers: WorkersOption = None,
    batch: BatchOption = None,
    api_base: ApiBaseOption = None,
    offline: OfflineOption = False,
    out: OutOption = None,
    json_file: JsonOption = None,
    junit: JunitOption = None,
    ndjson: NdjsonOption = None,
) -> int:
    """Vary the scenarios, find violations and blind spots, shrink each and keep it in the corpus.

    Example: fuzzturn fuzz scenarios/orbit/lisbon_offsite.yaml --seed 7
    """  # fmt: skip
    from fuzzturn.cli.campaigning import Budget, Order, campaign
    from fuzzturn.cli.spending import foretell
    from fuzzturn.cli.staging import Staging
    from fuzzturn.cli.targeting import target_kinds
    from fuzzturn.cli.telling import Outputs, telling
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.project import find_project

    project = find_project()
    given = {"agent": agent, "agent_option": agent_option, "judge": judge, "judge_context": judge_context,
             "rubric": rubric, "seed": seed, "repeats": repeats, "workers": workers, "batch": batch,
             "api_base": api_base, "offline": offline, "budget_usd": budget_usd}  # fmt: skip
    staging = Staging(project, choose(given, project.config, CONTEXTS), out)
    config = project.config
    budget = Budget(
        sessions=config.get("budget_sessions", 200) if budget_sessions is None else budget_sessions,
        turns=budget_turns or config.get("budget_turns"),
        minutes=config.get("max_minutes") if max_minutes is None else max_minutes,
    )
    kinds = target_kinds(target or config.get("target", "any"))
    terminal = Terminal(staging.redaction)
    with telling("fuzz", Outputs() if dry_run else Outputs(junit, ndjson), staging, terminal) as told:
        order = Order(staging, staging.scenarios(scenarios), budget, kinds, json_file, terminal, told)
        if dry_run:
            return foretell(order)
        paths = [project.find_scenario(name) for name in scenarios] if scenarios else project.scenario_paths()
        told.started({path.stem: path for path in paths}, {"seed": staging.chosen.seed, "kinds": kinds})
        code = campaign(order)
        told.ended(code)
    return code
