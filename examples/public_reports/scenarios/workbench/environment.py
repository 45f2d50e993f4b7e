"""Workbench: a repository of which only what was done to it is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuzzturn.ports import Tool, environment

__all__ = ["Workbench", "make"]

_TOOLS = {
    "edit": ("file", "indent"),
    "rename": ("old", "new"),
    "test": (),
    "commit": (),
    "push": (),
    "translate": ("topic",),
    "deploy": ("what",),
}


class Workbench:
    """Every call works, and is written down."""

    tools = tuple(
        Tool(name, schema={"type": "object", "properties": {arg: {"type": "string"} for arg in args}})
        for name, args in _TOOLS.items()
    )

    def __init__(self) -> None:
        self._log: tuple[tuple[str, Mapping[str, Any]], ...] = ()

    def call(self, name: str, /, **args: Any) -> Any:
        """Do it. Raises ValueError for an unknown tool or other arguments than its own."""
        if set(args) != set(_TOOLS.get(name, ("?",))):
            raise ValueError(f"no such call: {name}({', '.join(args)})")
        self._log = (*self._log, (name, args))
        return {"done": name}

    def observe(self) -> Mapping[str, Any]:
        return {"log": [[name, dict(args)] for name, args in self._log]}

    def snapshot(self) -> object:
        return self._log

    def restore(self, saved: Any) -> None:
        self._log = saved


@environment("workbench")
def make(*, seed: int) -> Workbench:  # noqa: ARG001 - nothing here is drawn
    """A repository to which nothing was done."""
    return Workbench()
