"""Spent: agent turns counted three ways at once, by how much of a beginning that was played before is free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Spent"]


@dataclass(slots=True)
class Spent:
    """Replies started by sessions that are played one after the other."""

    start: tuple[str, ...] = ()
    """What the user said in the starting run, whose beginnings are free in `after_start` and `cached`."""
    sessions: int = 0
    plain: int = 0
    """Every session from its first turn."""
    after_start: int = 0
    """Every session from where it leaves the starting run."""
    cached: int = 0
    """Every session from where it leaves all that were played before, as with a cache of model responses."""
    _tree: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._reach(self.start)

    def add(self, said: Sequence[str], already: int = 0) -> None:
        """A session of these user messages was played; its first `already` turns were added before."""
        pairs = enumerate(zip(said, self.start, strict=False))
        shared = next((i for i, (here, there) in pairs if here != there), min(len(said), len(self.start)))
        self.sessions += already == 0
        self.plain += len(said) - already
        self.after_start += len(said) - max(shared, already)
        self.cached += self._reach(said)

    def _reach(self, said: Sequence[str]) -> int:
        """Walk down the tree; the number of turns that were not in it."""
        node, new = self._tree, 0
        for text in said:
            if text not in node:
                node[text] = {}
                new += 1
            node = node[text]
        return new
