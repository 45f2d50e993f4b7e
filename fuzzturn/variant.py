"""Variant: a scenario plus edits, and the scenario that is spoken once they are applied.

Applying never fails and never asks whether an edit "fits": an edit whose anchor is gone does nothing, dropping a
turn drops what makes no sense without it, and a move goes as far as the partial order allows. So every subset of a
variant's edits is a variant too, which is what lets a reducer work on edits freely.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import TypeAlias

from fuzzturn.clock import until
from fuzzturn.edits import (
    END,
    Bury,
    Disturb,
    Drop,
    Edit,
    InPlace,
    Insert,
    Move,
    Pad,
    Tamper,
    Word,
    briefly,
    disturbs_the_world,
    edit_from_json,
    edit_to_json,
    lead_id,
    preserves,
    with_tokens,
)  # fmt: skip
from fuzzturn.filler import PAD_TOKENS_MIN, filler
from fuzzturn.ledger import Ledger, opening, speak
from fuzzturn.ordering import free_moves, ordered
from fuzzturn.scenario import Assertion, Constraint, Line, Scenario
from fuzzturn.tokens import text_tokens

__all__ = [
    "END", "PAD_TOKENS_MIN", "Bury", "Disturb", "Drop", "Edit", "InPlace", "Insert", "Move", "Pad", "Tamper",
    "Variant", "Word", "disturbs_the_world", "edit_from_json", "edit_to_json", "filler", "lead_id", "preserves",
    "said_tokens", "spoken_key", "with_tokens",
]  # fmt: skip

Extra: TypeAlias = Insert | Pad | Word
"""What speaks a turn that no script has; a Word does where it has a lead."""


@dataclass(frozen=True)
class Variant:
    """A scenario and the edits drawn for it, in the order drawn."""

    scenario: Scenario
    edits: tuple[Edit, ...] = ()

    @cached_property
    def spoken(self) -> Scenario:
        """The scenario whose turns are the turns as spoken."""
        return self._applied[0]

    @cached_property
    def inserted(self) -> Mapping[str, Extra]:
        """For each spoken turn that an edit inserted: the edit."""
        return self._applied[1]

    @cached_property
    def _applied(self) -> tuple[Scenario, Mapping[str, Extra]]:
        return _speak(self.scenario, self.edits)

    @cached_property
    def key(self) -> str:
        """Equal exactly for variants that speak the same turns in the same order."""
        extras = [(n, self.inserted.get(line.id)) for n, line in enumerate(self.spoken.turns)]
        unsolved = [(n, pad.to) for n, pad in extras if isinstance(pad, Pad) and pad.tokens is None]
        return spoken_key(self.spoken, extra=unsolved or None)

    def __repr__(self) -> str:
        """Short, since it stands in every failing test of a user's: which scenario, and what was done to it."""
        return f"<{self.scenario.scenario}{''.join(f' + {briefly(edit)}' for edit in self.edits)}>"

    def with_edits(self, edits: Iterable[Edit]) -> Variant:
        return Variant(self.scenario, tuple(edits))

    @cached_property
    def plain(self) -> Variant:
        """The same without what should make no difference to a correct agent; what was left out stays left out."""
        return self.with_edits(edit for edit in self.edits if isinstance(edit, Drop) or not preserves(edit))


def spoken_key(scenario: Scenario, *, extra: object = None) -> str:
    """sha256 over what the turns say and do to the ledger and the world; ids and titles do not count."""
    said = [[line.user, line.states, line.lifts, *_beside(line)] for line in scenario.turns]
    return hashlib.sha256(json.dumps([scenario.scenario, said, extra]).encode()).hexdigest()


def _beside(line: Line) -> list[object]:
    faults = [part.model_dump(exclude_defaults=True) for part in (*line.tool_faults, *line.disturbances)]
    return [[line.advance, faults]] if faults or line.advance else []


