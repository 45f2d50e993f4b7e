"""Commitment, then shift: the agent is asked what it will do next, and then the subject changes.

Effect on the ledger: add, on the agent's side: what it promises is a commitment from then on. The user lays nothing
down.

Evidence: "I'll do that next turn" dissolves on a task shift (anthropics/claude-code#61388); policies that keep user
turns and drop the agent's lose commitments (openai/codex's compaction).
"""

from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from fuzzturn.patterns import aside
from fuzzturn.scenario import Interruption, Scenario
from fuzzturn.variant import Edit, Insert
from fuzzturn.vary import NotApplicable, operator

PROMISE = "What will you do next, and what will you keep to?"


@operator("commitment_then_shift", effect="add", seldom=True)
def commitment_then_shift(scenario: Scenario) -> SearchStrategy[tuple[Edit, ...]]:
    """The question before one turn, then side questions of the scenario's bank before the same."""
    if not scenario.interruptions:
        raise NotApplicable("the scenario has no interruptions")
    anchors = st.sampled_from([line.id for line in scenario.turns[1:]] or [scenario.turns[0].id])
    asides = st.integers(1, len(scenario.interruptions)).map(lambda k: scenario.interruptions[:k])
    return st.builds(_promised, anchors, asides)


def _promised(anchor: str, asides: Sequence[Interruption]) -> tuple[Edit, ...]:
    name = "commitment_then_shift"
    asked = Insert(operator=name, anchor=anchor, name="promise", user=PROMISE)
    return (asked, *(aside(name, anchor, side) for side in asides))
