"""Cells: the variants of a campaign, drawn in cells of 25 that are played each for itself.

A cell's result depends on nothing outside it, and cells merge in order, so they may be spread over machines.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Scenario
from fuzzturn.tree import Tree
from fuzzturn.trial import Allowance, Bench, OutOfAllowance, Trial
from fuzzturn.variant import Variant
from fuzzturn.vary import draw

__all__ = ["CELL_SESSIONS", "cells", "play_cell"]

CELL_SESSIONS = 25


async def cells(
    scenario: Scenario, strategy: SearchStrategy[Variant], seed: int, sessions: int, allowance: Allowance | None
) -> list[list[Variant]]:
    """Cells of distinct variants, `sessions` in all; the last one cut to it. Stops when nothing new comes."""
    drawn_cells: list[list[Variant]] = []
    seen = {Variant(scenario).key}
    left, idle, number = sessions, 0, 0
    while left > 0 and idle < 3 and not (allowance and allowance.used_up()):
        await asyncio.sleep(0)  # thousands take seconds to draw: let an interrupt be heard
        drawn = draw(strategy, CELL_SESSIONS, seed, scenario=scenario.scenario, cell=number)
        fresh = [variant for variant in drawn if variant.key not in seen][:left]
        seen.update(variant.key for variant in fresh)
        number, left, idle = number + 1, left - len(fresh), 0 if fresh else idle + 1
        if fresh:
            drawn_cells.append(fresh)
    return drawn_cells


async def play_cell(cell: Sequence[Variant], bench: Bench, batch: int) -> AsyncIterator[tuple[Trial, Tree]]:
    """Every trial of a cell with the tree it was played in. Raises OutOfAllowance after the last one that was."""
    tree = bench.tree.fork()
    own = bench.with_tree(tree)
    for i in range(0, len(cell), batch):
        try:
            trials = await own.run_all(cell[i : i + batch])
        except OutOfAllowance as ended:
            for trial in ended.finished:
                yield trial, tree
            raise
        for trial in trials:
            yield trial, tree
