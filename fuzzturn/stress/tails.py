"""Tails: exact sums of the binomial distribution, and the score interval of a share."""

from __future__ import annotations

import math
from fractions import Fraction

__all__ = ["HALF", "Z_95", "at_least", "at_most", "wilson"]

HALF = Fraction(1, 2)
Z_95 = 1.959963984540054


def at_most(k: int, n: int, p: Fraction) -> float:
    """P(X <= k) for X binomial with `n` trials of chance `p` (0-1), summed in whole numbers: no rounding but the last.

    0.0 for a `k` below 0, 1.0 from `n` on.
    """
    if k >= n:
        return 1.0
    hit, miss = p.numerator, p.denominator - p.numerator
    if not miss:
        return 0.0
    total, ways, all_ways = 0, 1, p.denominator**n
    for i in range(k + 1):
        total += ways * hit**i * miss ** (n - i)
        ways = ways * (n - i) // (i + 1)
    return float(Fraction(total, all_ways))


def at_least(k: int, n: int, p: Fraction) -> float:
    """P(X >= k), as `at_most`."""
    return at_most(n - k, n, 1 - p)


def wilson(share: float, n: float, z: float = Z_95) -> tuple[float, float]:
    """The score interval (Wilson 1927) of a `share` (0.0-1.0) seen in `n` (above 0) independent observations.

    `n` need not be whole: with observations that are alike it is what they are worth. Not rounded.
    """
    z2 = z * z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z * math.sqrt(max(0.0, share * (1 - share)) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)
