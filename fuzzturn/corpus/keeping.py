"""Keeping: an entry put into a corpus folder, beside or in place of what is known there of the same finding."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from fuzzturn.corpus.amending import amend
from fuzzturn.corpus.entry import Entry
from fuzzturn.corpus.meeting import Event, copies, meet, options_apart, same_agent
from fuzzturn.corpus.reading import load_entry
from fuzzturn.corpus.versions import OtherVersion
from fuzzturn.corpus.writing import entry_path, write_entry
from fuzzturn.errors import InputError
from fuzzturn.redaction import NOTHING, Redaction

__all__ = ["Kept", "keep_entry", "put_in_place"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What became of an entry."""

    event: Event
    path: Path
    """The file that now stands for it."""
    entry: Entry
    """What is in that file."""
    was: Entry | None = None
    """What was in it; None = there was no such file, or none that could be read."""
    longer: bool = False
    """The session that was found is longer than the one that the file keeps."""
    regressed: Path | None = None
    """The file of the same finding that is marked fixed, and stays as it is."""
    beside: Path | None = None
    """The file that has the finding's name already, for an agent with other options."""
    apart: str | None = None
    """In which options the two differ."""
    unreadable: Mapping[Path, InputError] = field(default_factory=dict)
    """What could not be read of the files that have the finding's name, and why."""

    @property
    def told(self) -> str:
        """What happened, in a line, as "new", "known, seen 3 times" or "shorter than before: 4 turns for 6"."""
        if self.was is None:
            return "new" if self.beside is None else f"new beside one of an agent with other options: {self.apart}"
        if self.entry == self.was:
            return "known, nothing is new"
        seen = f"seen {self.entry.seen} times"
        if self.event == "known":
            return f"known, {seen}"
        now, before = self.entry.provenance, self.was.provenance
        fewer = f"{now.turns} turns for {before.turns}"
        if now.turns == before.turns:
            fewer = f"{now.tokens} tokens for {before.tokens}"
        return f"shorter than before: {fewer}; {seen}"


@dataclass(frozen=True, slots=True)
class _Shelf:
    """The files that have the finding's name already."""

    entries: Mapping[Path, Entry]
    unreadable: Mapping[Path, InputError]

    def of(self, found: Entry) -> dict[Path, Entry]:
        """Those that are of the finding, whatever the agent's options."""
        return {path: entry for path, entry in self.entries.items() if entry.finding == found.finding}

    def keeps(self, path: Path) -> bool:
        """Whether the file must not be written over. One that is damaged may be: it says nothing."""
        return path in self.entries or isinstance(self.unreadable.get(path), OtherVersion)


def keep_entry(found: Entry, corpus: Path, *, redaction: Redaction = NOTHING, again: bool = True) -> Kept:
    """Put an entry into the corpus. Raises InputError where it cannot be written.

    A known one is replaced by a smaller session only; else its `seen` grows, one line of its file. One that is marked
    fixed is never touched: the same finding goes beside it, as `<id>-again.yaml`. `again` False: a file that is a copy
    of what is known counts as one sighting with it.
    """
    options = redaction.data(dict(found.agent.options))
    found = found.model_copy(update={"agent": found.agent.model_copy(update={"options": options})})
    shelf = _shelf(entry_path(found, corpus))
    same = {path: entry for path, entry in shelf.of(found).items() if same_agent(entry, found)}
    twin = next((path for path, entry in same.items() if not again and copies(entry, found)), None)
    if twin is not None and same[twin].status == "fixed":
        return Kept(event="known", path=twin, entry=same[twin], was=same[twin])
    guards = sorted(path for path, entry in same.items() if entry.status == "fixed")
    live = [path for path in same if path not in guards]
    if live:
        path = min(live, key=lambda path: (same[path].order, path))
        kept = _met(same[path], found, path, redaction, again=again)
    else:
        kept = _added(found, shelf, corpus, guards, redaction)
    regressed = guards[0] if guards and found.status == "open" else None
    return replace(kept, regressed=regressed, unreadable=shelf.unreadable)


def _shelf(place: Path) -> _Shelf:
    entries, unreadable = {}, {}
    for path in sorted(place.parent.glob(f"{place.stem}*.yaml")):
        if path.is_file() or path.is_symlink():
            try:
                entries[path] = load_entry(path)
            except InputError as error:
                unreadable[path] = error
    return _Shelf(entries, unreadable)


def _met(known: Entry, found: Entry, path: Path, redaction: Redaction, *, again: bool) -> Kept:
    met = meet(known, found, again=again)
    put_in_place(path, known, met.entry, redaction=redaction)
    return Kept(event=met.event, path=path, entry=met.entry, was=known, longer=found.order > known.order)


def put_in_place(path: Path, known: Entry, entry: Entry, *, redaction: Redaction = NOTHING) -> None:
    """Write an entry in place of the known one; where only `seen` differs, that line alone. Raises InputError."""
    if entry == known:
        return
    if entry == known.model_copy(update={"seen": entry.seen}):
        try:
            amend(path, "seen", entry.seen)
        except InputError:  # a file of another style, which has no such line
            write_entry(entry, path, redaction=redaction)
    else:
        write_entry(entry, path, redaction=redaction)


def _added(found: Entry, shelf: _Shelf, corpus: Path, guards: list[Path], redaction: Redaction) -> Kept:
    place = entry_path(found, corpus)
    path = next(path for path in _places(place, found, guards) if not shelf.keeps(path))
    write_entry(found, path, redaction=redaction)
    other = next(iter(shelf.of(found)), None)
    if guards or other is None:
        return Kept(event="new", path=path, entry=found)
    return Kept(event="new", path=path, entry=found, beside=other, apart=options_apart(found, shelf.entries[other]))


def _places(place: Path, found: Entry, guards: list[Path]) -> Iterator[Path]:
    """Names for the file, the best first. Two branches that add other options choose other names."""
    if guards:
        yield from (place.with_stem(guards[0].stem + "-again" * n) for n in count(1))
    yield place
    digest = hashlib.sha256(json.dumps(dict(found.agent.options), sort_keys=True).encode()).hexdigest()
    yield place.with_stem(f"{place.stem}-{digest[:4]}")
    yield from (place.with_stem(f"{place.stem}-{n}") for n in count(2))
