"""Beginnings: the prefix tree of what sessions say, and how many of a session's turns no other one has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fuzzturn.variant import Pad, Variant

__all__ = ["Beginnings", "words"]


class Beginnings:
    """Sessions by what is said in them. A beginning that two of them share is executed once."""

    def __init__(self) -> None:
        self._root: dict[object, Any] = {}

    def new(self, said: Sequence[object]) -> int:
        """How many turns of this session no session here has."""
        node = self._root
        for n, word in enumerate(said):
            if word not in node:
                return len(said) - n
            node = node[word]
        return 0

    def add(self, said: Sequence[object]) -> int:
        """Put a session in; as `new`, before it was."""
        new, node = self.new(said), self._root
        for word in said:
            node = node.setdefault(word, {})
        return new


def words(variant: Variant) -> list[object]:
    """What is said, turn by turn; filler whose size is not solved yet is like no other."""
    inserted = variant.inserted
    said: list[object] = []
    for line in variant.spoken.turns:
        edit = inserted.get(line.id)
        said.append(("filler", edit.to) if isinstance(edit, Pad) and edit.tokens is None else line.heard)
    return said
