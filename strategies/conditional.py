"""Conditional: a constraint that binds only while a condition holds, in sessions where it does and where it does not.

Effect on the ledger: add. The constraint is one that the scenario keeps in reserve (`spare: true`).

Evidence: conditional scope is in the taxonomy of public reports (research on compaction, "only if direct"); no public
report isolates it, a stale guard is the nearest (openai/codex#29811).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.patterns import spare_stated
from fuzzturn.scenario import Scenario
from fuzzturn.variant import Edit
from fuzzturn.vary import Guarded, operator


@operator("conditional", effect="add", seldom=True)
def conditional(scenario: Scenario, guarded: Guarded) -> SearchStrategy[Edit]:
    """A spare constraint, stated between what it changes and the last turn that is guarded."""
    return spare_stated("conditional", "conditional", "One more thing to keep to:", scenario, guarded)
