"""Asking: a judge asked about every item in every arm and sample; nothing else decides the order of its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

from fuzzturn.context import Evidence, prompt
from fuzzturn.drive import Meter
from fuzzturn.memo import Memo
from fuzzturn.ports import Judge
from fuzzturn.rubric import Rubric
from fuzzturn.signals.judge import judge
from fuzzturn.stress.arms import Arm
from fuzzturn.stress.item import About, Answer, Item
from fuzzturn.tokens import text_tokens

__all__ = ["Cost", "Question", "ask", "costs", "questions"]


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


@dataclass(frozen=True, slots=True)
class Cost:
    """What asking takes."""

    questions: int
    """An item in an arm in a sample each."""
    texts: int
    """Different ones among their texts, each sample apart: so often a judge is asked."""
    tokens: int
    """Prompt tokens of these texts; what a judge adds to them is its own."""


def costs(asked: Iterable[Question]) -> Cost:
    """What these questions take together. Nobody is asked."""
    count, sizes = 0, dict[tuple[str, int], int]()
    for question in asked:
        count += 1
        if (given := prompt(question.arm.context, question.shown)) is not None:
            sizes[given.text, question.sample] = text_tokens(given.text)
    return Cost(count, len(sizes), sum(sizes.values()))


async def ask(
    asked: Sequence[Question],
    judge: Judge,
    name: str,
    workers: int = 1,
    hear: Callable[[int, Answer], None] = lambda number, answer: None,  # noqa: ARG005 - the shape of a listener
) -> list[Answer]:
    """The answers, in the order of the questions. `workers` bounds how many are asked at once, and nothing else.

    `hear` is told each as it comes, with the number of its question from 0: whatever ends this early, those are known.
    Equal texts of one sample are asked once: two arms may show an item alike. A `Memo` as the judge remembers what it
    was asked by an earlier call.
    """
    once = judge if isinstance(judge, Memo) else Memo(judge, Meter(), steady=True)
    slots = asyncio.Semaphore(workers)

    async def one(number: int, question: Question) -> Answer:
        async with slots:
            given = await _answer(question, once, name)
        hear(number, given)
        return given

    return list(await asyncio.gather(*(one(number, question) for number, question in enumerate(asked))))


async def _answer(question: Question, once: Memo, name: str) -> Answer:
    item, arm = question.item, question.arm
    given = await judge(question.shown, arm.context, once, name, question.sample)
    block = question.shown.block if arm.context == "window+block" else None
    about = {part.name: getattr(item, part.name) for part in fields(About)}
    return Answer(
        **about, item=item.id, arm=arm.name, sample=question.sample, score=given.score, reason=given.reason,
        status="scored" if given.score is not None else given.status or "unscored",
        block_tokens=block.tokens if block else None, overflow=bool(block and block.overflow),
        left_out=len(block.left_out) if block else 0,
    )  # fmt: skip
