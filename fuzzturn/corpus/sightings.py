"""Sightings: what a run found, as corpus files in its folder, and which corpora have counted it.

A run that is added twice counts once. A corpus is known by its way from the run's folder: a run that is brought here
from another machine is new to the corpus that is here.
"""

from __future__ import annotations

import os
from pathlib import Path

from fuzzturn.errors import InputError, Problem

__all__ = ["ENTRIES", "count_in", "counted_in"]

ENTRIES = "entries"
"""In the run's folder: a corpus of what it found, as it was found."""

_FILE = "counted.txt"
"""In the run's folder: a corpus a line."""


def counted_in(run: Path, corpus: Path) -> bool:
    """Whether the run's findings were counted in that corpus."""
    return _way(run, corpus) in _counted(run)


def count_in(run: Path, corpus: Path) -> None:
    """Note that they are. Raises InputError where the run's folder cannot be written to."""
    if counted_in(run, corpus):
        return
    file = run / _FILE
    try:
        with file.open("a", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(f"{_way(run, corpus)}\n")
    except OSError as error:
        raise InputError(Problem(file=str(file), what=f"cannot be written: {error.strerror}")) from error


def _counted(run: Path) -> list[str]:
    file = run / _FILE
    return file.read_text(encoding="utf-8", errors="surrogateescape").splitlines() if file.is_file() else []


def _way(run: Path, corpus: Path) -> str:
    return Path(os.path.relpath(corpus.resolve(), run.resolve())).as_posix()
