"""Engine: fuzzturn itself, by its own functions: the search until its first failure, the reducer from a given start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from unittest.mock import patch

import fuzzturn.shrink as reducer
from fuzzturn.case import Case, as_case
from fuzzturn.cells import CELL_SESSIONS
from fuzzturn.drive import Meter
from fuzzturn.finding import Pinned
from fuzzturn.passes import PASSES, Pass
from fuzzturn.search import search
from fuzzturn.shrink import Problem, shrink
from fuzzturn.threshold import Threshold
from fuzzturn.trial import Allowance, Trial
from fuzzturn.variant import Variant

from .world import LIMIT, World, wrong

__all__ = ["Found", "Shrunk", "find", "shrunk"]

_FEW = 100
"""All variants are drawn before the first is played, and drawing 2,000 takes seconds: try these first."""
_PADS = "smaller_pads"


@dataclass(slots=True)
class Found:
    """What the search spent until its first failure, and the first failing variant; None = there was none."""

    turns: int = 0
    sessions: int = 0
    variant: Variant | None = None
    threshold: Threshold | None = None
    """Where the agent's compaction begins, as a campaign of 25 sessions, or up to the first failure, has learned it."""


async def find(world: World) -> Found:
    """Run a campaign until its first failure, and for 25 sessions at least, whose turns count up to the failure only.

    A batch is played as a whole, and counted as a whole.
    """
    found = await _find(world, _FEW)
    return found if found.variant is not None else await _find(world, LIMIT)


async def _find(world: World, sessions: int) -> Found:
    found = Found()
    allowance = Allowance(Meter())
    heard = 0

    def hear(trial: Trial) -> None:
        nonlocal heard
        heard += 1
        if found.variant is None:
            found.sessions += 1
            if wrong(trial) is not None:
                found.variant, found.turns = trial.variant, allowance.meter.agent_turns
        if found.variant is not None and heard > CELL_SESSIONS:
            allowance.interrupt()

    outcome = await search(world.campaign(sessions), hear, allowance)
    found.threshold = outcome.threshold
    if found.variant is None:
        found.turns = allowance.meter.agent_turns
    return found


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The reducer's result and what it took, the starting run excluded."""

    variant: Variant
    turns: int
    judge_calls: int
    by_pass: dict[str, int] = field(default_factory=dict)


async def shrunk(
    world: World, start: Variant, pinned: Pinned, threshold: Threshold | None, *, pads: bool = True
) -> Shrunk:
    """Shrink from `start` on a bench on which only `start` was played. `pads` False = the pass for them is left out."""
    bench = replace(world.bench(), threshold=threshold)
    case = as_case(await bench.run(start), pinned, threshold)
    assert case is not None
    meter = bench.tree.meter
    begun = replace(meter)
    with _watched(meter, [one for one in PASSES if pads or one.__name__ != _PADS]) as by_pass:
        small, _ = await shrink(case, Problem(pinned, bench, world.campaign().batch))
    spent = meter.since(begun)
    return Shrunk(small.variant, spent.agent_turns, spent.judge_calls, dict(by_pass))


@contextmanager
def _watched(meter: Meter, passes: Sequence[Pass]) -> Iterator[Counter[str]]:
    """The reducer with those passes, each of which notes when it is asked: what is spent until the next one is its."""
    spent: Counter[str] = Counter()
    running, since = "", meter.agent_turns

    def turn_to(name: str) -> None:
        nonlocal running, since
        spent[running] += meter.agent_turns - since
        running, since = name, meter.agent_turns

    def watched(one: Pass) -> Pass:
        def asked(case: Case) -> Iterator[Variant]:
            turn_to(one.__name__)
            return one(case)

        asked.__name__ = one.__name__
        return asked

    with patch.object(reducer, "PASSES", tuple(map(watched, passes))):
        yield spent
    turn_to("")
    del spent[""]
