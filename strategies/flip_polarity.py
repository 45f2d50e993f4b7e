"""Flip polarity: a prohibition is stated as a requirement, or the other way round.

Effect on the ledger: preserve. The flipped wordings are the author's and say the same.

Evidence: compliance with prohibitions falls from 73 % at turn 5 to 33 % at turn 16 while requirements stay at 100 %
(arXiv 2604.20911): so the form decides whether it is kept.
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.patterns import other_words
from fuzzturn.scenario import Scenario
from fuzzturn.variant import Edit
from fuzzturn.vary import operator


@operator("flip_polarity", effect="preserve", seldom=True)
def flip_polarity(scenario: Scenario) -> SearchStrategy[Edit]:
    """One of the wordings, in the turn that states the constraint."""
    lacking = "no constraint that a turn states has wordings.flipped"
    return other_words("flip_polarity", scenario, lambda constraint: constraint.wordings.flipped, lacking)
