"""Given: a plain Hypothesis test over the engine's variants, found and shrunk by Hypothesis itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, given, settings

from fuzzturn.finding import Pinned
from fuzzturn.variant import Variant
from fuzzturn.vary import variants

from .player import Outcome, Player
from .spent import Spent
from .uniform import said
from .world import LIMIT, World

__all__ = ["Broken", "Run", "SETTINGS", "Watch", "by_hypothesis"]

SETTINGS = settings(
    max_examples=LIMIT,
    phases=(Phase.generate, Phase.shrink),
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
    verbosity=Verbosity.quiet,
    stateful_step_count=24,
)
"""Shrinking without the phase that explains, which would add hundreds of runs."""


class Broken(AssertionError):
    """What the test raises where the session fails."""


@dataclass(slots=True)
class Run:
    """A whole run. `search` counts up to the first failure, `shrinking` what came after it."""

    search: Player
    shrinking: Player
    start: Outcome | None = None
    final: Outcome | None = None


class Watch:
    """Plays what Hypothesis asks for: up to the first failure anything wrong counts, from then on the same thing."""

    def __init__(self, world: World, runner: asyncio.Runner) -> None:
        self.world, self.runner = world, runner
        player = Player(world, runner)
        player.play(Variant(world.fault.scenario))
        self.run = Run(player, player)

    @property
    def _pinned(self) -> Pinned | None:
        return None if self.run.start is None else self.run.start.failure.pinned()

    def see(self, variant: Variant) -> None:
        """Play it. Raises Broken where it fails."""
        failing = self.run.shrinking.play(variant, self._pinned)
        if failing is None:
            return
        if self.run.start is None:
            self.run.start = failing
            self.run.shrinking = Player(self.world, self.runner, Spent(said(failing.variant)))
        self.run.final = failing
        raise Broken

    def through(self, test: Callable[[], None]) -> Run:
        """Run the test to its end. Its last failing run is the example that Hypothesis reports."""
        try:
            test()
        except Broken:
            pass
        return self.run


def by_hypothesis(world: World, runner: asyncio.Runner) -> Run:
    """The engine's strategy in one @given test."""
    strategy = variants(world.fault.scenario, operators=world.concrete, guarded=runner.run(world.guarded()))
    watch = Watch(world, runner)

    @hypothesis.seed(world.seed)
    @SETTINGS
    @given(strategy)
    def test(variant: Variant) -> None:
        watch.see(variant)

    return watch.through(test)
