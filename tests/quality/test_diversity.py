"""How varied the 25 sessions of a cell are, beside one long Hypothesis run over the same strategy, which is not.

After ten examples Hypothesis mostly mutates a few of those that it has, so `draw` makes many short runs. Nothing here
depends on how a variant is encoded: only on what is spoken, and on which operator edited which place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

from benchmarks.faults.script import USUAL
from fuzzturn.cells import CELL_SESSIONS
from fuzzturn.project import Project
from fuzzturn.scenario_file import load_scenario
from fuzzturn.variant import Variant
from fuzzturn.vary import draw, variants

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = {"lisbon": load_scenario(ROOT / "scenarios/orbit/lisbon_offsite.yaml"), "lamps": USUAL}
CELLS = 25
FOLLOWS_APART = 0.5
TURNS_APART = 0.15
PLACES = 110
"""Of 150 variants, how many differ in which operators edited which turns."""

Part: TypeAlias = Callable[[Variant], frozenset[object]]
both = pytest.mark.parametrize("script", SCRIPTS)


@both
def test_a_cell_is_full_of_distinct_sessions(script: str) -> None:
    assert min(_distinct(cell) for cell in _cells(script)) == CELL_SESSIONS
    assert fmean(_distinct(chunk) for chunk in _in_cells(_one_long_run(script))) < CELL_SESSIONS - 1


@both
def test_the_sessions_of_a_cell_say_other_turns_after_one_another(script: str) -> None:
    assert _apart(_cells(script), _follows) >= FOLLOWS_APART > _apart(_wrong_cells(script), _follows)


@both
def test_the_sessions_of_a_cell_say_other_turns(script: str) -> None:
    assert _apart(_cells(script), _turns) >= TURNS_APART > _apart(_wrong_cells(script), _turns)


@both
def test_operators_meet_in_ever_new_places(script: str) -> None:
    drawn = [variant for cell in _cells(script) for variant in cell]
    long = [variant for chunk in _wrong_cells(script) for variant in chunk]
    assert _places(drawn[:150]) >= PLACES > _places(long[:150])


@cache
def _strategy(script: str) -> SearchStrategy[Variant]:
    return variants(SCRIPTS[script], operators=Project(root=ROOT).load_strategies().of_kind("operator"))


@cache
def _cells(script: str) -> Sequence[Sequence[Variant]]:
    return [draw(_strategy(script), CELL_SESSIONS, seed=5, cell=k) for k in range(CELLS)]


@cache
def _one_long_run(script: str) -> Sequence[Variant]:
    """As many examples as there are sessions in all the cells, the way one would write it first."""
    found: list[Variant] = []

    @settings(
        max_examples=CELLS * CELL_SESSIONS, phases=(Phase.generate,), database=None, deadline=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(_strategy(script))
    def record(variant: Variant) -> None:
        found.append(variant)

    hypothesis.seed(5)(record)()
    return found


def _wrong_cells(script: str) -> Sequence[Sequence[Variant]]:
    """The long run without what it said twice, cut into cells."""
    return _in_cells(list({variant.key: variant for variant in _one_long_run(script)}.values()))


def _in_cells(drawn: Sequence[Variant]) -> Sequence[Sequence[Variant]]:
    return [drawn[i : i + CELL_SESSIONS] for i in range(0, len(drawn) - CELL_SESSIONS + 1, CELL_SESSIONS)]


def _distinct(cell: Iterable[Variant]) -> int:
    return len({variant.key for variant in cell})


def _turns(variant: Variant) -> frozenset[object]:
    return frozenset(line.user for line in variant.spoken.turns)


def _follows(variant: Variant) -> frozenset[object]:
    """Which turn is said after which, the beginning and the end of the session included."""
    said = [None, *(line.user for line in variant.spoken.turns), None]
    return frozenset(pairwise(said))


def _apart(cells: Iterable[Sequence[Variant]], part: Part) -> float:
    """Mean Jaccard distance of a session to the one of its cell that is nearest, 0.0-1.0."""
    return fmean(_nearest(cell, part) for cell in cells)


def _nearest(cell: Sequence[Variant], part: Part) -> float:
    sets = [part(variant) for variant in cell]
    return fmean(min(1 - len(a & b) / len(a | b) for b in sets if b is not a) for a in sets)


def _places(drawn: Iterable[Variant]) -> int:
    return len({frozenset((edit.operator, edit.anchor) for edit in variant.edits) for variant in drawn})
