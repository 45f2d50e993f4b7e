"""Compact in mid tool loop: the context is cut after the first tool result of a turn.

Effect on the ledger: none; the agent's own context changes, which it must offer (`disturb`). What bound it binds it
still.

Evidence: turns written during summarisation vanish (anthropics/claude-code#75413, openai/openai-agents-python#4679);
orphaned tool results (langchain#38352, deepagents#270).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Scenario
from fuzzturn.spots import any_of, calling
from fuzzturn.variant import Disturb, Edit
from fuzzturn.vary import Called, operator


@operator("compact_mid_tool_loop", effect="environment", seldom=True, disturbs=True)
def compact_mid_tool_loop(scenario: Scenario, called: Called) -> SearchStrategy[Edit]:
    """In a turn in which tools are called."""
    cuts = [
        Disturb(operator="compact_mid_tool_loop", anchor=anchor, fault="compact_mid_tool_loop")
        for anchor in calling(scenario, called)
    ]
    return any_of(cuts, "no turn calls a tool")
