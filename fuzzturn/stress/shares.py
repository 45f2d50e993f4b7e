"""Shares: how often something is so of a judge's answers, and how sure that is where answers are not independent.

Repeats of one item are alike, and so are items of one scenario. Two intervals answer that, both Wilson's with fewer
observations than there are answers: one counts items, the other what items of few scenarios are worth.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fuzzturn.evidence import Z_95, student, wilson
from fuzzturn.stress.item import Answer

__all__ = ["CLUSTERED", "CLUSTERS_MIN", "Share", "all_needed", "share_json", "share_of"]

CLUSTERS_MIN = 3
"""Scenarios below which no interval over scenarios is given: two say nothing of how scenarios differ."""
CLUSTERED = (
    "Wilson with the effective number of items: items divided by the design effect between scenarios (Kish 1965; "
    "Rao and Scott 1992), Student's t with scenarios - 1 degrees of freedom (Korn and Graubard 1998)"
)
"""The method of `Share.over_scenarios`. It draws nothing, so it has no seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """`k` of `n` scored answers, about `items` items of `scenarios` scenarios.

    `low` and `high` bound the true share with 95 % confidence for items like these: Wilson (1927) with the number of
    items for that of observations, right for one answer an item and on the safe side for several.
    """

    k: int
    n: int
    items: int
    scenarios: int
    low: float
    high: float
    over_scenarios: tuple[float, float] | None
    """The same for other scenarios as well (`CLUSTERED`).

    None = not known: fewer than `CLUSTERS_MIN` scenarios, or a share of 0 or 1, which shows nothing of how they differ.
    """

    @property
    def share(self) -> float:
        """0.0-1.0."""
        return self.k / self.n

    @property
    def widest(self) -> tuple[float, float]:
        """The interval that counts: over scenarios where it is known."""
        return self.over_scenarios or (self.low, self.high)


def share_of(answers: Iterable[Answer], holds: Callable[[Answer], bool]) -> Share | None:
    """In how many of the answers something `holds`; None where there is no answer. Unscored ones are not left out."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    items: set[str] = set()
    for answer in answers:
        count = counts[answer.scenario]
        count[0] += holds(answer)
        count[1] += 1
        items.add(answer.item)
    k, n = (sum(count[i] for count in counts.values()) for i in (0, 1))
    if not n:
        return None
    low, high = wilson(k / n, len(items))
    over = _over_scenarios(counts, k / n, len(items)) if len(counts) >= CLUSTERS_MIN and 0 < k < n else None
    return Share(
        k=k, n=n, items=len(items), scenarios=len(counts), low=round(low, 4), high=round(high, 4), over_scenarios=over
    )


def all_needed(bound: float) -> int:
    """How many independent items, all of them right, show that the true share is at least `bound` (0.0 up to 1.0)."""
    if not 0 <= bound < 1:
        raise ValueError(f"no number of items shows a share of {bound}")
    return max(1, math.ceil(Z_95**2 * bound / (1 - bound) - 1e-9))


def share_json(share: Share | None) -> dict[str, Any] | None:
    """A share as JSON; null where it is not known."""
    if share is None:
        return None
    over = None if share.over_scenarios is None else list(share.over_scenarios)
    return {
        "k": share.k, "n": share.n, "items": share.items, "scenarios": share.scenarios,
        "share": round(share.share, 4), "low": share.low, "high": share.high, "over_scenarios": over,
    }  # fmt: skip


def _over_scenarios(counts: Mapping[str, list[int]], share: float, items: int) -> tuple[float, float]:
    """The variance of a ratio of sums over scenarios, told in items; `share` is neither 0 nor 1, which have none."""
    groups, n = len(counts), sum(size for _, size in counts.values())
    plain = share * (1 - share) / items
    between = sum((k - share * size) ** 2 for k, size in sorted(counts.values())) * groups / (groups - 1) / n**2
    effect = max(1.0, between / plain)
    low, high = wilson(share, items / effect, student(0.95, groups - 1))
    return round(low, 4), round(high, 4)
