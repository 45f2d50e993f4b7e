"""Rewrite: pure functions from a variant to a smaller or rearranged one; the alphabet of the reducer.

Each returns a variant whose edits are in canonical form, so that equal sessions have equal edits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from types import MappingProxyType

from fuzzturn.scenario import Scenario
from fuzzturn.tokens import text_tokens
from fuzzturn.variant import (
    END,
    PAD_TOKENS_MIN,
    Drop,
    Edit,
    InPlace,
    Insert,
    Move,
    Pad,
    Variant,
    Word,
    filler,
    lead_id,
)  # fmt: skip

__all__ = ["OPERATOR", "grow_pad", "keep", "needed", "pad_before", "to_front", "unspoken", "without", "without_edit"]

OPERATOR = "shrink"
"""The operator name on edits that the reducer itself makes."""
_NONE: Mapping[str, int] = MappingProxyType({})


def keep(variant: Variant, ids: Set[str], padding: Mapping[str, int] = _NONE) -> Variant:
    """Only the spoken turns `ids`, in the same order; a scripted turn goes with what it needs, or not at all.

    Inserted turns whose anchor goes are spoken before the next scripted turn that stays, else at the end. `padding`:
    just before which turns filler is spoken, and of how many tokens.
    """
    gone = _closed(variant, {line.id for line in variant.scenario.turns} - ids)
    edits: list[Edit] = [Drop(operator=OPERATOR, anchor=line.id) for line in variant.scenario.turns if line.id in gone]
    edits += [e for e in variant.edits if isinstance(e, Move | InPlace) and e.anchor not in gone and _whole(e, ids)]
    waiting: list[Insert | Pad] = []
    for line in variant.spoken.turns:
        if line.id in padding:
            waiting.append(Pad(operator=OPERATOR, anchor=line.id, tokens=max(padding[line.id], PAD_TOKENS_MIN)))
        if (inserted := variant.inserted.get(line.id)) is not None:
            if line.id in ids and not isinstance(inserted, Word):
                waiting.append(inserted)
        elif line.id not in gone:
            edits += [replace(edit, anchor=line.id) for edit in waiting]
            waiting.clear()
    edits += [replace(edit, anchor=END) for edit in waiting]
    return variant.with_edits(edits)


def without(variant: Variant, ids: Iterable[str]) -> Variant:
    """All spoken turns but `ids` and what makes no sense without them."""
    return keep(variant, {line.id for line in variant.spoken.turns} - set(ids))


def needed(variant: Variant, ids: Iterable[str]) -> frozenset[str]:
    """The turns `ids` and every scripted turn that they need, transitively."""
    lines = {line.id: line for line in variant.spoken.turns}
    closed: set[str] = set()
    waiting = [id for id in ids if id in lines]
    while waiting:
        id = waiting.pop()
        if id not in closed:
            closed.add(id)
            waiting += lines[id].after
    return frozenset(closed)


def pad_before(variant: Variant, anchor: str, tokens: int) -> Variant:
    """An extra filler turn of `tokens` just before the scripted turn `anchor`."""
    return variant.with_edits(
        [*variant.edits, Pad(operator=OPERATOR, anchor=anchor, tokens=max(tokens, PAD_TOKENS_MIN))]
    )


def grow_pad(variant: Variant, id: str, by: int) -> Variant:
    """The inserted filler turn `id`, larger by so many tokens (negative: smaller, down to the least filler)."""
    pad = variant.inserted[id]
    assert isinstance(pad, Pad)
    twins = [other for other, edit in variant.inserted.items() if edit is pad]  # one object may stand in several places
    place = [i for i, edit in enumerate(variant.edits) if edit is pad][twins.index(id)]
    grown = replace(pad, tokens=max((pad.tokens or PAD_TOKENS_MIN) + by, PAD_TOKENS_MIN))
    return variant.with_edits([*variant.edits[:place], grown, *variant.edits[place + 1 :]])


def to_front(variant: Variant, id: str) -> Variant:
    """The scripted turn `id` spoken as early as the partial order allows."""
    lines = variant.scenario.turns
    place = next(i for i, line in enumerate(lines) if line.id == id)
    ours = variant.scenario.rules_of(lines[place])
    stop = max((i for i, line in enumerate(lines[:place]) if ours & variant.scenario.rules_of(line)), default=-1)
    edits = [edit for edit in variant.edits if not (isinstance(edit, Move) and edit.anchor == id)]
    return variant.with_edits([*edits, Move(operator=OPERATOR, anchor=id, offset=stop + 1 - place)])


def without_edit(variant: Variant, edit: Edit) -> Variant:
    """The variant without one of its edits."""
    return variant.with_edits(other for other in variant.edits if other is not edit)


def unspoken(spoken: Scenario) -> Variant:
    """A scenario of turns as spoken, with its filler turns as pads again, so that they can be resized."""
    fillers = {line.id for line in spoken.turns if line.user == filler(text_tokens(line.user))}
    scripted = tuple(line for line in spoken.turns if line.id not in fillers)
    pads: list[Edit] = []
    anchor = END
    for line in reversed(spoken.turns):
        if line.id in fillers:
            pads.insert(0, Pad(operator=OPERATOR, anchor=anchor, tokens=text_tokens(line.user)))
        else:
            anchor = line.id
    return Variant(spoken.model_copy(update={"turns": scripted}), tuple(pads))


def _whole(edit: Edit, ids: Set[str]) -> bool:
    """A statement in two pieces is one only with both."""
    return not (isinstance(edit, Word) and edit.lead) or lead_id(edit) in ids


def _closed(variant: Variant, gone: Set[str]) -> frozenset[str]:
    return frozenset(other for id in gone for other in variant.scenario.dependants(id))
