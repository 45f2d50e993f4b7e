"""Evidence: how sure a rate is. A deterministic agent is one run; a stochastic one will need many (later work)."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Rate", "rate"]

Z_95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Rate:
    """`k` of `n` runs failed; `low` and `high` bound the true rate with 95 % confidence."""

    k: int
    n: int
    low: float
    high: float


def rate(k: int, n: int) -> Rate:
    """The Wilson score interval (Wilson 1927), clipped to 0.0-1.0 and rounded to 4 places. `n` is at least 1."""
    if not 0 <= k <= n or n < 1:
        raise ValueError(f"{k} of {n} is no rate")
    p, z2 = k / n, Z_95**2
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z_95 * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return Rate(k, n, round(max(0.0, middle - half), 4), round(min(1.0, middle + half), 4))
