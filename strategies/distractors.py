"""Distractors: further constraints, which the session keeps to anyhow.

Effect on the ledger: add. Each is one that the scenario keeps in reserve, and supersedes nothing.

Evidence: recall of what is protected falls with what stands beside it (the block holds about eight entries in 300
tokens); with several constraints active all frontier models are below 50 % (MultiChallenge, arXiv 2501.17399).
"""

from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Constraint, Scenario
from fuzzturn.spots import spares
from fuzzturn.variant import Edit, Insert
from fuzzturn.vary import operator


@operator("distractors", effect="add", seldom=True)
def distractors(scenario: Scenario) -> SearchStrategy[tuple[Edit, ...]]:
    """One or several, before one turn."""
    others = spares(scenario, "other")
    anchors = st.sampled_from([line.id for line in scenario.turns])
    return st.builds(_stated, anchors, st.integers(1, len(others)).map(lambda k: others[:k]))


def _stated(anchor: str, others: Sequence[Constraint]) -> tuple[Edit, ...]:
    return tuple(
        Insert(
            operator="distractors",
            anchor=anchor,
            name=spare.id,
            states=(spare.id,),
            user=f"One more thing to keep to: {{{spare.id}}}.",
        )
        for spare in others
    )
