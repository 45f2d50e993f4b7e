"""Finding: what went wrong at one turn, what identifies it, and which of two sessions shows it better.

A blind spot is a turn at which an adherence checker fails while the judge still gives a 4: the finding this tool
exists for. `finding_order` is the total order that shrinking descends; `Pinned` is the predicate it holds fast.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal, TypeAlias, get_args

from fuzzturn.scenario import Scenario
from fuzzturn.scores import SERIOUSNESS, Check, JudgeContext, TurnScores, Visibility
from fuzzturn.session import Turn
from fuzzturn.variant import Drop, Pad, Variant, disturbs_the_world, said_tokens

__all__ = [
    "BLIND_SCORE",
    "GAPS",
    "KINDS",
    "RELATIONS",
    "Failure",
    "Kind",
    "Order",
    "Pinned",
    "failures",
    "finding_order",
    "scripted_turn",
    "signature_id",
]

Kind: TypeAlias = Literal["blind_spot", "violation", "progress", "assertion", "metamorphic", "block_gap"]
KINDS: tuple[Kind, ...] = get_args(Kind)[:-1]
"""What `fuzz` looks for; block gaps are what `stress --search` looks for."""
GAPS = (
    "overflow", "commitment_left_out", "commitment_missed", "constraint_missing", "ended_as_binding", "confusable",
    "long_statement",
)  # fmt: skip
"""What stands for the checker in a finding of kind block_gap: what the block does not do, see `gaps`."""
RELATIONS = ("same_milestones", "same_verdict")
"""What stands for the checker in a finding of kind metamorphic: what should be as in the twin, see `relation`."""
BLIND_SCORE = 4
"""The judge saw nothing wrong. A score of 3 or more is called soft blindness and only reported."""
Order: TypeAlias = tuple[int, int, int, int, int, int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One thing wrong at one turn.

    For an assertion `checker` is the expectation that did not hold, for progress the problem; no constraint then. For
    metamorphic it is what should be as in the twin, see `relation`.
    """

    kind: Kind
    turn: int
    turn_id: str
    checker: str
    detail: str
    constraint: str | None = None
    milestone: str | None = None
    call: str | None = None
    """Name of the guarded tool call that broke the constraint; None = it was the text."""
    visibility: Visibility = "unknown"
    judge: Mapping[JudgeContext, int | None] = field(default_factory=dict)

    @property
    def blind_in(self) -> tuple[JudgeContext, ...]:
        """The judge contexts in which the judge gave a 4, most serious first."""
        return tuple(context for context in SERIOUSNESS if self.judge.get(context) == BLIND_SCORE)

    @property
    def about(self) -> tuple[str, str | None, str | None]:
        """What is wrong, whatever the judge makes of it: checker, constraint, milestone."""
        return self.checker, self.constraint, self.milestone

    def akin(self, other: Failure) -> bool:
        """Whether it is the same thing going wrong, at the same scripted turn where it is an assertion."""
        same_turn = self.kind != "assertion" or scripted_turn(self.turn_id) == scripted_turn(other.turn_id)
        return self.about == other.about and same_turn

    @property
    def subject(self) -> str:
        """What it is about in a word: the constraint, the milestone, or the scripted turn of an assertion."""
        return self.constraint or self.milestone or scripted_turn(self.turn_id)

    @property
    def judge_context(self) -> JudgeContext | None:
        """The most serious context in which the judge is blind; None where it is blind in none."""
        return self.blind_in[0] if self.blind_in else None

    def pinned(self) -> Pinned:
        """What has to stay the same while this failure is shrunk."""
        return Pinned(
            kind=self.kind,
            checker=self.checker,
            constraint=self.constraint,
            milestone=self.milestone,
            judge_context=self.judge_context,
            turn=scripted_turn(self.turn_id) if self.kind == "assertion" else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """The predicate of a shrink: same kind, constraint and checker; the judge still gives a 4 in that context."""

    kind: Kind
    checker: str
    constraint: str | None
    milestone: str | None
    judge_context: JudgeContext | None
    turn: str | None
    """The scripted turn that an assertion belongs to; None for every other kind."""

    @property
    def about(self) -> tuple[str, str | None, str | None]:
        """As `Failure.about`."""
        return self.checker, self.constraint, self.milestone

    def among(self, failures: Iterable[Failure]) -> Failure | None:
        """The first that is the same finding; None where none is."""
        return next((failure for failure in failures if self.matches(failure)), None)

    def matches(self, failure: Failure) -> bool:
        """Whether `failure` is the same finding."""
        same = failure.kind == self.kind and failure.about == self.about
        blind = self.judge_context is None or self.judge_context in failure.blind_in
        return same and blind and (self.turn is None or self.turn == scripted_turn(failure.turn_id))


def failures(scores: TurnScores, turn: Turn) -> tuple[Failure, ...]:
    """Everything wrong at one turn, the judge's contexts being those that were asked."""
    place: dict[str, Any] = {"turn": scores.n, "turn_id": scores.turn}
    found = [
        Failure(
            kind="blind_spot" if BLIND_SCORE in (judge := _judged(scores, check)).values() else "violation",
            checker=check.checker,
            constraint=check.constraint,
            detail=check.result.detail,
            call=None if check.call is None else turn.tool_calls[check.call].name,
            visibility=check.visibility,
            judge=judge,
            **place,
        )
        for check in scores.adherence.failed
    ]
    found += [
        Failure(kind="progress", checker=breach.problem, milestone=breach.milestone, detail=breach.detail, **place)
        for breach in scores.progress.breaches
    ]
    found += [
        Failure(kind="assertion", checker=failed.expectation, detail=failed.detail, **place)
        for failed in scores.assertions.failures
    ]
    return tuple(found)


def _judged(scores: TurnScores, check: Check) -> dict[JudgeContext, int | None]:
    judge = {context: judgement.score for context, judgement in scores.judge.items()}
    if check.constraint in scores.seen_by_check:
        judge["agent"] = scores.seen_by_check[check.constraint].score
    return judge


def finding_order(variant: Variant) -> Order:
    """Smaller shows the same failure better.

    Tool faults and forced cuts, since what needs none shows more; then user turns, tokens said, edits that are not
    drops, turns out of script order, how far padding stands from the end; last a digest, so that the order is total.
    """
    spoken = variant.spoken
    return (
        sum(map(disturbs_the_world, variant.edits)),
        len(spoken.turns),
        said_tokens(spoken),
        sum(not isinstance(edit, Drop) for edit in variant.edits),
        _inversions(variant.scenario, [line.id for line in spoken.turns]),
        _pads_from_end(variant),
        variant.key,
    )


def signature_id(signature: Mapping[str, Any]) -> str:
    """The finding's id: first 8 hex of sha256 over the signature."""
    return hashlib.sha256(json.dumps(signature, sort_keys=True).encode()).hexdigest()[:8]


def _inversions(scenario: Scenario, spoken: Sequence[str]) -> int:
    place = {line.id: i for i, line in enumerate(scenario.turns)}
    scripted = [place[id] for id in spoken if id in place]
    return sum(a > b for a, b in combinations(scripted, 2))


def _pads_from_end(variant: Variant) -> int:
    ids = [line.id for line in variant.spoken.turns]
    return sum(len(ids) - ids.index(id) for id, edit in variant.inserted.items() if isinstance(edit, Pad))


def scripted_turn(turn_id: str) -> str:
    """What a turn is called wherever a variant put it: an inserted one without the place it was inserted at."""
    return turn_id.partition("@")[0]
