"""Deciding: a judge's yes or no to each judged milestone after each turn, and progress with the answers in it.

The judge is shown the whole record (`full`), whatever contexts its scores are asked for in: a milestone is about the
session so far, as a check of the state is. Its word moves progress and the session's verdict; it makes no finding, as
no score of a judge does on its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fuzzturn.awaited import RAISED, cancelled_by_us, maybe
from fuzzturn.context import prompt
from fuzzturn.errors import FuzzturnError, PortError, said
from fuzzturn.measure import Jury, Measured, evidence_of
from fuzzturn.milestones import graph
from fuzzturn.ports import JudgePrompt
from fuzzturn.scores import TurnScores
from fuzzturn.signals.progress import answered

__all__ = ["Decider"]


@dataclass
class Decider:
    """Asks a jury's judge about the judged milestones of sessions; equal questions about equal texts once.

    A judge without `decide` is not asked, and its judged milestones stay None.
    """

    jury: Jury
    unanswered: Counter[str] = field(default_factory=Counter)
    """Why a question got no answer, and how often. None of it is taken for a no."""
    _known: dict[tuple[str, str, int], bool | None] = field(default_factory=dict)

    async def decided(self, measured: Measured) -> Measured:
        """The same session, its judged milestones decided. Raises PortError for an answer that is no answer."""
        decide = getattr(self.jury.judge, "decide", None)
        goal = measured.spoken.goal
        if decide is None or all(milestone.judged is None for milestone in goal.milestones):
            return measured
        answers: list[Mapping[str, bool | None]] = []
        for scores in measured.scores:
            answers.append(await self._after(measured, scores.n, answers[-1] if answers else {}, decide))
        told = [scores.progress for scores in measured.scores]
        found = answered(goal, graph(goal), told, answers)
        moved = tuple(replace(s, progress=p) for s, p in zip(measured.scores, found, strict=True))
        return _concluded(replace(measured, scores=moved), answers)

    async def _after(
        self, measured: Measured, n: int, before: Mapping[str, bool | None], decide: Callable[..., Any]
    ) -> dict[str, bool | None]:
        """The answers after turn `n`; a latched milestone that stood `before` is not asked about again."""
        shown = prompt("full", evidence_of(measured, n, self.jury.rubric))
        assert shown is not None  # only the `agent` context can be unknown
        shown = replace(shown, sample=self.jury.sample)
        answers: dict[str, bool | None] = {}
        for milestone in measured.spoken.goal.milestones:
            if milestone.judged is not None:
                stands = milestone.latched and before.get(milestone.id)
                answers[milestone.id] = stands or await self._asked(milestone.judged, shown, decide)
        return answers

    async def _asked(self, question: str, shown: JudgePrompt, decide: Callable[..., Any]) -> bool | None:
        key = question, shown.text, shown.sample
        if key not in self._known:
            self._known[key] = await self._live(question, shown, decide)
        return self._known[key]

    async def _live(self, question: str, shown: JudgePrompt, decide: Callable[..., Any]) -> bool | None:
        self.jury.meter.judge_calls += 1
        try:
            answer = await maybe(decide(question, shown))
        except FuzzturnError:
            raise
        except RAISED as error:  # a judge that fails decides nothing; that is counted and told
            if cancelled_by_us(error):
                raise
            self.unanswered[f"the judge raised {said(error)}"] += 1
            return None
        if answer is not None and not isinstance(answer, bool):
            raise PortError(f"judge {self.jury.name!r} decided {answer!r}; it decides True, False, or None for unknown")
        if answer is None:
            self.unanswered["the judge could not tell"] += 1
        return answer


def _concluded(measured: Measured, answers: list[Mapping[str, bool | None]]) -> Measured:
    """The session's verdict with the milestones that the judge decided, where and as long as it did."""
    checked = {milestone.id for milestone in measured.spoken.goal.milestones if milestone.check is not None}
    complete = [_complete(scores, checked, answer) for scores, answer in zip(measured.scores, answers, strict=True)]
    return measured.concluded(complete)


def _complete(scores: TurnScores, checked: set[str], answer: Mapping[str, bool | None]) -> bool:
    decided = checked | {id for id, stands in answer.items() if stands is not None}
    return bool(decided) and decided <= scores.progress.satisfied
