"""Chat function: an agent that is one function from OpenAI-style messages to the next one; fuzzturn does the rest.

    fuzzturn fuzz scenarios/orbit/lisbon_offsite.yaml --agent examples/chat_function.py:answer \\
        --agent-option compaction=summary_keep_recent

The first parameter has to be called `messages`. It may name `tools` (as chat APIs want them) and options of its own.
The harness keeps the history, runs the tools that the message asks for, and compacts by the policy that is named:
so one sees how this model takes any of them. It may return a text, a message, or a client library's completion, as in

    return client.chat.completions.create(model="…", messages=messages, tools=tools)

SIMULATED: travel_rules stands where a model would be.
"""

from __future__ import annotations

from typing import Any

from .travel_rules import called, decide, fresh_ids

__all__ = ["answer"]


def answer(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The next assistant message."""
    action = decide(messages)
    if isinstance(action, str):
        return {"role": "assistant", "content": action}
    return dict(called(action, fresh_ids(messages, len(action)))[0])
