"""Summary drops: the summary leaves out what says the constraint.

Effect on the ledger: none; the agent's next summary is spoilt, which it must offer (`disturb`), and a compaction is
forced so that there is one. What bound the agent binds it still.

Evidence: survived in the summary: 0 % violations, dropped: 38 % (arXiv 2606.22528); both markers gone from the
replaced history (openai/codex#43855).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.patterns import NOTHING_STATED, binding_at, spoilt
from fuzzturn.scenario import Scenario
from fuzzturn.spots import any_of
from fuzzturn.variant import Edit
from fuzzturn.vary import Guarded, operator


@operator("summary_drop", effect="environment", seldom=True, disturbs=True)
def summary_drop(scenario: Scenario, guarded: Guarded) -> SearchStrategy[tuple[Edit, ...]]:
    """After the statement, up to the last turn that it guards."""
    faults = [spoilt("summary_drop", anchor, "drop", c.statement) for c, anchor in binding_at(scenario, guarded)]
    return any_of(faults, NOTHING_STATED)
