"""Spoiling: a summariser that goes wrong in a known way, as a scenario's disturbances ask for (`scenario.Disturbance`).

What public reports tell of summaries, by rule: a line is gone, weaker or with another figure, something is in it that
nobody said, and it is empty, an error text, or longer than what it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fuzzturn.filler import PAD_TOKENS_MIN, filler
from fuzzturn.scenario import Disturbance
from fuzzturn.session import Chat
from fuzzturn.tokens import messages_tokens

__all__ = ["CUTS_BEFORE", "CUTS_WITHIN", "ERROR_TEXT", "cuts", "spoil", "spoils"]

CUTS_BEFORE = ("compact", "compact_twice")
CUTS_WITHIN = ("compact_mid_tool_loop", "compact_twice")
ERROR_TEXT = "Error: the summary could not be made."
"""What an error text says where the scenario gives none."""


def cuts(disturbances: Sequence[Disturbance], *, within: bool) -> bool:
    """Whether the agent is to compact before the turn's first model call or, `within`, after its first tool result."""
    return any(one.kind in (CUTS_WITHIN if within else CUTS_BEFORE) for one in disturbances)


def spoils(disturbances: Sequence[Disturbance]) -> tuple[Disturbance, ...]:
    """Those of the disturbances that spoil a summary, in their order."""
    return tuple(one for one in disturbances if one.kind not in (*CUTS_BEFORE, *CUTS_WITHIN))


def spoil(summary: str, disturbances: Sequence[Disturbance], reads: Sequence[Chat] = ()) -> str:
    """The summary once all these have befallen it; disturbances of other kinds leave it as it is.

    `reads`: what the summariser read; a summary that grows becomes longer than that. Texts are found whatever their
    case and spacing, figures as whole numbers only.
    """
    for one in disturbances:
        summary = _spoilt(summary, one, reads)
    return summary


def _spoilt(summary: str, one: Disturbance, reads: Sequence[Chat]) -> str:
    match one.kind:
        case "drop":
            says = _pattern(one.text)
            return "\n".join(line for line in summary.split("\n") if not says.search(line))
        case "weaken" | "swap_value":
            return _pattern(one.text).sub(lambda _: one.instead, summary)
        case "invent":
            return f"{summary}\n{one.text}" if summary else one.text
        case "empty":
            return ""
        case "error_text":
            return one.text or ERROR_TEXT
        case "grow":
            return f"{summary}\n{filler(max(messages_tokens(reads), PAD_TOKENS_MIN))}"
        case _:
            return summary


def _pattern(text: str) -> re.Pattern[str]:
    """Where the text is said: not within a word or a longer number."""
    words = r"\s+".join(map(re.escape, text.split()))
    return re.compile(rf"(?<![\w.,]){words}(?![\w]|[.,]\d)" if words else r"(?!)", re.IGNORECASE)
