"""Shrink: a failing session in, the smallest session found that fails in the same way out.

The problem is a case, a predicate (`Pinned`) and an order (`finding_order`). The engine runs a pass's candidates in
batches, takes the lowest one that satisfies the predicate and is smaller, and starts that pass again. When a whole
round of passes changes nothing, the case is minimal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from fuzzturn.case import Case, as_case
from fuzzturn.finding import Pinned, finding_order
from fuzzturn.passes import PASSES, Pass
from fuzzturn.scores import JudgeContext
from fuzzturn.trial import Bench, OutOfAllowance, Trial
from fuzzturn.variant import PAD_TOKENS_MIN, Pad, Variant

__all__ = ["Problem", "shrink"]

GROWTH = 3
"""So many candidates of a pass are rejected before one more is played at once."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What shrinking holds fast, and how it runs candidates."""

    pinned: Pinned
    bench: Bench
    batch: int = 8

    @property
    def contexts(self) -> Sequence[JudgeContext] | None:
        """Those that the judge is asked in: the pinned one; None = all of the jury's."""
        return None if self.pinned.judge_context is None else [self.pinned.judge_context]

    async def try_all(self, variants: Sequence[Variant]) -> list[Trial]:
        """A batch of candidates at once."""
        return await self.bench.run_all(variants, self.contexts)


@dataclass(slots=True)
class _Tried:
    """What was rejected: `keys` and `shapes` for good, `changes` until the pass ends."""

    keys: set[str] = field(default_factory=set)
    shapes: list[Sequence[tuple[str, int]]] = field(default_factory=list)
    changes: set[object] = field(default_factory=set)

    def add(self, case: Case, variant: Variant) -> None:
        self.keys.add(variant.key)
        self.shapes.append(_shape(variant))
        self.changes.add(_change(case, variant))

    def knows(self, case: Case, variant: Variant) -> bool:
        """Whether this was rejected, or the same change to another case; or, of pads made smaller, a larger one was."""
        if variant.key in self.keys or _change(case, variant) in self.changes:
            return True
        resized = len(variant.spoken.turns) == len(case.variant.spoken.turns)
        return resized and any(_within(_shape(variant), shape) for shape in self.shapes)


async def shrink(case: Case, problem: Problem) -> tuple[Case, bool]:
    """The fixed point of all passes from `case`, and whether it was reached.

    The result satisfies the predicate; at the fixed point it is 1-minimal, and shrinking it again gives itself, since
    candidates depend on the case and its threshold alone. Every session played narrows the threshold for nothing.
    Where the allowance ended it, the result is the smallest case so far.
    """
    case, tried = case.assuming().narrowed(case.trial), _Tried()
    while True:
        before = case
        for reduce in PASSES:
            tried.changes.clear()
            better = True
            try:
                while better:
                    case, better = await _improve(case, reduce, problem, tried)
            except OutOfAllowance:
                return case, False
        if case.variant.key == before.variant.key and case.threshold == before.threshold:
            return case, True


async def _improve(case: Case, reduce: Pass, problem: Problem, tried: _Tried) -> tuple[Case, bool]:
    """The first candidate of the pass that is smaller and satisfies the predicate, else the case; and which it is.

    What was rejected since the pass began is not tried again in the smaller case that came of something else: a pass
    goes once through a session, and the last round of passes tries everything anew. Batches grow slowly to the
    problem's batch, since whatever follows the one that is accepted is executed for nothing.

    A batch is played at once and decided on one by one: what follows an accepted candidate, or one that told where
    compaction begins, is as if it had not been tried, or the batch would decide what is found.
    """
    count = 0
    while batch := list(islice(_candidates(case, reduce, tried), min(1 + count // GROWTH, problem.batch))):
        count += len(batch)
        for variant, trial in zip(batch, await problem.try_all(batch), strict=True):
            if tried.knows(case, variant):  # by what came before it in the batch
                continue
            wiser = case.narrowed(trial)
            if (found := as_case(trial, problem.pinned, wiser.threshold)) is not None:
                return replace(found, assumed=wiser.assumed), True
            tried.add(case, variant)
            told, case = wiser.threshold != case.threshold, wiser
            if told:
                break
    return case, False


def _candidates(case: Case, reduce: Pass, tried: _Tried) -> Iterator[Variant]:
    """Those of the pass that are smaller than the case, keep what must stay, and were not tried."""
    here, required = finding_order(case.variant), _required(case)
    for variant in _distinct(reduce(case)):
        smaller = finding_order(variant) < here and required <= {line.id for line in variant.spoken.turns}
        if smaller and not tried.knows(case, variant):
            yield variant


def _change(case: Case, variant: Variant) -> object:
    """Which turns the variant takes out of the case, and which pads get larger or smaller.

    What moves turns or brings new ones is known by nothing but itself.
    """
    before, after = _shape(case.variant), _shape(variant)
    gone, resized = [], []
    counted: Counter[str] = Counter()
    left = len(after)
    for name, size in reversed(before):
        counted[name] += 1  # from the end, as a pass goes: what stands later keeps its number when this one goes
        if left and after[left - 1][0] == name:
            left -= 1
            resized += [(name, counted[name], after[left][1] > size)] * (after[left][1] != size)
        else:
            gone.append((name, counted[name]))
    return (tuple(gone), tuple(resized)) if gone and not left else variant.key


def _shape(variant: Variant) -> list[tuple[str, int]]:
    """The turns in order, inserted ones by what they are rather than by where they stand; with the tokens of pads."""
    shape = []
    for line in variant.spoken.turns:
        edit = variant.inserted.get(line.id)
        name = line.id if edit is None else f"{type(edit).__name__} {getattr(edit, 'name', '')}"
        shape.append((name, edit.tokens or PAD_TOKENS_MIN if isinstance(edit, Pad) else 0))
    return shape


def _within(shape: Sequence[tuple[str, int]], other: Sequence[tuple[str, int]]) -> bool:
    """Whether both have the same turns, and the other no smaller pad."""
    return [name for name, _ in shape] == [name for name, _ in other] and all(
        mine[1] <= its[1] for mine, its in zip(shape, other, strict=True)
    )


def _required(case: Case) -> frozenset[str]:
    """The turns that must stay. A goal or an expectation is fair only where the script has asked for what it takes.

    A broken constraint needs no such fairness, since it binds whatever else was said; but what is stated nowhere binds
    nobody, which takes no run to prove, and an approval for one use is one only beside the rule that it excepts from.
    """
    spoken, gap = case.variant.spoken, case.failure.kind == "block_gap"
    if case.failure.constraint is not None:
        broken = case.variant.scenario.constraint(case.failure.constraint)
        rule = spoken.stating(broken.exception_to) if broken.exception_to else None
        own = [line.id for line in spoken.turns if broken.id in line.states]
        return frozenset([*([rule] if rule else []), *(own if len(own) == 1 and not gap else [])])
    if gap or case.failure.kind == "metamorphic":  # a block is what it is; the twin lacks the same
        return frozenset()
    scripted = {line.id for line in case.variant.scenario.turns if not line.optional}
    return frozenset(line.id for line in spoken.turns if line.id in scripted)


def _distinct(variants: Iterator[Variant]) -> Iterator[Variant]:
    seen: set[object] = set()
    for variant in variants:
        if variant.key not in seen:
            seen.add(variant.key)
            yield variant
