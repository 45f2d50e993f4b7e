"""Seeds: as they are named on a benchmark's command line."""

from __future__ import annotations

__all__ = ["seeds"]


def seeds(text: str) -> list[int]:
    """`0-19`, both ends included, or `0,3,7`. Raises ValueError for anything else."""
    first, dash, last = text.partition("-")
    return list(range(int(first), int(last) + 1)) if dash else [int(one) for one in text.split(",")]
