"""Openings: the sessions that a campaign plays first, in which most of what takes no luck is found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

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


def openings(
    scenario: Scenario, *, operators: Iterable[Registered], guarded: Guarded | None = None, seed: int = 0
) -> list[Variant]:
    """The sessions to play first, in which most of what takes no luck is found.

    Late padding to the threshold, which costs two turns beyond the script and shows whether the agent compacts at all;
    that with something said at every turn before; padding on both sides of the statements; and the second one again
    with the statements as early, and as late, as may be. Fewer where no operator pads, inserts or moves.
    """
    offered, where = offers(scenario, operators, guarded or {}), stage(scenario, guarded or {})
    late, crowded, both = (
        _first(shape, scenario, seed)
        for shape in (
            _padded(scenario, offered, where, kept=True),
            _crowded(scenario, offered, where),
            _padded(scenario, offered, where, kept=False),
        )
    )
    orders = draw(_moved(scenario, offered), ORDERS_TRIED, seed) or [Variant(scenario)]
    moved = [crowded.with_edits([*crowded.edits, *f(orders, key=_shifted).edits]) for f in (min, max)]
    found = [variant for variant in (late, crowded, both, *moved) if variant.inserted or _shifted(variant)]
    return list({variant.key: variant for variant in found}.values())


def _first(shape: SearchStrategy[Variant], scenario: Scenario, seed: int) -> Variant:
    return next(iter(draw(shape, 1, seed)), Variant(scenario))


@st.composite
def _padded(draw: DrawFn, scenario: Scenario, offered: Offers, where: Stage, *, kept: bool) -> Variant:
    """Padding before the last guarded turn; where optional turns are not kept, before the first statement as well."""
    edits, slots = dropped(draw, offered.slots, set() if kept else {slot.turn for slot in offered.slots})
    ends = [[slot for slot in slots if slot.turn in where.stating][: not kept], _last(slots, where)]
    return Variant(scenario, (*edits, *(edit for end in ends for slot in end for edit in _pads(draw, slot))))


def _last(slots: Sequence[Slot], where: Stage) -> Sequence[Slot]:
    return [slot for slot in slots if slot.turn in where.guarded][-1:]


@st.composite
def _crowded(draw: DrawFn, scenario: Scenario, offered: Offers, where: Stage) -> Variant:
    """The same without optional turns, and with something inserted at every turn since the first statement."""
    edits, kept = dropped(draw, offered.slots, {slot.turn for slot in offered.slots})
    for slot in kept:
        if slot.turn in where.between - where.stating:
            edits += [e for offer in slot.offers for e in drawn(draw, offer) if isinstance(e, Insert)][:1]
    return Variant(scenario, (*edits, *(edit for slot in _last(kept, where) for edit in _pads(draw, slot))))


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
