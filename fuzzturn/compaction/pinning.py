"""Pinning: a CONTROL: any policy, with a block of messages that it may not take.

What is pinned is decided by rule, from text alone: every user message of which the summariser by rule would lose
something, that is, one with a sentence that is neither a request nor a question, or one that is too long for a note.
That keeps small talk along with limits, so it is no remedy for anybody's context window. It is the counter-check: an
agent that breaks a constraint because compaction took it breaks none under `pinned`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fuzzturn.compaction.cutting import summarised_before
from fuzzturn.compaction.notes import is_summary, survives
from fuzzturn.compaction.plan import Decide, Plan
from fuzzturn.session import Chat

__all__ = ["pinned"]


def pinned(inner: Decide) -> Decide:
    """The same policy, but pinned messages stay, before its summary."""

    def decide(messages: Sequence[Chat], tokens: int) -> Plan | None:
        plan = inner(messages, tokens)
        if plan is None:
            return None
        stays = [i for i in sorted(plan.gone) if _is_pinned(messages[i])]
        gone = {i: instead for i, instead in plan.gone.items() if i not in stays}
        if summarised_before(messages, gone):
            return None
        at = max([plan.at, *(i + 1 for i in stays)])
        return replace(plan, policy="pinned", gone=gone, at=at)

    return decide


def _is_pinned(message: Chat) -> bool:
    return message.get("role") == "user" and not is_summary(message) and not survives(message)
