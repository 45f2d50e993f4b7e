"""Reword: a constraint is stated in another of its author's wordings.

Effect on the ledger: preserve. The paraphrases of a constraint mean the same by their author's word, so what bound
before binds after it.

Evidence: the same rule is broken again in a new surface form after an explicit correction
(anthropics/claude-code#88366, stepfun-ai/Step3#23); quoting a constraint verbatim moves its survival from 52.8 % to
86.1 % (NousResearch/hermes-agent #96869), so whether it survives hangs on its form.
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.patterns import other_words
from fuzzturn.scenario import Scenario
from fuzzturn.variant import Edit
from fuzzturn.vary import operator


@operator("reword", effect="preserve", seldom=True)
def reword(scenario: Scenario) -> SearchStrategy[Edit]:
    """One of the wordings, in the turn that states the constraint."""
    lacking = "no constraint that a turn states has paraphrases"
    return other_words("reword", scenario, lambda constraint: constraint.paraphrases, lacking)
