"""Stage: the Lisbon script, who plays in it, and distinct sessions of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from fuzzturn.cli.options import choose
from fuzzturn.cli.staging import Staging
from fuzzturn.drive import Cast, Meter
from fuzzturn.measure import Jury
from fuzzturn.ports import Judge
from fuzzturn.project import find_project
from fuzzturn.scenario import Scenario
from fuzzturn.tree import Tree
from fuzzturn.trial import Bench
from fuzzturn.variant import Variant

__all__ = ["SCENARIO", "STAGING", "bench", "distinct", "played_by"]

STAGING = Staging(find_project(Path(__file__).resolve().parent), choose({}, {}, ("window+block",)))
(SCENARIO,) = STAGING.scenarios(["lisbon_offsite"])


def played_by(build: Callable[..., Any] | None) -> Cast:
    """The shipped simulated agent's cast, or another agent's in the same environment."""
    cast = STAGING.cast(SCENARIO)
    return cast if build is None else replace(cast, build=build, name=build.__name__)


def distinct(sessions: int) -> list[Variant]:
    """As many unedited sessions, none of which begins like another: each says hello in its own way."""
    hello, *others = SCENARIO.turns
    greeted = (hello.model_copy(update={"user": f"This is request {n}. {hello.user}"}) for n in range(sessions))
    return [Variant(_speaking(SCENARIO, (line, *others))) for line in greeted]


def bench(cast: Cast, judge: Judge | None, workers: int) -> Bench:
    """A bench with nothing played yet; its judge is asked in window+block."""
    meter = Meter()
    jury = Jury(judge, "steady", STAGING.rubric, ("window+block",), meter)
    return Bench(Tree(cast, SCENARIO, meter), STAGING.registry, jury, asyncio.Semaphore(workers))


def _speaking(scenario: Scenario, turns: tuple[Any, ...]) -> Scenario:
    return scenario.model_copy(update={"turns": turns})
