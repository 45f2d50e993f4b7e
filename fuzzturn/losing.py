"""Losing: at which compaction an agent lost sight of a constraint."""

from __future__ import annotations

from collections.abc import Sequence

from fuzzturn.ledger import Ledger
from fuzzturn.scenario import Constraint
from fuzzturn.session import Chat, Compaction, ModelCall, Turn
from fuzzturn.visibility import visibility

__all__ = ["Seen", "culprit"]


def culprit(seen: Seen, turns: Sequence[Turn]) -> tuple[int, Compaction] | None:
    """The compaction between the last call that saw the constraint and the first that did not, and its turn."""
    found: tuple[int, Compaction] | None = None
    pending: tuple[int, Compaction] | None = None
    for n, event in ((turn.n, event) for turn in turns for event in turn.events):
        if isinstance(event, Compaction):
            pending = pending or (n, event)
            seen.learn(event)
        elif isinstance(event, ModelCall):
            found = None if seen.in_(event.context) else found or pending
            pending = None
    return found


class Seen:
    """Whether one constraint can be seen in a list of messages, given the summaries known so far."""

    def __init__(self, constraint: Constraint, ledger: Ledger) -> None:
        self._constraint = constraint
        self._ledger = ledger
        self._summaries: list[str] = []

    def learn(self, compaction: Compaction) -> None:
        if compaction.summary:
            self._summaries.append(compaction.summary)

    def in_(self, messages: Sequence[Chat] | None) -> bool:
        return visibility(self._constraint, messages, self._summaries, self._ledger) in ("verbatim", "in_summary")
