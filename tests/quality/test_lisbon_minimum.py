"""The smallest session that violates the Lisbon ceiling, found by trying everything in order of size.

No search or shrinking of the engine takes part: this is what they are measured against.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from fuzzturn.checkers import SessionState
from fuzzturn.drive import Cast, drive
from fuzzturn.project import Project
from fuzzturn.scenario import Line, Scenario
from fuzzturn.scenario_file import load_scenario
from fuzzturn.variant import filler

ROOT = Path(__file__).resolve().parents[2]
PROJECT = Project(root=ROOT)
REGISTRY = PROJECT.load_scenarios_content()
LISBON = load_scenario(ROOT / "scenarios/orbit/lisbon_offsite.yaml")
PAD_SIZES = range(200, 1001, 100)
CAST = Cast(
    build=PROJECT.shipped("agent", "orbit"),
    make_environment=REGISTRY.get("environment", "orbit").function,
    name="orbit",
)


def closed(lines: tuple[Line, ...]) -> bool:
    ids = {line.id for line in lines}
    return all(ids.issuperset(line.after) for line in lines)


def sessions(size: int) -> Iterator[tuple[Line, ...]]:
    """Every script of `size` user turns: a part of the scenario, and a part of it with one padding turn."""
    yield from filter(closed, combinations(LISBON.turns, size))
    for lines in filter(closed, combinations(LISBON.turns, size - 1)):
        for place in range(size - 1):
            for tokens in PAD_SIZES:
                yield (*lines[:place], Line(id="pad", user=filler(tokens)), *lines[place:])


async def violates(lines: tuple[Line, ...]) -> bool:
    """Whether the ceiling's checker fails in a turn from the one that states it on."""
    spoken: Scenario = LISBON.model_copy(update={"turns": lines})
    session = await drive(CAST, spoken)
    ceiling = LISBON.constraint("leg_ceiling")
    checker = REGISTRY.get("checker", ceiling.checker).function
    stated = next((i for i, line in enumerate(lines) if ceiling.id in line.states), len(lines))
    for turn in session.turns[stated:]:
        if not checker(turn, SessionState(turns=session.turns, environment=turn.state), **ceiling.args).passed:
            return True
    return False


async def smallest() -> list[tuple[Line, ...]]:
    """All violating sessions of the smallest size at which there is one."""
    for size in range(1, len(LISBON.turns) + 2):
        # A session that never states the ceiling cannot break it.
        found = [lines for lines in sessions(size) if any(line.states for line in lines) and await violates(lines)]
        if found:
            return found
    return []


def test_the_true_minimum_is_four_user_turns_ask_ceiling_pad_book() -> None:
    found = {tuple(line.id for line in lines) for lines in asyncio.run(smallest())}
    assert ("ask", "ceiling", "pad", "book") in found
    assert {frozenset(ids) for ids in found} == {frozenset({"ask", "ceiling", "pad", "book"})}
