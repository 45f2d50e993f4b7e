"""fuzzturn shrink: shrink a kept session further, with the agent as it is now."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fuzzturn.cli.options import AgentOption, AgentOptionOption, BatchOption, JsonOption, JudgeOption, OutOption, choose
from fuzzturn.errors import InputError, Problem

if TYPE_CHECKING:
    from fuzzturn.cli.staging import Staging
    from fuzzturn.corpus import Entry
    from fuzzturn.search import Campaign, Finding


def shrink(
    entry: Annotated[Path, typer.Argument(help="a corpus file", exists=True, dir_okay=False)],
    agent: AgentOption = None,
    agent_option: AgentOptionOption = None,
    judge: JudgeOption = None,
    batch: BatchOption = None,
    out: OutOption = None,
    json_file: JsonOption = None,
) -> int:
    """Shrink the session of a corpus file to its minimum and keep the result beside it.

    Example: fuzzturn shrink corpus/lisbon_offsite/1a2b3c4d.yaml
    """
    from fuzzturn.cli.replaying import as_recorded
    from fuzzturn.cli.staging import Staging
    from fuzzturn.corpus import load_entry, save_entry
    from fuzzturn.keep import as_entry
    from fuzzturn.project import find_project
    from fuzzturn.report import finding_block, finding_json

    project = find_project()
    kept = load_entry(entry)
    given = {"agent": agent, "agent_option": agent_option, "judge": judge, "batch": batch}
    staging = as_recorded(Staging(project, choose(given, project.config, ("window+block",)), out), kept)
    campaign = _campaign(staging, kept, entry)
    found = asyncio.run(_shrink(kept, campaign, entry))
    path = save_entry(as_entry(found, campaign.cast, staging.judge_note, kept.rubric, staging.registry),
                      staging.home / "corpus")  # fmt: skip
    print(finding_block(found, agent=campaign.cast.name, rubric=kept.rubric, corpus_file=str(path)))
    if json_file is not None:
        result = {"schema": 1, "finding": finding_json(found, corpus_file=str(path))}
        json_file.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1


def _campaign(staging: Staging, entry: Entry, path: Path) -> Campaign:
    from fuzzturn.context import CONTEXTS
    from fuzzturn.search import Campaign

    spoken = entry.spoken(str(path))
    return Campaign(
        scenario=spoken,
        cast=staging.cast(spoken),
        registry=staging.registry,
        operators=(),
        judge=staging.judge,
        judge_name=staging.judge_note.name if staging.judge_note else "none",
        rubric=entry.rubric,
        contexts=CONTEXTS,
        batch=staging.chosen.batch,
    )


async def _shrink(entry: Entry, campaign: Campaign, path: Path) -> Finding:
    from fuzzturn.rewrite import unspoken
    from fuzzturn.search import campaign_bench, shrink_failure
    from fuzzturn.shrink import as_case
    from fuzzturn.threshold import calibrate

    variant = unspoken(campaign.scenario)
    campaign = replace(campaign, scenario=variant.scenario)
    bench = campaign_bench(campaign)
    bench = replace(bench, threshold=await calibrate(bench.tree, variant.scenario))
    case = as_case(await bench.run(variant), entry.pinned(), bench.threshold)
    if case is None:
        what = f"{entry.kind} {entry.finding} does not show with this agent and judge"
        raise InputError(Problem(file=str(path), what=what, accepted="`fuzzturn replay` says what became of it"))
    return await shrink_failure(case, entry.pinned(), bench, campaign, variant)
