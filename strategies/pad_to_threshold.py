"""Pad to the threshold: as much small talk before a scripted turn as makes the agent compact right there.

Effect on the ledger: preserve. The size is left open and only says on which side of the compaction the turn shall
fall: "before" = the context is compacted before the turn is handled, "after" = only once it has begun. The search
measures the agent's threshold once and solves the size from it.

Evidence: instructions are lost at the cut and not gradually (a synthetic session whose two markers are both gone
from the replaced history: openai/codex#43855; parts of the very last request missing after automatic compaction:
anthropics/claude-code#22376), so the sessions to play are those that put the cut next to a turn that matters.
"""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Line, Scenario
from fuzzturn.variant import Edit, Pad
from fuzzturn.vary import operator


@operator("pad_to_threshold", effect="preserve")
def pad_to_threshold(_scenario: Scenario, anchor: Line) -> SearchStrategy[Edit]:
    """One filler turn of open size before `anchor`."""
    return st.sampled_from(
        [
            Pad(operator="pad_to_threshold", anchor=anchor.id, to="before"),
            Pad(operator="pad_to_threshold", anchor=anchor.id, to="after"),
        ]
    )
