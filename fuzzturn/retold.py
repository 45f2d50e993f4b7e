"""Retold: a failure as it was played just now, as text: of a session that a test played, of a corpus entry.

The same text as a finding's, less what only a search or a shrink could know.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from fuzzturn.corpus import Entry
from fuzzturn.finding import Failure
from fuzzturn.replay import Replayed, changes_told
from fuzzturn.report import Names, conversation, counted, four_signals, why_sentences
from fuzzturn.trial import Trial
from fuzzturn.why import Sighting, Why

__all__ = ["entry_block", "trial_block"]


def trial_block(trial: Trial, failure: Failure, *, names: Names, again: str, width: int = 100) -> str:
    """One failure of a session as it was played; `again` is the command that shows it once more."""
    title = f"{failure.kind.replace('_', ' ').upper()}  {_about(trial, failure)}"
    said = counted(len(trial.variant.spoken.turns), "turn")
    seen = f"seen in a session of {said}, not shrunk: `fuzzturn fuzz` shrinks and explains what it finds"
    head = [title, *_wrapped([f"turn {failure.turn}: {failure.detail}", seen], width)]
    return _joined(head, _played(trial, failure, names, width), (), again)


def entry_block(entry: Entry, replayed: Replayed, *, names: Names, again: str, width: int = 100) -> str:
    """What became of a corpus entry, and the failing session of now where there is one."""
    title = "REGRESSED" if replayed.outcome == "FAILING" and entry.status == "fixed" else replayed.outcome
    about = f"{entry.provenance.scenario}: {entry.constraint or entry.milestone or entry.turn_id} ({entry.checker})"
    was = entry.provenance
    history = (
        f"{entry.kind.replace('_', ' ')}, marked {entry.status}; kept with {counted(was.turns, 'turn')} "
        f"({was.tokens} tokens said), failed then in {entry.failing.k} of {counted(entry.failing.n, 'fresh run')}"
    )
    told = [replayed.detail, history, *changes_told(replayed.changed)]
    head = [f"{title} {entry.finding}  {about}", *_wrapped(told, width)]
    if replayed.trial is None or replayed.failure is None:
        return "\n".join([*head, "", f"  see it again: {again}"])
    kept = entry.why.model_dump()
    note = Why(**kept | {"seen": tuple(Sighting(**one) for one in kept["seen"])})
    why = ["When it was kept:", *why_sentences(note, replayed.failure)]
    played = _played(replayed.trial, replayed.failure, names, width)
    return _joined(head, played, _wrapped(why, width), again)


def _about(trial: Trial, failure: Failure) -> str:
    return f"{trial.variant.scenario.scenario}: {failure.subject} ({failure.checker})"


def _played(trial: Trial, failure: Failure, names: Names, width: int) -> tuple[str, str]:
    """The conversation and the four signals, as in a finding's own block."""
    parts = conversation(trial, failure, names.agent, width), four_signals(trial, failure, names, width)
    return "\n".join(parts[0]), "\n".join(parts[1])


def _joined(head: Iterable[str], played: tuple[str, str], why: Iterable[str], again: str) -> str:
    parts = ["\n".join(head), *played, "\n".join(why), f"  see it again: {again}"]
    return "\n\n".join(part for part in parts if part)


def _wrapped(sentences: Iterable[str], width: int) -> list[str]:
    return [
        line
        for sentence in sentences
        for line in textwrap.wrap(sentence, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    ]
