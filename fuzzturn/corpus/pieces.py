"""Pieces: what a replay needs of a scenario, and the registered names behind it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from fuzzturn.checkers import registered_names
from fuzzturn.corpus.entry import Entry
from fuzzturn.corpus.reading import load_document, read_entry
from fuzzturn.document import Address, shown
from fuzzturn.document.place import in_file_order
from fuzzturn.errors import InputError, UnknownName
from fuzzturn.records import digest
from fuzzturn.registry import Registry
from fuzzturn.scenario import Scenario
from fuzzturn.scenario_file import scenario_to_data

__all__ = ["as_kept", "gone_pieces", "pieces_of", "script_digest", "welcome"]

_HOSTED = "litellm/"
_FEW = 5


def as_kept(spoken: Scenario) -> Scenario:
    """The scenario of an entry: as spoken, without constraints that no turn of it states.

    What a stated one supersedes stays, stated or not: it makes two versions of one rule what they are.
    """
    ids = {id for line in spoken.turns for id in line.states} | {
        c.id for c in spoken.constraints if c.source == "system"
    }
    while above := {c.replaces for c in spoken.constraints if c.id in ids and c.replaces} - ids:
        ids |= above
    kept = [c for c in spoken.constraints if c.id in ids]
    turns = [line.model_copy(update={"lifts": tuple(x for x in line.lifts if x in ids)}) for line in spoken.turns]
    return spoken.model_copy(update={"constraints": tuple(kept), "turns": tuple(turns), "interruptions": ()})


def pieces_of(scenario: Scenario, registry: Registry) -> dict[str, str]:
    """Every registered name that replaying the scenario uses, with the digest of its file. Raises UnknownName."""
    names = sorted({(kind, name) for _, kind, name in registered_names(scenario, registry)})
    return {f"{kind} {name}": registry.get(kind, name).digest() for kind, name in names}


def script_digest(scenario: Scenario) -> str:
    """Tells whether a scenario says what it said, however its file is laid out. What has its default value does not
    count, so that a scenario stays the same where a later fuzzturn knows more keys."""
    return digest(scenario_to_data(scenario))


def gone_pieces(entry: Entry, registry: Registry) -> list[str]:
    """What the entry needs and the registry has not, the first few of it; [] = it can be played."""
    return list(dict.fromkeys(str(error) for _, error in islice(_unknown(entry, registry), _FEW)))


def welcome(path: Path, registry: Registry) -> Entry:
    """An entry that comes from elsewhere. Raises InputError also where it names what is not here, or a file of code.

    No such name would be loaded, see `fuzzturn.cli.replaying`; but whoever takes a file in should see it in time.
    """
    document = load_document(path)
    entry = read_entry(document)
    problems = [
        document.problem(("scenario", *at), problem.what, problem.accepted)
        for at, error in _unknown(entry, registry)
        for problem in error.problems
    ]
    for who in ("agent", "judge"):
        name = getattr(entry, who).name if getattr(entry, who) else ""
        if ".py:" in name or name.endswith(".py") or ("/" in name and not name.startswith(_HOSTED)):
            problems.append(document.problem((who, "name"), f"{shown(name)} is a file of code", f"--{who} names it"))
    if problems:
        raise InputError(in_file_order(problems))
    return entry


def _unknown(entry: Entry, registry: Registry) -> Iterator[tuple[Address, UnknownName]]:
    for at, kind, name in registered_names(entry.spoken(), registry):
        try:
            registry.get(kind, name)
        except UnknownName as error:
            yield at, error
