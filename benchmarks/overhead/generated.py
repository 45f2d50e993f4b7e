"""Generated: CPU milliseconds a distinct variant, and where they go."""

from __future__ import annotations

import asyncio
import cProfile
import pstats
import time
from collections import Counter
from pathlib import Path

from hypothesis.strategies import SearchStrategy

from fuzzturn.cells import CELL_SESSIONS
from fuzzturn.measure import guarded_turns
from fuzzturn.variant import Variant
from fuzzturn.vary import draw, variants

from .stage import SCENARIO, STAGING, bench, played_by

__all__ = ["generated", "profiled"]


def generated(cells: int, repeats: int) -> tuple[float, int]:
    """The least CPU milliseconds a distinct variant over the repeats, and how many were distinct."""
    strategy = _strategy()
    _drawn(strategy, 1)
    took = []
    for _ in range(repeats):
        begun = time.process_time()
        distinct = _drawn(strategy, cells)
        took.append(1000 * (time.process_time() - begun) / distinct)
    return min(took), distinct


def profiled(cells: int) -> Counter[str]:
    """Share of self time by place: our modules and the operators by name, Hypothesis by module, the rest as one."""
    strategy = _strategy()
    profile = cProfile.Profile()
    profile.runcall(_drawn, strategy, cells)
    shares: Counter[str] = Counter()
    for (file, _, _), (_, _, own, *_) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        shares[_place(file)] += own
    whole = sum(shares.values())
    return Counter({place: own / whole for place, own in shares.items()})


def _strategy() -> SearchStrategy[Variant]:
    session = asyncio.run(bench(played_by(None), None, workers=1).tree.play(SCENARIO))
    operators = STAGING.project.load_strategies().of_kind("operator")
    return variants(SCENARIO, operators=operators, guarded=guarded_turns(SCENARIO, session, STAGING.registry))


def _drawn(strategy: SearchStrategy[Variant], cells: int) -> int:
    return len({variant.key for cell in range(cells) for variant in draw(strategy, CELL_SESSIONS, seed=1, cell=cell)})


def _place(file: str) -> str:
    path = Path(file)
    if "hypothesis" in path.parts:
        return f"hypothesis {path.name}"
    return path.name if {"fuzzturn", "strategies"} & set(path.parts[-3:-1]) else "Python"
