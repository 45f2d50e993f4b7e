"""Collected: corpus entries as pytest's items. A fixed one has to pass; an open one is expected to fail.

What became of an entry is found out in setup, so that what cannot be played is pytest's error and not a failure.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fuzzturn.api import located
from fuzzturn.cli.cases import subject_of
from fuzzturn.cli.options import choose
from fuzzturn.cli.replaying import as_recorded, outcome_of
from fuzzturn.cli.staging import Staging, label
from fuzzturn.corpus import Entry, load_entry
from fuzzturn.errors import FuzzturnError, InputError
from fuzzturn.project import Project, find_project
from fuzzturn.replay import Replayed
from fuzzturn.report import Names
from fuzzturn.retold import entry_block

__all__ = ["CorpusEntry", "CorpusFile", "Refused", "StillFails"]

_STAGINGS = pytest.StashKey[dict[Path | None, Staging]]()
_REASON_LONGEST = 100


class Refused(Exception):
    """What keeps an entry from passing; the text is what there is to show."""


class StillFails(Refused):
    """An open entry fails as it did."""


class CorpusFile(pytest.File):
    """A file with one entry."""

    def collect(self) -> Iterator[CorpusEntry]:
        try:
            entry = load_entry(self.path)
        except InputError:  # told when it is its turn: one bad file does not keep the others from being played
            yield CorpusEntry.from_parent(self, name="unreadable")
        else:
            yield CorpusEntry.from_parent(self, name=subject_of(entry), entry=entry)


class CorpusEntry(pytest.Item):
    """One entry, played as `fuzzturn replay` plays it."""

    def __init__(self, *, entry: Entry | None = None, **fixed: Any) -> None:
        super().__init__(**fixed)
        self._entry = entry
        self._replayed: Replayed | None = None
        self.add_marker("fuzzturn")
        self.user_properties.append(("fuzzturn_entry", self.path.stem))
        if entry is None:
            return
        self.extra_keyword_matches |= {entry.provenance.scenario, entry.kind, entry.checker, entry.status}
        if entry.status == "open":
            kind, detail = entry.kind.replace("_", " "), " ".join(entry.detail.split())[:_REASON_LONGEST]
            self.add_marker(pytest.mark.xfail(reason=f"open {kind}: {detail}", raises=StillFails, strict=False))

    def setup(self) -> None:
        try:
            _, replayed = outcome_of(self.path, self._staging(), alone=False)
        except FuzzturnError as error:
            pytest.fail(str(error), pytrace=False)
        self.user_properties.append(("fuzzturn_outcome", replayed.outcome))
        if replayed.outcome == "ERROR" or self._entry is None:
            why = self._staging().redaction.text(replayed.detail)
            pytest.fail(f"{self.path.stem} cannot be played: {why}", pytrace=False)
        self._replayed = replayed

    def runtest(self) -> None:
        entry, replayed = self._entry, self._replayed
        assert entry is not None
        assert replayed is not None
        good = ("FIXED",) if entry.status == "open" else ("FIXED", "RARER")
        if replayed.outcome in good:
            return
        as_known = entry.status == "open" and replayed.outcome in ("FAILING", "RARER")
        raise (StillFails if as_known else Refused)(self._block(entry, replayed))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """A finding's text without a trace, which would only show this file."""
        return str(excinfo.value) if isinstance(excinfo.value, Refused) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, f"{self.path.stem} {self.name}"

    def _staging(self) -> Staging:
        """One for each project, with what pytest's command line says of agent and judge."""
        known = self.config.stash.setdefault(_STAGINGS, {})
        project = find_project(self.path.parent)
        if project.root not in known:
            staging = known[project.root] = Staging(project, choose(self._asked(project), project.config, ()))
            self.config.add_cleanup(staging.gateway.close)
        return known[project.root]

    def _asked(self, project: Project) -> dict[str, Any]:
        agent, judge = (self.config.getoption(f"fuzzturn_{name}") for name in ("agent", "judge"))
        return {
            "agent": agent and located(agent, project),
            "agent_option": self.config.getoption("fuzzturn_agent_option"),
            "judge": judge and located(judge, project),
        }

    def _block(self, entry: Entry, replayed: Replayed) -> str:
        staging = as_recorded(self._staging(), entry)
        names = Names(agent=label(staging.chosen.agent), agent_identity=None, judge=staging.judge_name,
                      rubric=entry.rubric.rubric_id)  # fmt: skip
        here = Path.cwd()
        path = self.path.relative_to(here) if self.path.is_relative_to(here) else self.path
        text = entry_block(entry, replayed, names=names, again=f"fuzzturn replay {path}{staging.agent_words}")
        return staging.redaction.text(text)
