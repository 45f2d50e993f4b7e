"""Function agent: an assistant that is one Python function, from a user message to what the assistant says.

    fuzzturn fuzz scenarios/orbit/lisbon_offsite.yaml --agent examples/function_agent.py:agent

The first parameter has to be called `message`. What else it names is handed to it: `environment` (to call tools),
`session_id` (to keep apart what belongs to different conversations), seed, system, and options of the command line.
It may return a text, an OpenAI-style assistant message, or the list of the turn's messages.

SIMULATED: travel_rules stands where a model would be.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from .travel_rules import Chat, Step, called, decide, shortened

__all__ = ["agent"]


@dataclass
class _Conversation:
    messages: list[Chat] = field(default_factory=list)
    calls: int = 0


_CONVERSATIONS: defaultdict[str, _Conversation] = defaultdict(_Conversation)


def agent(message: str, *, environment: Any, session_id: str, threshold: str = "900", keep: str = "4") -> list[Chat]:
    """One turn. Returns what was done in it as chat messages."""
    conversation = _CONVERSATIONS[session_id]
    conversation.messages.append({"role": "user", "content": message})
    turn: list[Chat] = []
    while True:
        if (less := shortened(conversation.messages, int(threshold), int(keep))) is not None:
            conversation.messages = less[0]
        action = decide(conversation.messages)
        if isinstance(action, str):
            new: list[Chat] = [{"role": "assistant", "content": action}]
        else:
            ids = [f"c{conversation.calls + i}" for i, _ in enumerate(action, start=1)]
            conversation.calls += len(action)
            new = called([_run(environment, step) for step in action], ids)
        conversation.messages += new
        turn += new
        if isinstance(action, str):
            return turn


def _run(environment: Any, step: Step) -> Step:
    try:
        return Step(step.name, step.args, environment.call(step.name, **step.args))
    except ValueError as error:  # a tool that refuses is news, not the end
        return Step(step.name, step.args, {"error": str(error)})
