"""Drop: leave out a turn that the script marks optional, with the optional turns that make no sense without it.

Effect on the ledger: preserve. `optional` is the author's word that a correct agent acts the same without the turn.
Fewer turns bring what was said early closer to where it matters and take away what else a summary had to hold, so a
failure that survives dropping does not hang on the chatter; and every minimal session is reached through dropping.

Evidence: whether a limit outlives compaction depends on what else competes for the summary (content that biases the
summariser raised violations from 0 % to 65 %: arXiv 2606.22528).
"""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Line, Scenario
from fuzzturn.variant import Drop, Edit
from fuzzturn.vary import NotApplicable, operator


@operator("drop_optional", effect="preserve", drops=True)
def drop_optional(scenario: Scenario, anchor: Line) -> SearchStrategy[Edit] | None:
    """Drop `anchor` where it and all that hangs on it is optional; one turn of the script always stays."""
    # What a turn states or lifts would be gone with it, and then other limits bind: that is not the same session.
    optional = {line.id for line in scenario.turns if line.optional and not (line.states or line.lifts)}
    if not optional:
        raise NotApplicable("the scenario marks no turn as optional")
    if len(optional) == len(scenario.turns):
        optional.discard(scenario.turns[0].id)  # else the simplest session would be silence
    if not scenario.dependants(anchor.id) <= optional:
        return None
    return st.just(Drop(operator="drop_optional", anchor=anchor.id))
