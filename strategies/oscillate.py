"""Oscillate: the user changes a constraint, and changes it back.

Effect on the ledger: supersede, twice: in the end the first version is in force again. The two changes are edits of
their own: without the second it is a supersession, without the first a reminder.

Evidence: versioned editing is among what all frontier models fail at (MultiChallenge, arXiv 2501.17399); a constraint
update lags one turn behind (justrach/codegraff#738).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Constraint, Scenario
from fuzzturn.spots import after_statement, any_of, spares
from fuzzturn.variant import Edit, Insert
from fuzzturn.vary import Guarded, operator


@operator("oscillate", effect="supersede", seldom=True)
def oscillate(scenario: Scenario, guarded: Guarded) -> SearchStrategy[tuple[Edit, ...]]:
    """There and back, at two turns or at one, before the last turn that is guarded."""
    changes = [
        _there_and_back(scenario, spare, first, second)
        for spare in spares(scenario, "supersede")
        if (places := after_statement(scenario, spare.id, guarded)) and _stated(scenario, spare)
        for i, first in enumerate(places)
        for second in places[i:]
    ]
    return any_of(changes, "what it would change is stated in the last turn, or in none")


def _stated(scenario: Scenario, spare: Constraint) -> bool:
    return scenario.stating(spare.replaces or "") is not None


def _there_and_back(scenario: Scenario, spare: Constraint, first: str, second: str) -> tuple[Edit, ...]:
    old = scenario.constraint(spare.replaces or "")
    there = Insert(
        operator="oscillate",
        anchor=first,
        name=spare.id,
        states=(spare.id,),
        user=f"A change to what I said: {{{spare.id}}}.",
    )
    back = Insert(
        operator="oscillate",
        anchor=second,
        name=f"back.{old.id}",
        states=(old.id,),
        user=f"Back to what I said first: {{{old.id}}}.",
    )
    return there, back
