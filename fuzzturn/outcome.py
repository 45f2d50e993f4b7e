"""Outcome: what a campaign found and what it spent, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fuzzturn.drive import Meter
from fuzzturn.evidence import Rate
from fuzzturn.exercise import Exercise
from fuzzturn.finding import Failure, signature_id
from fuzzturn.scenario import Scenario
from fuzzturn.threshold import Threshold
from fuzzturn.trial import Trial
from fuzzturn.variant import Variant
from fuzzturn.why import Why

__all__ = ["Effort", "Finding", "Outcome"]


@dataclass(frozen=True, slots=True)
class Effort:
    """The agent turns that shrinking took, and the fewest in which its result could be shown to be minimal.

    It may take fewer than that where the search had played some of them already.
    """

    agent_turns: int
    at_least: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding, shrunk. `trial` was played afresh, from the first turn, and judged in every context."""

    scenario: Scenario
    trial: Trial
    failure: Failure
    original: Variant
    """The smallest variant in which the search saw it."""
    in_base: bool
    """The unedited script breaks the same thing, whatever the judge made of it there."""
    failing: Rate
    """In how many fresh runs the agent did what is wrong, whatever the judge made of it."""
    judged: Rate | None
    """In how many of these runs the judge, asked once about each, gave a 4; None = it has no part, or answers alike."""
    flips: Rate | None
    """In how many of these answers the judge contradicted its own commonest score of the same turn."""
    minimal: bool
    shrinking: Effort
    why: Why
    signature: Mapping[str, Any]
    identity: str | None = None
    """What the agent says of itself."""

    @property
    def id(self) -> str:
        return signature_id(self.signature)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a campaign found and what it spent."""

    base: Trial
    found: tuple[Finding, ...]
    spent: Meter
    sessions: int
    exercised: Mapping[str, int]
    """For each checker: the turns at which it had something to look at."""
    coverage: Exercise
    """How often each constraint was held against a call, by the distance from its statement and its visibility."""
    skipped: Mapping[str, str]
    off_script: int
    agent_errors: Mapping[str, int]
    """The distinct errors that agents raised, and how many sessions each ended."""
    judge_unscored: int
    unscored_because: Mapping[str, int]
    """The judge's reasons for giving no score, and how often each."""
    threshold: Threshold | None
    undecided: int = 0
    """Failures that did not show again, or could not be played again: nothing is claimed of them."""
    dismissed: int = 0
    """Failures of an agent that does not repeat itself which are no more frequent than unrelated ones would be."""
    notes: tuple[str, ...] = ()
    """What a user should know of how it was played."""