def _speak(scenario: Scenario, edits: tuple[Edit, ...]) -> tuple[Scenario, Mapping[str, Extra]]:
    dropped: set[str] = set()
    for edit in edits:
        if isinstance(edit, Drop):
            dropped |= scenario.dependants(edit.anchor)
    # Ordered before anything is dropped, so that leaving a turn out never changes the order of the others: else a
    # smaller session could carry a statement past a turn that the larger one kept it from.
    moves = free_moves(scenario, edits)
    lines = [line for line in ordered(scenario.turns, moves) if line.id not in dropped]
    kept = {line.id for line in lines}
    scenario, lines = _in_place(scenario, lines, edits)
    turns, expected, inserted = _with_inserts(lines, edits, scenario)
    assertions = [a for a in scenario.assertions if a.turn in kept]
    return scenario.model_copy(update={"turns": tuple(turns), "assertions": (*assertions, *expected)}), inserted


def _in_place(scenario: Scenario, lines: Sequence[Line], edits: tuple[Edit, ...]) -> tuple[Scenario, list[Line]]:
    """The scenario and its turns with what is said in other words, in a longer message, or goes wrong in the turn."""
    at: dict[str, list[InPlace]] = {}
    for edit in edits:
        if isinstance(edit, InPlace):
            at.setdefault(edit.anchor, []).append(edit)
    if not at:
        return scenario, list(lines)
    worded = _words(scenario, lines, edits)
    known = {c.id: c for c in scenario.constraints}
    changed = tuple(_worded(c, worded[c.id]) if c.id in worded else c for c in scenario.constraints)
    said = [_reworded(line, [(known[id], worded[id]) for id in line.states if id in worded]) for line in lines]
    return scenario.model_copy(update={"constraints": changed}), [_burdened(line, at.get(line.id, ())) for line in said]


def _words(scenario: Scenario, lines: Sequence[Line], edits: Sequence[Edit]) -> dict[str, Word]:
    """By constraint, the edit that has it said in other words: the last one whose turn is spoken and states it."""
    by_id = {line.id: line for line in lines}
    return {
        edit.constraint: edit
        for edit in edits
        if isinstance(edit, Word) and (line := by_id.get(edit.anchor)) is not None and edit.constraint in line.states
        and scenario.constraint(edit.constraint).statement in line.user
    }  # fmt: skip


def _worded(constraint: Constraint, edit: Word) -> Constraint:
    pieces = {"pieces": (edit.lead, edit.text), "statement": f"{edit.lead}; {edit.text}"} if edit.lead else {}
    return constraint.model_copy(update={"statement": edit.text, **pieces})


def _reworded(line: Line, words: Sequence[tuple[Constraint, Word]]) -> Line:
    user = line.user
    for constraint, edit in words:
        user = user.replace(constraint.statement, edit.text)
    return line if user == line.user else line.model_copy(update={"user": user})


def _burdened(line: Line, edits: Sequence[InPlace]) -> Line:
    changes: dict[str, object] = {}
    if buried := [edit for edit in edits if isinstance(edit, Bury)]:
        talk = [filler(tokens) if tokens else "" for tokens in (buried[-1].before, buried[-1].after)]
        changes["user"] = " ".join(filter(None, (talk[0], line.user, talk[1])))
    if faults := [edit.in_script for edit in edits if isinstance(edit, Tamper)]:
        changes["tool_faults"] = (*line.tool_faults, *faults)
    if disturbances := [edit.in_script for edit in edits if isinstance(edit, Disturb)]:
        changes["disturbances"] = (*line.disturbances, *disturbances)
    return line.model_copy(update=changes) if changes else line


