"""Answers of judges whose behaviour is known: pairs of twins in scenarios, at distances, in arms."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

from fuzzturn.stress.item import Answer, Label, Status

Rule = Callable[[Label, int, str, random.Random], int | None]
"""Label, distance, arm, chance -> score."""
WINDOW = 8


def answer(
    n: int = 0,
    label: Label = "violating",
    score: int | None = 0,
    *,
    arm: str = "default",
    distance: int = 1,
    sample: int = 0,
    scenario: str = "trip",
    status: Status = "unparsable",
) -> Answer:
    pair = f"{scenario}.cap.{n}"
    return Answer(
        item=f"{pair}.{label}", scenario=scenario, constraint="cap", polarity="prohibition", label=label, kind="plain",
        pair=pair, distance=distance, arm=arm, sample=sample, score=score,
        status=status if score is None else "scored",
    )  # fmt: skip


def asked(
    rule: Rule,
    pairs: int,
    *,
    seed: int = 0,
    arms: Sequence[str] = ("default",),
    distances: Sequence[int] = (1,),
    scenarios: Sequence[str] = ("trip",),
    samples: int = 1,
) -> list[Answer]:
    """`pairs` pairs in each arm, shared out over distances and scenarios."""
    chance = random.Random(seed)
    labels: Iterable[Label] = ("violating", "legal")
    return [
        answer(n, label, rule(label, distance, arm, chance), arm=arm, distance=distance, sample=sample,
               scenario=scenarios[n // len(distances) % len(scenarios)])
        for arm in arms
        for n in range(pairs)
        for distance in [distances[n % len(distances)]]
        for label in labels
        for sample in range(samples)
    ]  # fmt: skip


def oracle(label: Label, distance: int, arm: str, chance: random.Random) -> int:
    return 0 if label == "violating" else 4


def window_only(label: Label, distance: int, arm: str, chance: random.Random) -> int:
    return 0 if label == "violating" and distance <= WINDOW else 4


def needs_the_block(label: Label, distance: int, arm: str, chance: random.Random) -> int:
    """Blind beyond the window, but where the block is."""
    return 0 if label == "violating" and (distance <= WINDOW or arm == "default") else 4


def always_4(label: Label, distance: int, arm: str, chance: random.Random) -> int:
    return 4


def refuser(label: Label, distance: int, arm: str, chance: random.Random) -> None:
    return None


def coin(heads: float) -> Rule:
    return lambda label, distance, arm, chance: 4 if chance.random() < heads else 0


def die(label: Label, distance: int, arm: str, chance: random.Random) -> int:
    return chance.randrange(5)
