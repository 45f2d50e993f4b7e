"""Page: lines of plain ASCII within a width, tables, and figures as words."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from fuzzturn.stress.shares import Share

__all__ = [
    "WIDTH", "as_ascii", "chance", "interval", "named", "number", "sentence", "shown", "table", "wrapped",
]  # fmt: skip

WIDTH = 100
_NAMED = 5
"""Items that are named one by one; the JSON has all of them."""


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The first column to the left and as wide as there is room; the others to the right."""
    rows = [[as_ascii(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    room = WIDTH - sum(2 + width for width in widths[1:])
    widths[0] = min(widths[0], room)
    for first, *others in rows:
        name = first if len(first) <= widths[0] else f"{first[: widths[0] - 1]}~"
        yield "  ".join([name.ljust(widths[0]), *(c.rjust(w) for c, w in zip(others, widths[1:], strict=True))])


def wrapped(paragraphs: Sequence[str]) -> Iterator[str]:
    """The first at the margin, the others below it; an empty one is not written."""
    for n, paragraph in enumerate(paragraphs):
        indent = "  " if n else ""
        yield from textwrap.wrap(
            as_ascii(paragraph), WIDTH, initial_indent=indent, subsequent_indent="  " + indent, break_on_hyphens=False
        )


def named(names: Iterable[str]) -> str:
    """The first few by name, and how many more."""
    given = list(names)
    more = f" and {len(given) - _NAMED} more" if len(given) > _NAMED else ""
    return ", ".join(given[:_NAMED]) + more


def shown(share: Share | None) -> str:
    """The share; - where it is not known."""
    return "-" if share is None else f"{share.share:.2f}"


def interval(share: Share | None) -> str:
    """Its interval, with * where that is of other scenarios as well."""
    if share is None:
        return "-"
    low, high = share.widest
    return f"{low:.2f}-{high:.2f}{'*' if share.over_scenarios else ' '}"


def number(figure: float | None) -> str:
    """A figure as words have it."""
    return "not known" if figure is None else f"{figure:.2f}"


def chance(p: float) -> str:
    """A probability with its sign: = or <."""
    return "< 0.0001" if p < 0.0001 else f"= {p:.2g}"


def sentence(text: str) -> str:
    """With a capital."""
    return text[:1].upper() + text[1:]


def as_ascii(text: str) -> str:
    """Other characters escaped, control characters too, or a name could repaint the terminal. Line breaks stay."""
    return "".join(c if " " <= c <= "~" or c == "\n" else c.encode("unicode_escape").decode() for c in text)
