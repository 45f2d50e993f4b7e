"""Why: for a minimal session, what lost the constraint and what would have saved it.

The mechanism is read off the recorded events; the counterfactuals are runs: the same session without compaction, and
with the constraint said again just before the failing turn. What an agent cannot offer is "not available".
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from fuzzturn.case import Case
from fuzzturn.drive import Cast
from fuzzturn.errors import FuzzturnError, Halted
from fuzzturn.finding import Failure
from fuzzturn.losing import Seen, culprit
from fuzzturn.measure import Measured
from fuzzturn.scores import JudgeContext, Visibility
from fuzzturn.session import Compaction
from fuzzturn.tree import Tree
from fuzzturn.trial import Bench
from fuzzturn.variant import Insert, Variant

__all__ = ["Counterfactual", "Mechanism", "Sighting", "Why", "course", "explain", "loss"]

Mechanism: TypeAlias = Literal[
    "never_reached_summariser", "lost_by_summariser", "visible_ignored", "stale_version", "unknown"
]
Counterfactual: TypeAlias = Literal["clean", "still fails", "not available"]


@dataclass(frozen=True, slots=True)
class Sighting:
    """From this turn on the constraint stood so in what the agent saw."""

    turn: int
    visibility: Visibility


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Why the session fails. `lost_at`: the turn whose compaction lost the constraint; None = none did, or unknown."""

    mechanism: Mechanism
    lost_at: int | None
    no_compaction: Counterfactual
    restated: Counterfactual
    restated_visibility: Visibility | None
    """How the constraint stood for the deciding call of that run; None = it was clean, or not available."""
    seen: tuple[Sighting, ...]
    """From which turn on the constraint stood how in what the agent saw; the last is the deciding call's."""
    judge: Mapping[JudgeContext, int | None]
    """The judge's score of the failing turn in every context it was asked in."""


async def explain(case: Case, benches: Sequence[Bench]) -> Why:
    """The mechanism and the counterfactuals of a shrunk case.

    `benches`: at least one; several, each of another sample, for an agent that does not repeat itself. The failure that
    shows on none of them is taken to be gone.
    """
    mechanism, lost_at = loss(case.trial.measured, case.failure)
    restated, seen = await _restated(case, benches)
    return Why(
        mechanism=mechanism,
        lost_at=lost_at,
        no_compaction=await _without_compaction(case, benches),
        restated=restated,
        restated_visibility=seen,
        seen=course(case.trial.measured, case.failure),
        judge=dict(case.failure.judge),
    )


def course(measured: Measured, failure: Failure) -> tuple[Sighting, ...]:
    """How the constraint stood in what the agent saw, turn by turn, as far as that changes; () where it is not told."""
    found: list[Sighting] = []
    for scores in measured.scores[: failure.turn]:
        for check in scores.adherence.checks:
            if check.constraint == failure.constraint:
                now = failure.visibility if scores.n == failure.turn else check.seen[-1] if check.seen else "unknown"
                found += [Sighting(scores.n, now)] if not found or found[-1].visibility != now else []
    return () if all(one.visibility == "unknown" for one in found) else tuple(found)


def loss(measured: Measured, failure: Failure) -> tuple[Mechanism, int | None]:
    """How the constraint was lost, and at which turn: at the first compaction after which it was no longer seen."""
    if failure.constraint is None or failure.visibility == "unknown":
        return "unknown", None
    if failure.visibility in ("verbatim", "in_summary"):
        return "visible_ignored", None
    if failure.visibility == "stale":
        return "stale_version", None
    seen = Seen(measured.spoken.constraint(failure.constraint), measured.ledgers[failure.turn - 1])
    lost = culprit(seen, measured.session.turns[: failure.turn])
    return ("unknown", None) if lost is None else (_verdict(seen, lost[1]), lost[0])


def _verdict(seen: Seen, compaction: Compaction) -> Mechanism:
    if compaction.summariser_input is None:
        return "unknown"
    return "lost_by_summariser" if seen.in_(compaction.summariser_input) else "never_reached_summariser"


async def _without_compaction(case: Case, benches: Sequence[Bench]) -> Counterfactual:
    cast = benches[0].tree.cast
    if "compaction" not in inspect.signature(cast.build).parameters and "compaction" not in cast.options:
        return "not available"
    try:
        return (await _still(case, [_uncompacted(bench, case) for bench in benches], case.variant))[0]
    except FuzzturnError:  # it takes the keyword, but not this value
        return "not available"


def _uncompacted(bench: Bench, case: Case) -> Bench:
    cast = _with_option(bench.tree.cast, "compaction", "none")
    return bench.with_tree(Tree(cast, case.variant.scenario, bench.tree.meter))


async def _restated(case: Case, benches: Sequence[Bench]) -> tuple[Counterfactual, Visibility | None]:
    if case.failure.constraint is None or case.failing in case.variant.inserted:
        return "not available", None
    statement = case.variant.scenario.constraint(case.failure.constraint).statement
    again = Insert(operator="why", anchor=case.failing, name="restated", user=statement)
    return await _still(case, benches, case.variant.with_edits([*case.variant.edits, again]))


async def _still(case: Case, benches: Sequence[Bench], variant: Variant) -> tuple[Counterfactual, Visibility | None]:
    """Whether the constraint is still broken (or the same thing still wrong) in any run, whatever the judge says."""
    ended, tested = False, case.failure.constraint is None
    for bench in benches:
        try:
            trial = await bench.run(variant, [])
        except Halted:  # what was found stands, whether or not it can still be explained
            return "not available", None
        for failure in trial.failures:
            if failure.about == case.failure.about:
                return "still fails", failure.visibility
        ended = ended or trial.measured.session.error is not None
        checks = (check for scores in trial.measured.scores for check in scores.adherence.exercised)
        tested = tested or any(check.constraint == case.failure.constraint for check in checks)
    return ("not available" if ended or not tested else "clean"), None


def _with_option(cast: Cast, key: str, value: str) -> Cast:
    return replace(cast, options={**cast.options, key: value})
