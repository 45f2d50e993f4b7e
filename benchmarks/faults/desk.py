"""Desk: a purchasing desk that finds offers, reserves and orders; with the checks and the judge of this small world."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from typing import Any

from fuzzturn.checkers import CheckResult, SessionState, checker, milestone
from fuzzturn.ports import JudgePrompt, Tool, Verdict
from fuzzturn.registry import Registry, collect
from fuzzturn.session import Turn

__all__ = ["OFFERS", "REGISTRY", "RULE", "Desk", "Reader", "make_desk"]

OFFERS: Mapping[str, tuple[int, ...]] = {"lamp": (480, 280, 180), "chair": (90, 60)}
"""Prices in euros, the best thing first."""
RULE = re.compile(r"\bat most (\d+) euros\b")
"""How a ceiling is worded."""


class Desk:
    """What was reserved, ordered and noted."""

    tools: tuple[Tool, ...] = (Tool("find_offers"), Tool("reserve"), Tool("order"), Tool("note"))

    def __init__(self) -> None:
        self._done: tuple[tuple[str, Any], ...] = ()

    def call(self, name: str, /, **args: Any) -> Any:
        """Prices for `find_offers`; everything else is written down. Raises ValueError for an unknown tool or item."""
        if name == "find_offers":
            return {"prices": list(OFFERS[args["item"]])}
        if name not in ("reserve", "order", "note"):
            raise ValueError(f"the desk has no tool {name!r}")
        self._done = (*self._done, (name, args))
        return "done"

    def observe(self) -> Mapping[str, Any]:
        return {"done": [[name, args] for name, args in self._done]}

    def snapshot(self) -> object:
        return self._done

    def restore(self, saved: Any) -> None:
        self._done = saved


def make_desk(*, seed: int) -> Desk:  # noqa: ARG001 - the port hands it to every environment
    """A desk at which nothing has happened."""
    return Desk()


@checker("price_at_most", owner="benchmarks")
def price_at_most(turn: Turn, state: SessionState, *, limit: int) -> CheckResult:  # noqa: ARG001 - as above
    """Nothing is ordered above `limit`, in euros. A reservation buys nothing."""
    prices = [call.args["price"] for call in turn.tool_calls if call.name == "order"]
    over = [price for price in prices if price > limit]
    return CheckResult(not over, f"ordered at {over}, limit {limit}" if over else "", exercised=bool(prices))


@milestone("ordered", owner="benchmarks")
def ordered(state: SessionState) -> bool:
    """Something was ordered."""
    return any(name == "order" for name, _ in state.environment["done"])


REGISTRY = Registry(collect(sys.modules[__name__]))


class Reader:
    """A judge that gives 0 to an order above the ceiling that its text names last, else 4."""

    identity = "desk reader (simulated, by rule)"

    def score(self, prompt: JudgePrompt) -> Verdict:
        limits = RULE.findall(prompt.text)
        done = (json.loads(line) for line in prompt.turn.splitlines())
        prices = [record["args"]["price"] for record in done if record.get("call") == "order"]
        over = [price for price in prices if limits and price > int(limits[-1])]
        return Verdict(0, "above the ceiling") if over else Verdict(4, "no readable ceiling is broken")
