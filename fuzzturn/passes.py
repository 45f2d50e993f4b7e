"""Passes: what the reducer tries, as plain functions from a case to smaller candidates, the likeliest first.

A long session fails because the agent's context is bounded: something was said, the context was compacted, and from
then on it was not seen. So a session has parts: what stands before the statement, what stands between it and the turn
in which it was lost, what follows, and the turn that fails. Each is tried away as a whole, then turn by turn.

Deleting turns is not monotone here: it also undoes the compaction that made the session fail. So where size decides,
what is deleted is offered with its tokens given back as padding (measured: without this, reducers stop 1 to 5 turns
above the true minimum).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from typing import TypeAlias

from fuzzturn.case import Case, pads_of
from fuzzturn.rewrite import grow_pad, keep, needed, pad_before, to_front, without, without_edit
from fuzzturn.threshold import Threshold
from fuzzturn.tokens import text_tokens
from fuzzturn.variant import PAD_TOKENS_MIN, Drop, Insert, Pad, Variant

__all__ = ["PASSES", "Pass"]

Pass: TypeAlias = Callable[[Case], Iterator[Variant]]
JUMP_TURNS = 2
"""A guess at many turns at once must save so many; to save one is what `delete` is for."""
SLACK_TOKENS = 16
"""Added where padding is to bring a context to the threshold: what a turn adds is known only as far as it tells."""
GRID_TOKENS = 8
"""Guessed sizes are multiples of it, so that what little one guess tells of the threshold makes no new one of it."""
PAD_ENOUGH = 64
"""Tokens; padding is made smaller by no less. Each try costs agent turns, and no turn is saved."""


def skeleton(case: Case) -> Iterator[Variant]:
    """What the failure needs at the least: statement, failing turn, what those need, and what made it be lost.

    That is the turn in which it was lost; where size decides, a pad that fills the context just as far.
    """
    core = _core(case)
    bare = keep(case.variant, core)
    guesses = [bare]
    if case.lost_in is not None and not case.by_size:
        guesses.append(keep(case.variant, {*core, case.lost_in}))
    elif case.by_size and case.threshold is not None and case.failing not in case.variant.inserted:
        guesses.append(pad_before(bare, case.failing, _padding(case, core, case.threshold)))
    yield from _jumps(case, guesses)


def tail(case: Case) -> Iterator[Variant]:
    """Nothing between the turn in which the statement was lost and the failing one: a single turn to play."""
    if case.lost_in in case.others and not _counts(case):
        after = case.others[case.others.index(case.lost_in) + 1 :]
        yield without(case.variant, set(after) - needed(case.variant, [case.failing]))


def parts(case: Case) -> Iterator[Variant]:
    """What stands before the statement, and between it and its loss: gone, where size decides all into one pad each."""
    others, core = case.others, _core(case)
    if case.lost_in is None or case.stating not in others:
        return
    said, lost = others.index(case.stating), [*others, case.failing].index(case.lost_in)
    before = [id for id in others[:said] if id not in core]
    between = [id for id in others[said + 1 : lost] if id not in core]
    half = len(between) // 2
    some = [(before, between), (before, [])]
    if not _counts(case):
        some += [([], between), *([([], between[half:]), ([], between[:half])] if half > 1 else [])]
    yield from _jumps(case, (_folded(case, *gone) for gone in some))


def kinds(case: Case) -> Iterator[Variant]:
    """Where nothing was compacted, the least with one kind of turns; then all small talk gone, all that was inserted.

    What calls tools goes turn by turn: such a turn moves the context on further than two others.
    """
    talk, inserted, busy = _kinds(case)
    some = [] if case.compactions else [keep(case.variant, {*_core(case), *kind}) for kind in (busy, inserted, talk)]
    some += [way for kind in (talk, inserted) for way in _ways(case, case.variant, kind)[:1]]
    yield from _jumps(case, some)


def delete(case: Case) -> Iterator[Variant]:
    """Single turns in the likelier way; late ones first, which is cheap: what stands before them was played."""
    late_first = list(reversed(case.others))
    if case.by_messages:  # a turn that calls tools adds the most of them
        late_first.sort(key=case.calls_tools)
    for id in late_first:
        yield from _ways(case, case.variant, [id])[:1]


def lost_at_last(case: Case) -> Iterator[Variant]:
    """Without the turn in which the statement was lost, and such padding that it is lost in the failing one."""
    if not case.by_size or case.threshold is None or case.lost_in not in case.others:
        return
    gone = case.gone_without([case.lost_in])
    shorter = without(case.variant, [case.lost_in])
    if case.failing not in gone:
        stay = case.tokens([id for id in case.others if id not in gone])
        for id in _pads_left(case, case.variant, shorter, gone)[:1]:
            yield grow_pad(shorter, id, _until_last(case, case.threshold) - stay)


def smaller_pads(case: Case) -> Iterator[Variant]:
    """Each pad just large enough for the compaction that follows it; else at its least, or at a quarter."""
    if case.by_messages:
        less = case.variant
        for id, pad in case.pads().items():
            less = grow_pad(less, id, -(pad.tokens or 0))
        yield less
        return
    for id, pad in case.pads().items():
        tokens = pad.tokens or PAD_TOKENS_MIN
        for size in _smaller(case, id, tokens):
            yield grow_pad(case.variant, id, size - tokens)


def drop_edits(case: Case) -> Iterator[Variant]:
    """Edits that are no turns of their own, one by one: what was moved goes back to its scripted place."""
    for edit in case.variant.edits:
        if not isinstance(edit, Drop | Insert | Pad):
            yield without_edit(case.variant, edit)


def front(case: Case) -> Iterator[Variant]:
    """The statement as early as it may stand, and one of the turns after it deleted, or two for a pad."""
    if case.stating is None or case.stating not in case.others or case.stating in case.variant.inserted:
        return
    moved = to_front(case.variant, case.stating)
    if moved.key == case.variant.key:
        return
    after = case.others[case.others.index(case.stating) + 1 :]
    for size in (1, 2) if case.by_size and not case.pads() else (1,):
        for end in range(len(after), size - 1, -1):
            yield from _ways(case, moved, after[end - size : end])[:1]


def early_pad(case: Case) -> Iterator[Variant]:
    """The only pad just after the statement, and one of the turns between them deleted, unless that calls tools."""
    stating, pads = case.stating, case.pads()
    if not case.by_size or stating is None or len(pads) != 1 or stating not in case.others:
        return
    (id, pad), ids = next(iter(pads.items())), case.others
    between = ids[ids.index(stating) + 1 : ids.index(id)] if id in ids else ()
    for gone in reversed(between if len(between) > 1 else ()):
        if not case.calls_tools(gone):
            after = next(other for other in between if other != gone)
            size = (pad.tokens or PAD_TOKENS_MIN) + case.tokens([gone])
            yield keep(case.variant, {*ids, case.failing} - {id, gone}, {after: size})


def otherwise(case: Case) -> Iterator[Variant]:
    """Single turns in all other ways: the rest of what minimal means; then two turns for a pad."""
    for id in reversed(case.others):
        yield from _ways(case, case.variant, [id])[1:]
    if case.by_size and not case.pads():
        ids, talk = case.others, _kinds(case)[0][:1]
        pairs = [ids[end - 2 : end] for end in range(len(ids), 1, -1)]
        for pair in (*pairs, *([id, *talk] for id in reversed(ids) if id not in talk)):
            yield from _ways(case, case.variant, pair)


PASSES: tuple[Pass, ...] = (
    skeleton, tail, parts, kinds, delete, lost_at_last, smaller_pads, drop_edits, front, early_pad, otherwise,
)  # fmt: skip


def _jumps(case: Case, guesses: Iterator[Variant] | Sequence[Variant]) -> Iterator[Variant]:
    turns = len(case.variant.spoken.turns)
    return (guess for guess in guesses if len(guess.spoken.turns) + JUMP_TURNS <= turns)


def _counts(case: Case) -> bool:
    """Whether it is known that the number of messages decides: then any turn after the statement may be needed."""
    return case.by_messages and not case.assumed


def _core(case: Case) -> frozenset[str]:
    """Stating turn, failing turn, and what those need; where an older version is what is seen, what states that."""
    ids = [case.failing, *([case.stating] if case.stating else [])]
    if case.failure.constraint is not None and case.failure.visibility == "stale":
        older = case.variant.scenario.constraint(case.failure.constraint).replaces
        stated = case.variant.spoken.stating(older) if older else None
        ids += [stated] if stated else []
    return needed(case.variant, ids)


def _padding(case: Case, core: Set[str], threshold: Threshold) -> int:
    """The size of a pad after the turns `core` at which the context is compacted at once, or only when it was lost."""
    stay = case.tokens([id for id in case.others if id in core])
    if case.lost_in == case.failing:
        return (_until_last(case, threshold) - case.answer - stay) // GRID_TOKENS * GRID_TOKENS
    return -(-(threshold.high - stay + SLACK_TOKENS) // GRID_TOKENS) * GRID_TOKENS


def _until_last(case: Case, threshold: Threshold) -> int:
    """Tokens before the failing turn such that the threshold lies in the middle of what the last two messages add."""
    return (threshold.low + threshold.high + case.answer - text_tokens(case.variant.spoken.turns[-1].user)) // 2


def _folded(case: Case, before: Sequence[str], between: Sequence[str]) -> Variant:
    """The case without these turns; where size decides, a pad for each of the two parts, if that is worth a turn."""
    padding: dict[str, int] = {}
    for place, gone in ((case.stating, before), (case.lost_in, between)):
        if case.by_size and place is not None and (tokens := case.tokens(gone)) > PAD_ENOUGH:
            padding[place] = tokens - case.answer
    return keep(case.variant, {*case.others, case.failing} - {*before, *between}, padding)


def _kinds(case: Case) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    """The turns that the least does not need, late ones first, without pads: talk, what is inserted, what calls tools.

    What lays down a law counts as inserted: it is no more part of the task.
    """
    core, pads = _core(case), case.pads()
    laws = {line.id for line in case.variant.spoken.turns if line.states or line.lifts}
    turns = [id for id in reversed(case.others) if id not in core and id not in pads]
    inserted = [id for id in turns if id in laws or id in case.variant.inserted]
    busy = [id for id in turns if id not in inserted and case.calls_tools(id)]
    return [id for id in turns if id not in inserted and id not in busy], inserted, busy


def _smaller(case: Case, id: str, tokens: int) -> Iterator[int]:
    """Smaller sizes of the pad, now of so many tokens."""
    compacted = case.compacted_from(id) if case.by_size else None
    if compacted is not None and case.threshold is not None:
        low, high = case.threshold.low, case.threshold.high
        more = compacted[1] - high
        if compacted[0] != case.lost_in == case.failing:  # what was compacted before need not have been
            more = compacted[1] - _until_last(case, case.threshold) + case.answer
            yield max(tokens - more, PAD_TOKENS_MIN)
            more = 0
        elif compacted[0] == case.failing:  # it may be compacted later in that turn, too
            yield from (
                max(tokens - less, PAD_TOKENS_MIN)
                for less in (case.meanwhile, case.meanwhile // 2)
                if less >= PAD_ENOUGH
            )
        if more < tokens - PAD_TOKENS_MIN:  # without it the context would not be compacted there
            less = more - 1 if more >= PAD_ENOUGH else more + (high - low) // 2
            if less >= PAD_ENOUGH:
                yield max(tokens - less, PAD_TOKENS_MIN)
            return
    yield PAD_TOKENS_MIN
    if tokens // 4 > PAD_ENOUGH:
        yield tokens // 4


def _ways(case: Case, variant: Variant, ids: Sequence[str]) -> list[Variant]:
    """`variant` without the turns `ids`, plainly and with their tokens in one pad or another; the likelier first."""
    shorter, gone = without(variant, ids), case.gone_without(ids)
    if not ids or case.failing in gone:
        return []
    if case.by_messages:  # there a longer pad is the same pad
        return [shorter]
    freed = case.tokens(gone)
    grown = [grow_pad(shorter, id, freed) for id in _pads_left(case, variant, shorter, gone)]
    if len(gone) > 1 and not case.pads() and case.failing not in shorter.inserted:
        grown.append(pad_before(shorter, case.failing, freed))
    anew = variant is not case.variant  # all of it is played anyway
    give_back = _undone(case, gone) and (anew or _pad_follows(case, variant, gone))
    return [*grown[:1], shorter, *grown[1:]] if give_back else [shorter, *grown]


def _undone(case: Case, gone: Set[str]) -> bool:
    """Whether without these turns the context may no longer be compacted where the statement was lost."""
    compacted = case.compacted_from(case.lost_in) if case.by_size and case.lost_in else None
    if compacted is None or case.threshold is None:
        return False
    ids = [*case.others, case.failing]
    until = ids[: ids.index(case.lost_in or case.failing) + 1]
    return compacted[1] - case.tokens([id for id in until if id in gone]) < case.threshold.high


def _pad_follows(case: Case, variant: Variant, gone: Set[str]) -> bool:
    """Whether the pad that would get the tokens stands after the first of these turns; else that is dear to play."""
    ids = [line.id for line in variant.spoken.turns]
    until = ids[: ids.index(case.lost_in or case.failing) + 1]
    pads = [id for id in until if id in case.pads() and id not in gone]
    return bool(pads) and ids.index(pads[-1]) > min(ids.index(id) for id in gone if id in ids)


def _pads_left(case: Case, variant: Variant, shorter: Variant, gone: Set[str]) -> list[str]:
    """Ids, in `shorter`, of its pads: the last one up to the turn of the loss, those before it, those after it."""
    ids = [line.id for line in variant.spoken.turns]
    left = [id for id in ids if id not in gone]
    pads = [id for id in left if id in case.pads()]
    still = [line.id for line in shorter.spoken.turns if line.id in pads_of(shorter)]  # a turn may take others along
    names = dict(zip(pads, still, strict=True))
    upto = [id for id in pads if ids.index(id) <= ids.index(case.lost_in or case.failing)]
    return [names[id] for id in (*reversed(upto), *(id for id in pads if id not in upto))]
