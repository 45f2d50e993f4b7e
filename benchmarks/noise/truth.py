"""Truth: what is so of a session whatever the noise: whether the planted fault is in it, and how often it goes wrong.

A run depends on two draws only, so four runs in which each of them is certain one way or the other tell all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from benchmarks.faults.desk import REGISTRY
from fuzzturn.drive import drive
from fuzzturn.measure import measure
from fuzzturn.rewrite import keep
from fuzzturn.variant import Variant

from .agents import Stochastic

__all__ = ["Broken", "Truth", "broken", "truth"]


@dataclass(frozen=True, slots=True)
class Broken:
    """The first turn at which a run breaks a constraint, from 1."""

    turn: int
    constraint: str
    session: Variant
    """Cut after that turn."""


async def broken(
    agent: Stochastic, variant: Variant, constraint: str | None = None, *, seed: int = 0, sample: int = 0
) -> Broken | None:
    """One whole run; None where nothing was broken. `constraint`: no other counts; None = any does."""
    session = await drive(agent.cast(seed, sample), variant.spoken)
    for scores in measure(variant.spoken, session, REGISTRY).scores:
        for check in scores.adherence.failed:
            if constraint in (None, check.constraint):
                said = {line.id for line in variant.spoken.turns[: scores.n]}
                return Broken(scores.n, check.constraint, keep(variant, said))
    return None


@dataclass(frozen=True, slots=True)
class Truth:
    """Whether a session breaks a constraint, for each way in which the two draws may fall: (effect, background)."""

    breaks: Mapping[tuple[bool, bool], bool]

    @property
    def carries(self) -> bool:
        """The planted fault is in it: what the noiseless agent tells, which never goes wrong without."""
        return self.breaks[True, False]

    def rate(self, p: float, background: float) -> float:
        """The share of runs in which it breaks the constraint, where the draws fall so often."""
        return sum(self._share(way, p, background) for way, breaks in self.breaks.items() if breaks)

    def caused(self, p: float, background: float) -> float | None:
        """Of those runs, the share in which the planted mechanism was to take effect; None = there are none."""
        caused = sum(self._share(way, p, background) for way, breaks in self.breaks.items() if breaks and way[0])
        return caused / all_of_them if (all_of_them := self.rate(p, background)) else None

    @staticmethod
    def _share(way: tuple[bool, bool], p: float, background: float) -> float:
        effect, stray = way
        return (p if effect else 1 - p) * (background if stray else 1 - background)


def truth(agent: Stochastic, variant: Variant, constraint: str) -> Truth:
    """What is so of a session of this agent's."""

    async def breaks(effect: bool, background: bool) -> bool:
        certain = replace(agent, p=float(effect), background=float(background), chance=None)
        return await broken(certain, variant, constraint) is not None

    async def ways() -> dict[tuple[bool, bool], bool]:
        both = (True, False)
        return {(effect, stray): await breaks(effect, stray) for effect in both for stray in both}

    return Truth(asyncio.run(ways()))
