"""Restate: the user says again what is in force.

Effect on the ledger: preserve. It is spoken only where the constraint is in force at that place, whatever else was
edited: a reminder of what was superseded would bring it back. It is a control as much as a trouble: after a reminder
a failure that hangs on the statement being lost should be gone.

Evidence: a reminder brings the compliance of omission constraints back (arXiv 2604.20911); "two notes that both look
Current" after a rule was said twice (anthropics/claude-code#67500).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.patterns import binding_at
from fuzzturn.scenario import Scenario
from fuzzturn.spots import any_of
from fuzzturn.variant import Edit, Insert
from fuzzturn.vary import Guarded, operator


@operator("restate", effect="preserve", seldom=True)
def restate(scenario: Scenario, guarded: Guarded) -> SearchStrategy[Edit]:
    """One reminder between the statement and the last turn that it guards."""
    reminders = [
        Insert(
            operator="restate",
            anchor=anchor,
            name=f"restate.{constraint.id}",
            reminder=True,
            states=(constraint.id,),
            user=f"As I said: {{{constraint.id}}}.",
        )
        for constraint, anchor in binding_at(scenario, guarded)
        if not constraint.temporary
    ]
    return any_of(reminders, "no turn of the scenario states a lasting constraint")
