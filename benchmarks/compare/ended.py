"""Ended: what is said of a final session, whichever method it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuzzturn.finding import Pinned
from fuzzturn.rewrite import without
from fuzzturn.variant import Variant, said_tokens

from .world import World, carries

__all__ = ["bound", "ended"]


async def ended(world: World, final: Variant, pinned: Pinned) -> Mapping[str, Any]:
    """The fields of a row that describe the final session. Raises RuntimeError where a stated minimum is disproved."""
    turns = len(final.spoken.turns)
    if turns < world.fault.minimum:
        raise RuntimeError(f"{world.fault.name} shows in {turns} turns: its stated minimum is wrong: {final!r}")
    return {
        "final_turns": turns,
        "final_tokens": said_tokens(final.spoken),
        "at_minimum": turns == world.fault.minimum if world.fault.argued is None else None,
        "same_fault": await carries(world, final, pinned),
        "bound": await bound(world, final),
    }


async def bound(world: World, final: Variant) -> int:
    """No method can do with less: the final session once, and every session with one turn left out, with what needs it.

    In agent turns, beginnings reused. The last turn is not left out, since without it nothing fails.
    """
    bench = world.bench()
    await bench.run(final)
    for line in final.spoken.turns[:-1]:
        shorter = without(final, [line.id])
        if final.spoken.turns[-1].id in {left.id for left in shorter.spoken.turns}:
            await bench.run(shorter)
    return bench.tree.meter.agent_turns
