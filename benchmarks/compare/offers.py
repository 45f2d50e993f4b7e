"""Offers: every edit that the operators offer at each turn, and sessions drawn uniformly from them."""

from __future__ import annotations

import inspect
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis.strategies import SearchStrategy

from fuzzturn.registry import Registered
from fuzzturn.scenario import Line, Scenario
from fuzzturn.variant import PAD_TOKENS_MIN, Edit, Pad, Variant
from fuzzturn.vary import Guarded

__all__ = ["Offers", "offers"]

_TRIES = 200
PAD_TOKENS_MAX = 2000
"""The longest filler that `pad_turns` draws."""


@dataclass(frozen=True, slots=True)
class Offers:
    """For each scripted turn, what each operator offers there. Padding stands there once, for all its sizes."""

    scenario: Scenario
    at: Mapping[str, Sequence[Sequence[Edit]]]

    def drawn(self, chance: random.Random) -> Variant:
        """Each turn plain or edited by one of the operators there, all alike; then one of its edits, all alike."""
        edits: list[Edit] = []
        for menu in self.at.values():
            if k := chance.randrange(len(menu) + 1):
                edits.append(_one(menu[k - 1], chance))
        return Variant(self.scenario, tuple(edits))


def _one(choice: Sequence[Edit], chance: random.Random) -> Edit:
    edit = chance.choice(choice)
    return replace(edit, tokens=chance.randint(PAD_TOKENS_MIN, PAD_TOKENS_MAX)) if isinstance(edit, Pad) else edit


def offers(scenario: Scenario, operators: Sequence[Registered], guarded: Guarded) -> Offers:
    """Ask every operator what it offers. Each must take `anchor`; all but padding offer few enough to be listed."""
    asked = {line.id: [_values(piece, scenario, line, guarded) for piece in operators] for line in scenario.turns}
    return Offers(scenario, {id: [values for values in menu if values] for id, menu in asked.items()})


def _values(piece: Registered, scenario: Scenario, anchor: Line, guarded: Guarded) -> list[Edit]:
    wants = inspect.signature(piece.function).parameters
    strategy = piece.function(scenario, anchor, **({"guarded": guarded} if "guarded" in wants else {}))
    return [] if strategy is None else _listed(strategy)


def _listed(strategy: SearchStrategy[Edit]) -> list[Edit]:
    """Every value of a small strategy (Hypothesis stops once it has seen all); for padding any one."""
    first = _looked(strategy, 1)
    return first if isinstance(first[0], Pad) else _looked(strategy, _TRIES)


def _looked(strategy: SearchStrategy[Edit], tries: int) -> list[Edit]:
    seen: list[Edit] = []

    @settings(max_examples=tries, phases=(Phase.generate,), database=None, deadline=None,
              suppress_health_check=list(HealthCheck), verbosity=Verbosity.quiet, derandomize=True)  # fmt: skip
    @given(strategy)
    def look(edit: Edit) -> None:
        if edit not in seen:
            seen.append(edit)

    look()
    return seen
