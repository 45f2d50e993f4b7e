"""Tables: the rows as Markdown: every method over all faults, the goals, every fault, the passes of the reducer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from benchmarks.faults.sets import EVERY

from .methods import METHODS
from .ranks import median, p90, share
from .row import Row

__all__ = ["by_fault", "by_method", "by_pass", "goals"]

_BASELINES = {"cached ddmin": "ddmin+cache", "uncached ddmin": "ddmin", "Hypothesis": "given"}


def by_method(rows: Sequence[Row]) -> str:
    """One line a method, median / p90 over all faults and seeds."""
    head = [
        "method", "runs", "nothing found", "turns to first failure", "turns to minimal", "without shrinking pads",
        "judge calls", "final turns", "at the minimum", "same fault", "turns to minimal : bound",
    ]  # fmt: skip
    return _table(head, [_line(name, own) for name in METHODS if (own := _of(rows, name))])


def _line(name: str, rows: Sequence[Row]) -> list[str]:
    return [
        name,
        str(len(rows)),
        str(sum(not row.found for row in rows)),
        _pair(row.find_turns for row in rows),
        _pair(row.shrink_turns for row in rows),
        _pair(row.shrink_turns_without_pads for row in rows),
        _pair(row.judge_calls for row in rows),
        _pair(row.final_turns for row in rows),
        _number(share(row.at_minimum for row in rows)),
        _number(share(row.same_fault for row in rows)),
        _pair(_ratio(row.shrink_turns, row.bound) for row in rows),
    ]


def goals(rows: Sequence[Row]) -> str:
    """What fuzzturn is held against, with the figures of these rows. A ratio is one of medians over all runs."""
    own = _of(rows, "fuzzturn")
    measures: list[tuple[str, str, str, float | None]] = [
        ("share at the true minimum", "≥ 0.85", "0.95", share(row.at_minimum for row in own)),
        ("final sessions with the fault they started from", "1.00", "1.00", share(row.same_fault for row in own)),
        ("final turns : cached ddmin's", "≤ 0.75", "0.65", _against(rows, "cached ddmin", _final)),
        (
            "the same, were every result minimal",
            "",
            "",
            _against(rows, "cached ddmin", lambda r: r.final_turns, _least),
        ),
        ("turns to minimal : uncached ddmin's", "≤ 1.3", "", _against(rows, "uncached ddmin", _shrink)),
        ("turns to minimal : cached ddmin's", "≤ 4", "2", _against(rows, "cached ddmin", _shrink)),
        ("turns to minimal : Hypothesis's", "≤ 0.25", "", _against(rows, "Hypothesis", _shrink)),
        ("turns to minimal : lower bound, median", "≤ 4", "2.5", median(_ratio(r.shrink_turns, r.bound) for r in own)),
        ("turns to minimal : lower bound, p90", "≤ 11", "6", p90(_ratio(r.shrink_turns, r.bound) for r in own)),
        ("turns to first failure : uniform random", "≤ 0.7", "0.4", _against(rows, "uncached ddmin", _find)),
        ("the same on the worst fault", "≤ 1.1", "", _worst(rows)),
    ]
    return _table(
        ["", "must", "aim", "measured"], [[what, must, aim, _number(got)] for what, must, aim, got in measures]
    )


def _shrink(row: Row) -> float | None:
    return row.shrink_turns


def _final(row: Row) -> float | None:
    return row.final_turns


def _find(row: Row) -> float | None:
    return row.find_turns


def _against(
    rows: Sequence[Row],
    baseline: str,
    figure: Callable[[Row], float | None],
    ours: Callable[[Row], float | None] | None = None,
) -> float | None:
    """Ours to the baseline's. `ours` None = the same figure of both."""
    other = median(map(figure, _of(rows, _BASELINES[baseline])))
    return _ratio(median(map(ours or figure, _of(rows, "fuzzturn"))), other)


def _least(row: Row) -> float:
    """What no method can be below in `final_turns`."""
    return EVERY[row.fault].minimum


def _worst(rows: Sequence[Row]) -> float | None:
    each = [_against([row for row in rows if row.fault == fault], "uncached ddmin", _find) for fault in _faults(rows)]
    return max((one for one in each if one is not None), default=None)


def by_fault(rows: Sequence[Row]) -> str:
    """One line a fault: for each method the medians of turns to first failure, turns to minimal, final turns."""
    names = [name for name in METHODS if _of(rows, name)]
    lines = []
    for fault in _faults(rows):
        here = [row for row in rows if row.fault == fault]
        lines.append([fault, str(EVERY[fault].minimum), *(_three(_of(here, name)) for name in names)])
    return _table(["fault", "minimum", *names], lines)


def _three(rows: Sequence[Row]) -> str:
    figures = (
        median(row.find_turns for row in rows),
        median(row.shrink_turns for row in rows),
        median(row.final_turns for row in rows),
    )
    return " · ".join(map(_number, figures))


def by_pass(rows: Sequence[Row]) -> str:
    """Where fuzzturn's turns to minimal go: the mean of each pass, a line a fault."""
    own = _of(rows, "fuzzturn")
    names = list(dict.fromkeys(name for row in own for name in row.by_pass))
    lines = []
    for fault in _faults(own):
        here = [row for row in own if row.fault == fault and row.shrink_turns is not None]
        if here:
            means = [sum(row.by_pass.get(name, 0) for row in here) / len(here) for name in names]
            lines.append([fault, *(f"{mean:.0f}" for mean in (*means, sum(means)))])
    return _table(["fault", *names, "all"], lines)


def _of(rows: Iterable[Row], method: str) -> list[Row]:
    return [row for row in rows if row.method == method]


def _faults(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(row.fault for row in rows))


def _ratio(a: float | None, b: float | None) -> float | None:
    return None if a is None or not b else a / b


def _pair(values: Iterable[float | None]) -> str:
    known = list(values)
    return "-" if median(known) is None else f"{_number(median(known))} / {_number(p90(known))}"


def _number(value: float | None) -> str:
    """Whole turns as they are, other figures to the place that matters."""
    if value is None:
        return "-"
    return f"{value:.0f}" if value == int(value) and value > 1 else f"{value:.1f}" if value >= 100 else f"{value:.2f}"


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
