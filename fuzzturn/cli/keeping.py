"""Keeping: a finding's corpus file, and what there is to say of it: new, known, or shorter than before."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fuzzturn.campaign import Campaign
from fuzzturn.cli.showing import from_here
from fuzzturn.cli.staging import Staging
from fuzzturn.cli.terminal import Terminal
from fuzzturn.corpus import Entry, Kept, keep_entry
from fuzzturn.errors import InputError
from fuzzturn.keep import as_entry
from fuzzturn.outcome import Finding
from fuzzturn.report import Names, finding_block
from fuzzturn.results import finding_json

__all__ = ["Shown", "keep_and_show"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A finding that was kept, as JSON and as texts to print."""

    record: dict[str, Any]
    blocks: list[str] = field(default_factory=list)


def keep_and_show(found: Finding, campaign: Campaign, staging: Staging, terminal: Terminal) -> Shown:
    """Put the finding into the corpus. Where that is not possible, it is told all the same."""
    entry = as_entry(found, campaign.cast, staging.judge_note, campaign.rubric, campaign.registry)
    try:
        kept = keep_entry(entry, staging.home / "corpus", redaction=staging.redaction)
    except InputError as error:  # the other findings, and what is recorded of this one, are kept all the same
        record = finding_json(found, corpus_file=None)
        return Shown(record=record, blocks=[_block(found, entry, f"it has no corpus file: {error}", terminal)])
    _complain(kept, terminal)
    shown = from_here(kept.path)
    showing = Shown(record=finding_json(found, corpus_file=shown) | {"known": kept.event, "seen": kept.entry.seen})
    if kept.regressed is not None:
        guard = from_here(kept.regressed)
        showing.blocks.append(f"REGRESSED {entry.finding}: {guard} is marked fixed and stays as it is; see below")
    block = _block(found, entry, f"fuzzturn replay {shown}{staging.agent_words}", terminal)
    showing.blocks.append(f"{block.rstrip()}\n  {_told(kept)}\n\n")
    return showing


def _told(kept: Kept) -> str:
    """What happened to the corpus; where the file keeps another session than the one that is shown, that too."""
    if kept.longer:
        return f"{kept.told}; the file keeps its session of {kept.entry.provenance.turns} turns"
    return kept.told if kept.beside is None else f"{kept.told} ({from_here(kept.beside)})"


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
