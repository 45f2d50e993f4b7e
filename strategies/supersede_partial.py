"""Supersede a part: the user changes a constraint for one scope, and it stands for the others.

Effect on the ledger: supersede (a part). The constraint is one that the scenario keeps in reserve (`spare: true`).

Evidence: a change of one attribute must clear what hangs on it and nothing else
(TahirIqbal095/agentic-commerce-app#1, #3); a rule or an approval is used outside its scope
(anthropics/claude-code#91899).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.patterns import spare_stated
from fuzzturn.scenario import Scenario
from fuzzturn.variant import Edit
from fuzzturn.vary import Guarded, operator


@operator("supersede_partial", effect="supersede", seldom=True)
def supersede_partial(scenario: Scenario, guarded: Guarded) -> SearchStrategy[Edit]:
    """A spare constraint, stated between what it changes and the last turn that is guarded."""
    return spare_stated("supersede_partial", "supersede_partial", "A change for one part:", scenario, guarded)
