"""Methods: what is compared, and how each one's run on a fault becomes a row."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fuzzturn.finding import Pinned
from fuzzturn.variant import Variant

from .ended import ended
from .engine import Found, find, shrunk
from .given import Run, by_hypothesis
from .machine import by_machine
from .player import Player
from .row import Row
from .spent import Spent
from .uniform import Tried, by_ddmin, by_failmin, first_failure, has_failmin
from .world import World

__all__ = ["MACHINE_SEEDS", "METHODS", "SLOW", "available", "rows"]

METHODS: Mapping[str, str] = {
    "fuzzturn": "the engine's search; its reducer, with all beginnings reused",
    "given": "Hypothesis @given over the engine's variants, its own shrinker; few seeds",
    "machine": "Hypothesis RuleBasedStateMachine, its own shrinker; 5 seeds",
    "ddmin": "uniform random sessions; ddmin over turns, every candidate played from where it leaves the starting run",
    "ddmin+cache": "the same with a cache of model responses: no beginning is played twice",
    "failmin": "uniform random sessions; the package failmin over turns, which remembers verdicts but no beginnings",
}
MACHINE_SEEDS = 5
SLOW = ("given", "machine")
"""Run on a few seeds only."""


def available(methods: Sequence[str]) -> list[str]:
    """Those that can run here."""
    return [method for method in methods if method != "failmin" or has_failmin()]


@dataclass(frozen=True, slots=True)
class _Start:
    """Where all reducers begin that can be given a start: what uniform sessions found, else what fuzzturn found."""

    variant: Variant
    pinned: Pinned


class _Comparison:
    """One fault, one seed; what several methods share is computed once."""

    def __init__(self, world: World, runner: asyncio.Runner) -> None:
        self.world, self.runner = world, runner
        self.uniform = Player(world, runner)
        drawn = first_failure(world, self.uniform)
        self.hit = drawn is not None
        self.searched: Found = runner.run(find(world))
        if drawn is None and self.searched.variant is not None:
            drawn = Player(world, runner).play(self.searched.variant)
        self.start = None if drawn is None else _Start(drawn.variant, drawn.failure.pinned())

    def row(self, method: str, **fields: Any) -> Row:
        return Row(fault=self.world.fault.name, seed=self.world.seed, method=method, **fields)

    def end(self, final: Variant, pinned: Pinned) -> Mapping[str, Any]:
        return self.runner.run(ended(self.world, final, pinned))


def _fuzzturn(case: _Comparison) -> Row:
    found = case.searched
    search = {"found": found.variant is not None, "find_turns": found.turns, "find_sessions": found.sessions}
    if case.start is None:
        return case.row("fuzzturn", **search)
    begin = (case.world, case.start.variant, case.start.pinned, found.threshold)
    whole = case.runner.run(shrunk(*begin))
    fewer = case.runner.run(shrunk(*begin, pads=False))
    return case.row(
        "fuzzturn",
        **search,
        start_turns=len(case.start.variant.spoken.turns),
        shrink_turns=whole.turns,
        shrink_turns_without_pads=fewer.turns,
        shrink_turns_cached=whole.turns,
        judge_calls=whole.judge_calls,
        by_pass=whole.by_pass,
        **case.end(whole.variant, case.start.pinned),
    )


def _hypothesis(case: _Comparison, method: str, run: Run) -> Row:
    search = {
        "found": run.start is not None,
        "find_turns": run.search.spent.plain,
        "find_sessions": run.search.spent.sessions,
    }
    if run.start is None or run.final is None:
        return case.row(method, **search)
    spent = run.shrinking.spent
    return case.row(
        method,
        **search,
        start_turns=len(run.start.variant.spoken.turns),
        **_shrinking(spent, spent.after_start, run.shrinking.asked),
        **case.end(run.final.variant, run.start.failure.pinned()),
    )


def _turns(case: _Comparison, method: str, tried: Tried | None) -> Row:
    cached = method == "ddmin+cache"
    spent = case.uniform.spent
    search = {
        "found": case.hit,
        "find_turns": spent.cached if cached else spent.plain,
        "find_sessions": spent.sessions,
    }
    if case.start is None or tried is None:
        return case.row(method, **search)
    player = tried.player
    turns = player.spent.cached if cached else player.spent.after_start
    return case.row(
        method,
        **search,
        start_turns=len(case.start.variant.spoken.turns),
        **_shrinking(player.spent, turns, player.remembered if cached else player.asked, pads=False),
        **case.end(tried.variant, case.start.pinned),
    )


def _shrinking(spent: Spent, turns: int, judge_calls: int, *, pads: bool = True) -> Mapping[str, Any]:
    """`pads`: whether the method makes filler smaller along the way; one that never does spends the same without."""
    return {
        "shrink_turns": turns,
        "shrink_turns_without_pads": None if pads else turns,
        "shrink_turns_plain": spent.plain,
        "shrink_turns_cached": spent.cached,
        "judge_calls": judge_calls,
    }


def rows(world: World, methods: Sequence[str]) -> Iterator[Row]:
    """Every method's row on one fault with one seed."""
    with asyncio.Runner() as runner:
        case = _Comparison(world, runner)
        makers: Mapping[str, Callable[[], Row]] = {
            "fuzzturn": lambda: _fuzzturn(case),
            "given": lambda: _hypothesis(case, "given", by_hypothesis(world, runner)),
            "machine": lambda: _hypothesis(case, "machine", by_machine(world, runner)),
            "ddmin": lambda: _turns(case, "ddmin", _reduced(case, by_ddmin)),
            "ddmin+cache": lambda: _turns(case, "ddmin+cache", _reduced(case, by_ddmin)),
            "failmin": lambda: _turns(case, "failmin", _reduced(case, by_failmin)),
        }
        for method in methods:
            yield makers[method]()


def _reduced(case: _Comparison, reduce: Callable[[World, asyncio.Runner, Variant, Pinned], Tried]) -> Tried | None:
    return None if case.start is None else reduce(case.world, case.runner, case.start.variant, case.start.pinned)
