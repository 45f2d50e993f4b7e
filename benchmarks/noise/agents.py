"""Agents: every planted fault as an agent that shows it in some runs, and now and then goes wrong without it.

By chance is decided, once a run each:

    effect       whether the planted mechanism takes effect, at the moment at which it would for the first time
    background   whether the order is above the ceiling that is in view, at the moment of the order

Both depend on seed, sample and all that the user has said so far in the session; so two sessions that begin alike
share what was drawn, and any other two are independent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from benchmarks.faults.clerk import Clerk, Memory, Said, View, size
from benchmarks.faults.desk import OFFERS, make_desk
from benchmarks.faults.memories import Summarised
from benchmarks.faults.planted import Fault
from fuzzturn.drive import Cast
from fuzzturn.ports import Reply
from fuzzturn.session import ModelCall

from .chance import Chance, Drawn, Seeded

__all__ = ["BACKGROUND", "Stochastic"]

BACKGROUND = 0.03
"""The share of runs that go wrong without the fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stochastic:
    """A fault that takes effect in a share `p` of the runs in which it would; 0.0-1.0, as is `background`."""

    fault: Fault
    p: float
    background: float = BACKGROUND
    chance: Chance | None = None
    """None = from the seed."""

    @property
    def noiseless(self) -> Stochastic:
        """The twin that shows the fault whenever it can, and never goes wrong without it."""
        return replace(self, p=1.0, background=0.0, chance=None)

    def build(self, environment: Any, *, seed: int, sample: int = 0) -> Clerk:
        """The agent, as a port's `build`."""
        agent = _by_chance(self.fault.clerk)(environment, self.fault.memory)
        agent.chosen = _Chosen(self.p, self.background, self.chance or Seeded(seed), sample)
        return agent

    def cast(self, seed: int = 0, sample: int = 0) -> Cast:
        """The agent at its desk."""
        return Cast(build=self.build, make_environment=make_desk, name=self.fault.name, seed=seed, sample=sample)


@dataclass(frozen=True, slots=True)
class _Chosen:
    p: float
    background: float
    chance: Chance
    sample: int


@dataclass(frozen=True, slots=True)
class _Run:
    """What one session has come to. None = not decided yet."""

    history: str = ""
    effect: bool | None = None
    background: bool | None = None


class _ByChance(Clerk):
    """A clerk, planted in one of its parents or in its memory, that draws."""

    chosen: _Chosen

    def __init__(self, desk: Any, memory: Memory) -> None:
        super().__init__(desk, self._remember)
        self._planted = memory
        self._run = _Run()
        self._drawn = Drawn(0, 0)

    async def reply(self, message: str) -> Reply:
        said = f"{self._run.history}\x1f{message}".encode()
        self._run = replace(self._run, history=hashlib.sha256(said).hexdigest())
        self._drawn = await self.chosen.chance.draw("agent", self._run.history, self.chosen.sample)
        reply = await super().reply(message)
        if self._drawn.recorded is None:
            return reply
        told = [replace(e, recorded=self._drawn.recorded) if isinstance(e, ModelCall) else e for e in reply.events]
        return Reply(events=told)

    def price(self, seen: Sequence[Said], task: str) -> int:
        fired, self.fired = self.fired, False
        price = super().price(seen, task)
        if self.fired and not self._takes_effect():
            self.fired, price = False, Clerk.price(self, seen, task)
        self.fired = self.fired or fired
        return max(OFFERS["lamp"]) if task == "order" and self.ceiling(seen) and self._strays() else price

    def snapshot(self) -> object:
        return super().snapshot(), self._run

    def restore(self, saved: Any) -> None:
        inner, self._run = saved
        super().restore(inner)

    def _remember(self, said: tuple[Said, ...]) -> View:
        view = self._planted(said)
        return view if not view.fired or self._takes_effect() else _spared(self._planted, said, view)

    def _takes_effect(self) -> bool:
        if self._run.effect is None:
            self._run = replace(self._run, effect=self._drawn.first < self.chosen.p)
        return bool(self._run.effect)

    def _strays(self) -> bool:
        if self._run.background is None:
            self._run = replace(self._run, background=self._drawn.second < self.chosen.background)
        return bool(self._run.background)


@cache
def _by_chance(clerk: Callable[[Any, Memory], Clerk]) -> type[_ByChance]:
    """The class of a fault's clerk, drawing."""
    if not isinstance(clerk, type) or not issubclass(clerk, Clerk):
        raise TypeError(f"{clerk!r} is no class of clerks")
    return type(f"{clerk.__name__}ByChance", (_ByChance, clerk), {})


def _spared(memory: Memory, said: tuple[Said, ...], view: View) -> View:
    """The view as it is in a run without the effect: the context gets smaller all the same, no ceiling is lost."""
    if isinstance(memory, Summarised):
        return replace(memory, loses=lambda *_: False)(said)
    back = {id(one) for one in said if one.states or _promises(one)}
    kept, seen = (_with(back, part, said) for part in (view.kept, view.seen))
    compaction = view.compaction
    if compaction is not None:
        there = {id(one) for one in seen}
        dropped = [one.chat for one in said if id(one) not in there]
        compaction = replace(compaction, after=size(seen), dropped=dropped)
    return View(kept=kept, seen=seen, compaction=compaction)


def _with(back: Set[int], part: Sequence[Said], said: Sequence[Said]) -> tuple[Said, ...]:
    """The part of what was said, and with it the messages of these ids, in order."""
    there = back | {id(one) for one in part}
    return tuple(one for one in said if id(one) in there)


def _promises(one: Said) -> bool:
    return one.chat["role"] == "assistant" and one.call is None and "euros" in one.text
