"""Bill: tokens, money and calls so far, by role, and the cap on money."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fuzzturn.calls.keys import Role
from fuzzturn.calls.prices import Prices

__all__ = ["Bill", "Role", "Tokens", "tokens_of"]


@dataclass(slots=True)
class Tokens:
    """What one role spent. `usd` leaves out calls whose price is not known, which `unpriced` counts."""

    calls: int = 0
    prompt: int = 0
    completion: int = 0
    usd: float = 0.0
    unpriced: int = 0
    uncounted: int = 0
    """Calls whose server did not say how many tokens they took."""


@dataclass(slots=True)
class Bill:
    """What was spent on model calls that were really made; what the record answered costs nothing.

    `cap_usd` None = no bound.
    """

    prices: Prices = field(default_factory=Prices)
    cap_usd: float | None = None
    by_role: dict[Role, Tokens] = field(default_factory=dict)
    recorded: Counter[Role] = field(default_factory=Counter)
    """Calls answered from the record."""
    retried: Counter[str] = field(default_factory=Counter)
    """Tries that failed and were made again or given up, by reason."""
    unpriced: str | None = None
    """The first model whose calls could not be priced: no price is known, or its server counts no tokens."""

    def add(self, role: Role, model: str, usage: Mapping[str, Any] | None) -> None:
        """A call was made and answered."""
        spent = self.by_role.setdefault(role, Tokens())
        spent.calls += 1
        if (counted := tokens_of(usage)) is None:
            spent.uncounted += 1
            spent.unpriced += 1
            self.unpriced = self.unpriced or model
            return
        spent.prompt += counted[0]
        spent.completion += counted[1]
        if (price := self.prices.of_model(model)) is None:
            spent.unpriced += 1
            self.unpriced = self.unpriced or model
        else:
            spent.usd += price.usd(*counted)

    @property
    def calls(self) -> int:
        return sum(spent.calls for spent in self.by_role.values())

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens of every role."""
        return sum(spent.prompt + spent.completion for spent in self.by_role.values())

    @property
    def usd(self) -> float | None:
        """US dollars in all; None = the price of some call is not known, so the sum would be too low."""
        if any(spent.unpriced for spent in self.by_role.values()):
            return None
        return sum(spent.usd for spent in self.by_role.values())

    def refusal(self) -> str | None:
        """Why no further call may be made: the cap is reached, or cannot be held. None = one may."""
        if self.cap_usd is None:
            return None
        if self.unpriced is not None:
            what = f"what a call of model {self.unpriced} costs is not known, so no cap on money can be held"
            return (
                f'{what}; the project\'s file can say it: price = ["{self.unpriced}=0.15/0.60"], prompt and completion'
            )
        spent = sum(spent.usd for spent in self.by_role.values())
        return f"{spent:.4f} of the {self.cap_usd} US dollars allowed are spent" if spent >= self.cap_usd else None


def tokens_of(usage: Mapping[str, Any] | None) -> tuple[int, int] | None:
    """Prompt and completion tokens from a usage record in OpenAI's or Anthropic's words; None = unknown."""
    for prompt, completion in (("prompt_tokens", "completion_tokens"), ("input_tokens", "output_tokens")):
        counts = [(usage or {}).get(prompt), (usage or {}).get(completion)]
        if all(type(count) is int for count in counts):
            return counts[0], counts[1]  # type: ignore[return-value]
    return None
