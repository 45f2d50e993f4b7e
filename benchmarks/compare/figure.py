"""Figure: turns to minimal and final turns of each method as one SVG, without any library."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from xml.sax.saxutils import escape

from .methods import METHODS
from .ranks import median, p90
from .row import Row

__all__ = ["figure"]

_ROW, _LABEL, _PANEL, _GAP, _TOP = 34, 120, 330, 60, 64
_OWN, _OTHER, _INK = "#0b6e4f", "#9aa5b1", "#1f2933"


def figure(rows: Sequence[Row]) -> str:
    """Bars are medians, whiskers end at the 90th percentile. Turns are on a logarithmic scale."""
    names = [name for name in METHODS if any(row.method == name and row.final_turns for row in rows)]
    width = _LABEL + 2 * _PANEL + _GAP + 30
    height = _TOP + _ROW * len(names) + 40
    labels = "".join(_text(_LABEL - 10, _middle(i), name, "end") for i, name in enumerate(names))
    turns = _panel(_LABEL, "Turns to minimal (log scale)", names, _pairs(rows, names, lambda r: r.shrink_turns), True)
    final = _panel(
        _LABEL + _PANEL + _GAP, "Turns of the final session", names, _pairs(rows, names, lambda r: r.final_turns), False
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="13" fill="{_INK}">\n<rect width="100%" height="100%" fill="white"/>\n'
        f"{_text(_LABEL, 20, 'Bar: median over all faults and seeds. Line: to the 90th percentile.', 'start')}"
        f"{labels}{turns}{final}</svg>\n"
    )


def _pairs(
    rows: Sequence[Row], names: Sequence[str], value: Callable[[Row], float | None]
) -> list[tuple[float, float]]:
    each = [[value(row) for row in rows if row.method == name] for name in names]
    return [(median(values) or 0, p90(values) or 0) for values in each]


def _panel(x: int, title: str, names: Sequence[str], pairs: Sequence[tuple[float, float]], log: bool) -> str:
    most = max((high for _, high in pairs), default=1)

    def along(value: float) -> float:
        return (_PANEL - 60) * (math.log10(max(value, 1)) / math.log10(max(most, 10)) if log else value / max(most, 1))

    parts = [_text(x, _TOP - 14, title, "start", bold=True)]
    for i, (name, (low, high)) in enumerate(zip(names, pairs, strict=True)):
        y, color = _middle(i), _OWN if name == "fuzzturn" else _OTHER
        parts.append(f'<rect x="{x}" y="{y - 10}" width="{along(low):.1f}" height="20" fill="{color}"/>\n')
        parts.append(
            f'<line x1="{x + along(low):.1f}" y1="{y}" x2="{x + along(high):.1f}" y2="{y}" stroke="{_INK}" '
            f'stroke-width="1.5"/>\n'
        )
        parts.append(_text(x + along(high) + 6, y, f"{low:g} / {high:g}", "start"))
    return "".join(parts)


def _middle(i: int) -> float:
    return _TOP + _ROW * i + _ROW / 2


def _text(x: float, y: float, text: str, anchor: str, *, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="{anchor}"{weight}>{escape(text)}</text>\n'
