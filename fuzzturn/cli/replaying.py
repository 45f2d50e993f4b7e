"""fuzzturn replay: speak corpus entries again and say what became of each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fuzzturn.cli.options import (
    AgentOption,
    AgentOptionOption,
    ApiBaseOption,
    JsonOption,
    JudgeOption,
    JunitOption,
    NdjsonOption,
    OfflineOption,
    OutOption,
    RepeatsOption,
    choose,
)
from fuzzturn.errors import Halted, InputError, PortError, UnknownName

if TYPE_CHECKING:
    from fuzzturn.cli.staging import Staging
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.corpus import Entry
    from fuzzturn.replay import Replayed
    from fuzzturn.scenario import Scenario
    from fuzzturn.scores import JudgeContext
    from fuzzturn.trial import Bench

REGRESSION, ERROR = 1, 3
PRECEDENCE = (REGRESSION, ERROR, 0)


def replay(
    entries: Annotated[list[str] | None, typer.Argument(help="corpus files, folders or ids; default: all")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="an open entry that still fails is an error too")] = False,
    agent: AgentOption = None,
    agent_option: AgentOptionOption = None,
    judge: JudgeOption = None,
    repeats: RepeatsOption = None,
    api_base: ApiBaseOption = None,
    offline: OfflineOption = False,
    out: OutOption = None,
    json_file: JsonOption = None,
    junit: JunitOption = None,
    ndjson: NdjsonOption = None,
) -> int:
    """Replay corpus entries: FAILING, FIXED, RARER, MORE OFTEN, CHANGED or ERROR.

    An entry of an agent that does not repeat itself is played as often as its rate was measured by, or --repeats times.

    Example: fuzzturn replay corpus/lisbon_offsite/1a2b3c4d.yaml --agent-option compaction=none
    """
    from fuzzturn.cli.staging import Staging
    from fuzzturn.cli.telling import Outputs, telling
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.project import find_project
    from fuzzturn.records import SCHEMA, write_json

    project = find_project()
    given = {"agent": agent, "agent_option": agent_option, "judge": judge, "repeats": repeats, "api_base": api_base,
             "offline": offline}  # fmt: skip
    staging = Staging(project, choose(given, project.config, ("window+block",)), out)
    terminal, results, codes = Terminal(staging.redaction), [], [0]
    with telling("replay", Outputs(junit, ndjson), staging, terminal) as told:
        paths = entry_paths(entries, staging.home / "corpus")
        told.started({str(path): path for path in paths}, {"strict": strict})
        for path in paths:
            entry, replayed = outcome_of(path, staging, alone=len(paths) == 1)
            _tell(terminal, path, entry, replayed)
            codes.append(_code(entry, replayed, strict))
            told.replayed(path, entry, replayed, codes[-1])
            results.append({"file": str(path), "finding": entry.finding if entry else None,
                            "status": entry.status if entry else None, "outcome": replayed.outcome,
                            "detail": replayed.detail,
                            **({} if replayed.now is None else {"now": asdict(replayed.now)})})  # fmt: skip
        if not results:
            terminal.say("there is nothing to replay")
        if json_file is not None:
            write_json(json_file, {"schema": SCHEMA, "replayed": results}, staging.redaction)
        code = min(codes, key=PRECEDENCE.index)
        told.ended(code)
    return code


def entry_paths(given: list[str] | None, corpus: Path) -> list[Path]:
    """The corpus files that files, folders and ids name, once each; all of them where nothing is given.

    Raises UnknownName.
    """
    kept = _entries(corpus)
    found: list[Path] = []
    for name in given or ():
        path = Path(name)
        named = [] if not name else _entries(path) if path.is_dir() else [path] if path.is_file() else []
        named = named or [entry for entry in kept if entry.stem == name]
        if not named:
            raise UnknownName("corpus entry", name, (entry.stem for entry in kept))
        found += named
    return list(dict.fromkeys(found if given else kept))


def _entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.yaml") if path.is_file())


def outcome_of(path: Path, staging: Staging, *, alone: bool) -> tuple[Entry | None, Replayed]:
    """What became of one entry; None where it cannot be read. One that is bad does not keep the others from it.

    Raises InputError where it is the only one and cannot be read; and InputError or PortError for what the command or
    the project asks for (agent, judge, options), since no entry is to blame for that.
    """
    from fuzzturn.cli.origins import Origins
    from fuzzturn.corpus import load_entry
    from fuzzturn.replay import SCRIPT, refused

    try:
        entry = load_entry(path)
    except InputError as error:
        if alone:
            raise
        return None, refused(error)
    replayed = played_again(entry, path, staging, alone=alone)
    if Origins(staging.project).changed(entry):
        replayed = replace(replayed, changed=(*replayed.changed, f"{SCRIPT}{entry.provenance.scenario}"))
    return entry, replayed


def played_again(entry: Entry, path: Path, staging: Staging, *, alone: bool) -> Replayed:
    """What became of an entry that is read. `path`: what its problems name. Raises as `outcome_of` does."""
    from fuzzturn.replay import missing, refused
    from fuzzturn.rerun import rerun

    spoken = entry.spoken(str(path))
    try:
        ready = as_recorded(staging, entry)
        if ready.chosen.offline and entry.calls:
            _lay_under(entry, ready)
        benches = benches_of(ready, entry, spoken, _samples(ready, entry))
    except UnknownName as error:
        if _asked_for(error.kind, staging):
            raise
        return missing(entry, error)
    try:
        return asyncio.run(rerun(entry, spoken, benches))
    except UnknownName as error:
        return missing(entry, error)
    except Halted as error:
        return refused(error)
    except (InputError, PortError) as error:
        if alone and _asked(staging, ready):
            raise
        return refused(error)


def _asked_for(kind: str, staging: Staging) -> bool:
    """Whether it is the command or the project, not the entry, that names what is unknown."""
    given = {"agent": staging.chosen.agent_given, "judge": staging.chosen.judge_given, "function": True}
    return given.get(kind, False)


def _asked(staging: Staging, ready: Staging) -> bool:
    """Whether agent, judge and options are those of the command or the project, and the entry adds none."""
    chosen = staging.chosen
    given = chosen.agent_given or chosen.judge_given or bool(chosen.agent_options)
    return given and chosen.agent_options == ready.chosen.agent_options


def _lay_under(entry: Entry, ready: Staging) -> None:
    """Have the entry's answers found before those of the record, which need not be there."""
    from fuzzturn.adapters.access import RECORD
    from fuzzturn.calls import CallRecord
    from fuzzturn.corpus import answers_of

    file = ready.home / RECORD
    ready.gateway.record = CallRecord(file if file.exists() else None, answers_of(entry.calls))