def _with_inserts(
    lines: list[Line], edits: tuple[Edit, ...], scenario: Scenario
) -> tuple[list[Line], list[Assertion], dict[str, Extra]]:
    """Extra turns go just before their anchors, in the order of the edits, under ids that the scenario has not used."""
    inserted: dict[str, Extra] = {}
    before: dict[str, list[Line]] = {id: [] for id in (*(line.id for line in lines), END)}
    taken = {line.id for line in scenario.turns}
    for edit in edits:
        if not isinstance(edit, Insert | Pad) or edit.anchor not in before:
            continue
        extra = _extra(edit, taken, scenario)
        taken.add(extra.id)
        before[edit.anchor].append(extra)
        inserted[extra.id] = edit
    for line, edit in _leads(lines, edits, scenario):
        before[edit.anchor].append(line)
        inserted[line.id] = edit
    spoken = [line for scripted in lines for line in (*before[scripted.id], scripted)] + before[END]
    if any(isinstance(edit, Insert) and edit.reminder for edit in inserted.values()):
        spoken = list(_without_idle_reminders(spoken, inserted, scenario))
        inserted = {line.id: inserted[line.id] for line in spoken if line.id in inserted}
    expected = [
        Assertion(turn=id, must_mention_any=edit.mentions)
        for id, edit in inserted.items()
        if isinstance(edit, Insert) and edit.mentions
    ]
    return spoken, expected, inserted


def _extra(edit: Insert | Pad, taken: Set[str], scenario: Scenario) -> Line:
    name, place = edit.name if isinstance(edit, Insert) else "pad", "end" if edit.anchor == END else edit.anchor
    id = _free_id(f"{name}@{place}", taken)
    if isinstance(edit, Pad):
        return Line(id=id, user=filler(edit.tokens or PAD_TOKENS_MIN))
    known = {constraint.id: constraint.statement for constraint in scenario.constraints}
    states, lifts = (tuple(id for id in ids if id in known) for ids in (edit.states, edit.lifts))
    user = edit.user
    for constraint in states:
        user = user.replace(f"{{{constraint}}}", known[constraint])
    return Line(id=id, user=user, states=states, lifts=lifts, advance=edit.advance if scenario.starts else None)


def _leads(lines: Sequence[Line], edits: Sequence[Edit], scenario: Scenario) -> Iterator[tuple[Line, Word]]:
    """The extra turns that say the first piece of a statement, just before the second is said."""
    split = {c.id: c.pieces for c in scenario.constraints if c.pieces}
    states = {line.id: line.states for line in lines}
    for edit in dict.fromkeys(e for e in edits if isinstance(e, Word) and e.lead):
        if edit.constraint in states.get(edit.anchor, ()) and split.get(edit.constraint) == (edit.lead, edit.text):
            yield Line(id=lead_id(edit), user=edit.lead), edit


def _without_idle_reminders(
    spoken: Sequence[Line], inserted: Mapping[str, Extra], scenario: Scenario
) -> Iterator[Line]:
    """A reminder of what another edit has ended would put it in force again; then nobody would remind of it."""
    ledger, gone = opening(scenario), list[str | None]()
    for n, line in enumerate(spoken, start=1):
        edit = inserted.get(line.id)
        if isinstance(edit, Insert) and edit.reminder and not _in_force(ledger, line.states):
            continue
        gone.append(line.advance)
        ledger = speak(ledger, scenario, line, n, now=until(scenario.starts, gone))
        yield line


def _in_force(ledger: Ledger, constraints: Iterable[str]) -> bool:
    """Whether saying each again changes nothing: it binds as a whole, and no other version waits for its time."""
    entries = [ledger.entry(id) for id in constraints]
    return all(
        entry is not None
        and entry.status == "binding"
        and not entry.parts
        and all(other.ending or other.status == "superseded" for other in ledger.versions(entry.constraint))
        for entry in entries
    )


def _free_id(stem: str, taken: Set[str]) -> str:
    return next(id for n in count(1) if (id := stem if n == 1 else f"{stem}.{n}") not in taken)


def said_tokens(scenario: Scenario) -> int:
    """Tokens of all that the user says."""
    return sum(text_tokens(line.user) for line in scenario.turns)
