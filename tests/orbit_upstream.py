"""Orbit upstream: the simulated travel agent's rules behind OpenAI's API, so that adapters can be tested on Lisbon.

What it answers is a pure function of the request's messages: `deciding.decide`, that the shipped agent is made of.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fuzzturn.project import starter_root
from fuzzturn.project.content import load_module
from upstream import said

__all__ = ["travel_desk"]


def travel_desk(body: Mapping[str, Any]) -> dict[str, Any]:
    """The completion: a report, or the tools to call."""
    root = starter_root()
    deciding = load_module(root, Path(root) / "scenarios" / "orbit" / "deciding.py")
    action = deciding.decide(tuple(body["messages"]))
    if isinstance(action, deciding.Say):
        return said(action.text)
    completion = said("")
    taken = [call["id"] for message in body["messages"] for call in message.get("tool_calls") or ()]
    begun = max((int(id.removeprefix("call_")) for id in taken), default=0)
    calls = [
        {"id": f"call_{begun + i}", "type": "function",
         "function": {"name": call.name, "arguments": json.dumps(call.args)}}
        for i, call in enumerate(action.calls, start=1)
    ]  # fmt: skip
    choice = completion["choices"][0]
    choice["message"] |= {"content": None, "tool_calls": calls}
    return completion | {"choices": [choice | {"finish_reason": "tool_calls"}]}
