"""Item: one turn whose truth a deterministic checker tells, what a judge is shown of it, and what it answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from fuzzturn.measure import Measured
from fuzzturn.scores import Unscored

__all__ = ["About", "Answer", "Group", "Item", "Items", "Kind", "Label", "Polarity", "Status"]

Label: TypeAlias = Literal["violating", "legal"]
Polarity: TypeAlias = Literal["prohibition", "requirement"]
Kind: TypeAlias = Literal["plain", "approved", "superseded", "retracted", "expired", "guard_false", "partial", "kept"]
"""plain: an example of the constraint's. kept: a session of the corpus that broke it. The others: the very call that
would break it, which something made legal; and the same call where that is over or never was."""
Status: TypeAlias = Literal["scored", "unscored"] | Unscored
"""What came of asking; a score counts only where it is `scored`. unscored: there is none, and words alone say why."""
Group: TypeAlias = Literal["block", "window", "context", "distractors", "budget", "injection", "single"]


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What is known of a turn before anybody judges it."""

    scenario: str
    """Items of one scenario are not independent: figures are clustered by it."""
    constraint: str
    polarity: Polarity
    label: Label
    kind: Kind
    pair: str
    """Two items of one pair differ in the judged turn's action alone; kept ones also in what was said of it."""
    distance: int
    """Turns between the statement and the judged turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item(About):
    """A session up to the judged turn, its last."""

    id: str
    measured: Measured

    @property
    def turn(self) -> int:
        """The judged turn, the last one."""
        return len(self.measured.session.turns)


@dataclass(frozen=True, slots=True)
class Items:
    """What a scenario or a kept session gives, and how many it could not.

    Then the checker had nothing to look at, or said otherwise.
    """

    items: tuple[Item, ...]
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(About):
    """What the judge said of one item in one arm, once."""

    item: str
    arm: str
    sample: int
    score: int | None
    """None = no score that counts; `status` says why."""
    status: Status
    reason: str = ""
    block_tokens: int | None = None
    """Size of the protected block that was shown; None = none was."""
    overflow: bool = False
    """Whether the block's constraints alone were beyond its budget."""
    left_out: int = 0
    """Commitments that were left out of the block for the budget."""
