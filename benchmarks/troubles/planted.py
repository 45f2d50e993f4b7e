"""Planted: for each operator that is about one particular trouble, an agent that has it, and what shows it.

No fault knows an operator's words, a turn's number or an id. What each reacts to is in its class's sentence.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fuzzturn.drive import Cast

from . import lifecycles, memory, reading, summaries, tools
from .steward import Steward
from .store import make_store

__all__ = ["TROUBLES", "Trouble", "cast"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """One faulty agent. `operator`: whose kind of trouble it is."""

    operator: str
    agent: type[Steward]
    also: tuple[str, ...] = ()
    """The other operators that can expose it."""
    breaks: tuple[str, ...] = ("ceiling",)
    """The constraints one of which is broken when it shows; the kind is blind_spot or violation."""

    @property
    def name(self) -> str:
        return self.agent.__name__

    @property
    def says(self) -> str:
        return inspect.getdoc(self.agent) or ""

    @property
    def exposed_by(self) -> tuple[str, ...]:
        return (self.operator, *self.also)


TROUBLES: tuple[Trouble, ...] = (
    Trouble(operator="pad_tool_result", agent=memory.Flooded),
    Trouble(operator="topic_switch", agent=memory.Distracted, also=("interrupt", "commitment_then_shift")),
    Trouble(operator="bury_in_long_turn", agent=reading.LongWinded),
    Trouble(operator="split_statement", agent=reading.OneAtATime),
    Trouble(operator="reword", agent=reading.Literal),
    Trouble(operator="soften", agent=reading.TakingItLightly),
    Trouble(operator="flip_polarity", agent=reading.Fulfilling),
    Trouble(operator="near_miss_number", agent=reading.NumberMinded),
    Trouble(operator="restate", agent=reading.Deduplicating, also=("oscillate",)),
    Trouble(
        operator="completed_request_before_cut",
        agent=memory.Resuming,
        also=("pad_turns", "pad_to_threshold"),
        breaks=("asked", "ceiling"),
    ),
    Trouble(
        operator="supersede",
        agent=lifecycles.FirstWord,
        also=("oscillate", "restate"),
        breaks=("lowered", "best", "ceiling"),
    ),
    Trouble(operator="supersede_partial", agent=lifecycles.Leaking),
    Trouble(operator="oscillate", agent=reading.KnowingItAlready, breaks=("ceiling", "best")),
    Trouble(operator="unit_change", agent=reading.Unitless, breaks=("dollars",)),
    Trouble(operator="retract", agent=lifecycles.Stubborn, breaks=("best",)),
    Trouble(operator="one_shot_approval", agent=lifecycles.Generous),
    Trouble(operator="expire", agent=lifecycles.Timeless, breaks=("ceiling", "best")),
    Trouble(operator="conditional", agent=lifecycles.AskedOnce, breaks=("deposit",)),
    Trouble(operator="distractors", agent=lifecycles.TwoThings),
    Trouble(operator="commitment_then_shift", agent=memory.Promising),
    Trouble(operator="tool_contradicts_user", agent=tools.Overruled, breaks=("ceiling", "best")),
    Trouble(operator="tool_injection", agent=tools.Gullible),
    Trouble(operator="eviction_injection", agent=summaries.Obedient),
    Trouble(operator="tool_error", agent=tools.FromMemory),
    Trouble(operator="tool_timeout", agent=tools.Again, breaks=("asked",)),
    Trouble(operator="compact_mid_tool_loop", agent=memory.AtWork, also=("compact_twice",)),
    Trouble(operator="compact_twice", agent=memory.Copying, also=("compact_mid_tool_loop",)),
    Trouble(operator="summary_drop", agent=summaries.Counting),
    Trouble(operator="summary_weaken", agent=summaries.Preferring),
    Trouble(operator="summary_invent", agent=summaries.Believing),
    Trouble(operator="summary_swap_value", agent=summaries.Copied),
    Trouble(operator="summary_empty", agent=summaries.Anew),
    Trouble(operator="summary_error_text", agent=summaries.Unchecked),
    Trouble(operator="summary_grow", agent=summaries.Crowded),
)


def cast(agent: type[Steward] = Steward, seed: int = 0) -> Cast:
    """That agent at its store. It draws nothing; the seed is the campaign's."""

    def build(store: Any, *, now: Callable[[], datetime | None]) -> Steward:
        return agent(store, now)

    return Cast(build=build, make_environment=make_store, name=agent.__name__.casefold(), seed=seed)
