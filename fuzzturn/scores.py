"""Scores: four signals of one turn, side by side and never blended.

A composite maps four numbers onto one and cannot be undone, so nothing here returns one number made of
several signals (essay, "The four signals also stay four numbers"). None always means not scored: never 0,
never a pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from fuzzturn.errors import PortError

__all__ = [
    "SERIOUSNESS",
    "Adherence", "AssertionFailure", "Assertions", "Breach", "Check", "CheckResult", "JudgeContext", "Judgement",
    "Progress", "Trend", "TurnScores", "Unscored", "Visibility",
]  # fmt: skip

JudgeContext: TypeAlias = Literal["agent", "window", "window+block", "full"]
SERIOUSNESS: tuple[JudgeContext, ...] = ("window+block", "full", "window", "agent")
"""Most serious first: being blind with the protected block in hand is worse than being blind with the agent's eyes."""
Visibility: TypeAlias = Literal["verbatim", "in_summary", "absent", "stale", "unknown"]
Trend: TypeAlias = Literal["rising", "flat", "falling"]
Unscored: TypeAlias = Literal["unparsable", "refused", "contradiction", "error", "not_told"]
"""Why there is no score: no verdict could be read in the judge's answer; it declined; its reason denies its score; it
raised; it was not asked, since the agent does not tell what it saw."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a checker or invariant says of one turn.

    `exercised` False = there was nothing to look at, the pass is idle.
    """

    passed: bool
    detail: str = ""
    exercised: bool = True

    def __post_init__(self) -> None:
        if not (isinstance(self.passed, bool) and isinstance(self.detail, str) and isinstance(self.exercised, bool)):
            raise PortError(f"{self!r}; a CheckResult takes passed: bool, detail: str, exercised: bool")


@dataclass(frozen=True, slots=True)
class Check:
    """One binding constraint checked at one turn.

    `call` counts the turn's tool calls from 0: the first one with which the check fails. None = it passed, or it fails
    on the text alone.
    """

    constraint: str
    checker: str
    result: CheckResult
    call: int | None = None
    visibility: Visibility = "unknown"
    """How the constraint stood in what the agent saw when it made that call (else its last call)."""
    seen: tuple[Visibility, ...] = ()
    """The same for every model call of the turn, in order."""


@dataclass(frozen=True, slots=True)
class Adherence:
    """Share of binding constraints honoured in this turn, 0.0-1.0; None exactly while none binds."""

    value: float | None
    checks: tuple[Check, ...] = ()

    @property
    def failed(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.result.passed)

    @property
    def exercised(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.result.exercised)


@dataclass(frozen=True, slots=True)
class AssertionFailure:
    """One scripted expectation that did not hold. `expectation` is its field in the scenario file."""

    expectation: str
    detail: str


@dataclass(frozen=True, slots=True)
class Assertions:
    """Share of this turn's scripted expectations that held, 0.0-1.0; None where the script has none here."""

    value: float | None
    failures: tuple[AssertionFailure, ...] = ()


@dataclass(frozen=True, slots=True)
class Breach:
    """The satisfied milestones stopped being closed under `needs`."""

    milestone: str
    problem: Literal["before_its_needs", "lost_under_dependants"]
    detail: str


@dataclass(frozen=True, slots=True)
class Progress:
    """Satisfied milestones / all, 0.0-1.0; milestones that only a judge can decide leave the denominator.

    None where every milestone is judged and no judge decides.
    """

    value: float | None
    satisfied: frozenset[str]
    trend: Trend | None
    breaches: tuple[Breach, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One score of one judge in one context, 0-4 against frozen anchors; None = no score, `reason` says why."""

    context: JudgeContext
    score: int | None
    reason: str = ""
    status: Unscored | None = None
    """None = there is a score, or the judge does not say why it gave none."""
    quotes: tuple[str, ...] = ()
    rubric: str = ""
    rubric_digest: str = ""
    frozen_on: str = ""
    judge: str = ""
    identity: str | None = None
    """What the judge says of itself: model, parameters, version of its own prompt. None = it does not tell."""
    form: str | None = None
    """The form in which the answer was asked for, as the judge calls it. None = it does not tell."""
    prompt_version: int = 1
    """Of what every judge is shown, as `context` lays it out."""
    sample: int = 0
    block: Mapping[str, Any] | None = None
    """Size, overflow and left-out commitments of the protected block; None = this context has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnScores:
    """The four signals of one turn. Which judge contexts are present depends on who asked."""

    n: int
    turn: str
    adherence: Adherence
    assertions: Assertions
    progress: Progress
    judge: Mapping[JudgeContext, Judgement] = field(default_factory=dict)
    seen_by_check: Mapping[str, Judgement] = field(default_factory=dict)
    """The `agent` context once for each broken constraint, since each was broken by a call that saw its own context."""

    def judged(self, context: JudgeContext) -> int | None:
        found = self.judge.get(context)
        return None if found is None else found.score


def as_json(scores: TurnScores) -> dict[str, Any]:
    """The four signals as four JSON objects, for reports and corpus entries."""
    return {
        "turn": scores.n,
        "id": scores.turn,
        "adherence": {
            "value": scores.adherence.value,
            "bound": len(scores.adherence.checks),
            "exercised": len(scores.adherence.exercised),
            "passed": len(scores.adherence.checks) - len(scores.adherence.failed),
            "failed": [{"constraint": c.constraint, "checker": c.checker, "detail": c.result.detail}
                       for c in scores.adherence.failed],
        },
        "assertions": {
            "value": scores.assertions.value,
            "failed": [{"expectation": f.expectation, "detail": f.detail} for f in scores.assertions.failures],
        },
        "progress": {
            "value": scores.progress.value,
            "satisfied": sorted(scores.progress.satisfied),
            "trend": scores.progress.trend,
            "breaches": [{"milestone": b.milestone, "problem": b.problem} for b in scores.progress.breaches],
        },
        "judge": {context: {"score": j.score, "reason": j.reason} for context, j in scores.judge.items()},
    }  # fmt: skip
