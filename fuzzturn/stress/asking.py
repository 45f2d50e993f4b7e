"""Asking: a judge asked about every item in every arm and sample; nothing else decides the order of its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

from fuzzturn.context import Evidence
from fuzzturn.drive import Meter
from fuzzturn.measure import Memo
from fuzzturn.ports import Judge
from fuzzturn.rubric import Rubric
from fuzzturn.signals.judge import judge
from fuzzturn.stress.arms import Arm
from fuzzturn.stress.item import About, Answer, Item

__all__ = ["Question", "ask", "questions"]


@dataclass(frozen=True, slots=True)
class Question:
    """One item in one arm, once."""

    item: Item
    arm: Arm
    shown: Evidence
    sample: int


def questions(items: Sequence[Item], arms: Sequence[Arm], samples: int, rubric: Rubric) -> Iterator[Question]:
    """Every question there is, arm by arm; an arm has none about an item that it says nothing of."""
    for arm in arms:
        for item in items:
            if (shown := arm.shown(item, rubric)) is not None:
                yield from (Question(item, arm, shown, sample) for sample in range(samples))


async def ask(asked: Sequence[Question], judge: Judge, name: str, workers: int = 1) -> list[Answer]:
    """The answers, in the order of the questions. `workers` bounds how many are asked at once, and nothing else.

    Equal texts of one sample are asked once: two arms may show an item alike.
    """
    once, slots = Memo(judge, Meter()), asyncio.Semaphore(workers)

    async def one(question: Question) -> Answer:
        async with slots:
            return await _answer(question, once, name)

    return list(await asyncio.gather(*(one(question) for question in asked)))


async def _answer(question: Question, once: Memo, name: str) -> Answer:
    item, arm = question.item, question.arm
    given = await judge(question.shown, arm.context, once, name, question.sample)
    block = question.shown.block if arm.context == "window+block" else None
    about = {part.name: getattr(item, part.name) for part in fields(About)}
    return Answer(
        **about, item=item.id, arm=arm.name, sample=question.sample, score=given.score, reason=given.reason,
        status="scored" if given.score is not None else given.status or "unscored",
        block_tokens=block.tokens if block else None, overflow=bool(block and block.overflow),
    )  # fmt: skip
