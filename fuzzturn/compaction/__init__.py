"""Compaction: policies that replace a conversation's older messages by less, as pure functions.

What a policy counts is exactly the list it is handed, by the rule of `tokens`; an agent's system prompt is not in it.
The summary is one message, of role "user" unless said otherwise (as langchain and codex place theirs), recognisable by
its heading, and a later compaction reads it like any other message: summaries nest.

    policy(name, **options)     a policy of each family that real systems use, and `pinned`, a control
    Policy, Plan, Compacted     how it works in two pure steps, with a summariser between them
    by_rule, scripted           summarisers; any function from messages to a text is one
    cuts, spoil, spoiled        what a scenario's disturbances do to an agent's policy and summaries
    notes, sentences, …         how the summary by rule is written and read
"""

from __future__ import annotations

from fuzzturn.compaction.cutting import NOT_KEPT
from fuzzturn.compaction.named import none, policy, policy_names, policy_options, summary_keep_recent
from fuzzturn.compaction.notes import (
    NO_SUMMARY,
    NOTHING_ASKED,
    SUMMARY_HEADING,
    SUMMARY_TOKENS,
    TOO_LONG,
    Note,
    Summariser,
    by_rule,
    is_summary,
    notes,
    scripted,
    survives,
)
from fuzzturn.compaction.options import OPTION_NAMES, Options, PairRule
from fuzzturn.compaction.plan import Compacted, Plan, Policy, Role
from fuzzturn.compaction.sentences import is_question, is_request, sentences
from fuzzturn.compaction.spoiling import cuts, spoil, spoils

__all__ = [
    "NOTHING_ASKED", "NOT_KEPT", "NO_SUMMARY", "OPTION_NAMES", "SUMMARY_HEADING", "SUMMARY_TOKENS", "TOO_LONG",
    "Compacted", "Note", "Options", "PairRule", "Plan", "Policy", "Role", "Summariser", "by_rule", "cuts",
    "is_question", "is_request", "is_summary", "none", "notes", "policy", "policy_names", "policy_options", "scripted",
    "sentences", "spoil", "spoils", "summary_keep_recent", "survives",
]  # fmt: skip
