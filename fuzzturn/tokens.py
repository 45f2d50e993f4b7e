"""Tokens: one offline count, the unit of every budget and threshold.

ceil(characters / 4), and 4 more for each message (design §5). It is a rule and not a tokenizer, so that a
minimal session does not depend on which vocabulary file is installed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["PER_MESSAGE", "message_tokens", "messages_tokens", "text_tokens"]

PER_MESSAGE = 4
CHARACTERS_PER_TOKEN = 4
_COMPACT = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, default=str).encode


def text_tokens(text: str) -> int:
    """Tokens of one message whose whole content is `text`."""
    return -(-len(text) // CHARACTERS_PER_TOKEN) + PER_MESSAGE


def message_tokens(message: Mapping[str, Any]) -> int:
    """Tokens of one chat message: its content, and its tool calls as compact JSON where it carries any."""
    content = message.get("content")
    characters = len(content) if isinstance(content, str) else len(_COMPACT(content)) if content else 0
    if calls := message.get("tool_calls"):
        characters += len(_COMPACT(calls))
    return -(-characters // CHARACTERS_PER_TOKEN) + PER_MESSAGE


def messages_tokens(messages: Iterable[Mapping[str, Any]]) -> int:
    """Tokens of a whole context."""
    return sum(message_tokens(message) for message in messages)
