"""Given: a plain Hypothesis test of a stochastic agent over the engine's variants, as one would write it first."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import hypothesis
from hypothesis import given, settings
from hypothesis.errors import FlakyFailure

from benchmarks.compare.given import SETTINGS
from benchmarks.compare.world import World
from fuzzturn.variant import Variant
from fuzzturn.vary import variants

from .agents import Stochastic
from .truth import Broken, broken

__all__ = ["Watched", "by_hypothesis"]


@dataclass(slots=True)
class Watched:
    """What a whole run of the test did. `final`: its last failing run, which Hypothesis reports; None = none failed."""

    executions: int = 0
    turns: int = 0
    found: int | None = None
    """Executions up to the first failure; None = there was none."""
    final: Broken | None = None
    flaky: bool = False
    """It ended with an error: the example to be reported passed when it was run once more."""

    async def see(self, agent: Stochastic, variant: Variant, seed: int) -> None:
        """One execution, a run of its own. Raises AssertionError where a constraint is broken."""
        self.executions += 1
        failure = await broken(agent, variant, seed=seed, sample=self.executions)
        self.turns += len(variant.spoken.turns) if failure is None else failure.turn
        if failure is None:
            return
        self.found = self.found or self.executions
        self.final = failure
        raise AssertionError(failure.constraint)


def by_hypothesis(agent: Stochastic, seed: int, sessions: int) -> Watched:
    """At most so many `sessions` until the first failure; then Hypothesis shrinks as it likes."""
    world, watched = World(agent.fault, seed), Watched()
    with asyncio.Runner() as runner:
        strategy = variants(agent.fault.scenario, operators=world.concrete, guarded=runner.run(world.guarded()))

        @hypothesis.seed(seed)
        @settings(SETTINGS, max_examples=sessions)
        @given(strategy)
        def test(variant: Variant) -> None:
            runner.run(watched.see(agent, variant, seed))

        try:
            test()
        except FlakyFailure:
            watched.flaky = True
        except AssertionError:
            pass
    return watched
