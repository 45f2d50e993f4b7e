"""Trial: one variant played, measured and judged where it failed. The one step that search and shrinking repeat.

An allowance ends the repeating between two batches: what is under way is finished, what was found is kept.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from fuzzturn.drive import Meter
from fuzzturn.errors import Halted
from fuzzturn.finding import Failure, failures
from fuzzturn.gaps import gaps
from fuzzturn.measure import Jury, Measured, Reader, judged, measure
from fuzzturn.registry import Registry
from fuzzturn.relation import differences, twin_of
from fuzzturn.scores import JudgeContext
from fuzzturn.session import Session, Turn
from fuzzturn.threshold import Threshold, solve
from fuzzturn.tree import Tree
from fuzzturn.variant import Variant, disturbs_the_world

__all__ = ["Allowance", "Bench", "OutOfAllowance", "Trial", "together"]

YOUNG_OBJECTS = 20_000
"""New containers before the garbage collector looks at them while a batch runs. Python's own figure is 700."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What a variant did, its symbolic padding solved. `failures` are in order of turns."""

    variant: Variant
    measured: Measured
    failures: tuple[Failure, ...]
    twin: Measured | None = None
    """The session that this one was held against; None = against none."""

    @property
    def telling(self) -> tuple[Turn, ...]:
        """The turns that tell where the agent's compaction begins; none where its context was cut by force."""
        forced = any(line.disturbances for line in self.variant.spoken.turns)
        return () if forced else self.measured.session.turns

    def __repr__(self) -> str:
        wrong = "; ".join(f"turn {f.turn} {f.kind} {f.checker}: {f.detail}" for f in self.failures)
        return f"<trial of {self.variant!r}: {wrong or 'nothing wrong'}>"


class OutOfAllowance(Exception):
    """No further batch may start. Never leaves the engine.

    `finished` are the trials of the batch under way that were through before it was ended, in order.
    """

    def __init__(self, stopped: str | None, finished: Sequence[Trial] = ()) -> None:
        self.finished = tuple(finished)
        super().__init__(stopped)


@dataclass
class Allowance:
    """What may be spent. `turns`: replies started; `seconds`: wall clock; None = no bound. Checked between batches."""

    meter: Meter
    turns: int | None = None
    seconds: float | None = None
    clock: Callable[[], float] = time.monotonic
    stopped: str | None = None
    """What ended it: "turns", "minutes", "interrupted", or what a `Halted` says; None = nothing yet."""
    because: str = ""
    """What the `Halted` said, for people."""

    def __post_init__(self) -> None:
        self._begun = self.clock()

    def interrupt(self) -> None:
        self.stopped = "interrupted"

    def halt(self, halted: Halted) -> None:
        """No model can be asked any more."""
        self.stopped, self.because = halted.why, str(halted)

    def used_up(self) -> bool:
        """Whether no further batch may start."""
        if self.stopped is None and self.turns is not None and self.meter.agent_turns >= self.turns:
            self.stopped = "turns"
        if self.stopped is None and self.seconds is not None and self.clock() - self._begun >= self.seconds:
            self.stopped = "minutes"
        return self.stopped is not None


@dataclass(frozen=True)
class Bench:
    """Everything a trial needs. `slots` bounds how many sessions run at once; it never changes a result."""

    tree: Tree
    registry: Registry
    jury: Jury
    slots: asyncio.Semaphore
    threshold: Threshold | None = None
    allowance: Allowance | None = None
    twins: bool = False
    """Whether sessions are held against their twins, which costs turns that none has played yet."""
    gaps: bool = False
    """Whether gaps of the protected block are failures."""

    def with_tree(self, tree: Tree) -> Bench:
        return replace(self, tree=tree)

    async def run(
        self, variant: Variant, contexts: Sequence[JudgeContext] | None = None, twin: Variant | None = None
    ) -> Trial:
        """Play, measure, and judge the turns at which a checker failed, in the jury's contexts or those given.

        `twin`: what to hold the session against; None = what the variant's own edits tell, where `twins` is set.
        """
        async with self.slots:
            variant = await solve(self.tree, variant, self.threshold)
            reader = Reader(variant.spoken, self.registry)
            session = await self.tree.play(variant.spoken, reader.read)
            measured = reader.measured(session)
            failing = [scores.n for scores in measured.scores if scores.adherence.failed]
            measured = await judged(measured, failing, self.jury, contexts)
            other = await self._other(variant, twin)
        found = [f for s, turn in zip(measured.scores, session.turns, strict=True) for f in failures(s, turn)]
        found += differences(measured, other) if other is not None else ()
        found += gaps(measured) if self.gaps else ()
        disturbed = any(map(disturbs_the_world, variant.edits))
        return Trial(variant, measured, tuple(f for f in found if not _excused(f, session, disturbed)), other)

    async def _other(self, variant: Variant, twin: Variant | None) -> Measured | None:
        if twin is None and self.twins:
            twin = twin_of(variant)
        if twin is None:
            return None
        return measure(twin.spoken, await self.tree.play(twin.spoken), self.registry)

    async def run_all(self, variants: Sequence[Variant], contexts: Sequence[JudgeContext] | None = None) -> list[Trial]:
        """A batch at once; results in the order given. Raises OutOfAllowance where no batch may start."""
        return await together([self.run(variant, contexts) for variant in variants], self.allowance)


async def together(runs: Sequence[Coroutine[Any, Any, Trial]], allowance: Allowance | None) -> list[Trial]:
    """Runs at once; results in the order given. Raises OutOfAllowance where no batch may start."""
    if allowance is not None and allowance.used_up():
        for run in runs:
            run.close()
        raise OutOfAllowance(allowance.stopped)
    with _rarely_collecting():
        tasks = [asyncio.ensure_future(run) for run in runs]
        try:
            return await _all(tasks, allowance)
        finally:
            for task in tasks:  # one that failed takes the batch with it: leave nothing running behind
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def _rarely_collecting() -> Iterator[None]:
    """The garbage collector comes more rarely in here.

    What a batch makes is kept until it is judged, so going through it again and again finds nothing: that was a quarter
    of the CPU time of a thousand sessions at once. Whoever has set a higher threshold, or none, keeps it.
    """
    young, *older = gc.get_threshold()
    rarer = 0 < young < YOUNG_OBJECTS
    if rarer:
        gc.set_threshold(YOUNG_OBJECTS, *older)
    try:
        yield
    finally:
        if rarer:  # a batch beside this one, which found it set, has it less rare from here on and nothing else
            gc.set_threshold(young, *older)


async def _all(tasks: Sequence[asyncio.Task[Trial]], allowance: Allowance | None) -> list[Trial]:
    """What the tasks give. Where no model can be asked any more, those that need none are waited for and kept."""
    try:
        return list(await asyncio.gather(*tasks))
    except Halted as halted:
        if allowance is None:
            raise
        allowance.halt(halted)
        results = await asyncio.gather(*tasks, return_exceptions=True)
        raise OutOfAllowance(halted.why, [trial for trial in results if isinstance(trial, Trial)]) from halted


def _excused(failure: Failure, session: Session, disturbed: bool) -> bool:
    """An agent that asked and got no answer, or that broke, is not blamed for what was expected from there on.

    Nor is one whose tools or summaries were made to fail. A constraint that it breaks is broken all the same.
    """
    if disturbed and failure.kind in ("assertion", "progress", "metamorphic"):
        return True
    broken = len(session.turns) if session.error is not None else None
    since = min((n for n in (session.off_script_at, broken) if n is not None), default=None)
    return failure.kind in ("assertion", "progress") and since is not None and failure.turn >= since
