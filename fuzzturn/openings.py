"""Openings: the sessions that a campaign plays first, in which most of what takes no luck is found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from fuzzturn.offers import Guarded, Offers, Slot, Stage, drawn, dropped, offers, stage
from fuzzturn.registry import Registered
from fuzzturn.scenario import Scenario
from fuzzturn.variant import Edit, Insert, Move, Pad, Variant
from fuzzturn.vary import draw

__all__ = ["openings"]

ORDERS_TRIED = 20
"""Moves drawn to find the earliest and the latest."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """What is done to a script, beside padding before the last guarded turn."""

    keeps: bool = False
    """Whether optional turns stay."""
    inserts: Literal["nowhere", "early", "between"] = "nowhere"
    """Before which required turns something is inserted: up to the first statement, or after it."""
    pads_statements: bool = False
    """Whether there is padding before every statement as well."""


_LATE = _Shape(keeps=True)
_CROWDED = _Shape(inserts="between")
_BOTH = _Shape(inserts="early", pads_statements=True)
_CROWDED_AND_KEPT = _Shape(keeps=True, inserts="between")


def openings(
    scenario: Scenario, *, operators: Iterable[Registered], guarded: Guarded | None = None, seed: int = 0
) -> list[Variant]:
    """The sessions to play first, in which most of what takes no luck is found.

    Late padding to the threshold, which costs two turns beyond the script and shows whether the agent compacts at all;
    that with something inserted before every required turn since the statement, and nothing optional; padding on both
    sides of every statement, and something inserted before every turn up to the first; the second one with the
    statements as early as may be; and as late as may be, among all that is optional. Fewer where no operator pads,
    inserts or moves.
    """
    offered, where = offers(scenario, operators, guarded or {}), stage(scenario, guarded or {})
    orders = draw(_moved(scenario, offered), ORDERS_TRIED, seed) or [Variant(scenario)]
    early, late = (f(orders, key=_shifted).edits for f in (min, max))
    shapes = ((_LATE, ()), (_CROWDED, ()), (_BOTH, ()), (_CROWDED, early), (_CROWDED_AND_KEPT, late))
    shaped = ((_first(_shaped(scenario, offered, where, shape), scenario, seed), moves) for shape, moves in shapes)
    moved = [variant.with_edits([*variant.edits, *moves]) for variant, moves in shaped]
    found = [variant for variant in moved if variant.inserted or _shifted(variant)]
    return list({variant.key: variant for variant in found}.values())


def _first(shape: SearchStrategy[Variant], scenario: Scenario, seed: int) -> Variant:
    return next(iter(draw(shape, 1, seed)), Variant(scenario))


@st.composite
def _shaped(draw: DrawFn, scenario: Scenario, offered: Offers, where: Stage, shape: _Shape) -> Variant:
    edits, kept = dropped(draw, offered.slots, set() if shape.keeps else {slot.turn for slot in offered.slots})
    crowd = {"nowhere": frozenset(), "early": where.early, "between": where.between - where.stating}[shape.inserts]
    for slot in kept:
        if slot.turn in crowd and not slot.drops:
            edits += [e for offer in slot.offers for e in drawn(draw, offer) if isinstance(e, Insert)][:1]
    stating = [slot for slot in kept if shape.pads_statements and slot.turn in where.stating]
    last = [slot for slot in kept if slot.turn in where.guarded][-1:]
    return Variant(scenario, (*edits, *(edit for slot in (*stating, *last) for edit in _pads(draw, slot))))


@st.composite
def _moved(draw: DrawFn, scenario: Scenario, offered: Offers) -> Variant:
    """Moves alone."""
    found = [edit for slot in offered.slots for offer in slot.offers for edit in drawn(draw, offer)]
    return Variant(scenario, tuple(edit for edit in found if isinstance(edit, Move)))


def _shifted(variant: Variant) -> int:
    return sum(edit.offset for edit in variant.edits if isinstance(edit, Move))


def _pads(draw: DrawFn, slot: Slot) -> list[Edit]:
    """The padding offered there: that which is solved from the threshold, so that the turn comes after compaction."""
    found: list[Edit] = [e for offer in slot.offers for e in drawn(draw, offer) if isinstance(e, Pad)]
    symbols: list[Edit] = [replace(e, to="before") for e in found if isinstance(e, Pad) and e.tokens is None]
    return [*symbols, *found][:1]
