"""Compact twice: the context is cut before a turn and again within it, so a summary is summarised.

Effect on the ledger: none; the agent's own context changes, which it must offer (`disturb`). What bound it binds it
still.

Evidence: a rule survives one compaction and not the next (anthropics/claude-code#4017, #26160); compression loops
(google-gemini/gemini-cli#6563).
"""

from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Scenario
from fuzzturn.spots import any_of, calling
from fuzzturn.variant import Disturb, Edit
from fuzzturn.vary import Called, operator


@operator("compact_twice", effect="environment", seldom=True, disturbs=True)
def compact_twice(scenario: Scenario, called: Called) -> SearchStrategy[Edit]:
    """In a turn in which tools are called."""
    cuts = [
        Disturb(operator="compact_twice", anchor=anchor, fault="compact_twice") for anchor in calling(scenario, called)
    ]
    return any_of(cuts, "no turn calls a tool")
