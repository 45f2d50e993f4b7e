"""Machine: a RuleBasedStateMachine that speaks the session turn by turn, found and shrunk by Hypothesis itself."""

from __future__ import annotations

import asyncio
from typing import Any

import hypothesis
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from benchmarks.faults.minimum import GUARDED, order_kept
from fuzzturn.scenario import Line
from fuzzturn.variant import PAD_TOKENS_MIN, Variant, filler

from .given import SETTINGS, Run, Watch
from .offers import PAD_TOKENS_MAX
from .world import World

__all__ = ["by_machine"]


def by_machine(world: World, runner: asyncio.Runner) -> Run:
    """Rules for the next scripted turn, an interruption, filler. What a session costs is what it has spoken."""
    watch = Watch(world, runner)
    scenario = world.fault.scenario
    earlier = order_kept(world.fault)

    class Machine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.lines: list[Line] = []
            self.judged = 0

        def _next(self) -> list[Line]:
            """Scripted turns whose needs are spoken, and that come after none they must come before."""
            spoken = {line.id for line in self.lines}
            return [
                line
                for line in scenario.turns
                if line.id not in spoken
                and set(line.after) <= spoken
                and not any(line.id in earlier.get(id, ()) for id in spoken)
            ]

        @precondition(lambda self: self._next())
        @rule(data=st.data())
        def speak(self, data: Any) -> None:
            line = data.draw(st.sampled_from(self._next()))
            self.lines.append(line)
            if line.id == GUARDED:
                self._play()

        @rule(side=st.sampled_from(scenario.interruptions))
        def interrupt(self, side: Any) -> None:
            self.lines.append(Line(id=f"{side.id}@{len(self.lines)}", user=side.user))

        @rule(tokens=st.integers(PAD_TOKENS_MIN, PAD_TOKENS_MAX))
        def pad(self, tokens: int) -> None:
            self.lines.append(Line(id=f"pad@{len(self.lines)}", user=filler(tokens)))

        def _play(self) -> None:
            """Play what was spoken so far. Only the guarded turn can fail, so there is nothing to see before it."""
            self.judged = len(self.lines)
            watch.see(Variant(scenario.model_copy(update={"turns": tuple(self.lines)})))

        def teardown(self) -> None:
            """A session that never came to a guarded turn, or went on after it, was paid for all the same."""
            if len(self.lines) > self.judged:
                watch.run.shrinking.spent.add([line.user for line in self.lines], self.judged)

    seeded = hypothesis.seed(world.seed)(Machine)
    return watch.through(lambda: run_state_machine_as_test(seeded, settings=SETTINGS))
