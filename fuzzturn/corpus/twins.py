"""Twins: entries that say the same in two files, and those that look so and do not. Pure: a plan, nothing more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from fuzzturn.corpus.entry import Entry
from fuzzturn.corpus.meeting import copies, meet, options_apart, same_agent, same_session

__all__ = ["Twin", "twins"]

_Shelf: TypeAlias = dict[Path, Entry]


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """A file beside another one that is like it."""

    path: Path
    like: Path
    why: str
    """The reason for what is done, as a clause about `path`."""
    merged: Entry | None = None
    """What `like` holds once `path` has gone into it; None = both stay."""


class _Verdict(NamedTuple):
    merge: bool
    why: str


def twins(entries: Mapping[Path, Entry]) -> list[Twin]:
    """What to do with entries of one finding, or of one session, that lie in several files.

    Merged are those that replay alike and are open: what is marked fixed guards its own session.
    """
    shelf: _Shelf = dict(sorted(entries.items()))
    plan: list[Twin] = []
    for key, compare in ((_finding, _of_one_finding), (_said, _of_one_session)):
        for paths in list(_groups(shelf, key)):
            plan += _settled(shelf, paths, compare)
    return plan


def _finding(entry: Entry) -> str:
    return entry.signature_id


def _said(entry: Entry) -> str:
    return repr(entry.scenario.get("turns"))


def _groups(shelf: _Shelf, key: Callable[[Entry], str]) -> Iterator[list[Path]]:
    groups: defaultdict[str, list[Path]] = defaultdict(list)
    for path, entry in shelf.items():
        groups[key(entry)].append(path)
    return (paths for paths in groups.values() if len(paths) > 1)


def _settled(shelf: _Shelf, paths: list[Path], compare: Callable[[Entry, Entry], _Verdict | None]) -> Iterator[Twin]:
    """Each file against those before it, the best place first; `shelf` loses what is merged into another."""
    first, *others = sorted(paths, key=lambda path: (_misplaced(path, shelf[path]), shelf[path].order, path))
    stay = [first]
    for path in others:
        verdicts = {other: verdict for other in stay if (verdict := compare(shelf[other], shelf[path])) is not None}
        into = next((other for other, verdict in verdicts.items() if verdict.merge), None)
        if into is None:
            stay.append(path)
            yield from (Twin(path=path, like=other, why=verdict.why) for other, verdict in [*verdicts.items()][:1])
        else:
            merged = meet(shelf[into], shelf.pop(path), again=False).entry
            shelf[into] = merged.model_copy(update={"finding": shelf[into].finding})
            yield Twin(path=path, like=into, why=verdicts[into].why, merged=shelf[into])


def _misplaced(path: Path, entry: Entry) -> bool:
    """Whether a campaign that finds it again would not look for it there."""
    return (path.parent.name, path.stem) != (entry.provenance.scenario, entry.finding)


def _of_one_finding(known: Entry, other: Entry) -> _Verdict:
    if not same_agent(known, other):
        return _Verdict(False, f"the same finding, but the agent's options are {options_apart(other, known)}")
    if known.status != other.status:
        return _Verdict(
            False, f"the same finding, but {other.status} and there {known.status}: the fixed one is a guard"
        )
    if copies(known, other):
        return _Verdict(True, "a copy")
    if known.status == "fixed":
        return _Verdict(False, "the same finding in another session, and both are marked fixed: each guards its own")
    sizes = f"{_size(other)}, there {_size(known)}"
    longer = "shorter, so it takes the place" if other.order < known.order else "not shorter"
    return _Verdict(True, f"the same finding in a session that is {longer}: {sizes}")


def _of_one_session(known: Entry, other: Entry) -> _Verdict | None:
    """None = they only share turns, or are of one finding, which was settled before."""
    if known.signature_id == other.signature_id or not same_session(known, other):
        return None
    if not same_agent(known, other):
        return _Verdict(False, "the same session, but another agent, or one with other options")
    here, there = other.signature, known.signature
    apart = [key for key in here if here[key] != there[key]]
    differing = ", ".join(f"{key} {here[key]}, there {there[key]}" for key in apart)
    if known.pinned() != other.pinned():
        return _Verdict(False, f"the same session, but another finding: {differing}")
    if "fixed" in (known.status, other.status):
        return _Verdict(False, f"the same session and the same thing wrong, but one is marked fixed: {differing}")
    return _Verdict(True, f"the same session and the same thing wrong, told otherwise: {differing}")


def _size(entry: Entry) -> str:
    return f"{entry.provenance.turns} turns and {entry.provenance.tokens} tokens"
