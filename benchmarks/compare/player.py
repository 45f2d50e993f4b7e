"""Player: how the methods that are no part of fuzzturn play a variant: on the engine's bench, and counted."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

from fuzzturn.finding import Failure, Pinned
from fuzzturn.rewrite import keep
from fuzzturn.tree import Tree
from fuzzturn.trial import Bench, Trial
from fuzzturn.variant import Variant

from .spent import Spent
from .world import World, wrong

__all__ = ["Outcome", "Player", "cut"]

_TREE_TURNS = 4000
"""After so many turns the engine's tree is dropped: it saves CPU only, and thousands of sessions would fill memory."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A failing session, cut after the turn that fails."""

    variant: Variant
    failure: Failure
    trial: Trial


@dataclass(slots=True)
class Player:
    """Plays sessions for one method. A session is charged up to the turn at which it fails, as a test would stop."""

    world: World
    runner: asyncio.Runner
    spent: Spent = field(default_factory=Spent)
    asked: int = 0
    """Judge calls if no answer is remembered."""
    remembered: int = 0
    """Judge calls if all are."""
    _bench: Bench = field(init=False)
    _until: int = _TREE_TURNS

    def __post_init__(self) -> None:
        self._bench = self.world.bench()

    def play(self, variant: Variant, pinned: Pinned | None = None) -> Outcome | None:
        """Play, and count; the failing session, or None where it does not fail (in the way that is pinned)."""
        meter = self._bench.tree.meter
        before = meter.judge_calls
        trial = self.runner.run(self._bench.run(variant))
        self.remembered += meter.judge_calls - before
        failure = wrong(trial, pinned)
        turns = trial.measured.session.turns[: failure.turn if failure else None]
        self.spent.add([turn.user for turn in turns])
        self.asked += sum(bool(scores.adherence.failed) for scores in trial.measured.scores[: len(turns)])
        if meter.agent_turns > self._until:
            self._bench = replace(self._bench, tree=Tree(self._bench.tree.cast, self._bench.tree.scenario, meter))
            self._until = meter.agent_turns + _TREE_TURNS
        return None if failure is None else Outcome(cut(variant, failure.turn), failure, trial)


def cut(variant: Variant, turns: int) -> Variant:
    """The first `turns` of what the variant speaks. Costs nothing: no agent knows what will be said later."""
    return keep(variant, {line.id for line in variant.spoken.turns[:turns]})
