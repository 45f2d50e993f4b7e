"""Summary drops: the summary leaves out what says the constraint.

Effect on the ledger: none; the agent's next summary is spoilt, which it must offer (`disturb`), and a compaction is
forced so that there is one. What bound the agent binds it still.

Evidence: survived in the summary: 0 % violations, dropped: 38 % (arXiv 2606.22528); both markers gone from the
replaced history (openai/codex#43855).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Constraint, Scenario
from fuzzturn.spots import after_statement, any_of, stated
from fuzzturn.variant import Disturb, Edit
from fuzzturn.vary import Guarded, operator


@operator("summary_drop", effect="environment", seldom=True, disturbs=True)
def summary_drop(scenario: Scenario, guarded: Guarded) -> SearchStrategy[tuple[Edit, ...]]:
    """After the statement, up to the last turn that it guards."""
    faults = [
        _spoilt(anchor, constraint)
        for _, constraint in stated(scenario)
        for anchor in after_statement(scenario, constraint.id, guarded)
    ]
    return any_of(faults, "no turn of the scenario states a constraint")


def _spoilt(anchor: str, constraint: Constraint) -> tuple[Edit, ...]:
    cut = Disturb(operator="summary_drop", anchor=anchor, fault="compact")
    return cut, Disturb(operator="summary_drop", anchor=anchor, fault="drop", text=constraint.statement)
