"""Conditional: a constraint that binds only while a condition holds, in sessions where it does and where it does not.

Effect on the ledger: add. The constraint is one that the scenario keeps in reserve (`spare: true`).

Evidence: conditional scope is in the taxonomy of public reports (research on compaction, "only if direct"); no public
report isolates it, a stale guard is the nearest (openai/codex#29811).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Scenario
from fuzzturn.spots import after_statement, any_of, spares
from fuzzturn.variant import Edit, Insert
from fuzzturn.vary import Guarded, operator


@operator("conditional", effect="add", seldom=True)
def conditional(scenario: Scenario, guarded: Guarded) -> SearchStrategy[Edit]:
    """A spare constraint, stated between what it changes and the last turn that is guarded."""
    changes = [
        Insert(
            operator="conditional",
            anchor=anchor,
            name=spare.id,
            states=(spare.id,),
            user=f"One more thing to keep to: {{{spare.id}}}.",
        )
        for spare in spares(scenario, "conditional")
        for anchor in after_statement(scenario, spare.id, guarded)
    ]
    return any_of(changes, "what it would change is stated in the last turn")
