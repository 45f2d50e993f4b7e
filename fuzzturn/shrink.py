"""Shrink: a failing session in, the smallest session found that fails in the same way out.

The problem is a case, a predicate (`Pinned`) and an order (`finding_order`). The engine runs a pass's candidates in
batches, takes the lowest one that satisfies the predicate and is smaller, and starts that pass again. When a whole
round of passes changes nothing, the case is minimal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from fuzzturn.case import Case, as_case
from fuzzturn.finding import Pinned, finding_order
from fuzzturn.passes import PASSES, Pass
from fuzzturn.trial import Bench, OutOfAllowance
from fuzzturn.variant import PAD_TOKENS_MIN, Pad, Variant

__all__ = ["Problem", "shrink"]


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


async def shrink(case: Case, problem: Problem) -> tuple[Case, bool]:
    """The fixed point of all passes from `case`, and whether it was reached.

    The result satisfies the predicate; at the fixed point it is 1-minimal, and shrinking it again gives itself, since
    candidates depend on the case alone. Where the allowance ended it, the result is the smallest case so far.
    """
    rejected: set[str] = set()
    while True:
        before = case
        for reduce in PASSES:
            seen: set[object] = set()
            try:
                while (better := await _improve(case, reduce, problem, rejected, seen)) is not None:
                    case = better
            except OutOfAllowance:
                return case, False
        if case is before:
            return case, True


async def _improve(case: Case, reduce: Pass, problem: Problem, rejected: set[str], seen: set[object]) -> Case | None:
    """The first candidate of the pass that is smaller and satisfies the predicate.

    What was rejected since the pass began is not tried again in the smaller case that came of something else: a pass
    goes once through a session, and the last round of passes tries everything anew. Batches grow from one candidate
    to the problem's batch, since whatever follows the one that is accepted is executed for nothing.
    """
    here, required = finding_order(case.variant), _required(case)
    candidates = (
        v
        for v in _distinct(reduce(case))
        if v.key not in rejected
        and _change(case, v) not in seen
        and finding_order(v) < here
        and required <= {line.id for line in v.spoken.turns}
    )
    size = 1
    while batch := list(islice(candidates, size)):
        found = await problem.try_all(batch)
        rejected.update(v.key for v, got in zip(batch, found, strict=True) if got is None)
        first = next((i for i, got in enumerate(found) if got is not None), None)
        # what comes after the one accepted is as if it had not been tried, or the batch would decide what is
        seen.update(_change(case, v) for v in batch[:first])
        if first is not None:
            return found[first]
        size = min(size + 1, problem.batch)
    return None


def _change(case: Case, variant: Variant) -> object:
    """What the variant takes out of the case, what it moves, and which pads get larger or smaller; not by how much."""
    before, after = _shape(case.variant), _shape(variant)
    if len(after) == len(before):
        return variant.key  # another size of a pad is another try
    larger = [(after[id] > before[id]) - (after[id] < before[id]) for id in after if id in before]
    least = sum(size == PAD_TOKENS_MIN for size in after.values())
    return frozenset(before.keys() - after.keys()), tuple(after), tuple(larger), least


def _shape(variant: Variant) -> dict[str, int]:
    """The turns in order, inserted ones by what they are rather than by where they stand; with the tokens of pads."""
    shape: dict[str, int] = {}
    for line in variant.spoken.turns:
        edit = variant.inserted.get(line.id)
        name = line.id if edit is None else f"{type(edit).__name__} {getattr(edit, 'name', '')}"
        while name in shape:
            name += "+"
        shape[name] = edit.tokens or PAD_TOKENS_MIN if isinstance(edit, Pad) else 0
    return shape


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
    seen: set[object] = set()
    for variant in variants:
        if variant.key not in seen:
            seen.add(variant.key)
            yield variant
