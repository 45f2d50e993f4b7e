"""Tails: exact sums of the binomial distribution."""

from __future__ import annotations

from fractions import Fraction

__all__ = ["HALF", "at_least", "at_most"]

HALF = Fraction(1, 2)


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
