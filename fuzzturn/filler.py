"""Filler: small talk that asks for nothing, of any size."""

from __future__ import annotations

from fuzzturn.tokens import CHARACTERS_PER_TOKEN, PER_MESSAGE

__all__ = ["PAD_TOKENS_MIN", "filler"]

PAD_TOKENS_MIN = 12
"""The shortest filler that still reads as a sentence."""

_SMALL_TALK = (
    "Just a thought, nothing to do.",
    "It has been raining since this morning and the whole office smells of wet coats.",
    "A colleague brought pastries, the kind with cinnamon, and they were gone in no time.",
    "Somebody keeps humming the same tune next door, and now it is stuck in my head as well.",
    "The plant by the window looks happier since we moved it closer to the light.",
    "My neighbour told me a long story about a ferry and a lost umbrella, and I still wonder how it ended.",
    "Anyway, the coffee machine works again, which makes everybody a good deal friendlier.",
    "I like afternoons like this, when nothing much happens and the street outside is quiet.",
)


def filler(tokens: int) -> str:
    """Small talk that asks for nothing, of exactly `tokens` tokens (at least PAD_TOKENS_MIN), trailing off in dots."""
    length = (max(tokens, PAD_TOKENS_MIN) - PER_MESSAGE) * CHARACTERS_PER_TOKEN
    words = " ".join(_SMALL_TALK)
    text = ((words + " ") * (length // len(words) + 1))[: length + 1]
    return text[: text.rindex(" ")].ljust(length, ".")
