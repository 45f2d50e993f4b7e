"""Supersede: the user changes a constraint; both versions stand in the conversation.

Effect on the ledger: supersede. The constraint is one that the scenario keeps in reserve (`spare: true`).

Evidence: a superseded decision is injected again from memory at every compaction (anthropics/claude-code#90542); an
obsolete steer is presented as the active instruction (openai/codex#27731, #42695); newest wins
(TahirIqbal095/agentic-commerce-app#3).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.patterns import spare_stated
from fuzzturn.scenario import Scenario
from fuzzturn.variant import Edit
from fuzzturn.vary import Guarded, operator


@operator("supersede", effect="supersede", seldom=True)
def supersede(scenario: Scenario, guarded: Guarded) -> SearchStrategy[Edit]:
    """A spare constraint, stated between what it changes and the last turn that is guarded."""
    return spare_stated("supersede", "supersede", "A change to what I said:", scenario, guarded)
