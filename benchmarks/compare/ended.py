"""Ended: what is said of a final session, whichever method it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuzzturn.bound import least_turns
from fuzzturn.finding import Pinned
from fuzzturn.variant import Variant, said_tokens

from .world import World, carries

__all__ = ["ended"]


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
        "bound": least_turns(final),
    }
