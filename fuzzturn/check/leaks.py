"""Leaks: limits that stand in the title or the goal, where a judge would be reminded of what it should remember."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fuzzturn.check.case import Case
from fuzzturn.errors import Problem

__all__ = ["leaks"]

_NOT_IN_WORDS = 1e300
"""Larger numbers are written in no title, and a whole one need not fit a float."""
_NUMBER = re.compile(r"\d+(?:[.,'\u00a0\u202f ]\d+)*")


def leaks(case: Case) -> Iterator[Problem]:
    """A judge reads title and goal in every context: a limit there would remind it of what it should remember."""
    texts = ((("title",), case.scenario.title), (("goal", "says"), case.scenario.goal.says))
    for at, text in texts:
        said = {value for match in _NUMBER.finditer(text) for value in _readings(match[0])}
        for constraint in case.scenario.constraints:
            for number in sorted(said.intersection(_numbers(constraint.args))):
                what = f"{at[-1]!r} says {number:g}, which is in the arguments of {constraint.id!r}"
                yield case.document.problem(at, what, "words that do not give the limit away to the judge")


def _readings(written: str) -> Iterator[float]:
    """1,450.00 and 1.450,00: a point may group digits or begin the decimals, and so may a comma."""
    for grouping, point in ((",'\u00a0\u202f ", "."), (".'\u00a0\u202f ", ",")):
        digits = "".join(character for character in written if character not in grouping).replace(point, ".")
        if digits.count(".") <= 1:
            yield float(digits)


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _NOT_IN_WORDS:
        yield float(value)
