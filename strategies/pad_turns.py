"""Pad: small talk that asks for nothing, spoken just before a scripted turn.

Effect on the ledger: preserve. It only makes the session longer, until the agent's context is compacted or what was
said early lies far back.

Evidence: across 7 models and 1,323 episodes of harmless growth, violations go from 0 % to 30 % once the context is
compacted (arXiv 2606.22528); compliance with prohibitions falls from 73 % at turn 5 to 33 % at turn 16
(arXiv 2604.20911); rules are forgotten after ten to fifteen minutes (google-gemini/gemini-cli#4827).
"""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Line, Scenario
from fuzzturn.variant import PAD_TOKENS_MIN, Edit, Pad
from fuzzturn.vary import operator

PAD_TOKENS_MAX = 2000
# Integers as digits, or as bytes, stop shrinking a few tokens above the least that fails; the larger of two does not.
# One integer is below 400 in every second draw, and most compaction takes more.
SIZE = st.integers(PAD_TOKENS_MIN, PAD_TOKENS_MAX)
SIZES = st.tuples(SIZE, SIZE).map(max)


@operator("pad_turns", effect="preserve")
def pad_turns(_scenario: Scenario, anchor: Line) -> SearchStrategy[Edit]:
    """One filler turn of PAD_TOKENS_MIN to PAD_TOKENS_MAX tokens before `anchor`."""
    return SIZES.map(lambda tokens: Pad(operator="pad_turns", anchor=anchor.id, tokens=tokens))
