"""Chance: where what happens by chance comes from: from a seed, or from a model whose answers are recorded.

Both are asked the same way, so that an agent or a judge does not know which it has.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Protocol

from fuzzturn.calls import Answer, Gateway, Line, Request, Role

__all__ = ["Asked", "Chance", "Drawn", "Seeded"]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Two independent numbers, each from 0.0 to below 1.0. `recorded` as in `ModelCall`."""

    first: float
    second: float
    recorded: bool | None = None


class Chance(Protocol):
    """The same `what` in the same `sample` gives the same numbers; any other gives others."""

    async def draw(self, role: Role, what: str, sample: int) -> Drawn:
        """The numbers for `what`: a text that tells this draw from every other of that role."""


@dataclass(frozen=True, slots=True)
class Seeded:
    """Numbers that depend on the seed and on what is asked, and on nothing else."""

    seed: int

    async def draw(self, role: Role, what: str, sample: int) -> Drawn:
        """The numbers for `what`."""
        numbers = random.Random(f"{self.seed}\x1f{role}\x1f{sample}\x1f{what}")
        return Drawn(numbers.random(), numbers.random())


@dataclass
class Asked:
    """Numbers that a model would give: nobody can say them beforehand, and once given they are in the record."""

    gateway: Gateway
    live: int = 0
    """Calls made; what the record answered is none."""
    numbers: random.Random = field(default_factory=random.SystemRandom)
    """Where the model has them from."""

    async def draw(self, role: Role, what: str, sample: int) -> Drawn:
        """The numbers for `what`. Raises Halted where they are not recorded and the gateway is offline."""
        request = Request(role=role, path="/numbers", body={"model": "chance", "messages": [what]})
        served = await self.gateway.ask(request, Line(sample), self._send)
        first, second = json.loads(served.answer.body)
        return Drawn(first, second, served.recorded)

    async def _send(self) -> Answer:
        self.live += 1
        return Answer(body=json.dumps([self.numbers.random(), self.numbers.random()]).encode())
