"""Bound: the fewest agent turns in which anybody could show by runs alone that a session is minimal."""

from __future__ import annotations

from fuzzturn.beginnings import Beginnings, words
from fuzzturn.rewrite import without
from fuzzturn.variant import Variant

__all__ = ["least_turns"]


def least_turns(final: Variant) -> int:
    """The session once, and every session with one turn left out, with what needs it; beginnings reused.

    `final` fails at its last turn, which is not left out, since without it nothing fails. Automatic answers, which are
    turns too, are not foreseen.
    """
    sessions = Beginnings()
    turns = sessions.add(words(final))
    failing = final.spoken.turns[-1].id
    for line in final.spoken.turns[:-1]:
        shorter = without(final, [line.id])
        if failing in {left.id for left in shorter.spoken.turns}:
            turns += sessions.add(words(shorter))
    return turns
