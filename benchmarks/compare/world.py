"""World: one planted fault as every method meets it: the same script, operators, judge and predicate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.faults.desk import REGISTRY, Reader
from benchmarks.faults.minimum import Live
from benchmarks.faults.planted import Fault
from fuzzturn.campaign import PAD_TO_THRESHOLD, Campaign, campaign_bench
from fuzzturn.finding import Failure, Kind, Pinned
from fuzzturn.measure import guarded_turns
from fuzzturn.offers import marked
from fuzzturn.project import find_project
from fuzzturn.registry import Registered
from fuzzturn.trial import Bench, Trial
from fuzzturn.variant import Variant
from fuzzturn.vary import Guarded

__all__ = ["KINDS", "LIMIT", "World", "carries", "wrong"]

KINDS: tuple[Kind, ...] = ("blind_spot", "violation")
LIMIT = 2000
"""Sessions after which a search gives up."""
_PROJECT = find_project(Path(__file__).resolve().parent)
_OPERATORS = [p for p in _PROJECT.load_strategies().of_kind("operator") if not marked(p, "seldom")]


@dataclass(frozen=True)
class World:
    """A fault and the seed of one comparison."""

    fault: Fault
    seed: int

    @property
    def operators(self) -> tuple[Registered, ...]:
        return tuple(_OPERATORS)

    @cached_property
    def concrete(self) -> tuple[Registered, ...]:
        """The operators whose edits need no calibration. What the other one solves to, `pad_turns` offers as well."""
        return tuple(piece for piece in _OPERATORS if piece.tag.name != PAD_TO_THRESHOLD)

    def campaign(self, sessions: int = LIMIT) -> Campaign:
        """The judge is asked in the agent's own context only: one predicate a fault, and judge calls that compare."""
        return Campaign(
            scenario=self.fault.scenario,
            cast=self.fault.cast(self.seed),
            registry=REGISTRY,
            operators=self.operators,
            judge=Reader(),
            judge_name="desk reader",
            rubric=_PROJECT.find_rubric(),
            contexts=("agent",),
            sessions=sessions,
            kinds=KINDS,
        )

    def bench(self) -> Bench:
        """A bench on which nothing was played, with a meter of its own."""
        return campaign_bench(self.campaign())

    async def guarded(self) -> Guarded:
        """Where the constraints are checked, from a base run on a bench of its own; every method counts that run."""
        base = await self.bench().run(Variant(self.fault.scenario))
        return guarded_turns(self.fault.scenario, base.measured.session, REGISTRY)


def wrong(trial: Trial, pinned: Pinned | None = None) -> Failure | None:
    """The first thing wrong that counts: what is pinned, or anything while nothing is pinned yet."""
    for failure in trial.failures:
        if failure.kind in KINDS if pinned is None else pinned.matches(failure):
            return failure
    return None


async def carries(world: World, spoken: Variant, pinned: Pinned) -> bool:
    """Whether a session, played afresh, fails as pinned, and by then the planted mechanism has taken effect."""
    failure = wrong(await world.bench().run(spoken), pinned)
    return failure is not None and _fired(world.fault, [line.user for line in spoken.spoken.turns[: failure.turn]])


def _fired(fault: Fault, said: Sequence[str]) -> bool:
    live = Live(fault)
    for text in said:
        live.say(text)
    return live.agent.fired
