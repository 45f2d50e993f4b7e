"""Summary swaps a value: the constraint comes back with another figure.

Effect on the ledger: none; the agent's next summary is spoilt, which it must offer (`disturb`), and a compaction is
forced so that there is one. What bound the agent binds it still.

Evidence: an approved headline is replaced by a plausible fabricated one (saralobkovich/agent-coordination#56); in 7
of 8 tasks the summary asserts names that do not exist (cuga-project/cuga-agent#574).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.patterns import spoilt
from fuzzturn.scenario import Scenario
from fuzzturn.spots import after_statement, any_of, stated
from fuzzturn.variant import Edit
from fuzzturn.vary import Guarded, operator


@operator("summary_swap_value", effect="environment", seldom=True, disturbs=True)
def summary_swap_value(scenario: Scenario, guarded: Guarded) -> SearchStrategy[tuple[Edit, ...]]:
    """After the statement, up to the last turn that it guards; half as much again, in the place of each figure."""
    faults = [
        spoilt("summary_swap_value", anchor, "swap_value", f"{figure:g}", f"{figure * 1.5:g}")
        for _, constraint in stated(scenario)
        for figure in constraint.figures
        for anchor in after_statement(scenario, constraint.id, guarded)
    ]
    return any_of(faults, "no constraint that a turn states has a number among its arguments")
