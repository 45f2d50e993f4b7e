"""Soften: a constraint is stated politely, as a wish, and is meant no less.

Effect on the ledger: preserve. The soft wordings are the author's, who vouches that they bind as the statement does.

Evidence: decay is 8.3 times larger for soft organisational policies than for hard norms (arXiv 2606.22528); a denial
comes back as "the user preferred a different approach" (NousResearch/hermes-agent#113305); hand-off compression turns
must into maybe (arXiv 2608.24569).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.patterns import other_words
from fuzzturn.scenario import Scenario
from fuzzturn.variant import Edit
from fuzzturn.vary import operator


@operator("soften", effect="preserve", seldom=True)
def soften(scenario: Scenario) -> SearchStrategy[Edit]:
    """One of the wordings, in the turn that states the constraint."""
    lacking = "no constraint that a turn states has wordings.soft"
    return other_words("soften", scenario, lambda constraint: constraint.wordings.soft, lacking)
