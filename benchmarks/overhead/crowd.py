"""Crowd: how long many slow sessions at once take, against what they would take if the harness cost nothing."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzzturn.records import Run

from .plain import SlowAgent
from .stage import SCENARIO, STAGING, bench, distinct, played_by

__all__ = ["Crowd", "crowd"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """Seconds. `ideal`: as long as one session waits for its agent, since all run at once."""

    sessions: int
    ideal: float
    wall: float
    cpu: float
    writing: float
    """CPU seconds for writing them all down afterwards; not in the two before."""


def crowd(sessions: int) -> Crowd:
    """Play and measure them all at once, as a campaign with as many workers does, then write them down."""
    return asyncio.run(_crowd(sessions))


async def _crowd(sessions: int) -> Crowd:
    variants = distinct(sessions)
    for variant in variants:
        _ = variant.spoken  # whoever drew a variant has spoken it already
    stage = bench(played_by(SlowAgent), None, workers=sessions)
    wall, cpu = time.perf_counter(), time.process_time()
    trials = await stage.run_all(variants)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    begun = time.process_time()
    with TemporaryDirectory() as folder:
        run = Run.create(Path(folder), "crowd")
        for n, trial in enumerate(trials):
            run.session(f"s{n}", trial.variant, trial.measured, STAGING.registry)
        run.close({})
    ideal = len(SCENARIO.turns) * SlowAgent.seconds
    return Crowd(sessions=sessions, ideal=ideal, wall=wall, cpu=cpu, writing=time.process_time() - begun)
