"""Cutting: which run of messages goes, so that the newest turn stays and no tool call is parted from its results.

A cut stands between two messages. It is sound where the message after it is no tool result; where it is not, a pair
rule says what becomes of the torn group, an assistant message that calls tools and the results that follow it:

    move_back       the cut moves before the group (langchain, cline)
    move_forward    the cut moves behind the group (strands, llama-index)
    drop_orphans    what is left of the group goes (pydantic-ai, for results)
    synthesize      what is missing of the group is written anew: a call without arguments, a result that says that it
                    is not kept (pydantic-ai, for results)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from fuzzturn.compaction.notes import is_summary
from fuzzturn.compaction.options import Options, PairRule
from fuzzturn.session import Chat
from fuzzturn.tokens import message_tokens

__all__ = ["NOT_KEPT", "Gone", "newest_turn", "newest_within", "recent", "removed", "summarised_before", "user_turns"]

NOT_KEPT = "[this result was not kept]"
"""The content of a tool result that the rule `synthesize` writes."""

Gone: TypeAlias = Mapping[int, tuple[Chat, ...]]
"""As in a Plan: by index, a message that goes and what stands in its own place."""


def user_turns(messages: Sequence[Chat]) -> list[int]:
    """Where the user's turns begin; a summary in the role of the user is none."""
    return [i for i, message in enumerate(messages) if message.get("role") == "user" and not is_summary(message)]


def newest_turn(messages: Sequence[Chat], default: int) -> int:
    """Where the newest user turn begins, which every policy keeps; `default` where there is none."""
    return max(user_turns(messages), default=default)


def recent(messages: Sequence[Chat], options: Options) -> int:
    """Where the part begins that `keep` or `keep_tokens` keeps; the newest turn, or message, always stays."""
    if options.keep_tokens is None:
        cut = max(len(messages) - (options.keep or 1), 0)
    else:
        cut = min(newest_within(messages, options.keep_tokens), max(len(messages) - 1, 0))
    return min(cut, newest_turn(messages, cut))


def newest_within(messages: Sequence[Chat], tokens: float) -> int:
    """Where the longest end of the list begins that has at most so many tokens."""
    left = tokens
    for i in range(len(messages) - 1, -1, -1):
        left -= message_tokens(messages[i])
        if left < 0:
            return i + 1
    return 0


def removed(messages: Sequence[Chat], first: int, end: int, rule: PairRule) -> Gone:
    """The messages from `first` up to `end`, without it, as what goes, once the rule has dealt with torn groups."""
    if rule == "synthesize":
        return _completed(messages, first, end)
    begin = _forward(messages, first) if rule == "move_forward" else _back(messages, first)
    stop = _back(messages, end) if rule == "move_back" else _forward(messages, end)
    if stop == len(messages):  # nothing would be left
        stop = _back(messages, end)
    return dict.fromkeys(range(begin, stop), ())


def summarised_before(messages: Sequence[Chat], gone: Gone) -> bool:
    """Whether nothing goes but earlier summaries: to summarise those alone gains nothing."""
    return all(is_summary(messages[i]) for i in gone)


def _is_result(messages: Sequence[Chat], i: int) -> bool:
    return 0 <= i < len(messages) and messages[i].get("role") == "tool"


def _back(messages: Sequence[Chat], cut: int) -> int:
    while cut > 0 and _is_result(messages, cut):
        cut -= 1
    return cut


def _forward(messages: Sequence[Chat], cut: int) -> int:
    while _is_result(messages, cut):
        cut += 1
    return cut


def _completed(messages: Sequence[Chat], first: int, end: int) -> Gone:
    """Both cuts stay, and the missing halves are written. What goes between two results of one group goes whole."""
    caller, torn = _back(messages, first), _back(messages, end)
    if _is_result(messages, end) and torn <= first:
        first = caller
    gone: dict[int, tuple[Chat, ...]] = dict.fromkeys(range(first, end), ())
    if not gone:
        return gone
    if _is_result(messages, first) and first > 0:
        answered = {message.get("tool_call_id") for message in messages[caller + 1 : first]}
        missing = [id for call in messages[caller].get("tool_calls") or () if (id := call.get("id")) not in answered]
        gone[first] = tuple({"role": "tool", "tool_call_id": id, "content": NOT_KEPT} for id in missing)
    if _is_result(messages, end):
        kept = {message.get("tool_call_id") for message in messages[end : _forward(messages, end)]}
        calls = [_without_arguments(call) for call in messages[torn].get("tool_calls") or () if call.get("id") in kept]
        gone[end - 1] = ({"role": "assistant", "content": "", "tool_calls": calls},) if calls else ()
    return gone


def _without_arguments(call: Chat) -> Chat:
    function = call.get("function") or {}
    return {**call, "function": {**function, "arguments": "{}"}}
