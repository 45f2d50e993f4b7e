"""Recorder: the environment as the agent holds it: every call is recorded, and may be tampered with on its way."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Sequence
from typing import Any

from fuzzturn.errors import worded
from fuzzturn.ports import Environment
from fuzzturn.scenario import ToolFault
from fuzzturn.session import ToolCall, copied
from fuzzturn.tampering import Tampering, after_call, before_call

__all__ = ["Recorder"]


class Recorder:
    """The environment as the agent holds it: every call is recorded, everything else is passed through."""

    def __init__(self, inner: Environment) -> None:
        self._inner = inner
        self.recorded: list[ToolCall] = []
        self.tampering = Tampering()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def call(self, name: str, /, **args: Any) -> Any:
        """Call a tool of the environment; what it raises is recorded and raised on."""
        given = copied(args)
        faults = self.tampering.befalls(name)
        try:
            before_call(faults)
            result = self._inner.call(name, **copied(args))
            if inspect.isawaitable(result):
                return self._awaited(name, given, result, faults)
            result = after_call(faults, result)
        except Exception as error:
            self.recorded.append(ToolCall(name, given, error=worded(error)))
            raise
        self.recorded.append(ToolCall(name, given, copied(result)))
        return result

    async def _awaited(
        self, name: str, given: dict[str, Any], running: Awaitable[Any], faults: Sequence[ToolFault]
    ) -> Any:
        try:
            result = after_call(faults, await running)
        except Exception as error:
            self.recorded.append(ToolCall(name, given, error=worded(error)))
            raise
        self.recorded.append(ToolCall(name, given, copied(result)))
        return result
