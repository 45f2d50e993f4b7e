"""Summary is empty: the summariser gives nothing.

Effect on the ledger: none; the agent's next summary is spoilt, which it must offer (`disturb`), and a compaction is
forced so that there is one. What bound the agent binds it still.

Evidence: the history is replaced by "(no summary available)" (openai/codex, compact.rs); the summariser is given an
empty list (langmem#69).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.patterns import NOTHING_STATED, binding_at, spoilt
from fuzzturn.scenario import Scenario
from fuzzturn.spots import any_of
from fuzzturn.variant import Edit
from fuzzturn.vary import Guarded, operator


@operator("summary_empty", effect="environment", seldom=True, disturbs=True)
def summary_empty(scenario: Scenario, guarded: Guarded) -> SearchStrategy[tuple[Edit, ...]]:
    """After the statement, up to the last turn that it guards."""
    faults = [spoilt("summary_empty", anchor, "empty") for _, anchor in binding_at(scenario, guarded)]
    return any_of(faults, NOTHING_STATED)
