"""Adding: what `corpus add` is given, as corpus files: files, folders of them, and runs of fuzz, by folder or id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzzturn.cli.showing import from_here
from fuzzturn.cli.terminal import Terminal
from fuzzturn.corpus import ENTRIES, count_in, counted_in, entry_files, keep_entry, welcome
from fuzzturn.errors import InputError, Problem, closest
from fuzzturn.redaction import Redaction
from fuzzturn.registry import Registry

__all__ = ["Shelf", "Source", "add_source", "sources"]

_RUNS = Path(".fuzzturn") / "runs"


@dataclass(frozen=True, slots=True)
class Source:
    """One thing that was given."""

    name: str
    files: tuple[Path, ...]
    run: Path | None = None
    """The folder of the run that it is; None = files, and nobody knows where they were found."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where entries are added."""

    corpus: Path
    registry: Registry
    redaction: Redaction


def sources(given: Sequence[str], home: Path) -> list[Source]:
    """What was given, in order; `home` is where the project's runs are. Raises InputError for what is not there."""
    return [_source(name, home / _RUNS) for name in given]


def add_source(source: Source, shelf: Shelf, terminal: Terminal) -> int:
    """Add what is in it and say what became of each; how many were refused. One that is bad keeps no other out."""
    again = source.run is not None and not counted_in(source.run, shelf.corpus)
    refused = 0
    if not source.files:
        terminal.say(f"{source.name}: there is no corpus file in it")
    for path in source.files:
        try:
            kept = keep_entry(welcome(path, shelf.registry), shelf.corpus, redaction=shelf.redaction, again=again)
        except InputError as error:
            terminal.error(str(error))
            refused += 1
            continue
        terminal.say(f"{path}: {kept.told} -> {from_here(kept.path)}")
        if kept.regressed is not None:
            terminal.say(f"    {from_here(kept.regressed)} is marked fixed and stays as it is")
    if source.run is not None and source.files and not refused:
        count_in(source.run, shelf.corpus)
    return refused


def _source(name: str, runs: Path) -> Source:
    path = Path(name)
    if not path.exists() and path.name == name and (runs / name).is_dir():
        path = runs / name
    if not path.exists():
        what = "there is no such file or folder, nor a run of that name"
        raise InputError(Problem(file=name, what=what, accepted=_known(name, runs)))
    if not path.is_dir():
        return Source(name, (path,))
    entries = path / ENTRIES
    if entries.is_dir() or _is_run(path):
        return Source(name, tuple(entry_files(entries)) if entries.is_dir() else (), path)
    return Source(name, tuple(entry_files(path)))


def _is_run(folder: Path) -> bool:
    return any((folder / name).is_file() for name in ("sessions.jsonl", "run.json"))


def _known(name: str, runs: Path) -> str:
    ids = sorted(path.name for path in runs.iterdir() if path.is_dir()) if runs.is_dir() else []
    return closest(name, ids) if ids else "corpus files, folders of them, or a run of fuzz"