def _samples(ready: Staging, entry: Entry) -> list[int]:
    """One for each run. Without a model it is played in those that the entry carries the calls of."""
    runs = max(ready.chosen.repeats, 1) if ready.chosen.repeats_given else entry.failing.n
    carried = entry.samples[:runs] if ready.chosen.offline else ()
    return [*carried, *range(runs - len(carried))]


def benches_of(ready: Staging, entry: Entry, spoken: Scenario, samples: Sequence[int]) -> list[Bench]:
    """A bench for each sample, on which the entry is played as a replay plays it."""
    from fuzzturn.drive import Meter
    from fuzzturn.measure import Jury
    from fuzzturn.tree import Tree
    from fuzzturn.trial import Bench

    meter, cast = Meter(), ready.cast(spoken)
    jury = Jury(ready.judge, ready.judge_name, entry.rubric, contexts_of(entry), meter)
    casts = [replace(cast, sample=sample) for sample in samples]
    return [
        Bench(Tree(each, spoken, meter), ready.registry, jury.afresh(each.sample), asyncio.Semaphore(1))
        for each in casts
    ]


def _tell(terminal: Terminal, path: Path, entry: Entry | None, replayed: Replayed) -> None:
    from fuzzturn.replay import changes_told

    what = f"  {entry.kind} of {entry.constraint or entry.milestone or entry.turn_id}, {entry.status}" if entry else ""
    terminal.say(f"{replayed.outcome:<8} {path}{what}")
    for line in replayed.detail.splitlines():
        terminal.say(f"         {line}")
    if entry is not None and entry.status == "open" and replayed.outcome == "FIXED":
        terminal.say(f"         `fuzzturn corpus mark {path} --fixed`, and replay exits 1 when it fails again")
    for change in changes_told(replayed.changed):
        terminal.say(f"         note: {change}")


def as_recorded(staging: Staging, entry: Entry) -> Staging:
    """The staging with the agent and judge that the entry names, unless others were asked for; options given win.

    Raises UnknownName for an agent or judge of the entry that is no shipped one: an entry is data that may come from
    anywhere, so no name in it is ever taken for a module or a file to load.
    """
    from fuzzturn.adapters import PRIVATE
    from fuzzturn.cli.staging import label

    chosen = staging.chosen
    if not chosen.agent_given:
        chosen = replace(chosen, agent=_shipped(staging, "agent", entry.agent.name))
    if not chosen.judge_given:
        judge = entry.judge.name if entry.judge else "none"
        chosen = replace(chosen, judge=judge if judge == "none" else _shipped(staging, "judge", judge))
    kept = {key: value for key, value in entry.agent.options.items() if key not in PRIVATE}
    if kept.get("summariser", "by_rule") not in ("by_rule", "model"):  # another model, which nobody here has named
        del kept["summariser"]
    options = kept if label(chosen.agent) == entry.agent.name else {}
    chosen = replace(chosen, agent_options={**options, **chosen.agent_options}, seed=entry.provenance.seed)
    return replace(staging, chosen=chosen)


def _shipped(staging: Staging, kind: Literal["agent", "judge"], name: str) -> str:
    staging.project.shipped(kind, name)
    if ":" in name:  # a folder may be called so, and would then be taken for a file and a function
        raise UnknownName(kind, name, ())
    return name


def contexts_of(entry: Entry) -> tuple[JudgeContext, ...]:
    """The contexts in which a replay asks the judge: those in which the entry has a score."""
    from fuzzturn.context import CONTEXTS

    scored = {*entry.why.judge, *entry.blind_in, entry.judge_context}
    return tuple(context for context in CONTEXTS if context in scored) or ("window+block",)


def _code(entry: Entry | None, replayed: Replayed, strict: bool) -> int:
    if entry is None or replayed.outcome == "ERROR":
        return ERROR
    if replayed.outcome in ("CHANGED", "MORE OFTEN"):
        return REGRESSION
    if replayed.outcome == "RARER":
        return REGRESSION if strict else 0
    return REGRESSION if replayed.outcome == "FAILING" and (strict or entry.status == "fixed") else 0
