"""Ddmin: delta debugging as published (Zeller and Hildebrandt 2002, figure 3), over the turns of a session.

Written from the paper and not from any implementation. A subset that leaves a turn without what it needs is
unresolved and is not played, which favours this method.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

__all__ = ["ddmin"]

_T = TypeVar("_T")


def ddmin(items: Sequence[_T], fails: Callable[[Sequence[_T]], bool]) -> list[_T]:
    """A 1-minimal part of `items` that still fails; `items` fails and is not tried again. Order is kept."""
    current, parts = list(items), 2
    while len(current) >= 2:
        subsets = _split(current, parts)
        smaller = next((subset for subset in subsets if fails(subset)), None)
        if smaller is not None:
            current, parts = smaller, 2
            continue
        complements = [_others(subsets, i) for i in range(parts)] if parts > 2 else []  # of two, each is the other
        smaller = next((rest for rest in complements if fails(rest)), None)
        if smaller is not None:
            current, parts = smaller, max(parts - 1, 2)
        elif parts < len(current):
            parts = min(len(current), 2 * parts)
        else:
            break
    return current


def _split(items: list[_T], parts: int) -> list[list[_T]]:
    """Parts as equal in size as can be, in order; there are never more parts than items."""
    edges = [len(items) * i // parts for i in range(parts + 1)]
    return [items[a:b] for a, b in pairwise(edges)]


def _others(subsets: list[list[_T]], i: int) -> list[_T]:
    return [item for k, subset in enumerate(subsets) if k != i for item in subset]
