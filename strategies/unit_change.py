"""Change the unit: the user states the same constraint anew in another unit or currency.

Effect on the ledger: supersede. The constraint is one that the scenario keeps in reserve (`spare: true`).

Evidence: our own, public reports lack it; nearest are USD values behind EUR labels (dativo-io/talon#216) and a symbol
that changed while the number did not (ding113/claude-code-hub#1300).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Scenario
from fuzzturn.spots import after_statement, any_of, spares
from fuzzturn.variant import Edit, Insert
from fuzzturn.vary import Guarded, operator


@operator("unit_change", effect="supersede", seldom=True)
def unit_change(scenario: Scenario, guarded: Guarded) -> SearchStrategy[Edit]:
    """A spare constraint, stated between what it changes and the last turn that is guarded."""
    changes = [
        Insert(
            operator="unit_change",
            anchor=anchor,
            name=spare.id,
            states=(spare.id,),
            user=f"To say it in other figures: {{{spare.id}}}.",
        )
        for spare in spares(scenario, "unit_change")
        for anchor in after_statement(scenario, spare.id, guarded)
    ]
    return any_of(changes, "what it would change is stated in the last turn")
