"""Patterns: what families of operators draw alike. Which words, and why, is each operator's own file's business.

A spare constraint that is stated, a statement in other words, tools that answer wrongly, a summary that is spoilt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from hypothesis.strategies import SearchStrategy

from fuzzturn.offers import Guarded
from fuzzturn.scenario import Constraint, Interruption, Scenario
from fuzzturn.spots import Kind, after_statement, any_of, spares, stated
from fuzzturn.variant import Disturb, Edit, Insert, Tamper, Word

__all__ = ["NOTHING_STATED", "aside", "binding_at", "other_words", "spare_stated", "spoilt", "tampered"]

NOTHING_STATED = "no turn of the scenario states a constraint"


def binding_at(scenario: Scenario, guarded: Guarded) -> Iterator[tuple[Constraint, str]]:
    """Each constraint that a turn states, with each turn after that up to the last one which it guards."""
    for _, constraint in stated(scenario):
        for anchor in after_statement(scenario, constraint.id, guarded):
            yield constraint, anchor


def aside(name: str, anchor: str, side: Interruption) -> Insert:
    """A side question of the scenario's own bank, just before a turn."""
    return Insert(operator=name, anchor=anchor, name=side.id, user=side.user, mentions=side.must_mention_any)


def spare_stated(name: str, kind: Kind, words: str, scenario: Scenario, guarded: Guarded) -> SearchStrategy[Edit]:
    """A spare constraint of that kind, after `words`, between what it changes and the last turn that is guarded."""
    changes = [
        Insert(operator=name, anchor=anchor, name=spare.id, states=(spare.id,), user=f"{words} {{{spare.id}}}.")
        for spare in spares(scenario, kind)
        for anchor in after_statement(scenario, spare.id, guarded)
    ]
    return any_of(changes, "what it would change is stated in the last turn")


def other_words(
    name: str, scenario: Scenario, wordings: Callable[[Constraint], Iterable[str]], lacking: str
) -> SearchStrategy[Edit]:
    """One of a constraint's other wordings, in the turn that states it. `lacking`: the reason where there is none."""
    words = [
        Word(operator=name, anchor=line.id, constraint=constraint.id, text=text)
        for line, constraint in stated(scenario)
        for text in wordings(constraint)
    ]
    return any_of(words, lacking)


def tampered(
    name: str, fault: Literal["error", "timeout", "notice"], texts: Iterable[str], anchors: Sequence[str]
) -> SearchStrategy[Edit]:
    """One of the texts, for the first call of one of those turns."""
    faults = [Tamper(operator=name, anchor=anchor, fault=fault, text=text) for text in texts for anchor in anchors]
    return any_of(faults, "no turn calls a tool")


def spoilt(name: str, anchor: str, fault: str, text: str = "", instead: str = "") -> tuple[Edit, ...]:
    """The next summary spoilt, and a cut so that there is one; either makes sense without the other."""
    cut = Disturb(operator=name, anchor=anchor, fault="compact")
    return cut, Disturb(operator=name, anchor=anchor, fault=fault, text=text, instead=instead)
