"""Asked: what `stress` asks a judge about: turns of the scenarios, and turns of what the corpus keeps."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fuzzturn.cli.replaying import entry_paths, played_again
from fuzzturn.cli.showing import from_here
from fuzzturn.cli.staging import Staging
from fuzzturn.cli.terminal import Terminal
from fuzzturn.context import prompt
from fuzzturn.corpus import Entry, load_entry
from fuzzturn.document import read_text
from fuzzturn.drive import drive
from fuzzturn.errors import InputError, Problem
from fuzzturn.measure import evidence_of
from fuzzturn.report import counted
from fuzzturn.rubric import Rubric
from fuzzturn.scenario import Scenario
from fuzzturn.stress.item import Item, Items
from fuzzturn.stress.items import items_of
from fuzzturn.stress.kept import items_kept

__all__ = ["Subjects", "items", "subjects"]

KINDS = ("blind_spot", "violation")
"""Kinds of entries in which the checker of a constraint fails."""
_UNTOLD = "that no checker tells"


@dataclass(frozen=True, slots=True)
class Subjects:
    """What a judge is asked about."""

    scripts: Sequence[Scenario]
    entries: Mapping[Path, Entry]


def subjects(staging: Staging, named: Sequence[str], terminal: Terminal) -> Subjects:
    """The scenarios named and their entries, and the corpus files named; with nothing named all there are.

    Raises UnknownName, and InputError with what `check` calls an error or where the one file named cannot be read.
    """
    files = [name for name in named if _is_entry(Path(name))]
    names = [name for name in named if name not in files]
    scripts = staging.scenarios(names) if names or not files else []
    if len(named) == len(files) == 1:
        return Subjects(scripts, {Path(files[0]): load_entry(Path(files[0]))})
    own = dict(_read(entry_paths(None, staging.home / "corpus") if scripts else (), terminal))
    played = {script.scenario for script in scripts}
    entries = {path: entry for path, entry in own.items() if entry.provenance.scenario in played}
    return Subjects(scripts, entries | dict(_read(map(Path, files), terminal)))


def _is_entry(path: Path) -> bool:
    return path.suffix == ".yaml" and path.is_file() and re.search(r"^finding:", read_text(path), re.M) is not None


def _read(paths: Iterable[Path], terminal: Terminal) -> Iterator[tuple[Path, Entry]]:
    for path in paths:
        try:
            yield path, load_entry(path)
        except InputError as error:
            terminal.note(f"{from_here(path)}: no items, it cannot be read: {error}")


def items(staging: Staging, about: Subjects, terminal: Terminal) -> list[Item]:
    """The items of all of it, and of each a note. Raises InputError where there is none at all."""
    found: dict[str, Item] = {}
    """By all that there is to read of them: a copy of an entry, under whatever name, adds nothing."""
    for script in about.scripts:
        made = items_of(script, asyncio.run(drive(staging.cast(script), script)), staging.registry)
        _add(found, made.items, staging.rubric)
        terminal.note(f"{script.scenario}: {_counted(made)}")
    alone = not about.scripts and len(about.entries) == 1
    for path, entry in about.entries.items():
        made, why = _kept(path, entry, staging, alone=alone)
        _add(found, made.items, staging.rubric)
        terminal.note(f"{from_here(path)}: {why}")
    if not found:
        what = "nothing here has an item: no constraint with an example that fails, and no entry that breaks one"
        raise InputError(Problem(what=what, accepted="examples: {fail: [a tool call that breaks it]}"))
    return list({item.id: item for item in found.values()}.values())


def _add(found: dict[str, Item], made: Iterable[Item], rubric: Rubric) -> None:
    for item in made:
        shown = prompt("full", evidence_of(item.measured, item.turn, rubric))
        assert shown is not None  # only the `agent` context can be unknown
        found.setdefault(shown.text, item)


def _kept(path: Path, entry: Entry, staging: Staging, *, alone: bool) -> tuple[Items, str]:
    """The items of one entry, replayed as `replay` does but that no judge is asked; and what there is to say of it."""
    if entry.kind not in KINDS or entry.constraint is None:
        return Items((), 0), f"no items, no checker of a constraint tells of a {entry.kind}"
    unjudged = replace(staging, chosen=replace(staging.chosen, judge="none", judge_given=True))
    replayed = played_again(entry, path, unjudged, alone=alone)
    if replayed.trial is None:
        return Items((), 0), f"no items, {replayed.outcome}: {replayed.detail}"
    name = path.stem if path.stem.startswith(entry.finding) else f"{entry.finding}-{path.stem}"
    made = items_kept(replayed.trial.measured, entry.constraint, staging.registry, name)
    return made, _counted(made) if made.items else f"no items, {replayed.outcome}: {replayed.detail}"


def _counted(made: Items) -> str:
    return f"{counted(len(made.items), 'item')}, {made.left_out} {_UNTOLD}"
