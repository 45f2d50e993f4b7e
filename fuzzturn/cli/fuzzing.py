"""fuzzturn fuzz: search the scenarios, shrink what is found, keep it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fuzzturn.cli.options import (
    CONTEXTS,
    AgentOption,
    AgentOptionOption,
    BatchOption,
    ContextOption,
    JsonOption,
    JudgeOption,
    OutOption,
    SeedOption,
    WorkersOption,
    choose,
)
from fuzzturn.errors import InputError, Problem, closest

if TYPE_CHECKING:
    from fuzzturn.cli.staging import Staging
    from fuzzturn.records import Run
    from fuzzturn.scenario import Scenario
    from fuzzturn.search import Campaign, Outcome

Pairs = list[tuple["Outcome", list[dict[str, Any]]]]
FOUND, ONLY_ERRORS = 1, 3


def fuzz(
    scenarios: Annotated[list[str] | None, typer.Argument(help="scenario files or names; default: all")] = None,
    target: Annotated[str | None, typer.Option(help="any, blind_spot, violation, progress or assertion")] = None,
    budget_sessions: Annotated[int | None, typer.Option(min=0, help="variants played per scenario (200)")] = None,
    agent: AgentOption = None,
    agent_option: AgentOptionOption = None,
    judge: JudgeOption = None,
    judge_context: ContextOption = None,
    seed: SeedOption = None,
    workers: WorkersOption = None,
    batch: BatchOption = None,
    out: OutOption = None,
    json_file: JsonOption = None,
) -> int:
    """Vary the scenarios, find violations and blind spots, shrink each and keep it in the corpus.

    Example: fuzzturn fuzz scenarios/orbit/lisbon_offsite.yaml --seed 7
    """
    from fuzzturn.cli.staging import Staging
    from fuzzturn.project import find_project

    project = find_project()
    given = {k: v for k, v in locals().items() if k in ("agent", "agent_option", "judge", "judge_context", "seed",
                                                        "workers", "batch")}  # fmt: skip
    staging = Staging(project, choose(given, project.config, CONTEXTS), out)
    aim = target or project.config.get("target", "any")
    sessions = project.config.get("budget_sessions", 200) if budget_sessions is None else budget_sessions
    return _fuzz(staging, staging.scenarios(scenarios), aim, sessions, json_file)


def _fuzz(staging: Staging, scenarios: list[Scenario], target: str, sessions: int, json_file: Path | None) -> int:
    from fuzzturn.records import Run

    # Hypothesis keeps what it learns of local modules on disk; ours goes beside the runs, not into the user's folder
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(staging.home / ".fuzzturn" / "hypothesis"))
    campaigns = [_campaign(staging, scenario, target, sessions) for scenario in scenarios]
    run = Run.create(staging.home, "fuzz")
    begun = time.perf_counter()
    pairs: Pairs = []
    for campaign in campaigns:
        outcome = asyncio.run(_search(campaign, run))
        pairs.append((outcome, [_keep(found, campaign, staging, run) for found in outcome.found]))
    result = _result(staging, run, pairs, time.perf_counter() - begun)
    run.close(result)
    if json_file is not None:
        json_file.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return _exit(pairs, result)


def _campaign(staging: Staging, scenario: Scenario, target: str, sessions: int) -> Campaign:
    from fuzzturn.finding import KINDS
    from fuzzturn.search import Campaign

    if target != "any" and target not in KINDS:
        raise InputError(Problem(what=f"no target is called {target!r}", accepted=closest(target, ("any", *KINDS))))
    chosen = staging.chosen
    return Campaign(
        scenario=scenario,
        cast=staging.cast(scenario),
        registry=staging.registry,
        operators=staging.project.load_strategies().of_kind("operator"),
        judge=staging.judge,
        judge_name=staging.judge_note.name if staging.judge_note else "none",
        rubric=staging.rubric,
        contexts=chosen.contexts,
        sessions=sessions,
        batch=chosen.batch,
        workers=chosen.workers,
        kinds=[kind for kind in KINDS if target in ("any", kind)],
    )


async def _search(campaign: Campaign, run: Run) -> Outcome:
    from fuzzturn.search import search
    from fuzzturn.trial import Trial

    name, heard, failing = campaign.scenario.scenario, 0, 0

    def hear(trial: Trial) -> None:
        nonlocal heard, failing
        run.session(f"{name}-{heard:05d}", trial.variant, trial.measured, campaign.registry, seed=campaign.cast.seed)
        heard, failing = heard + 1, failing + bool(trial.failures)
        if heard % 50 == 0:
            print(f"{name}: {heard} sessions, {failing} of them with something wrong", file=sys.stderr)

    outcome = await search(campaign, hear)
    print(f"{name}: {heard} sessions, {failing} of them with something wrong; shrunk to {len(outcome.found)} findings, "
          f"{outcome.spent.agent_turns} agent turns in all", file=sys.stderr)  # fmt: skip
    return outcome


def _keep(found: Any, campaign: Campaign, staging: Staging, run: Run) -> dict[str, Any]:
    from fuzzturn.corpus import save_entry
    from fuzzturn.keep import as_entry
    from fuzzturn.report import finding_block, finding_json

    entry = as_entry(found, campaign.cast, staging.judge_note, campaign.rubric, campaign.registry)
    path = save_entry(entry, staging.home / "corpus")
    shown = str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
    print(finding_block(found, agent=campaign.cast.name, rubric=campaign.rubric, corpus_file=shown))
    print()
    record = finding_json(found, corpus_file=shown)
    run.append("findings", {"schema": 1, "run": run.id} | record)
    return record


def _result(staging: Staging, run: Run, pairs: Pairs, wall: float) -> dict[str, Any]:
    from fuzzturn.report import campaign_json

    chosen = staging.chosen
    identities = sorted({found.identity for o, _ in pairs for found in o.found if found.identity})
    return campaign_json(
        pairs,
        run=run.id,
        seed=chosen.seed,
        fingerprints={
            "agent": {"name": chosen.agent, "options": dict(chosen.agent_options), "identity": identities},
            "judge": staging.judge_note.model_dump() if staging.judge_note else None,
            "rubric": {"id": staging.rubric.rubric_id, "digest": staging.rubric.digest},
        },
        spent={
            "sessions": sum(o.sessions for o, _ in pairs),
            "agent_turns": sum(o.spent.agent_turns for o, _ in pairs),
            "judge_calls": sum(o.spent.judge_calls for o, _ in pairs),
            "tokens": None,
            "usd": None,
            "wall_s": round(wall, 3),
        },
        thresholds={o.base.measured.spoken.scenario: o.threshold and asdict(o.threshold) for o, _ in pairs},
    )


def _exit(pairs: Pairs, result: dict[str, Any]) -> int:
    for error in result["agent_errors"]:
        print(f"the agent raised {error}", file=sys.stderr)
    if result["findings"]:
        return FOUND
    spent = result["spent"]
    print(f"nothing found in {spent['sessions']} sessions, {spent['agent_turns']} agent turns executed")
    idle = [
        f"{c.checker}" for o, _ in pairs for c in o.base.measured.spoken.constraints if c.checker not in o.exercised
    ]
    if idle:
        print(f"note: never exercised, so never tested: {', '.join(sorted(set(idle)))}")
    return ONLY_ERRORS if result["agent_errors"] else 0
