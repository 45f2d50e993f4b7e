"""Row: what one campaign gave; plain records that go to JSON as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fuzzturn.evidence import Rate

__all__ = ["Key", "Reported", "Row", "from_json"]

Key = tuple[str, str, float, int]
"""Part, method, p, seed: what tells one campaign from every other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """One reported finding, and what is true of it."""

    kind: str
    constraint: str
    turns: int
    """User turns of the reported session."""
    minimal: bool
    carries: bool
    """The planted fault is in it: the noiseless agent shows it in this session."""
    true_rate: float
    """The share of runs in which the agent breaks that constraint in this session."""
    caused: float | None = None
    """Of those runs, the share in which the planted mechanism is the cause; None = there are none."""
    failing: Rate | None = None
    """The reported share; None = the method reports none."""
    judged: Rate | None = None
    """In how many of its calls on violating turns the judge gave a 4, as reported; None = it was not asked."""
    flips: Rate | None = None
    """In how many of these calls it contradicted itself, as reported."""
    shrink_turns: int | None = None
    """Agent turns from the first candidate until the result stood; None = not told apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One campaign. Turns are replies started."""

    part: str
    method: str
    p: float
    seed: int
    fault: str
    found: tuple[Reported, ...]
    sessions: int
    """Played by the search; for Hypothesis, executions of the test."""
    turns: int
    """All agent turns of the campaign."""
    undecided: int | None = None
    """Failures of which nothing is claimed; None = the method has no such thing."""
    dismissed: int | None = None
    """Failures taken for what happens without a fault; None as above."""
    flaky: bool | None = None
    """Hypothesis ended with an error because its smallest example passed; None = not Hypothesis."""
    judge_calls: int = 0
    judge_erred: int = 0
    """Calls in which the judge was wrong."""
    model_calls: int | None = None
    """Calls that were made and not answered by the record; None = there is no record."""
    same: bool | None = None
    """The campaign from the record claims what the first one did; None = there is no record."""

    @property
    def key(self) -> Key:
        return self.part, self.method, self.p, self.seed

    def as_json(self) -> Mapping[str, Any]:
        return asdict(self)


def from_json(data: Mapping[str, Any]) -> Row:
    """The inverse of `as_json`."""
    return Row(**{**data, "found": tuple(_reported(one) for one in data["found"])})


def _reported(data: Mapping[str, Any]) -> Reported:
    rates: Sequence[str] = ("failing", "judged", "flips")
    return Reported(**{**data, **{name: data[name] and Rate(**data[name]) for name in rates}})
