"""fuzzturn shrink: shrink a kept session further, with the agent as it is now."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fuzzturn.cli.options import (
    AgentOption,
    AgentOptionOption,
    ApiBaseOption,
    BatchOption,
    JsonOption,
    JudgeOption,
    OfflineOption,
    OutOption,
    choose,
)
from fuzzturn.errors import InputError, Problem, UnknownName

if TYPE_CHECKING:
    from fuzzturn.campaign import Campaign
    from fuzzturn.cli.staging import Staging
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.corpus import Entry
    from fuzzturn.outcome import Finding


def shrink(
    entry: Annotated[str, typer.Argument(help="a corpus file or its id")],
    agent: AgentOption = None,
    agent_option: AgentOptionOption = None,
    judge: JudgeOption = None,
    batch: BatchOption = None,
    api_base: ApiBaseOption = None,
    offline: OfflineOption = False,
    out: OutOption = None,
    json_file: JsonOption = None,
) -> int:
    """Shrink the session of a corpus file to its minimum. A smaller one replaces it; its history and status stay.

    Example: fuzzturn shrink corpus/lisbon_offsite/1a2b3c4d.yaml
    """
    from fuzzturn.cli.replaying import as_recorded
    from fuzzturn.cli.staging import Staging
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.corpus import load_entry
    from fuzzturn.project import find_project
    from fuzzturn.records import write_json
    from fuzzturn.replay import missing
    from fuzzturn.results import finding_json

    project = find_project()
    given = {"agent": agent, "agent_option": agent_option, "judge": judge, "batch": batch, "api_base": api_base,
             "offline": offline}  # fmt: skip
    staging = Staging(project, choose(given, project.config, ("window+block",)), out)
    path = _one(entry, staging.home / "corpus")
    kept = load_entry(path)
    try:
        staging = as_recorded(staging, kept)
    except UnknownName as error:
        raise InputError(Problem(file=str(path), what=missing(kept, error).detail)) from error
    campaign = _campaign(staging, kept, path)
    found = asyncio.run(_shrink(kept, campaign, path))
    shown = _report(staging, campaign, kept, found, path, Terminal(staging.redaction))
    if json_file is not None:
        result = {"schema": 1, "finding": finding_json(found, corpus_file=str(shown))}
        write_json(json_file, result, staging.redaction)
    return 1


def _one(name: str, corpus: Path) -> Path:
    from fuzzturn.cli.replaying import entry_paths

    paths = entry_paths([name], corpus)
    if len(paths) > 1:
        raise InputError(Problem(what=f"{name!r} holds {len(paths)} entries", accepted=f"one of them, as {paths[0]}"))
    return paths[0]


def _report(staging: Staging, campaign: Campaign, kept: Entry, shrunk: Finding, path: Path, terminal: Terminal) -> Path:
    """Print what it shrank to, and keep it where it is smaller."""
    from fuzzturn.cli.carrying import carrying
    from fuzzturn.cli.showing import from_here
    from fuzzturn.corpus import keep_entry, meet, write_entry
    from fuzzturn.keep import as_entry
    from fuzzturn.report import Names, finding_block

    bare = as_entry(shrunk, campaign.cast, staging.judge_note, kept.rubric, staging.registry)
    if bare.order >= kept.order:
        terminal.say(
            f"{path} is as small as it gets: {kept.provenance.turns} turns, {kept.provenance.tokens} tokens said"
        )
        return path
    fresh = carrying(bare, shrunk, staging).entry
    sizes = {"turns": fresh.provenance.turns, "tokens": fresh.provenance.tokens}
    found = fresh.model_copy(update={"provenance": kept.provenance.model_copy(update=sizes)})
    smaller = meet(kept, found).entry.model_copy(update={"seen": kept.seen})  # nobody has found it once more
    shown = path
    if smaller.finding == kept.finding:
        write_entry(smaller, path, redaction=staging.redaction)
    else:  # the smaller session loses the constraint otherwise, and so is another finding
        shown = keep_entry(found, staging.home / "corpus", redaction=staging.redaction).path
    names = Names(agent=campaign.cast.name, agent_identity=shrunk.identity, judge=staging.judge_name,
                  rubric=kept.rubric.rubric_id)  # fmt: skip
    again = f"fuzzturn replay {from_here(shown)}{staging.agent_words}"
    terminal.say(finding_block(shrunk, names=names, again=again, width=terminal.width))
    fewer = f"{smaller.provenance.turns} turns for {kept.provenance.turns}"
    if smaller.provenance.turns == kept.provenance.turns:
        fewer = f"{smaller.provenance.tokens} tokens for {kept.provenance.tokens}"
    terminal.say(f"  shorter than before: {fewer}")
    return shown


def _campaign(staging: Staging, entry: Entry, path: Path) -> Campaign:
    from fuzzturn.campaign import Campaign
    from fuzzturn.context import CONTEXTS

    spoken = entry.spoken(str(path))
    return Campaign(
        scenario=spoken,
        cast=staging.cast(spoken),
        registry=staging.registry,
        operators=(),
        judge=staging.judge,
        judge_name=staging.judge_name,
        rubric=entry.rubric,
        contexts=CONTEXTS,
        batch=staging.chosen.batch,
    )


async def _shrink(entry: Entry, campaign: Campaign, path: Path) -> Finding:
    from fuzzturn.campaign import campaign_bench
    from fuzzturn.case import as_case
    from fuzzturn.rewrite import unspoken
    from fuzzturn.search import shrink_failure
    from fuzzturn.threshold import Gauge

    if entry.kind == "metamorphic":
        what = f"{entry.finding} is metamorphic: its twin lacks edits that a spoken session no longer tells apart"
        raise InputError(Problem(file=str(path), what=what, accepted="`fuzzturn fuzz` shrinks what it finds"))
    variant = unspoken(campaign.scenario)
    campaign = replace(campaign, scenario=variant.scenario)
    bench = campaign_bench(campaign)
    trial, gauge = await bench.run(variant), Gauge()
    gauge.add(trial.telling)
    bench = replace(bench, threshold=gauge.threshold)
    case = as_case(trial, entry.pinned(), bench.threshold)
    if case is None:
        what = f"{entry.kind} {entry.finding} does not show with this agent and judge"
        raise InputError(Problem(file=str(path), what=what, accepted="`fuzzturn replay` says what became of it"))
    found = await shrink_failure(case, entry.pinned(), bench, campaign, variant)
    if found is None:
        what = f"{entry.kind} {entry.finding} did not show again in a fresh run, so nothing can be shrunk"
        raise InputError(Problem(file=str(path), what=what))
    return found
