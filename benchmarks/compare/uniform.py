"""Uniform: sessions drawn uniformly from all offered edits until one fails; then ddmin, or failmin, over its turns."""

from __future__ import annotations

import asyncio
import importlib.util
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fuzzturn.finding import Pinned
from fuzzturn.rewrite import keep
from fuzzturn.variant import Variant

from .ddmin import ddmin
from .offers import Offers, offers
from .player import Outcome, Player
from .spent import Spent
from .world import LIMIT, World

__all__ = ["Turns", "Tried", "by_ddmin", "by_failmin", "first_failure", "has_failmin", "said"]

Turns = Sequence[str]
"""Ids of spoken turns, in order."""


def said(variant: Variant) -> tuple[str, ...]:
    """What the user says."""
    return tuple(line.user for line in variant.spoken.turns)


_MENUS: dict[str, Offers] = {}
"""By fault. Listing them takes a second, and they are the same for every seed."""


def _menu(world: World, runner: asyncio.Runner) -> Offers:
    if (known := _MENUS.get(world.fault.name)) is None:
        known = offers(world.fault.scenario, world.concrete, runner.run(world.guarded()))
        _MENUS[world.fault.name] = known
    return known


def first_failure(world: World, player: Player) -> Outcome | None:
    """Draw and play until something fails; None after LIMIT sessions."""
    menu = _menu(world, player.runner)
    chance = random.Random(f"uniform {world.fault.name} {world.seed}")
    player.play(Variant(world.fault.scenario))
    for _ in range(LIMIT):
        if (failing := player.play(menu.drawn(chance))) is not None:
            return failing
    return None


@dataclass(frozen=True, slots=True)
class Tried:
    """What a reducer over turns ended with, and its player, who counted."""

    variant: Variant
    player: Player


def _oracle(player: Player, start: Variant, pinned: Pinned) -> Callable[[Turns], bool]:
    """Whether only those turns of `start` still fail. A choice that is not closed is unresolved: no run, no failure."""

    def fails(ids: Turns) -> bool:
        shorter = keep(start, set(ids))
        return len(shorter.spoken.turns) == len(ids) and player.play(shorter, pinned) is not None

    return fails


def by_ddmin(world: World, runner: asyncio.Runner, start: Variant, pinned: Pinned) -> Tried:
    """Ddmin over the turns of `start`."""
    player = Player(world, runner, Spent(said(start)))
    left = ddmin([line.id for line in start.spoken.turns], _oracle(player, start, pinned))
    return Tried(keep(start, set(left)), player)


def has_failmin() -> bool:
    """Whether the package failmin is installed; fuzzturn does not depend on it."""
    return importlib.util.find_spec("failmin") is not None


def by_failmin(world: World, runner: asyncio.Runner, start: Variant, pinned: Pinned) -> Tried:
    """Failmin over the user's turns as trace events; what the agent does follows from them and is replayed."""
    failmin: Any = importlib.import_module("failmin")
    player = Player(world, runner, Spent(said(start)))
    fails = _oracle(player, start, pinned)
    spoken = start.spoken.turns
    there = {line.id for line in spoken}
    events = tuple(
        failmin.TraceEvent(
            id=line.id, type="user_message", input=line.user, dependencies=tuple(set(line.after) & there)
        )
        for line in spoken
    )

    def replay(trace: Any) -> Any:
        return failmin.RunResult(metadata={"fails": fails([event.id for event in trace.events])})

    result = failmin.minimize(failmin.Trace(events), replay, lambda ran: bool(ran.metadata["fails"]))
    return Tried(keep(start, {event.id for event in result.minimal.events}), player)
