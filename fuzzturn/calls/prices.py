"""Prices: what a model's tokens cost, in US dollars, from the project's own list or the table that litellm ships.

litellm's table is read as the data file that it is: importing litellm takes seconds, and with the network on it would
change prices in mid-run.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from fuzzturn.errors import InputError, Problem

__all__ = ["Price", "Prices"]

_TABLE = "model_prices_and_context_window_backup.json"
_FORM = re.compile(r"(?P<model>.+)=(?P<prompt>\d+(?:\.\d+)?)/(?P<completion>\d+(?:\.\d+)?)$")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens. Cached prompt tokens count in full, so a sum is never below the invoice."""

    prompt: float
    completion: float

    def usd(self, prompt: int, completion: int) -> float:
        return (prompt * self.prompt + completion * self.completion) / 1e6


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by model. The project's own come first."""

    own: Mapping[str, Price] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Iterable[str]) -> Prices:
        """From texts like `my-model=0.15/0.60`, dollars per million prompt and completion tokens. Raises InputError."""
        own, problems = {}, []
        for text in given:
            if (form := _FORM.match(text)) is None:
                accepted = "model=prompt/completion in US dollars per million tokens, as my-model=0.15/0.60"
                problems.append(Problem(what=f"the price {text!r} cannot be read", accepted=accepted))
            else:
                own[form["model"]] = Price(float(form["prompt"]), float(form["completion"]))
        if problems:
            raise InputError(problems)
        return cls(own)

    def of_model(self, model: str) -> Price | None:
        """The price of a model, with or without its provider's prefix; None = not known."""
        for name in (model, model.partition("/")[2]):
            if name in self.own:
                return self.own[name]
        for name in (model, model.partition("/")[2]):
            if name and (entry := _table().get(name)) is not None:
                prompt, completion = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
                if isinstance(prompt, int | float) and isinstance(completion, int | float):
                    return Price(1e6 * prompt, 1e6 * completion)
        return None


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    """litellm's table; empty where litellm is not installed or has moved it."""
    spec = importlib.util.find_spec("litellm")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        file = Path(folder) / _TABLE
        if file.is_file():
            table: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            return table
    return {}
