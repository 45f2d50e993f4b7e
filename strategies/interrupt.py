"""Interrupt: a side question of the scenario's own bank, spoken just before a scripted turn.

Effect on the ledger: preserve. The question states nothing, so what bound before it binds after it, and a correct
agent goes on with the task as if nobody had asked. The reply must mention what the bank says it must.

Evidence: after an interruption the earlier task is not resumed (NousResearch/hermes-agent#23522); a promise for the
next turn dissolves when the subject changes (anthropics/claude-code#61388).
"""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from fuzzturn.patterns import aside
from fuzzturn.scenario import Line, Scenario
from fuzzturn.variant import Edit
from fuzzturn.vary import NotApplicable, operator


@operator("interrupt", effect="preserve")
def interrupt(scenario: Scenario, anchor: Line) -> SearchStrategy[Edit]:
    """One interruption before `anchor`, shrinking to the first of the bank."""
    if not scenario.interruptions:
        raise NotApplicable("the scenario has no interruptions")
    return st.sampled_from([aside("interrupt", anchor.id, side) for side in scenario.interruptions])
