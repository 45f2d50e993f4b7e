"""Summary grows: the summary is longer than what it stands for.

Effect on the ledger: none; the agent's next summary is spoilt, which it must offer (`disturb`), and a compaction is
forced so that there is one. What bound the agent binds it still.

Evidence: compression grows or loops (google-gemini/gemini-cli#15225, #6563).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.patterns import NOTHING_STATED, binding_at, spoilt
from fuzzturn.scenario import Scenario
from fuzzturn.spots import any_of
from fuzzturn.variant import Edit
from fuzzturn.vary import Guarded, operator


@operator("summary_grow", effect="environment", seldom=True, disturbs=True)
def summary_grow(scenario: Scenario, guarded: Guarded) -> SearchStrategy[tuple[Edit, ...]]:
    """After the statement, up to the last turn that it guards."""
    faults = [spoilt("summary_grow", anchor, "grow") for _, anchor in binding_at(scenario, guarded)]
    return any_of(faults, NOTHING_STATED)
