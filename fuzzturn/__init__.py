"""fuzzturn: property-based fuzzing of multi-turn, tool-calling LLM agents.

A scenario plus drawn edits is a variant; it is spoken to an agent inside an environment; every turn gets four signals
that are never blended; a turn at which an adherence checker fails while the judge still gives a 4 is a blind spot, and
is shrunk to the fewest turns that show it.

Names are loaded when they are first used, so that `import fuzzturn` is cheap.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Agent": "ports",
    "CheckResult": "scores",
    "Commitment": "session",
    "Compaction": "session",
    "Edit": "variant",
    "Environment": "ports",
    "Finding": "outcome",
    "FuzzturnError": "errors",
    "Judge": "ports",
    "JudgePrompt": "ports",
    "Message": "session",
    "ModelCall": "session",
    "Reply": "ports",
    "Scenario": "scenario",
    "Session": "session",
    "SessionState": "checkers",
    "Tool": "ports",
    "ToolCall": "session",
    "Turn": "session",
    "Variant": "variant",
    "Verdict": "ports",
    "checker": "checkers",
    "commitment": "checkers",
    "environment": "ports",
    "fuzz": "testing",
    "guard": "checkers",
    "invariant": "checkers",
    "milestone": "checkers",
    "operator": "offers",
    "play": "api",
    "variants": "api",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'fuzzturn' has no attribute {name!r}")
    return getattr(importlib.import_module(f"fuzzturn.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
