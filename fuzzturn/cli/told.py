"""Told: who hears what a command does while it does it. As it stands here, nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fuzzturn.corpus import Entry
    from fuzzturn.errors import FuzzturnError
    from fuzzturn.outcome import Outcome
    from fuzzturn.replay import Replayed
    from fuzzturn.trial import Trial

__all__ = ["Told"]


class Told:
    """Every method may be left as it is. They are called in the order in which they stand here."""

    def started(self, files: Mapping[str, Path], about: Mapping[str, Any]) -> None:
        """`files`: of a campaign the scenario files by name, of a replay the entries by file; `about`: its options."""

    def played(self, scenario: str, trial: Trial) -> None:
        """One session of a campaign, in an order that does not depend on workers."""

    def searched(self, outcome: Outcome, records: Sequence[Mapping[str, Any]], blocks: Sequence[str]) -> None:
        """One scenario, with its findings as JSON and as text."""

    def checked(self, record: Mapping[str, Any]) -> None:
        """The self-check of a campaign's judge, as JSON; it is made only where findings rest on what the judge said."""

    def replayed(self, path: Path, entry: Entry | None, replayed: Replayed, code: int) -> None:
        """One corpus entry; `entry` None = it cannot be read; `code` is what it adds to the exit code."""

    def broke(self, error: FuzzturnError) -> None:
        """What ended the command, where it did not end by itself."""

    def ended(self, code: int | None) -> None:
        """The exit code; None = by an error, which `broke` was told of."""
