"""Damaged files: whatever an editor, a merge or a disk does to a file, reading it gives a result or problems.

Anything else that comes out, a traceback above all, fails. Cases come from a seed, so that a failing one can be named:
`FUZZTURN_CASES=10000 pytest tests/test_check_fuzz.py` plays more of them.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from fuzzturn.check import check_scenario
from fuzzturn.corpus import load_entry
from fuzzturn.errors import InputError, Problem
from fuzzturn.project import find_project
from fuzzturn.registry import Registry
from fuzzturn.rubric_file import load_rubric

ROOT = Path(__file__).parent.parent
CASES = int(os.environ.get("FUZZTURN_CASES", "300"))
SCENARIOS = sorted([*ROOT.glob("scenarios/*/*.yaml"), *ROOT.glob("examples/*.yaml")])
ENTRIES = sorted(ROOT.glob("corpus/*/*.yaml"))
RUBRICS = sorted(f for f in ROOT.glob("rubrics/*.json"))
_PIECES = (
    "'", '"', "{", "}", "[", "]", ":", ": ", ",", "#", "-", "- ", "&a", "*a", "!!int ", "|", ">", "\t", "\n", "\\", "?",
    "%", "@", "no", "~", "1e999", "450", "-1", "true", "null", "x-y: ", "<<: ", "---\n", "...\n", "\u2028", "\ufeff",
    "\x00", "ä", "\U0001f600", "{x}", "{leg_ceiling}", "(", "[a", "1_000", "2026-02-30", "''", '""', "9" * 500,
)  # fmt: skip
Damage = Callable[[random.Random, list[str]], None]


def _line(dice: random.Random, lines: list[str]) -> int:
    return dice.randrange(len(lines))


def _delete(dice: random.Random, lines: list[str]) -> None:
    at = _line(dice, lines)
    del lines[at : at + dice.choice((1, 1, 1, 2, 5))]


def _double(dice: random.Random, lines: list[str]) -> None:
    at = _line(dice, lines)
    lines.insert(_line(dice, lines) if dice.random() < 0.3 else at, lines[at])


def _swap(dice: random.Random, lines: list[str]) -> None:
    one, other = _line(dice, lines), _line(dice, lines)
    lines[one], lines[other] = lines[other], lines[one]


def _indent(dice: random.Random, lines: list[str]) -> None:
    at = _line(dice, lines)
    lines[at] = dice.choice(("\t", " ", "  ", "    ", "")) + lines[at].lstrip(" ")


def _retype(dice: random.Random, lines: list[str]) -> None:
    at = _line(dice, lines)
    key, colon, _ = lines[at].partition(":")
    lines[at] = f"{key}{colon} {dice.choice(_PIECES)}" if colon else dice.choice(_PIECES)


def _unquote(dice: random.Random, lines: list[str]) -> None:
    at = _line(dice, lines)
    lines[at] = lines[at].replace(dice.choice("'\"{}[],"), "", dice.choice((1, -1)))


def _insert(dice: random.Random, lines: list[str]) -> None:
    at = _line(dice, lines)
    column = dice.randint(0, len(lines[at]))
    lines[at] = lines[at][:column] + dice.choice(_PIECES) + lines[at][column + dice.choice((0, 0, 1, 3)) :]


def _cut(dice: random.Random, lines: list[str]) -> None:
    at = _line(dice, lines)
    lines[at] = lines[at][: dice.randint(0, len(lines[at]))]
    if dice.random() < 0.3:
        del lines[at + 1 :]


_DAMAGES: tuple[Damage, ...] = (_delete, _double, _swap, _indent, _retype, _unquote, _insert, _cut)


def damaged(content: bytes, dice: random.Random) -> bytes:
    """The content with one to four mistakes; now and then with bytes that are no text."""
    lines = content.decode("utf-8").splitlines()
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        if lines:
            dice.choice(_DAMAGES)(dice, lines)
    changed = bytearray("\n".join(lines).encode())
    if changed and dice.random() < 0.1:
        at = dice.randrange(len(changed))
        changed[at : at + dice.choice((0, 1, 4))] = dice.randbytes(dice.choice((1, 2)))
    return bytes(changed)


@cache
def _registry() -> Registry:
    return find_project(ROOT).load_scenarios_content()


def _checked(file: Path) -> list[Problem]:
    checked = check_scenario(file, _registry())
    return [*checked.errors, *checked.warnings]


def _read(read: Callable[[Path], object]) -> Callable[[Path], list[Problem]]:
    def problems(file: Path) -> list[Problem]:
        try:
            read(file)
        except InputError as error:
            return list(error.problems)
        return []

    return problems


def _is_well_said(problem: Problem) -> bool:
    """At a place, and in our words: not pydantic's, not a piece of Python."""
    said = str(problem)
    return bool(problem.what) and not any(word in said for word in ("Input should", "validation error", "<class"))


def _play(originals: list[Path], folder: Path, problems_of: Callable[[Path], list[Problem]]) -> tuple[int, list[str]]:
    """How many of the cases were refused, and what was said badly."""
    refused, badly = 0, []
    for seed in range(CASES):
        dice = random.Random(seed)
        original = originals[seed % len(originals)]
        file = folder / original.name
        file.write_bytes(damaged(original.read_bytes(), dice))
        try:
            problems = problems_of(file)
        except Exception as error:
            error.add_note(f"case {seed}: {original.name}")
            raise
        refused += bool(problems)
        badly += [f"case {seed}: {problem}" for problem in problems if not _is_well_said(problem)]
    return refused, badly


@pytest.mark.parametrize(
    ("originals", "problems_of"),
    [(SCENARIOS, _checked), (ENTRIES, _read(load_entry)), (RUBRICS, _read(load_rubric))],
    ids=["scenarios", "corpus", "rubrics"],
)
def test_a_damaged_file_gives_problems_and_nothing_else(
    originals: list[Path], problems_of: Callable[[Path], list[Problem]], tmp_path: Path
) -> None:
    refused, badly = _play(originals, tmp_path, problems_of)
    assert badly == []
    assert refused > CASES / 4  # else the damage would be no damage
