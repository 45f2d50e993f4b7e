"""Passes: what the reducer tries, as plain functions from a case to smaller candidates, the likeliest first.

Deleting turns is not monotone here: it also undoes the compaction that made the session fail. So where size decides,
what is deleted is offered with its tokens given back as padding before it is offered plainly (measured: without
this, reducers stop 1 to 5 turns above the true minimum).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import TypeAlias

from fuzzturn.case import Case, pads_of
from fuzzturn.rewrite import grow_pad, keep, needed, pad_before, to_front, without, without_edit
from fuzzturn.threshold import ANSWER_TOKENS, fullness
from fuzzturn.variant import PAD_TOKENS_MIN, Drop, Insert, Pad, Variant

__all__ = ["PASSES", "Pass"]

Pass: TypeAlias = Callable[[Case], Iterator[Variant]]
PADS_GROWN = 2
"""The last pads, in which the tokens of deleted turns are tried; where there are more, pads are what goes first."""
SLACK_TOKENS = 16
"""Added where padding is to bring a context to the threshold: what a turn adds is known only as far as it tells."""
PAD_ENOUGH = 64
"""Tokens; padding below it is made no smaller. Each try costs agent turns, and no turn is saved."""


def skeleton(case: Case) -> Iterator[Variant]:
    """What the failure needs at the least, and that with one turn more.

    The least: stating turn, failing turn, what those need, and a pad for each compaction that the session saw. The one
    more: what was inserted, then what called tools.
    """
    core = _core(case)
    rest = [id for id in case.others if id not in core]
    if not rest:
        return
    bare = keep(case.variant, core)
    yield bare
    if case.failing in case.variant.inserted:
        return
    stating = _stating(case)
    first, *others = _paddings(case, rest)
    yield _padded(bare, case.failing, first)
    if stating is not None:
        yield _padded(to_front(bare, stating), case.failing, first)
    for padding in others:
        yield _padded(bare, case.failing, padding)
        if stating is not None and len(padding) > 1:
            yield _padded(to_front(bare, stating), case.failing, padding)
    if stating is not None and case.by_size and _stands_before(case, case.pads(), stating):
        for padding in (first, *others):  # as it was: something said before the statement, too
            yield _padded(pad_before(bare, stating, padding[0] if len(padding) > 1 else 0), case.failing, padding[-1:])
    for kind in _kinds(case, rest)[:2]:
        for id in kind:
            more = keep(case.variant, {*core, id})
            yield _padded(more, case.failing, first) if case.by_size else more


def _stands_before(case: Case, ids: Iterable[str], id: str) -> bool:
    """Whether one of these turns is spoken before the turn `id`."""
    return any(case.others.index(one) < case.others.index(id) for one in ids if one in case.others)


def _stating(case: Case) -> str | None:
    return case.variant.spoken.stating(case.failure.constraint) if case.failure.constraint else None


def _core(case: Case) -> frozenset[str]:
    """Stating turn, failing turn, and what those need."""
    stating = _stating(case)
    return needed(case.variant, [case.failing, *([stating] if stating else [])])


def _paddings(case: Case, rest: Sequence[str]) -> list[list[int]]:
    """Sizes of the pads that may stand for the turns `rest`: what compacts, at once, just not yet, or twice.

    Where size does not decide: their tokens.
    """
    if case.threshold is None or case.threshold.unit != "tokens":
        return [[case.tokens(rest)]]
    stay = [id for id in case.others if id not in rest]
    once = [case.threshold.high - case.tokens(stay) + SLACK_TOKENS]
    if not case.by_size:
        return [once, [case.tokens(rest)]]
    later = [case.threshold.low - case.tokens(stay) - SLACK_TOKENS]
    return [once, later, *[[case.threshold.high] * 2] * (case.compactions > 1)]


def _padded(variant: Variant, anchor: str, sizes: Sequence[int]) -> Variant:
    for size in sizes:
        variant = pad_before(variant, anchor, size)
    return variant


def _kinds(case: Case, ids: Sequence[str]) -> list[list[str]]:
    """Turns by how likely a failure needs one, late ones first: inserted or laying down the law, calling tools, talk.

    The script alone is clean, so it is the edits that one suspects first. Padding is no such turn.
    """
    laws = {line.id for line in case.variant.spoken.turns if line.states or line.lifts}
    calling = {turn.id for turn in case.trial.measured.session.turns if turn.tool_calls}
    turns = [id for id in reversed(ids) if id not in case.pads()]
    inserted = [id for id in turns if id in laws or id in case.variant.inserted]
    busy = [id for id in turns if id not in inserted and id in calling]
    return [inserted, busy, [id for id in turns if id not in inserted and id not in busy]]


def kinds(case: Case) -> Iterator[Variant]:
    """The least with all turns of one kind, then with all of two: what was inserted, what called tools, talk."""
    core = _core(case)
    rest = [id for id in case.others if id not in core]
    inserted, busy, talk = _kinds(case, rest)
    pads = list(case.pads())
    for some in (inserted, busy, inserted + busy, inserted + talk, busy + talk):
        if 1 < len(some) < len(rest) - len(pads):
            less = keep(case.variant, {*core, *some})
            padding = case.threshold.high - _size(case, {*core, *some}) if case.by_size and case.threshold else 0
            yield pad_before(less, case.failing, padding + SLACK_TOKENS) if padding > 0 else less
    if len(pads) > 1 and inserted + busy + talk:
        yield from _ways(case, case.variant, pads)[:2]


def _size(case: Case, ids: Set[str]) -> int:
    return case.tokens([id for id in case.others if id in ids])


def delete(case: Case) -> Iterator[Variant]:
    """Single turns, late ones first, in the likelier way; then in the other ways; then two turns for a pad."""
    last: list[Variant] = []
    for run in _runs(case.others, 1):
        ways = _ways(case, case.variant, run)
        yield from ways[:1]
        last += ways[1:]
    yield from last
    if not case.pads() and case.by_size:
        talk = _kinds(case, case.others)[2][:1]
        for run in (*_runs(case.others, 2), *([id, *talk] for id in reversed(case.others) if id not in talk)):
            yield from _given_back(case, case.variant, run)


def front(case: Case) -> Iterator[Variant]:
    """The statement as early as it may stand, with one other turn deleted, or two where one is to become padding."""
    stating = _stating(case)
    if stating is None or stating not in case.others:
        return
    moved = to_front(case.variant, stating)
    if moved.key == case.variant.key:
        return
    others = [id for id in case.others if id != stating]
    for size in (1, 2) if case.by_size and not case.pads() else (1,):
        for run in _runs(others, size):
            yield from _ways(case, moved, run)[:1]


def gather_pads(case: Case) -> Iterator[Variant]:
    """All padding in one turn just before the failing one; or, where there is little, each pad there by itself."""
    pads = case.pads()
    if case.failing in case.variant.inserted:
        return
    if len(pads) > 1:
        yield pad_before(without(case.variant, pads), case.failing, sum(pad.tokens or 0 for pad in pads.values()))
    for id, pad in list(pads.items()) * (len(pads) <= PADS_GROWN):
        yield pad_before(without(case.variant, [id]), case.failing, pad.tokens or PAD_TOKENS_MIN)


def drop_edits(case: Case) -> Iterator[Variant]:
    """Edits that are no turns of their own, one by one: what was moved goes back to its scripted place."""
    for edit in case.variant.edits:
        if not isinstance(edit, Drop | Insert | Pad):
            yield without_edit(case.variant, edit)


def smaller_pads(case: Case) -> Iterator[Variant]:
    """Each pad at its least; at what compacts at its own turn, or only at the next; else at half and three quarters."""
    if len(case.pads()) > PADS_GROWN:
        return
    for id, pad in case.pads().items():
        tokens = pad.tokens or PAD_TOKENS_MIN
        sizes = _telling(case, id) if case.by_size else []
        sizes += [tokens - (tokens >> n) for n in range(1, tokens.bit_length()) if tokens >> n >= PAD_ENOUGH]
        for size in (PAD_TOKENS_MIN, *sizes):
            yield grow_pad(case.variant, id, size - tokens)


def _telling(case: Case, id: str) -> list[int]:
    """Sizes of the pad `id` at which the context is compacted at its own turn, and just not yet."""
    turns = case.trial.measured.session.turns
    at = next((i for i, turn in enumerate(turns) if turn.id == id), None)
    if at is None or case.threshold is None:
        return []
    full = fullness(turns[:at], "tokens")
    sizes = (case.threshold.low - full - ANSWER_TOKENS, case.threshold.high - full + 1)
    return [size for size in sizes if size > PAD_TOKENS_MIN]


def early_pad(case: Case) -> Iterator[Variant]:
    """The only pad just after the statement, with one of the turns that stand between them deleted."""
    stating, pads = _stating(case), case.pads()
    if stating is None or len(pads) != 1 or stating not in case.others:
        return
    (id, pad), ids = next(iter(pads.items())), case.others
    between = ids[ids.index(stating) + 1 : ids.index(id)] if id in ids else []
    for gone in reversed(between):
        left = [other for other in between if other != gone]
        anchor = next((other for other in left if other not in case.variant.inserted), case.failing)
        rest = without(case.variant, [id, gone])
        if anchor in {line.id for line in rest.spoken.turns} and anchor not in rest.inserted:
            yield pad_before(rest, anchor, (pad.tokens or PAD_TOKENS_MIN) + case.tokens([gone]))


def elsewhere(case: Case) -> Iterator[Variant]:
    """Single turns with their tokens in a pad before the last two: the rest of what minimal means."""
    early = list(case.pads())[:-PADS_GROWN]
    for run in _runs(case.others, 1) if early else ():
        shorter = without(case.variant, run)
        if case.failing in {line.id for line in shorter.spoken.turns}:
            for id in list(pads_of(shorter))[:-PADS_GROWN]:
                yield grow_pad(shorter, id, case.tokens(run))


PASSES: tuple[Pass, ...] = (skeleton, kinds, gather_pads, smaller_pads, delete, front, early_pad, drop_edits, elsewhere)


def _runs(ids: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Runs of neighbours, late ones first; pairs overlap, since a pair may become one pad."""
    for end in range(len(ids), size - 1, -1 if size <= 2 else -size):
        yield ids[end - size : end]


def _ways(case: Case, variant: Variant, ids: Sequence[str]) -> list[Variant]:
    """`variant` without the turns `ids`, plainly and with their tokens given back; the likelier first."""
    shorter = without(variant, ids)
    if case.failing not in {line.id for line in shorter.spoken.turns}:
        return []
    given_back = _given_back(case, variant, ids)
    return [*given_back[:1], shorter, *given_back[1:]] if case.by_size else [shorter, *given_back]


def _given_back(case: Case, variant: Variant, ids: Sequence[str]) -> list[Variant]:
    """`variant` without the turns `ids`, with their tokens in one of the last pads, or in a new one for several."""
    shorter = without(variant, ids)
    left = {line.id for line in shorter.spoken.turns}
    counting = case.threshold is not None and case.threshold.unit == "messages"
    if counting or case.failing not in left:  # to an agent that counts messages a longer pad is the same pad
        return []
    gone = [id for id in case.others if id not in left]
    freed = case.tokens(gone)
    grown = [grow_pad(shorter, id, freed) for id in list(pads_of(shorter))[: -PADS_GROWN - 1 : -1]]
    if len(gone) > 1 and not case.pads() and case.failing not in shorter.inserted:
        grown.append(pad_before(shorter, case.failing, freed))
    return grown
