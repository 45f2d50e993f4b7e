"""Topic switch: several side questions in a row, and a remark that leads back.

Effect on the ledger: preserve. The questions are those of the scenario's own bank and state nothing.

Evidence: "I'll do that next turn" dissolves when the subject changes (anthropics/claude-code#61388); after an
interruption the prior task is not resumed (NousResearch/hermes-agent#23522); the goal is lost and recent prompts are
chased (openai/codex#31659).
"""

from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from fuzzturn.patterns import aside
from fuzzturn.scenario import Interruption, Scenario
from fuzzturn.variant import Edit, Insert
from fuzzturn.vary import NotApplicable, operator


@operator("topic_switch", effect="preserve", seldom=True)
def topic_switch(scenario: Scenario) -> SearchStrategy[tuple[Edit, ...]]:
    """Two questions or more before one turn, then the way back."""
    if len(scenario.interruptions) < 2:
        raise NotApplicable("the scenario has fewer than two interruptions")
    anchors = st.sampled_from([line.id for line in scenario.turns[1:]] or [scenario.turns[0].id])
    asides = st.integers(2, len(scenario.interruptions)).map(lambda k: scenario.interruptions[:k])
    return st.builds(_switch, anchors, asides)


def _switch(anchor: str, asides: Sequence[Interruption]) -> tuple[Edit, ...]:
    asked = [aside("topic_switch", anchor, side) for side in asides]
    back = Insert(operator="topic_switch", anchor=anchor, name="back", user="Now back to where we were.")
    return (*asked, back)
