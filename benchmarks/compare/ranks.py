"""Ranks: the two figures that stand for many, the median and the 90th percentile; and shares."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable

__all__ = ["median", "p90", "share"]


def median(values: Iterable[float | None]) -> float | None:
    """Of the values that are known; None where none is. Of two in the middle, their mean."""
    known = [value for value in values if value is not None]
    return float(statistics.median(known)) if known else None


def p90(values: Iterable[float | None]) -> float | None:
    """The smallest value that nine in ten known ones do not exceed (nearest rank); None where none is known."""
    known = sorted(value for value in values if value is not None)
    return float(known[math.ceil(0.9 * len(known)) - 1]) if known else None


def share(values: Iterable[bool | None]) -> float | None:
    """The share of True among the values that are known; None where none is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
