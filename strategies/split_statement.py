"""Split: a constraint is stated in two pieces over two turns.

Effect on the ledger: preserve. It binds from the turn that says the second piece; only both together say it, and they
are the author's own pieces.

Evidence: instructions that come in shards over several turns are lost far more often than the same in one turn (Lost
in Conversation, arXiv 2505.06120).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Scenario
from fuzzturn.spots import any_of, stated
from fuzzturn.variant import Edit, Word
from fuzzturn.vary import operator


@operator("split_statement", effect="preserve", seldom=True)
def split_statement(scenario: Scenario) -> SearchStrategy[Edit]:
    """The first piece in a turn of its own, just before the one that states the constraint and says the second."""
    words = [
        Word(operator="split_statement", anchor=line.id, constraint=constraint.id, lead=lead, text=text)
        for line, constraint in stated(scenario)
        for lead, text in constraint.wordings.split
    ]
    return any_of(words, "no constraint that a turn states has wordings.split")
