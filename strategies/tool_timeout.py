"""Tool timeout: a call is carried out, and its answer is lost.

Effect on the ledger: none; the environment changes. What follows of it for goal and script is not held against the
agent, but what binds it binds it still.

Evidence: a command that was executed is run again, with a double side effect (openai/codex#28874,
OpenHands/OpenHands#11910).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.patterns import tampered
from fuzzturn.scenario import Scenario
from fuzzturn.spots import calling
from fuzzturn.variant import Edit
from fuzzturn.vary import Called, operator

TEXTS = ("no answer within 30 seconds",)


@operator("tool_timeout", effect="environment", seldom=True)
def tool_timeout(scenario: Scenario, called: Called) -> SearchStrategy[Edit]:
    """In a turn in which tools are called, the first call."""
    return tampered("tool_timeout", "timeout", TEXTS, calling(scenario, called))
