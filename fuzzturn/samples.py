"""Samples: the runs of an agent that does not repeat itself, each with a bench of its own."""

from __future__ import annotations

from dataclasses import replace

from fuzzturn.tree import Tree
from fuzzturn.trial import Bench

__all__ = ["FRESH", "SEARCHED", "SEARCH_SAMPLES", "Samples"]

SEARCHED = 500_000
"""The first sample of those that the search plays in; decisions use those from 1 on."""
SEARCH_SAMPLES = 8
"""The search takes them in turn. In one alone, an agent that draws once from its seed fails in all sessions or none."""
FRESH = 1_000_000
"""The first sample of those that take no part in a decision."""


class Samples:
    """A bench for each sample."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._of: dict[int, Bench] = {}

    def of(self, sample: int) -> Bench:
        """The bench on which all runs of that sample are played."""
        if sample not in self._of:
            self._of[sample] = self.afresh(sample)
        return self._of[sample]

    def afresh(self, sample: int) -> Bench:
        """A bench of that sample on which nothing was played."""
        tree = self._bench.tree
        own = Tree(replace(tree.cast, sample=sample), tree.scenario, tree.meter)
        own.reuse, own.forgives = tree.reuse, True
        return replace(self._bench, tree=own, jury=self._bench.jury.afresh(sample))
