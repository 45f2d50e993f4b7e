"""Meeting: what becomes of an entry when the same finding is found again. Pure: no file is touched here.

The smaller session is kept, by user turns and then by tokens said. The status is a person's word and never changes by
this. Entries of agents with other options are never merged: each replays with its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from fuzzturn.corpus.entry import Entry, Past

__all__ = ["Event", "Met", "copies", "meet", "options_apart", "same_agent", "same_session"]

Event: TypeAlias = Literal["new", "known", "shorter"]
_OF_THE_FILE = {"status", "seen", "history", "fuzzturn", "rubric_digest", "samples", "calls"}
"""What says something of the file rather than of the session in it, or follows from the rest."""


@dataclass(frozen=True, slots=True)
class Met:
    """What the corpus holds after a meeting; for "known" the entry is as it was, but for `seen`, and for model calls
    that it did not carry yet."""

    event: Event
    entry: Entry


def meet(known: Entry, found: Entry, *, again: bool = True) -> Met:
    """Merge two entries of one finding. `again` False: two copies of one file count as one sighting."""
    seen = known.seen + found.seen if again or not copies(known, found) else max(known.seen, found.seen)
    if found.order >= known.order:
        return Met("known", known.model_copy(update={"seen": seen, **_calls(known, found)}))
    was = Past(turns=known.provenance.turns, tokens=known.provenance.tokens, seed=known.provenance.seed)
    history = _descending({*known.history, *found.history, was})
    return Met("shorter", found.model_copy(update={"status": known.status, "seen": seen, "history": history}))


def _calls(known: Entry, found: Entry) -> dict[str, Any]:
    """What a copy carries and the known one does not: it was made where the calls could not be had."""
    if known.calls or not found.calls or not copies(known, found):
        return {}
    return {"samples": found.samples, "calls": found.calls}


def copies(one: Entry, other: Entry) -> bool:
    """Whether one is a copy of the other, whatever became of the two files since."""
    return one.model_dump(exclude=_OF_THE_FILE) == other.model_dump(exclude=_OF_THE_FILE)


def same_agent(one: Entry, other: Entry) -> bool:
    """Whether both were found in the same agent with the same options, so that a replay builds the same."""
    return (one.agent.name, one.agent.options) == (other.agent.name, other.agent.options)


def same_session(one: Entry, other: Entry) -> bool:
    """Whether the user says the same in both, under the same constraints."""
    parts = ("environment", "constraints", "turns", "answers", "system")
    return all(one.scenario.get(part) == other.scenario.get(part) for part in parts)


def options_apart(one: Entry, other: Entry) -> str:
    """In which options the agents of two entries differ, as "keep=12, there keep=4"."""
    keys = sorted(one.agent.options.keys() | other.agent.options.keys())
    here, there = (
        ", ".join(f"{key}={entry.agent.options[key]}" for key in keys if _differs(key, one, other, entry)) or "none"
        for entry in (one, other)
    )
    return f"{here}, there {there}"


def _differs(key: str, one: Entry, other: Entry, entry: Entry) -> bool:
    return key in entry.agent.options and one.agent.options.get(key) != other.agent.options.get(key)


def _descending(history: set[Past]) -> tuple[Past, ...]:
    """The longest first, as they were replaced one by one, whichever way two branches were merged."""
    return tuple(sorted(history, key=lambda past: (-past.turns, -past.tokens, past.seed)))
