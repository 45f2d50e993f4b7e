"""Dropping: the policies that let older messages go and put nothing in their place, or something in each one's own."""

from __future__ import annotations

from collections.abc import Sequence

from fuzzturn.compaction.cutting import Gone, recent, removed
from fuzzturn.compaction.options import Options
from fuzzturn.compaction.plan import Decide, Plan
from fuzzturn.session import Chat
from fuzzturn.tokens import message_tokens

__all__ = ["clear_tool_results", "last_messages", "last_tokens", "none"]


def none(options: Options) -> Decide:  # noqa: ARG001 - every family is built from options
    """Never drops anything."""
    return lambda messages, tokens: None  # noqa: ARG005


def last_messages(options: Options) -> Decide:
    """The newest `keep` messages stay: a sliding window (strands, OpenAI Agents SDK sessions with a limit)."""
    return _suffix("last_messages", options)


def last_tokens(options: Options) -> Decide:
    """The newest messages within `keep_tokens` stay (llama-index, langchain's trim_messages)."""
    return _suffix("last_tokens", options)


def clear_tool_results(options: Options) -> Decide:
    """Above the threshold, older tool results lose their content (Anthropic's clear_tool_uses, langchain).

    All messages stay. The newest `keep` results stay as they are, and so do those of `exclude_tools`, those that were
    cleared before, and those that the placeholder would not make smaller.
    """

    def decide(messages: Sequence[Chat], tokens: int) -> Plan | None:
        if not options.reached(len(messages), tokens):
            return None
        names = _tool_names(messages)
        results = [i for i, message in enumerate(messages) if message.get("role") == "tool"]
        gone: dict[int, tuple[Chat, ...]] = {}
        for i in results[: -(options.keep or 1)]:
            cleared = {**messages[i], "content": options.placeholder}
            excluded = names.get(str(messages[i].get("tool_call_id"))) in options.exclude_tools
            if not excluded and message_tokens(cleared) < message_tokens(messages[i]):
                gone[i] = (cleared,)
        return _dropped("clear_tool_results", messages, tokens, gone)

    return decide


def _suffix(policy: str, options: Options) -> Decide:
    def decide(messages: Sequence[Chat], tokens: int) -> Plan | None:
        gone = removed(messages, 0, recent(messages, options), options.pair_rule)
        return _dropped(policy, messages, tokens, gone)

    return decide


def _dropped(policy: str, messages: Sequence[Chat], tokens: int, gone: Gone) -> Plan | None:
    return Plan(policy=policy, messages=tuple(messages), before=tokens, gone=gone) if gone else None


def _tool_names(messages: Sequence[Chat]) -> dict[str, str]:
    """By call id, the tool that was called."""
    calls = (call for message in messages for call in message.get("tool_calls") or ())
    return {str(call.get("id")): str((call.get("function") or {}).get("name")) for call in calls}
