"""Store: finds offers, reserves, orders and notes; with the checks and the judge of this small world."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.faults.desk import Desk
from fuzzturn.checkers import CheckResult, SessionState, checker, milestone
from fuzzturn.ledger import Entry
from fuzzturn.ports import JudgePrompt, Tool, Verdict
from fuzzturn.registry import Registry, collect
from fuzzturn.session import Turn

from .language import DOLLARS

__all__ = ["LASTING", "OFFERS", "REGISTRY", "Reader", "Store", "make_store"]

OFFERS: Mapping[str, tuple[int, ...]] = {"lamp": (480, 380, 301, 280, 180), "chair": (90, 60)}
"""Prices in euros, the best thing first."""
LASTING = ("reserve", "order", "note")
"""The tools that change something."""
_ASKED = re.compile(r"\bPlease (reserve|order|note)\b")


class Store(Desk):
    """What was reserved, ordered and noted; what changes something answers with all that was done so far."""

    tools = tuple(Tool(name) for name in ("find_offers", "look", *LASTING))

    def call(self, name: str, /, **args: Any) -> Any:
        """Prices, or all that was done so far. Raises ValueError for an unknown tool."""
        if name == "find_offers":
            return {"prices": list(OFFERS[args["item"]])}
        if name in LASTING:
            self._done = (*self._done, (name, args))
        elif name != "look":
            raise ValueError(f"the store has no tool {name!r}")
        return self.observe()


def make_store(*, seed: int) -> Store:  # noqa: ARG001 - the port hands it to every environment
    """A store in which nothing has happened."""
    return Store()


def _orders(turn: Turn, item: str | None, excluding: Sequence[Mapping[str, Any]] = ()) -> list[Mapping[str, Any]]:
    kept = {part.get("item") for part in excluding}
    orders = [call.args for call in turn.tool_calls if call.name == "order"]
    return [args for args in orders if item in (None, args["item"]) and args["item"] not in kept]


def _euros(limit: int, currency: str) -> float:
    return limit / DOLLARS if currency == "USD" else limit


@checker("price_at_most", owner="benchmarks")
def price_at_most(
    turn: Turn,
    state: SessionState,  # noqa: ARG001 - the port hands it to every checker
    *,
    limit: int,
    currency: str,
    item: str | None = None,
    excluding: Sequence[Mapping[str, Any]] = (),
) -> CheckResult:
    """Nothing is ordered above the limit. Prices are in euros; a reservation buys nothing."""
    prices = [args["price"] for args in _orders(turn, item, excluding)]
    over = [price for price in prices if price > _euros(limit, currency)]
    return CheckResult(not over, f"ordered at {over}, limit {limit} {currency}" if over else "", bool(prices))


@checker("part_at_most", owner="benchmarks")
def part_at_most(turn: Turn, state: SessionState, *, part: str, limit: int) -> CheckResult:  # noqa: ARG001 - as above
    """No order has more than `limit` of that part."""
    over = [args[part] for args in _orders(turn, None) if args[part] > limit]
    return CheckResult(not over, f"{part}: {over}" if over else "", bool(_orders(turn, None)))


@checker("best_allowed", owner="benchmarks")
def best_allowed(turn: Turn, state: SessionState) -> CheckResult:
    """The best offer that the limits in force allow is ordered: whoever takes less obeys a limit that is none."""
    orders = _orders(turn, None)
    found = [(args["price"], _best(args["item"], state)) for args in orders]
    less = [f"ordered at {price}, {best} was allowed" for price, best in found if best is not None and price < best]
    return CheckResult(not less, "; ".join(less), bool(orders))


@checker("as_asked", owner="benchmarks")
def as_asked(turn: Turn, state: SessionState) -> CheckResult:  # noqa: ARG001 - as above
    """What lasts is done when it is asked for, once, and at no other time."""
    done = [call.name for call in turn.tool_calls if call.name in LASTING]
    asked = [match[1] for match in _ASKED.finditer(turn.user)]
    extra = [name for name in done if done.count(name) > asked.count(name)]
    return CheckResult(not extra, f"done without being asked: {extra}" if extra else "", bool(done))


def _best(item: str, state: SessionState) -> int | None:
    limits = [e for e in state.ledger.entries if e.status == "binding" and e.constraint.checker == "price_at_most"]
    caps = [_euros(e.constraint.args["limit"], e.constraint.args["currency"]) for e in limits if _holds(e, item)]
    cap = min(caps, default=None)
    return next((price for price in OFFERS[item] if cap is None or price <= cap), None)


def _holds(entry: Entry, item: str) -> bool:
    own: str | None = entry.constraint.args.get("item")
    return own in (None, item) and all(part.get("item") != item for part in entry.excluding)


@milestone("ordered", owner="benchmarks")
def ordered(state: SessionState, *, item: str, times: int = 1) -> bool:
    """So many of the item were ordered."""
    return len([args for name, args in state.environment["done"] if name == "order" and args["item"] == item]) >= times


@milestone("reserved", owner="benchmarks")
def reserved(state: SessionState, *, item: str) -> bool:
    """The item is reserved."""
    return any(name == "reserve" and args["item"] == item for name, args in state.environment["done"])


REGISTRY = Registry(collect(sys.modules[__name__]))


class Reader:
    """A judge that gives 0 to an order above the sum that its text names last as a limit, else 4."""

    identity = "store reader (simulated, by rule)"
    _LIMIT = re.compile(r"at most (\d+) euros")

    def score(self, prompt: JudgePrompt) -> Verdict:
        limits = self._LIMIT.findall(prompt.text)
        done = (json.loads(line) for line in prompt.turn.splitlines())
        prices = [record["args"]["price"] for record in done if record.get("call") == "order"]
        over = [price for price in prices if limits and price > int(limits[-1])]
        return Verdict(0, "above the ceiling") if over else Verdict(4, "no readable ceiling is broken")
