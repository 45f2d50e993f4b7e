"""Blocks: whether the protected block has what it must, apart from what any judge makes of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

__all__ = ["BlockFigure", "Blocks", "Recall", "blocks", "blocks_json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockFigure:
    """The block of one item, beside what should be in it."""

    item: str
    constraints_expected: tuple[str, ...]
    constraints_present: tuple[str, ...]
    commitments_expected: int | None
    """None = unknown: there is no rule for the language."""
    commitments_present: int | None
    commitments_left_out: int | None
    """Left out for the budget, and listed as such; what is neither present nor left out was missed."""
    tokens: int
    overflow: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """`present` of `expected`, over all blocks of which it is known."""

    present: int
    expected: int

    @property
    def share(self) -> float | None:
        """0.0-1.0; None where nothing was expected."""
        return self.present / self.expected if self.expected else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """All blocks together. No interval: blocks are made by rule, so this is a count and no sample."""

    n: int
    constraints: Recall
    missing: tuple[tuple[str, str], ...]
    """(item, constraint) that should be in the block and is not."""
    strange: tuple[tuple[str, str], ...]
    """(item, constraint) that is in the block and should not be."""
    commitments: Recall
    left_out: int
    unknown: int
    """Blocks of which nobody knows what commitments they should have."""
    tokens: tuple[int, float, int] | None
    """Fewest, median, most; None = no blocks."""
    overflow: tuple[str, ...]
    """Items whose constraints alone are beyond the budget."""


def blocks(figures: Iterable[BlockFigure]) -> Blocks:
    """Sum up; the order of the figures is nothing to it."""
    given = sorted(figures, key=lambda figure: figure.item)
    told = [
        (figure.commitments_present, figure.commitments_expected)
        for figure in given
        if figure.commitments_present is not None and figure.commitments_expected is not None
    ]
    sizes = [figure.tokens for figure in given]
    missing = [(f.item, c) for f in given for c in sorted({*f.constraints_expected} - {*f.constraints_present})]
    strange = [(f.item, c) for f in given for c in sorted({*f.constraints_present} - {*f.constraints_expected})]
    expected = sum(len(set(figure.constraints_expected)) for figure in given)
    return Blocks(
        n=len(given),
        constraints=Recall(present=expected - len(missing), expected=expected),
        missing=tuple(missing),
        strange=tuple(strange),
        commitments=Recall(present=sum(p for p, _ in told), expected=sum(e for _, e in told)),
        left_out=sum(figure.commitments_left_out or 0 for figure in given),
        unknown=len(given) - len(told),
        tokens=(min(sizes), median(sizes), max(sizes)) if sizes else None,
        overflow=tuple(figure.item for figure in given if figure.overflow),
    )


def blocks_json(found: Blocks) -> dict[str, Any]:
    """The same as JSON."""
    both = (("constraints", found.constraints), ("commitments", found.commitments))
    recalls = {name: asdict(recall) | {"share": recall.share} for name, recall in both}
    named = {
        name: [{"item": item, "constraint": constraint} for item, constraint in pairs]
        for name, pairs in (("missing", found.missing), ("strange", found.strange))
    }
    sizes = found.tokens and dict(zip(("fewest", "median", "most"), found.tokens, strict=True))
    return asdict(found) | recalls | named | {"tokens": sizes, "overflow": list(found.overflow)}
