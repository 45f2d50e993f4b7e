"""fuzzturn replay: speak corpus entries again and say what became of each."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fuzzturn.cli.options import AgentOption, AgentOptionOption, JsonOption, JudgeOption, OutOption, choose
from fuzzturn.errors import UnknownName

if TYPE_CHECKING:
    from fuzzturn.cli.staging import Staging
    from fuzzturn.corpus import Entry
    from fuzzturn.replay import Replayed

REGRESSION, ERROR = 1, 3


def replay(
    entries: Annotated[list[str] | None, typer.Argument(help="corpus files, folders or ids; default: all")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="an open entry that still fails is an error too")] = False,
    agent: AgentOption = None,
    agent_option: AgentOptionOption = None,
    judge: JudgeOption = None,
    out: OutOption = None,
    json_file: JsonOption = None,
) -> int:
    """Replay corpus entries: FAILING, FIXED, CHANGED or ERROR.

    Example: fuzzturn replay corpus/lisbon_offsite/1a2b3c4d.yaml --agent-option compaction=none
    """
    from fuzzturn.cli.staging import Staging
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.corpus import load_entry
    from fuzzturn.project import find_project

    project = find_project()
    given = {"agent": agent, "agent_option": agent_option, "judge": judge}
    staging = Staging(project, choose(given, project.config, ("window+block",)), out)
    terminal, results, code = Terminal(), [], 0
    for path in entry_paths(entries, staging.home / "corpus"):
        entry = load_entry(path)
        replayed = asyncio.run(_replay(entry, path, staging))
        what = entry.constraint or entry.milestone or entry.turn_id
        terminal.say(f"{replayed.outcome:<8} {path}  {entry.kind} of {what}")
        terminal.say(f"         {replayed.detail}")
        if replayed.changed:
            terminal.say(f"         note: changed since this entry was written: {', '.join(replayed.changed)}")
        code = max(code, _code(entry, replayed, strict))
        results.append({"file": str(path), "finding": entry.finding, "status": entry.status,
                        "outcome": replayed.outcome, "detail": replayed.detail})  # fmt: skip
    if not results:
        terminal.say("there is nothing to replay")
    if json_file is not None:
        json_file.write_text(json.dumps({"schema": 1, "replayed": results}, indent=2) + "\n", encoding="utf-8")
    return code


def entry_paths(given: list[str] | None, corpus: Path) -> list[Path]:
    """The corpus files that files, folders and ids name; all of them where nothing is given. Raises UnknownName."""
    if not given:
        return sorted(corpus.rglob("*.yaml"))
    found: list[Path] = []
    for name in given:
        path = Path(name)
        matches = sorted(path.rglob("*.yaml")) if path.is_dir() else [path] if path.is_file() else []
        matches = matches or sorted(corpus.rglob(f"{name}.yaml"))
        if not matches:
            raise UnknownName("corpus entry", name, (entry.stem for entry in corpus.rglob("*.yaml")))
        found += matches
    return found


async def _replay(entry: Entry, path: Path, staging: Staging) -> Replayed:
    from fuzzturn.drive import Meter
    from fuzzturn.measure import Jury
    from fuzzturn.replay import missing, replay
    from fuzzturn.tree import Tree
    from fuzzturn.trial import Bench

    spoken = entry.spoken(str(path))
    try:
        ready = as_recorded(staging, entry)
        cast = ready.cast(spoken)
        meter = Meter()
        jury = Jury(ready.judge, ready.judge_name, entry.rubric, _contexts(entry), meter)
        bench = Bench(Tree(cast, spoken, meter), ready.registry, jury, asyncio.Semaphore(1))
        return await replay(entry, spoken, bench)
    except UnknownName as error:
        return missing(entry, error)


def as_recorded(staging: Staging, entry: Entry) -> Staging:
    """The staging with the agent and judge that the entry names, unless others were asked for; options given win."""
    from fuzzturn.cli.staging import label

    chosen = staging.chosen
    if not chosen.agent_given:
        chosen = replace(chosen, agent=entry.agent.name)
    if not chosen.judge_given:
        chosen = replace(chosen, judge=entry.judge.name if entry.judge else "none")
    options = dict(entry.agent.options) if label(chosen.agent) == entry.agent.name else {}
    chosen = replace(chosen, agent_options={**options, **chosen.agent_options}, seed=entry.provenance.seed)
    return replace(staging, chosen=chosen)


def _contexts(entry: Entry) -> Any:
    from fuzzturn.context import CONTEXTS

    return tuple(context for context in CONTEXTS if context in entry.why.judge) or ("window+block",)


def _code(entry: Entry, replayed: Replayed, strict: bool) -> int:
    if replayed.outcome == "ERROR":
        return ERROR
    if replayed.outcome == "CHANGED":
        return REGRESSION
    return REGRESSION if replayed.outcome == "FAILING" and (strict or entry.status == "fixed") else 0
