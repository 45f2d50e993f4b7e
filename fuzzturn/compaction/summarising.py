"""Summarising: the policies that put a summary in the place of older messages; they differ in which ones those are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fuzzturn.compaction.cutting import (
    Gone,
    newest_turn,
    newest_within,
    recent,
    removed,
    summarised_before,
    user_turns,
)
from fuzzturn.compaction.notes import is_summary
from fuzzturn.compaction.options import Options
from fuzzturn.compaction.plan import Decide, Plan
from fuzzturn.session import Chat
from fuzzturn.tokens import message_tokens

__all__ = ["fraction_split", "head_tail", "interval", "summary_keep_recent", "user_only"]


def summary_keep_recent(options: Options) -> Decide:
    """Above the threshold, all but the newest messages become a summary (langchain, cline, goose, letta)."""

    def decide(messages: Sequence[Chat], tokens: int) -> Plan | None:
        if not options.reached(len(messages), tokens):
            return None
        gone = removed(messages, 0, recent(messages, options), options.pair_rule)
        return _summarised("summary_keep_recent", messages, tokens, gone, options)

    return decide


def head_tail(options: Options) -> Decide:
    """Above the threshold, the middle becomes a summary: the oldest `keep_first` messages stay too (OpenHands)."""

    def decide(messages: Sequence[Chat], tokens: int) -> Plan | None:
        if not options.reached(len(messages), tokens):
            return None
        end = recent(messages, options)
        # An earlier summary stands where the head ended then; it is no part of the head now.
        summary = next((i for i, message in enumerate(messages) if is_summary(message)), end)
        gone = removed(messages, min(options.keep_first, summary, end), end, options.pair_rule)
        return _summarised("head_tail", messages, tokens, gone, options)

    return decide


def fraction_split(options: Options) -> Decide:
    """Above the threshold, the newest `preserve` of the tokens stay, from a user message on (gemini-cli)."""

    def decide(messages: Sequence[Chat], tokens: int) -> Plan | None:
        if not options.reached(len(messages), tokens):
            return None
        split = newest_within(messages, options.preserve * tokens)
        turns = user_turns(messages)
        end = next((i for i in turns if i >= split), newest_turn(messages, 0))
        return _summarised("fraction_split", messages, tokens, dict.fromkeys(range(end), ()), options)

    return decide


def interval(options: Options) -> Decide:
    """Whenever `interval` turns have gathered beyond `overlap`, they become a summary (google-adk).

    The turn that is under way does not count. The summariser reads the `overlap` newest of the finished turns too,
    which stay; so each of those is read by two summaries.
    """

    def decide(messages: Sequence[Chat], tokens: int) -> Plan | None:
        turns = user_turns(messages)
        finished = len(turns) - 1
        if finished < options.turns_to_gather + options.overlap:
            return None
        gone: Gone = dict.fromkeys(range(turns[finished - options.overlap]), ())
        return _summarised("interval", messages, tokens, gone, options, messages[: turns[finished]])

    return decide


def user_only(options: Options) -> Decide:
    """Above the threshold, of what came before the newest turn only user messages stay, within `budget` (codex).

    The newest are taken first, up to the first that does not fit. The summariser reads all that came before the
    newest turn, and its summary stands just before that turn.
    """

    def decide(messages: Sequence[Chat], tokens: int) -> Plan | None:
        if not options.reached(len(messages), tokens):
            return None
        newest = newest_turn(messages, 0)
        kept: set[int] = set()
        left = options.budget
        for i in reversed(user_turns(messages[:newest])):
            left -= message_tokens(messages[i])
            if left < 0:
                break
            kept.add(i)
        gone: Gone = {i: () for i in range(newest) if i not in kept}
        plan = _summarised("user_only", messages, tokens, gone, options, messages[:newest])
        return plan and replace(plan, at=newest)

    return decide


def _summarised(
    policy: str,
    messages: Sequence[Chat],
    tokens: int,
    gone: Gone,
    options: Options,
    read: Sequence[Chat] | None = None,
) -> Plan | None:
    """`read` is what the summariser would read without a limit; None = what goes."""
    if summarised_before(messages, gone):
        return None
    dropped = tuple(messages[i] for i in sorted(gone))
    reads = _limited(dropped if read is None else tuple(read), options.summary_input_limit)
    return Plan(
        policy=policy, messages=tuple(messages), before=tokens, gone=gone, at=_place(gone), reads=reads,
        summary_role=options.summary_role,
    )  # fmt: skip


def _place(gone: Gone) -> int:
    """Where the summary stands: at the beginning of what goes, behind a result that completes the head."""
    first = min(gone)
    return first + 1 if gone[first] and gone[first][0].get("role") == "tool" else first


def _limited(messages: tuple[Chat, ...], limit: int | None) -> tuple[Chat, ...]:
    """The newest messages within so many tokens, from a user message on (langchain's trim before it summarises).

    An earlier summary counts as one, whatever its role: langchain's has the role of the user.
    """
    if limit is None:
        return messages
    newest = messages[newest_within(messages, limit) :]
    begin = next((i for i, m in enumerate(newest) if m.get("role") == "user" or is_summary(m)), len(newest))
    return newest[begin:]
