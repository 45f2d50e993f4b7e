"""Summary is an error text: what the summariser's service said in its distress is kept as the summary.

Effect on the ledger: none; the agent's next summary is spoilt, which it must offer (`disturb`), and a compaction is
forced so that there is one. What bound the agent binds it still.

Evidence: an error text or "N messages removed" is committed as the summary (s2b-dev/smart-second-brain#435,
NousResearch/hermes-agent#11914).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Scenario
from fuzzturn.spots import after_statement, any_of, stated
from fuzzturn.variant import Disturb, Edit
from fuzzturn.vary import Guarded, operator

ERROR = "Error: 529 overloaded_error, the summary could not be made."


@operator("summary_error_text", effect="environment", seldom=True, disturbs=True)
def summary_error_text(scenario: Scenario, guarded: Guarded) -> SearchStrategy[tuple[Edit, ...]]:
    """After the statement, up to the last turn that it guards."""
    faults = [
        _spoilt(anchor)
        for _, constraint in stated(scenario)
        for anchor in after_statement(scenario, constraint.id, guarded)
    ]
    return any_of(faults, "no turn of the scenario states a constraint")


def _spoilt(anchor: str) -> tuple[Edit, ...]:
    cut = Disturb(operator="summary_error_text", anchor=anchor, fault="compact")
    return cut, Disturb(operator="summary_error_text", anchor=anchor, fault="error_text", text=ERROR)
