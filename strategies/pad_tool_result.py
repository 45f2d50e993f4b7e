"""Pad a tool result: an answer comes with a long remark that is of no use.

Effect on the ledger: preserve. The answer says all that it said before, and nothing new about the task.

Evidence: with large tool rows the summariser's input is trimmed before it reads the early turns (langchain's
trim_tokens_to_summarize: with 1,000 words a row the summariser is not called at all, langchain#39261); the imperative
is kept and the policy is dropped (NousResearch/hermes-agent#84718).
"""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Scenario
from fuzzturn.spots import calling
from fuzzturn.variant import Edit, Tamper
from fuzzturn.vary import Called, operator

SIZES = (100, 300, 700, 1500)
"""Tokens."""


@operator("pad_tool_result", effect="preserve", seldom=True)
def pad_tool_result(scenario: Scenario, called: Called) -> SearchStrategy[Edit]:
    """The first answer of a turn in which tools are called, or the first few."""
    turns = st.sampled_from(calling(scenario, called) or [scenario.turns[-1].id])
    return st.builds(_padded, turns, st.sampled_from(SIZES), st.integers(1, 3))


def _padded(anchor: str, tokens: int, times: int) -> Edit:
    return Tamper(operator="pad_tool_result", anchor=anchor, fault="pad", tokens=tokens, times=times)
