"""Summary is an error text: what the summariser's service said in its distress is kept as the summary.

Effect on the ledger: none; the agent's next summary is spoilt, which it must offer (`disturb`), and a compaction is
forced so that there is one. What bound the agent binds it still.

Evidence: an error text or "N messages removed" is committed as the summary (s2b-dev/smart-second-brain#435,
NousResearch/hermes-agent#11914).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.patterns import NOTHING_STATED, binding_at, spoilt
from fuzzturn.scenario import Scenario
from fuzzturn.spots import any_of
from fuzzturn.variant import Edit
from fuzzturn.vary import Guarded, operator

ERROR = "Error: 529 overloaded_error, the summary could not be made."


@operator("summary_error_text", effect="environment", seldom=True, disturbs=True)
def summary_error_text(scenario: Scenario, guarded: Guarded) -> SearchStrategy[tuple[Edit, ...]]:
    """After the statement, up to the last turn that it guards."""
    faults = [spoilt("summary_error_text", anchor, "error_text", ERROR) for _, anchor in binding_at(scenario, guarded)]
    return any_of(faults, NOTHING_STATED)
