"""Expire: the user states something that holds until a time, and the session's clock goes past it.

Effect on the ledger: relax (or supersede, until it ends): what it superseded is in force again from then on.
Statement and passing of time are edits of their own.

Evidence: completed or outdated steer is presented as the active instruction (openai/codex#29811, #42695); an approval
of before is taken for one of now (anthropics/claude-code#91899).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Constraint, Scenario
from fuzzturn.spots import after_statement, any_of, spares
from fuzzturn.variant import Edit, Insert
from fuzzturn.vary import Guarded, NotApplicable, operator

LATER = "P30D"
"""Longer than anything that is said to hold for a while."""


@operator("expire", effect="relax", seldom=True)
def expire(scenario: Scenario, guarded: Guarded) -> SearchStrategy[tuple[Edit, ...]]:
    """The statement, and at the same turn or a later one the message that comes after its end."""
    if scenario.starts is None:
        raise NotApplicable("the scenario has no clock (starts: a time)")
    changes = [
        _for_a_while(spare, first, second)
        for spare in spares(scenario, "expiring")
        if (places := after_statement(scenario, spare.id, guarded))
        for i, first in enumerate(places)
        for second in places[i:]
    ]
    return any_of(changes, "what it would change is stated in the last turn")


def _for_a_while(spare: Constraint, first: str, second: str) -> tuple[Edit, ...]:
    until = Insert(
        operator="expire",
        anchor=first,
        name=spare.id,
        states=(spare.id,),
        user=f"For a while: {{{spare.id}}}.",
    )
    later = Insert(operator="expire", anchor=second, name="later", user="Hello, here I am again.", advance=LATER)
    return until, later
