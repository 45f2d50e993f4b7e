"""Shrink: a failing session in, the smallest session found that fails in the same way out.

The problem is a case, a predicate (`Pinned`) and an order (`finding_order`). A pass is a plain function from a case to
candidates, best first; the engine runs them in batches, takes the lowest one that satisfies the predicate and is
smaller, and starts that pass again. When a whole round of passes changes nothing, the case is minimal.

Deleting turns is not monotone here: it also undoes the compaction that made the session fail. So a deletion is always
offered twice, plainly and with the deleted tokens given back as padding (measured: without this, reducers
stop 1 to 5 turns above the true minimum).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from fuzzturn.finding import Failure, Pinned, finding_order
from fuzzturn.rewrite import grow_pad, keep, needed, pad_before, to_front, without, without_edit
from fuzzturn.session import Message, ToolCall, Turn
from fuzzturn.threshold import Threshold
from fuzzturn.tokens import message_tokens, text_tokens
from fuzzturn.trial import Bench, OutOfAllowance, Trial
from fuzzturn.variant import PAD_TOKENS_MIN, Drop, Insert, Pad, Variant

__all__ = ["PASSES", "Case", "Pass", "Problem", "as_case", "shrink"]


@dataclass(frozen=True, slots=True)
class Case:
    """A session that fails at its last turn."""

    trial: Trial
    failure: Failure
    threshold: Threshold | None = None

    @property
    def variant(self) -> Variant:
        return self.trial.variant

    @property
    def failing(self) -> str:
        """Id of the scripted or inserted turn that fails."""
        return self.variant.spoken.turns[-1].id

    @property
    def others(self) -> list[str]:
        """Ids of all turns before the failing one, in order."""
        return [line.id for line in self.variant.spoken.turns[:-1]]

    def pads(self) -> dict[str, Pad]:
        return {id: edit for id, edit in self.variant.inserted.items() if isinstance(edit, Pad)}

    def tokens(self, ids: Sequence[str]) -> int:
        """What these turns added to the agent's context, in tokens."""
        return sum(_turn_tokens(turn) for turn in self.trial.measured.session.turns if turn.id in ids)


Pass = Callable[[Case], Iterator[Variant]]


@dataclass(frozen=True, slots=True)
class Problem:
    """What shrinking holds fast, and how it runs candidates."""

    pinned: Pinned
    bench: Bench
    batch: int = 8

    async def try_all(self, variants: Sequence[Variant]) -> list[Case | None]:
        """A batch of candidates at once: for each, the case it is, or None where it does not satisfy the predicate."""
        contexts = None if self.pinned.judge_context is None else [self.pinned.judge_context]
        trials = await self.bench.run_all(variants, contexts)
        return [as_case(trial, self.pinned, self.bench.threshold) for trial in trials]


def as_case(trial: Trial, pinned: Pinned, threshold: Threshold | None) -> Case | None:
    """The trial cut after the first turn that satisfies the predicate; None where no turn does.

    An agent cannot know what will be said later, so the cut costs no run.
    """
    failure = next((failure for failure in trial.failures if pinned.matches(failure)), None)
    if failure is None:
        return None
    spoken = trial.variant.spoken.turns
    said = {turn.id for turn in trial.measured.session.turns[: failure.turn]}
    last = max(i for i, line in enumerate(spoken) if line.id in said)
    if last + 1 == len(spoken):
        return Case(trial, failure, threshold)
    cut = keep(trial.variant, {line.id for line in spoken[: last + 1]})
    return Case(Trial(cut, trial.measured, trial.failures), failure, threshold)


async def shrink(case: Case, problem: Problem) -> tuple[Case, bool]:
    """The fixed point of all passes from `case`, and whether it was reached.

    The result satisfies the predicate; at the fixed point it is 1-minimal, and shrinking it again gives itself, since
    candidates depend on the case alone. Where the allowance ended it, the result is the smallest case so far.
    """
    rejected: set[str] = set()
    while True:
        before = case
        for reduce in PASSES:
            try:
                while (better := await _improve(case, reduce, problem, rejected)) is not None:
                    case = better
            except OutOfAllowance:
                return case, False
        if case is before:
            return case, True


async def _improve(case: Case, reduce: Pass, problem: Problem, rejected: set[str]) -> Case | None:
    """The first candidate of the pass that is smaller and satisfies the predicate."""
    here, required = finding_order(case.variant), _required(case)
    candidates = (
        v
        for v in reduce(case)
        if v.key not in rejected and finding_order(v) < here and required <= {line.id for line in v.spoken.turns}
    )
    while batch := list(islice(_distinct(candidates), problem.batch)):
        found = await problem.try_all(batch)
        rejected.update(v.key for v, got in zip(batch, found, strict=True) if got is None)
        if (accepted := next((got for got in found if got is not None), None)) is not None:
            return accepted
    return None


def _required(case: Case) -> frozenset[str]:
    """The turns that must stay. A goal or an expectation is fair only where the script has asked for what it takes.

    A broken constraint needs no such fairness, since it binds whatever else was said; but an approval for one use is
    one only beside the rule that it excepts from, so that rule's statement stays.
    """
    if case.failure.constraint is not None:
        broken = case.variant.scenario.constraint(case.failure.constraint)
        stating = case.variant.spoken.stating(broken.supersedes) if broken.uses and broken.supersedes else None
        return frozenset() if stating is None else frozenset({stating})
    scripted = {line.id for line in case.variant.scenario.turns if not line.optional}
    return frozenset(line.id for line in case.variant.spoken.turns if line.id in scripted)


