"""Trial: one variant played, measured and judged where it failed. The one step that search and shrinking repeat."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fuzzturn.finding import Failure, failures
from fuzzturn.measure import Jury, Measured, judged, measure
from fuzzturn.registry import Registry
from fuzzturn.scores import JudgeContext
from fuzzturn.threshold import Threshold, solve
from fuzzturn.tree import Tree
from fuzzturn.variant import Variant

__all__ = ["Bench", "Trial"]


@dataclass(frozen=True, slots=True)
class Trial:
    """What a variant did, its symbolic padding solved. `failures` are in order of turns."""

    variant: Variant
    measured: Measured
    failures: tuple[Failure, ...]

    def __repr__(self) -> str:
        wrong = "; ".join(f"turn {f.turn} {f.kind} {f.checker}: {f.detail}" for f in self.failures)
        return f"<trial of {self.variant!r}: {wrong or 'nothing wrong'}>"


@dataclass(frozen=True)
class Bench:
    """Everything a trial needs. `slots` bounds how many sessions run at once; it never changes a result."""

    tree: Tree
    registry: Registry
    jury: Jury
    slots: asyncio.Semaphore
    threshold: Threshold | None = None

    def with_tree(self, tree: Tree) -> Bench:
        return replace(self, tree=tree)

    async def run(self, variant: Variant, contexts: Sequence[JudgeContext] | None = None) -> Trial:
        """Play, measure, and judge the turns at which a checker failed, in the jury's contexts or those given."""
        async with self.slots:
            variant = await solve(self.tree, variant, self.threshold)
            session = await self.tree.play(variant.spoken)
            measured = measure(variant.spoken, session, self.registry)
            failing = [scores.n for scores in measured.scores if scores.adherence.failed]
            measured = await judged(measured, failing, self.jury, contexts)
        found = [f for s, turn in zip(measured.scores, session.turns, strict=True) for f in failures(s, turn)]
        return Trial(variant, measured, tuple(found))

    async def run_all(self, variants: Sequence[Variant], contexts: Sequence[JudgeContext] | None = None) -> list[Trial]:
        """A batch at once; results in the order given."""
        tasks = [asyncio.ensure_future(self.run(variant, contexts)) for variant in variants]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:  # one that failed takes the batch with it: leave nothing running behind
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
