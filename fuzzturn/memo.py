"""Memo: a judge that is asked once for equal text in one sample."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from fuzzturn.awaited import maybe
from fuzzturn.drive import Meter
from fuzzturn.errors import FuzzturnError
from fuzzturn.ports import Judge, JudgePrompt, Verdict, identity_of

__all__ = ["Memo"]


@dataclass(frozen=True, slots=True)
class Memo:
    """A judge is asked once for equal text in one sample: its answers are kept here.

    What it raises is forgotten, since a later try may go better; where that must not depend on what is asked at once
    and what in turn, it is `steady`, and raised again.
    """

    judge: Judge
    meter: Meter
    steady: bool = False
    answers: dict[tuple[str, int], asyncio.Future[Verdict]] = field(default_factory=dict)

    @property
    def identity(self) -> str | None:
        """What the judge says of itself, else None."""
        return identity_of(self.judge)

    async def score(self, prompt: JudgePrompt) -> Verdict:
        key = prompt.text, prompt.sample
        known = self.answers.get(key)
        if known is not None:
            return await known
        flight = self.answers[key] = asyncio.get_running_loop().create_future()
        self.meter.judge_calls += 1
        try:
            verdict: Verdict = await maybe(self.judge.score(prompt))
        except BaseException as error:
            if not (self.steady and isinstance(error, Exception)) or isinstance(error, FuzzturnError):
                del self.answers[key]
            flight.set_exception(error if isinstance(error, Exception) else asyncio.CancelledError())
            flight.exception()
            raise
        flight.set_result(verdict)
        return verdict
