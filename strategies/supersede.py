"""Supersede: the user changes a constraint; both versions stand in the conversation.

Effect on the ledger: supersede. The constraint is one that the scenario keeps in reserve (`spare: true`).

Evidence: a superseded decision is injected again from memory at every compaction (anthropics/claude-code#90542); an
obsolete steer is presented as the active instruction (openai/codex#27731, #42695); newest wins
(TahirIqbal095/agentic-commerce-app#3).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Scenario
from fuzzturn.spots import after_statement, any_of, spares
from fuzzturn.variant import Edit, Insert
from fuzzturn.vary import Guarded, operator


@operator("supersede", effect="supersede", seldom=True)
def supersede(scenario: Scenario, guarded: Guarded) -> SearchStrategy[Edit]:
    """A spare constraint, stated between what it changes and the last turn that is guarded."""
    changes = [
        Insert(
            operator="supersede",
            anchor=anchor,
            name=spare.id,
            states=(spare.id,),
            user=f"A change to what I said: {{{spare.id}}}.",
        )
        for spare in spares(scenario, "supersede")
        for anchor in after_statement(scenario, spare.id, guarded)
    ]
    return any_of(changes, "what it would change is stated in the last turn")
