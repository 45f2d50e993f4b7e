"""Asking: a judge asked about every item in every arm and sample; nothing else decides the order of its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fuzzturn.ports import Judge, JudgePrompt, Verdict
from fuzzturn.rubric import Rubric
from fuzzturn.signals.judge import judge
from fuzzturn.stress.arms import Arm
from fuzzturn.stress.item import Answer, Item, Status

__all__ = ["Question", "ask", "questions"]


@dataclass(frozen=True, slots=True)
class Question:
    """One item in one arm, once."""

    item: Item
    arm: Arm
    sample: int


@dataclass(frozen=True, slots=True)
class _Once:
    """Equal texts of one sample are asked once: two arms may show an item alike."""

    judge: Judge
    answers: dict[tuple[str, int], asyncio.Future[Verdict]] = field(default_factory=dict)

    async def score(self, asked: JudgePrompt) -> Verdict:
        key = asked.text, asked.sample
        if (known := self.answers.get(key)) is not None:
            return await known
        flight = self.answers[key] = asyncio.get_running_loop().create_future()
        try:
            answer = self.judge.score(asked)
            verdict = answer if isinstance(answer, Verdict) else await answer
        except BaseException as error:
            flight.set_exception(error if isinstance(error, Exception) else asyncio.CancelledError())
            flight.exception()
            raise
        flight.set_result(verdict)
        return verdict


def questions(items: Sequence[Item], arms: Sequence[Arm], samples: int, rubric: Rubric) -> Iterator[Question]:
    """Every question there is, arm by arm; an arm has none about an item that it says nothing of."""
    for arm in arms:
        for item in items:
            if arm.shown(item, rubric) is not None:
                yield from (Question(item, arm, sample) for sample in range(samples))


async def ask(asked: Sequence[Question], judge: Judge, name: str, rubric: Rubric, workers: int = 1) -> list[Answer]:
    """The answers, in the order of the questions. `workers` bounds how many are asked at once, and nothing else."""
    once, slots = _Once(judge), asyncio.Semaphore(workers)

    async def one(question: Question) -> Answer:
        async with slots:
            return await _answer(question, once, name, rubric)

    return list(await asyncio.gather(*(one(question) for question in asked)))


async def _answer(question: Question, once: _Once, name: str, rubric: Rubric) -> Answer:
    item, arm = question.item, question.arm
    evidence = arm.shown(item, rubric)
    assert evidence is not None
    given = await judge(evidence, arm.context, once, name, question.sample)
    block = evidence.block if arm.context == "window+block" else None
    return Answer(
        item=item.id, scenario=item.scenario, constraint=item.constraint, polarity=item.polarity, label=item.label,
        kind=item.kind, pair=item.pair, distance=item.distance, arm=arm.name, sample=question.sample,
        score=given.score, status=_status(given.score, getattr(given, "status", None), given.reason),
        reason=given.reason, block_tokens=block.tokens if block else None,
        overflow=bool(block and block.overflow),
    )  # fmt: skip


def _status(score: int | None, told: Status | None, reason: str) -> Status:
    if score is not None:
        return "scored"
    if told is not None:
        return told
    return "not_told" if reason == NOT_TOLD else "unparsable"


NOT_TOLD = "the agent does not tell what it saw"
"""As `signals.judge` says it."""
