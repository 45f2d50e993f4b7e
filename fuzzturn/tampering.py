"""Tampering: what a scenario lets befall the tool calls of one turn, between the environment and the agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuzzturn.filler import filler
from fuzzturn.scenario import ToolFault

__all__ = ["FILLER_KEY", "NOTICE_KEY", "Tampering", "after_call", "before_call"]

FILLER_KEY = "remarks"
NOTICE_KEY = "notice"
"""The keys under which a mapping carries what was added to it."""


class Tampering:
    """The faults in force in one turn; each befalls so many calls and no more."""

    def __init__(self, faults: Sequence[ToolFault] = ()) -> None:
        self._faults = tuple(faults)
        self._met = [0] * len(self._faults)

    def befalls(self, name: str) -> tuple[ToolFault, ...]:
        """The faults that befall this call of the tool; they are counted."""
        found: list[ToolFault] = []
        for i, fault in enumerate(self._faults):
            if fault.tool in (None, name) and self._met[i] < fault.times:
                self._met[i] += 1
                found.append(fault)
        return tuple(found)


def before_call(faults: Sequence[ToolFault]) -> None:
    """Refuse the call where a fault says so. Raises RuntimeError, as a tool that is down would."""
    for fault in faults:
        if fault.kind == "error":
            raise RuntimeError(fault.text or "the service is not available")


def after_call(faults: Sequence[ToolFault], result: Any) -> Any:
    """The answer that reaches the agent. Raises TimeoutError where it is lost; the call was carried out."""
    for fault in faults:
        if fault.kind == "timeout":
            raise TimeoutError(fault.text or "no answer within 30 seconds")
        if fault.kind in ("pad", "notice"):
            result = _added(result, fault)
    return result


def _added(result: Any, fault: ToolFault) -> Any:
    text, key = (filler(fault.tokens), FILLER_KEY) if fault.kind == "pad" else (fault.text, NOTICE_KEY)
    if isinstance(result, Mapping):
        return {**result, key: f"{result[key]} {text}" if isinstance(result.get(key), str) else text}
    if isinstance(result, list):
        return [*result, {key: text}]
    return f"{result}\n{text}" if isinstance(result, str) else {"result": result, key: text}
