"""Budgets: where the protected block went beyond its budget, by arm and item, and where something was left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from fuzzturn.stress.item import Answer

__all__ = ["Budgeted", "budgets", "budgets_json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgeted:
    """The blocks that one arm showed, one an item."""

    arm: str
    items: int
    tokens: tuple[int, float, int]
    """Fewest, median, most."""
    beyond: tuple[str, ...]
    """Items whose constraints alone were beyond the budget: they are shown whole all the same."""
    left_out: tuple[str, ...]
    """Items of whose commitments some were left out."""


def budgets(answers: Iterable[Answer], order: Sequence[str]) -> list[Budgeted]:
    """Every arm in `order` in which a block was shown, whatever the judge made of it."""
    shown: dict[str, dict[str, Answer]] = {arm: {} for arm in order}
    for answer in answers:
        if answer.block_tokens is not None and answer.arm in shown:
            shown[answer.arm][answer.item] = answer
    return [_of(arm, sorted(items.values(), key=lambda a: a.item)) for arm, items in shown.items() if items]


def _of(arm: str, answers: Sequence[Answer]) -> Budgeted:
    sizes = [answer.block_tokens or 0 for answer in answers]
    return Budgeted(
        arm=arm,
        items=len(answers),
        tokens=(min(sizes), median(sizes), max(sizes)),
        beyond=tuple(answer.item for answer in answers if answer.overflow),
        left_out=tuple(answer.item for answer in answers if answer.left_out),
    )


def budgets_json(found: Iterable[Budgeted]) -> list[dict[str, Any]]:
    """The same as JSON, every item named."""
    sizes = ("fewest", "median", "most")
    return [asdict(one) | {"tokens": dict(zip(sizes, one.tokens, strict=True))} for one in found]
