"""Exercise: how far from its statement each constraint was looked at, and how it stood in the agent's view there.

A campaign that finds nothing has shown something only of the constraints that some call was held against, and only at
the distances at which that happened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from fuzzturn.measure import Measured
from fuzzturn.scenario import Scenario
from fuzzturn.scores import Visibility

__all__ = ["DISTANCES", "Exercise", "as_table", "distance", "tally", "uncovered"]

DISTANCES = ("0", "1-2", "3-5", "6-10", "11+")
"""Turns between statement and guarded turn."""
Exercise: TypeAlias = Mapping[str, Mapping[str, Mapping[Visibility, int]]]
"""Constraint, then distance, then visibility: how many turns."""


def distance(turns: int) -> str:
    """The cell of so many turns."""
    for cell, most in zip(DISTANCES, (0, 2, 5, 10), strict=False):
        if turns <= most:
            return cell
    return DISTANCES[-1]


def tally(measured: Measured) -> Counter[tuple[str, str, Visibility]]:
    """What one session adds."""
    counted: Counter[tuple[str, str, Visibility]] = Counter()
    for scores, ledger in zip(measured.scores, measured.ledgers, strict=True):
        for check in scores.adherence.exercised:
            entry = ledger.entry(check.constraint)
            if entry is not None:
                counted[check.constraint, distance(scores.n - entry.since), check.visibility] += 1
    return counted


def as_table(counted: Counter[tuple[str, str, Visibility]]) -> Exercise:
    """The same, in the order of constraints, distances and visibilities."""
    table: dict[str, dict[str, dict[Visibility, int]]] = {}
    for constraint, cell, seen in sorted(counted, key=lambda key: (key[0], DISTANCES.index(key[1]), key[2])):
        table.setdefault(constraint, {}).setdefault(cell, {})[seen] = counted[constraint, cell, seen]
    return table


def uncovered(scenario: Scenario, exercise: Exercise) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each constraint with the distances at which nothing was ever held against it; spare ones only if at none.

    Few turns act on what they state themselves, so distance 0 is nobody's loss.
    """
    for constraint in scenario.constraints:
        covered = exercise.get(constraint.id, {})
        missing = tuple(cell for cell in DISTANCES[1:] if cell not in covered)
        if missing and (not constraint.spare or not covered):
            yield constraint.id, missing
