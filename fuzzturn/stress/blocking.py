"""Blocking: what the protected block of each item has, beside what should be in it."""

from __future__ import annotations

from fuzzturn.stress.blocks import BlockFigure
from fuzzturn.stress.item import Item

__all__ = ["block_figure"]


def block_figure(item: Item) -> BlockFigure:
    """The block that the default arm shows, held against the ledger and against what was promised before the turn."""
    block, made = item.measured.block(item.turn), item.measured.promised(item.turn)
    binding = tuple(constraint.id for constraint in item.measured.ledgers[-1].binding)
    listed = [line for line in block.lines if line.get("status") == "binding"]
    return BlockFigure(
        item=item.id,
        constraints_expected=binding,
        constraints_present=tuple(str(line["constraint"]) for line in listed),
        commitments_expected=None if made is None else len(made),
        commitments_present=None if made is None else sum("commitment" in line for line in block.lines),
        commitments_left_out=None if made is None else len(block.left_out),
        tokens=block.tokens,
        overflow=block.overflow is not None,
    )
