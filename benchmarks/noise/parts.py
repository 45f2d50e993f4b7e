"""Parts: what is measured under noise, as single campaigns that can be run in any order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.faults.clerk import Clerk, Said, View
from benchmarks.faults.desk import OFFERS
from benchmarks.faults.planted import FAULTS, Fault

from .row import Key

__all__ = ["ALWAYS", "PARTS", "RATES", "TRIED", "Part", "fault_of", "keys"]

RATES = (0.1, 0.3, 0.6, 0.9)
"""The shares `p` of runs in which a planted mechanism takes effect."""
TRIED: Sequence[Fault] = tuple(
    fault for fault in FAULTS if fault.name in ("long_turn", "after_hold", "two_compactions", "moved_only")
)
"""By the size of one message, by the order of what is done, by the size of the context, by where the rule stands."""


@dataclass(frozen=True, slots=True)
class Part:
    """One comparison: its methods with what they are, and the shares it is run with."""

    says: str
    methods: Mapping[str, str]
    rates: Sequence[float]
    most: int | None = None
    """Campaigns for each method and share, at most; None = as many as there are seeds."""


PARTS: Mapping[str, Part] = {
    "planted": Part(
        "a planted fault that shows in a share p of the runs, 3 % of runs wrong without it, no judge",
        {
            "fuzzturn": "the engine as it is, with a rule made from the measured rate",
            "first hit of 5": "the same engine and reducer; a candidate is accepted at its first hit in five runs",
            "Hypothesis": "a @given test over the same variants, its own shrinker",
        },
        RATES,
    ),
    "lenient judge": Part(
        "an agent that breaks the rule in every run, a judge that gives a 4 in 3 % of calls and is right in all others",
        {"fuzzturn": "the engine as it is"},
        (1.0,),
    ),
    "flipping judge": Part(
        "a planted fault, a judge that says the opposite in 14 % of calls",
        {"right": "the same campaigns with a judge that is always right", "flipping": "with the judge that flips"},
        (0.3, 0.6),
    ),
    "record": Part(
        "an agent and a judge that draw from a model; the campaign once more from the record of model calls, offline",
        {"fuzzturn": "the engine as it is"},
        (0.6,),
        most=8,
    ),
}


class _Careless(Clerk):
    """Orders the best lamp whatever it costs."""

    def price(self, seen: Sequence[Said], task: str) -> int:
        allowed, best = super().price(seen, task), max(OFFERS["lamp"])
        self.fired = self.fired or (task == "order" and best > allowed)
        return best if task == "order" else allowed


def _all_kept(said: tuple[Said, ...]) -> View:
    return View(kept=said, seen=said)


ALWAYS = Fault(
    name="always",
    says="the best lamp is ordered whatever it costs, with the rule in view",
    memory=_all_kept,
    clerk=_Careless,
    minimum=3,
    argued="the rule, the search and the order",
)
"""What a judge that is right sees at once."""


def fault_of(part: str, seed: int) -> Fault:
    """Each fault has every fourth seed."""
    return ALWAYS if part == "lenient judge" else TRIED[seed % len(TRIED)]


def keys(parts: Sequence[str], rates: Sequence[float] | None, seeds: Sequence[int]) -> Iterator[Key]:
    """The campaigns of those parts; `rates` None = all that a part has, else those of them that are given."""
    for name in parts:
        part = PARTS[name]
        for p in part.rates:
            if rates is None or p in rates or len(part.rates) == 1:
                yield from ((name, method, p, seed) for seed in seeds[: part.most] for method in part.methods)