def _distinct(variants: Iterator[Variant]) -> Iterator[Variant]:
    seen: set[str] = set()
    for variant in variants:
        if variant.key not in seen:
            seen.add(variant.key)
            yield variant


def skeleton(case: Case) -> Iterator[Variant]:
    """What the failure needs at the least: stating turn, failing turn, what those need, and one pad for the rest."""
    stating = case.variant.spoken.stating(case.failure.constraint) if case.failure.constraint else None
    core = needed(case.variant, [case.failing, *([stating] if stating else [])])
    rest = [id for id in case.others if id not in core]
    if not rest:
        return
    bare = keep(case.variant, core)
    yield bare
    if case.failing in case.variant.inserted:
        return
    sizes = [case.tokens(rest)]
    if case.threshold is not None and case.threshold.unit == "tokens":
        sizes.insert(0, case.threshold.high)
    for size in sizes:
        yield pad_before(bare, case.failing, size)
        if stating is not None:
            yield pad_before(to_front(bare, stating), case.failing, size)


def delete(case: Case) -> Iterator[Variant]:
    """Runs of turns, long ones and late ones first; each plainly, and with its tokens given back as padding."""
    ids = case.others
    size = max(len(ids) // 2, 1)
    while size:
        for run in _runs(ids, size):
            yield from _delete(case, case.variant, run)
        size = 2 if size == 3 else size // 2


def front(case: Case) -> Iterator[Variant]:
    """The statement as early as it may stand, with one other turn deleted, or two where one is to become padding."""
    stating = case.variant.spoken.stating(case.failure.constraint) if case.failure.constraint else None
    if stating is None or stating not in case.others:
        return
    moved = to_front(case.variant, stating)
    others = [id for id in case.others if id != stating]
    for size in (2, 1) if not case.pads() else (1,):
        for run in _runs(others, size):
            yield from _delete(case, moved, run)


def gather_pads(case: Case) -> Iterator[Variant]:
    """All padding in one turn just before the failing one; then each pad there by itself."""
    pads = case.pads()
    scripted = case.failing not in case.variant.inserted
    if not pads or not scripted:
        return
    if len(pads) > 1:
        yield pad_before(without(case.variant, pads), case.failing, sum(pad.tokens or 0 for pad in pads.values()))
    for id, pad in pads.items():
        yield pad_before(without(case.variant, [id]), case.failing, pad.tokens or PAD_TOKENS_MIN)


def drop_edits(case: Case) -> Iterator[Variant]:
    """Edits that are no turns of their own, one by one: what was moved goes back to its scripted place."""
    for edit in case.variant.edits:
        if not isinstance(edit, Drop | Insert | Pad):
            yield without_edit(case.variant, edit)


def smaller_pads(case: Case) -> Iterator[Variant]:
    """Each pad at its least; at what the logged threshold says is enough; then smaller by ever less."""
    for id, pad in case.pads().items():
        tokens = pad.tokens or PAD_TOKENS_MIN
        yield grow_pad(case.variant, id, PAD_TOKENS_MIN - tokens)
        if (excess := _excess(case)) > 0:
            yield grow_pad(case.variant, id, -excess)
            yield grow_pad(case.variant, id, 1 - excess)
        by = tokens // 2
        while by:
            yield grow_pad(case.variant, id, -by)
            by //= 2


PASSES: tuple[Pass, ...] = (skeleton, drop_edits, gather_pads, delete, front, smaller_pads)


def _runs(ids: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Runs of neighbours, late ones first; pairs overlap, since a pair may become one pad."""
    for end in range(len(ids), size - 1, -1 if size <= 2 else -size):
        yield ids[end - size : end]


def _delete(case: Case, variant: Variant, ids: Sequence[str]) -> Iterator[Variant]:
    """`variant` without the turns `ids`: plainly, with their tokens in each other pad, or in a new one."""
    shorter = without(variant, ids)
    left = [line.id for line in shorter.spoken.turns]
    if case.failing not in left:
        return
    yield shorter
    gone = [id for id in case.others if id not in left]
    freed = case.tokens(gone)
    if case.threshold is not None and case.threshold.unit == "messages":
        return  # to an agent that counts messages a longer pad is the same pad
    for id in reversed(list(shorter.inserted)):
        if isinstance(shorter.inserted[id], Pad):
            yield grow_pad(shorter, id, freed)
    if len(gone) > 1 and not case.pads() and case.failing not in shorter.inserted:
        yield pad_before(shorter, case.failing, freed)


def _excess(case: Case) -> int:
    """Tokens by which the last compaction's context exceeded the threshold; 0 = unknown or none."""
    if case.threshold is None or case.threshold.unit != "tokens":
        return 0
    sizes = [c.before for turn in case.trial.measured.session.turns[: case.failure.turn] for c in turn.compactions]
    known = [size for size in sizes if size is not None]
    return max(known[-1] - case.threshold.high, 0) if known else 0


def _turn_tokens(turn: Turn) -> int:
    said = text_tokens(turn.user)
    for event in turn.events:
        if isinstance(event, Message):
            said += text_tokens(event.text)
        elif isinstance(event, ToolCall):
            call: Mapping[str, object] = {"tool_calls": [{"name": event.name, "arguments": event.args}]}
            said += message_tokens(call) + message_tokens({"content": event.result or event.error})
    return said
