"""Completed request before the cut: a request is done, then the context is cut just before the next one.

Effect on the ledger: preserve. Only filler is spoken. What it puts next to the cut is a request that is done already:
a summary that keeps requests and drops what came of them presents it as open.

Evidence: do X (done), do Y, compaction, X is done again (openai/codex#25686); a command that was executed is run
again (openai/codex#28874, OpenHands/OpenHands#11910); the earliest message, kept verbatim, is executed again hours
later (MoonshotAI/kimi-code#2680).
"""

from typing import Literal

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Scenario
from fuzzturn.spots import calling
from fuzzturn.variant import Edit, Pad
from fuzzturn.vary import Called, NotApplicable, operator

SIZES = (None, 500, 900, 1500)
"""None = as much as it takes to cross the agent's threshold."""


@operator("completed_request_before_cut", effect="preserve", seldom=True)
def completed_request_before_cut(scenario: Scenario, called: Called) -> SearchStrategy[Edit]:
    """Filler up to the cut, or of some size, just before the turn that follows one in which tools were called."""
    ids = [line.id for line in scenario.turns]
    done = [ids.index(turn) for turn in calling(scenario, called)]
    after = [ids[place + 1] for place in done if place + 1 < len(ids)]
    if not after:
        raise NotApplicable("no turn follows one in which tools are called")
    return st.builds(_pad, st.sampled_from(after), st.sampled_from(SIZES))


def _pad(anchor: str, tokens: int | None) -> Edit:
    cut: Literal["before"] | None = "before" if tokens is None else None
    return Pad(operator="completed_request_before_cut", anchor=anchor, tokens=tokens, to=cut)
