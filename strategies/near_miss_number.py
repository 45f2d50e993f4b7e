"""Near miss: a remark with a number close to one that a constraint names.

Effect on the ledger: preserve. The number is about something else, so what bound before binds after it.

Evidence: our own; the nearest public reports are values that keep their number and lose what it was about (USD values
behind EUR labels: dativo-io/talon#216) and a count of items that is off by a near miss (sonichi/sutando#3181).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Scenario
from fuzzturn.spots import after_statement, any_of, stated
from fuzzturn.variant import Edit, Insert
from fuzzturn.vary import Guarded, operator

SHIFTS = (2, -3, 40)


@operator("near_miss_number", effect="preserve", seldom=True)
def near_miss_number(scenario: Scenario, guarded: Guarded) -> SearchStrategy[Edit]:
    """One remark between the statement and the last turn that it guards."""
    remarks = [
        Insert(
            operator="near_miss_number",
            anchor=anchor,
            name=f"near{shift:+d}".replace("+", "."),
            user=_remark(figure, shift),
        )
        for _, constraint in stated(scenario)
        for figure in constraint.figures
        for anchor in after_statement(scenario, constraint.id, guarded)
        for shift in SHIFTS
    ]
    return any_of(remarks, "no constraint that a turn states has a number among its arguments")


def _remark(figure: float, shift: int) -> str:
    return f"By the way, there are {int(figure) + shift} folders in our archive now."
