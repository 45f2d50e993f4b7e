"""Keeping: a finding's corpus file, and what there is to say of it: new, known, or shorter than before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fuzzturn.campaign import Campaign
from fuzzturn.cli.carrying import Carrying, carrying
from fuzzturn.cli.showing import from_here
from fuzzturn.cli.staging import Staging
from fuzzturn.cli.terminal import Terminal
from fuzzturn.corpus import ENTRIES, Entry, Kept, count_in, keep_entry, save_entry
from fuzzturn.errors import InputError
from fuzzturn.keep import as_entry
from fuzzturn.outcome import Finding
from fuzzturn.records import Run
from fuzzturn.report import Names, finding_block
from fuzzturn.results import finding_json

__all__ = ["Shown", "keep_and_show"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A finding that was kept, as JSON and as texts to print."""

    record: dict[str, Any]
    blocks: list[str] = field(default_factory=list)


def keep_and_show(
    found: Finding, campaign: Campaign, staging: Staging, terminal: Terminal, run: Run | None = None
) -> Shown:
    """Put the finding into the corpus, and into the run's folder. Where that is not possible, it is told all the same.

    `run` None = there is no run that it is of.
    """
    bare = as_entry(found, campaign.cast, staging.judge_note, campaign.rubric, campaign.registry)
    made = carrying(bare, found, staging)
    entry, corpus = made.entry, staging.home / "corpus"
    if run is not None:
        _note(terminal, partial(save_entry, entry, run.folder / ENTRIES, redaction=staging.redaction))
    try:
        kept = keep_entry(entry, corpus, redaction=staging.redaction)
    except InputError as error:  # the other findings, and what is recorded of this one, are kept all the same
        record = finding_json(found, corpus_file=None)
        return Shown(record=record, blocks=[_block(found, entry, f"it has no corpus file: {error}", terminal)])
    _complain(kept, terminal)
    if run is not None:
        _note(terminal, partial(count_in, run.folder, corpus))
    shown = from_here(kept.path)
    showing = Shown(record=finding_json(found, corpus_file=shown) | {"known": kept.event, "seen": kept.entry.seen})
    if kept.regressed is not None:
        guard = from_here(kept.regressed)
        showing.blocks.append(f"REGRESSED {entry.finding}: {guard} is marked fixed and stays as it is; see below")
    block = _block(found, entry, f"fuzzturn replay {shown}{staging.agent_words}", terminal)
    showing.blocks.append(f"{block.rstrip()}\n  {_told(kept, made)}\n\n")
    return showing


def _note(terminal: Terminal, write: Callable[[], object]) -> None:
    """Write something into the run's folder; where that is not possible, the finding is kept all the same."""
    try:
        write()
    except InputError as error:
        terminal.error(str(error))


def _told(kept: Kept, made: Carrying) -> str:
    """What happened to the corpus; where the file keeps another session than the one that is shown, that too."""
    if kept.longer:
        return f"{kept.told}; the file keeps its session of {kept.entry.provenance.turns} turns"
    told = kept.told if kept.beside is None else f"{kept.told} ({from_here(kept.beside)})"
    ours = kept.entry.calls == made.entry.calls  # else it keeps the calls of another session
    return f"{told}\n  {made.told}" if ours and made.told is not None else told


def _complain(kept: Kept, terminal: Terminal) -> None:
    for path, error in kept.unreadable.items():
        anew = path == kept.path
        what = "could not be read and is written anew, as open" if anew else "could not be read and stays as it is"
        terminal.error(f"{error}\n{from_here(path)} {what}")


def _block(found: Finding, entry: Entry, again: str, terminal: Terminal) -> str:
    names = Names(
        agent=entry.agent.name,
        agent_identity=found.identity,
        judge=entry.judge.identity or entry.judge.name if entry.judge else "none",
        rubric=entry.rubric.rubric_id,
    )
    return finding_block(found, names=names, again=again, width=terminal.width) + "\n\n"
