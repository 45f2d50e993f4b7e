"""Summary is empty: the summariser gives nothing.

Effect on the ledger: none; the agent's next summary is spoilt, which it must offer (`disturb`), and a compaction is
forced so that there is one. What bound the agent binds it still.

Evidence: the history is replaced by "(no summary available)" (openai/codex, compact.rs); the summariser is given an
empty list (langmem#69).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Scenario
from fuzzturn.spots import after_statement, any_of, stated
from fuzzturn.variant import Disturb, Edit
from fuzzturn.vary import Guarded, operator


@operator("summary_empty", effect="environment", seldom=True, disturbs=True)
def summary_empty(scenario: Scenario, guarded: Guarded) -> SearchStrategy[tuple[Edit, ...]]:
    """After the statement, up to the last turn that it guards."""
    faults = [
        _spoilt(anchor)
        for _, constraint in stated(scenario)
        for anchor in after_statement(scenario, constraint.id, guarded)
    ]
    return any_of(faults, "no turn of the scenario states a constraint")


def _spoilt(anchor: str) -> tuple[Edit, ...]:
    cut = Disturb(operator="summary_empty", anchor=anchor, fault="compact")
    return cut, Disturb(operator="summary_empty", anchor=anchor, fault="empty")
