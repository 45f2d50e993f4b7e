"""Judges: a judge that is right, but for a share of its calls."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field

from benchmarks.faults.desk import Reader
from fuzzturn.finding import BLIND_SCORE
from fuzzturn.ports import JudgePrompt, Verdict

from .chance import Chance

__all__ = ["FLIPPED", "LENIENT", "Erring"]

LENIENT = 0.03
"""The share of calls in which the lenient judge gives a 4 whatever it sees."""
FLIPPED = 0.14
"""The share of calls in which the flipping judge says the opposite."""


@dataclass
class Erring:
    """The desk's reader, which is always right, but for a share of its calls (0.0-1.0).

    Asked the same again it draws again: the number of times it was asked so in that sample is part of the draw.
    """

    share: float
    chance: Chance
    flips: bool
    """In that share it gives the opposite score; False = it gives a 4."""
    asked: int = 0
    erred: int = 0
    """Calls in which the score is not the reader's."""
    _times: Counter[tuple[str, int]] = field(default_factory=Counter)

    @property
    def identity(self) -> str:
        return f"desk reader, {'the opposite' if self.flips else 'a 4'} in {self.share:.0%} of calls (simulated)"

    async def score(self, prompt: JudgePrompt) -> Verdict:
        """0 for an order above the ceiling in the text, else 4; or what comes of erring."""
        place = hashlib.sha256(prompt.text.encode()).hexdigest(), prompt.sample
        self._times[place] += 1
        drawn = await self.chance.draw("judge", f"{place[0]} {self._times[place]}", prompt.sample)
        right = Reader().score(prompt)
        assert right.score is not None
        errs = drawn.first < self.share
        score = right.score if not errs else BLIND_SCORE - right.score if self.flips else BLIND_SCORE
        self.asked += 1
        self.erred += score != right.score
        return Verdict(score, right.reason)
