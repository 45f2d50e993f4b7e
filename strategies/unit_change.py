"""Change the unit: the user states the same constraint anew in another unit or currency.

Effect on the ledger: supersede. The constraint is one that the scenario keeps in reserve (`spare: true`).

Evidence: our own, public reports lack it; nearest are USD values behind EUR labels (dativo-io/talon#216) and a symbol
that changed while the number did not (ding113/claude-code-hub#1300).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.patterns import spare_stated
from fuzzturn.scenario import Scenario
from fuzzturn.variant import Edit
from fuzzturn.vary import Guarded, operator


@operator("unit_change", effect="supersede", seldom=True)
def unit_change(scenario: Scenario, guarded: Guarded) -> SearchStrategy[Edit]:
    """A spare constraint, stated between what it changes and the last turn that is guarded."""
    return spare_stated("unit_change", "unit_change", "To say it in other figures:", scenario, guarded)
