"""Cells: the variants of a campaign, planned in cells of 25 that are played each for itself.

A cell's result depends on nothing outside it, and cells merge in order, so they may be spread over machines.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from hypothesis.strategies import SearchStrategy

from fuzzturn.coverage import Landmarks, Planner
from fuzzturn.threshold import Gauge
from fuzzturn.tree import Tree
from fuzzturn.trial import Allowance, Bench, OutOfAllowance, Trial, together
from fuzzturn.variant import Variant
from fuzzturn.vary import draw

__all__ = ["CELL_SESSIONS", "Played", "cells", "play_cell"]

CELL_SESSIONS = 25
CHOSEN_CELLS = 2
"""Cells of which the sessions are chosen from more. What is seldom has few pairs of features that the first fifty
sessions have not shown, so that it was chosen half as often as drawn."""
DRAWN_PER_SESSION = 3
"""Variants drawn for each that is chosen. Measured on planted faults: with 2, 3 and 4 alike, with 1 clearly worse."""


async def cells(
    opened: Sequence[Variant],
    known: Landmarks,
    strategies: Sequence[SearchStrategy[Variant]],
    seed: int,
    sessions: int,
    allowance: Allowance | None,
) -> list[list[Variant]]:
    """Cells of distinct variants, `sessions` in all; the last one cut to it. Stops when nothing new comes.

    `strategies`: of the first cell, of the second, and so on; the last one is that of all that follow.
    `opened`: what was played before any cell, the script first.
    """
    scenario = opened[0].scenario
    planner = Planner(known)
    planned: list[list[Variant]] = []
    seen = {variant.key for variant in opened}
    for variant in opened[1:]:
        planner.note(variant)
    left, idle, number = sessions, 0, 0
    while left > 0 and idle < 3 and not (allowance and allowance.used_up()):
        await asyncio.sleep(0)  # thousands take seconds to draw: let an interrupt be heard
        strategy = strategies[min(number, len(strategies) - 1)]
        drawn = CELL_SESSIONS * (DRAWN_PER_SESSION if number < CHOSEN_CELLS else 1)
        pool = draw(strategy, drawn, seed, scenario=scenario.scenario, cell=number)
        fresh = [variant for variant in pool if variant.key not in seen]
        cell = planner.choose(fresh, min(left, CELL_SESSIONS), opened)
        seen.update(variant.key for variant in cell)
        number, left, idle = number + 1, left - len(cell), 0 if cell else idle + 1
        if cell:
            planned.append(cell)
    return planned


@dataclass(frozen=True, slots=True)
class Played:
    """A trial with the tree it was played in."""

    trial: Trial
    tree: Tree


async def play_cell(
    cell: Sequence[Variant], benches: Sequence[Bench], batch: int, gauge: Gauge, *, growing: bool = False
) -> AsyncIterator[Played]:
    """Every trial of a cell. Raises OutOfAllowance after the last one that was.

    `benches`: one; or several, each of another sample, which the sessions take in turn.
    `growing`: begin with one session at a time. What runs beside the first one that fails is not needed to find it.
    """
    own, gauge = [bench.with_tree(bench.tree.fork()) for bench in benches], gauge.fork()
    at, batches = 0, 0
    while at < len(cell):
        size = min(1 + batches // 4, batch) if growing else batch
        used = [replace(own[i % len(own)], threshold=gauge.threshold) for i in range(at, min(at + size, len(cell)))]
        runs = [bench.run(variant) for bench, variant in zip(used, cell[at : at + size], strict=True)]
        try:
            trials: Sequence[Trial] = await together(runs, used[0].allowance)
        except OutOfAllowance as ended:
            for trial in ended.finished:
                yield Played(trial, used[0].tree)
            raise
        for trial in trials:
            gauge.add(trial.telling)
        for bench, trial in zip(used, trials, strict=True):
            yield Played(trial, bench.tree)
        at, batches = at + size, batches + 1
