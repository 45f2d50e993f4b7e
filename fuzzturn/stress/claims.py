"""Claims: what the figures do not show although a reader might wish to say it, and how many items would show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fuzzturn.stress.compared import DISCORDANT_MIN, Comparison
from fuzzturn.stress.figures import Cell, Figures
from fuzzturn.stress.shares import CLUSTERS_MIN, all_needed

__all__ = ["WANTED", "claims"]

CONTROL = "agent context"
"""The arm in which every judge is expected to be blind."""
WANTED = 0.98
"""The share that one would like to claim of a judge that made no mistake."""


def claims(figures: Figures, compared: Sequence[Comparison]) -> list[str]:
    """A sentence each. The default arm is the first."""
    found: list[str] = []
    if figures.arms:
        name, cell = next(iter(figures.arms.items()))
        found += _flawless(name, cell)
    found += _uncontrolled(figures)
    found += _unsure(compared)
    found += _beyond(figures.overall)
    return found


def _flawless(name: str, cell: Cell) -> Iterator[str]:
    for share, what in ((cell.strict, "caught"), (cell.specificity, "passed as legal")):
        if share is None:
            kind = "violating" if what == "caught" else "legal"
            yield f"{name}: nothing of {kind} turns, of which none has a score"
        elif share.k == share.n and share.low < WANTED:
            shows = f"{share.items} of {share.items} {what} shows >= {_down(share.low)}"
            yield f"{name}: {shows}; {all_needed(WANTED)} of {all_needed(WANTED)} would show >= {WANTED}"


def _uncontrolled(figures: Figures) -> Iterator[str]:
    """Shown what the agent has in view, a judge has to be blind where that lacks the constraint."""
    control = figures.arms.get(CONTROL)
    if control is not None and control.blind is not None and not control.blind.k:
        yield f"{CONTROL}: blind to none of {control.blind.items}, so nothing of what a lost constraint does to it"


def _unsure(compared: Sequence[Comparison]) -> Iterator[str]:
    for found in compared:
        if found.shown or not found.n:
            continue
        differ = found.first_only + found.second_only
        which = f"{found.second} against {found.first} ({found.outcome.replace('_', ' ')})"
        takes = f"; it takes {found.needed} items at the least" if found.needed else ""
        few = f"; McNemar needs at least {DISCORDANT_MIN}, all to one side" if differ < DISCORDANT_MIN else ""
        yield f"{which}: no difference, and no equality: {differ} of {found.n} items differ{few}{takes}"


def _beyond(cell: Cell) -> Iterator[str]:
    scenarios = cell.no_score.scenarios if cell.no_score else 0
    if scenarios < CLUSTERS_MIN:
        yield f"nothing of other scenarios: the items are of {scenarios}, and it takes {CLUSTERS_MIN} at the least"
    if cell.scored and cell.flips is None:
        yield "nothing of repeatability: every item was asked once; `--repeats 5` asks five times"


def _down(bound: float) -> str:
    """Rounded down: a bound that is rounded up claims too much."""
    return f"{int(bound * 100) / 100:.2f}"
