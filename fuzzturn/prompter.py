"""Prompter: what the scripted user says next, answers to the agent's questions included."""

from __future__ import annotations

import re
from collections import Counter

from fuzzturn.scenario import Line, Scenario
from fuzzturn.session import Turn

__all__ = ["Prompter"]


class Prompter:
    """Says what the scripted user says next: the next scripted turn, or an answer to the agent's question."""

    def __init__(self, spoken: Scenario) -> None:
        self._lines = list(spoken.turns)
        self._answers = spoken.answers
        self._given: Counter[int] = Counter()
        self._scripted = 0
        self.off_script_at: int | None = None

    def next(self, last: Turn | None) -> tuple[Line, bool] | None:
        """The next message and whether it is automatic; None = the script is over."""
        if last is not None and (answer := self._answer(last)) is not None:
            return answer, True
        if self._scripted == len(self._lines):
            return None
        self._scripted += 1
        return self._lines[self._scripted - 1], False

    def _answer(self, last: Turn) -> Line | None:
        question = _question(last.text)
        if question is None or last.error is not None:
            return None
        for i, answer in enumerate(self._answers):
            if self._given[i] < answer.max and any(re.search(p, question, re.I) for p in answer.asks):
                self._given[i] += 1
                return Line(id=f"auto{sum(self._given.values())}", user=answer.user)
        self.off_script_at = self.off_script_at or last.n
        return None


def _question(text: str) -> str | None:
    """The agent's question, where its message ends in one; None where it asks nothing."""
    stripped = text.rstrip()
    return stripped if stripped.endswith("?") else None
