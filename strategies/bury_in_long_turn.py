"""Bury: what a turn states stands at the head, in the middle or at the tail of a long message.

Effect on the ledger: preserve. The filler asks for nothing and lays nothing down.

Evidence: parts of the very last request are missing after automatic compaction (anthropics/claude-code#22376); the
last paragraph, "Do not include any info I did not give u", was cut off with its message
(NetMindAI-Open/NarraNexus#73).
"""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Scenario
from fuzzturn.variant import Bury, Edit
from fuzzturn.vary import NotApplicable, operator

SIDES = ((0, 1), (1, 0), (1, 1))
"""Head, tail, middle: where what the turn says stands among the filler."""
SIZES = (50, 150, 400, 900)
"""Tokens on each side."""


@operator("bury_in_long_turn", effect="preserve", seldom=True)
def bury_in_long_turn(scenario: Scenario) -> SearchStrategy[Edit]:
    """Filler after, before, or on both sides of a turn that states something."""
    stating = [line.id for line in scenario.turns if line.states]
    if not stating:
        raise NotApplicable("no turn of the scenario states a constraint")
    return st.builds(_buried, st.sampled_from(stating), st.sampled_from(SIDES), st.sampled_from(SIZES))


def _buried(anchor: str, sides: tuple[int, int], tokens: int) -> Edit:
    return Bury(operator="bury_in_long_turn", anchor=anchor, before=sides[0] * tokens, after=sides[1] * tokens)
