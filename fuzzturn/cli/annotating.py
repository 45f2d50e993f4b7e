"""Annotating: findings and regressions where GitHub shows them: at the line of the file, and in the step's summary."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fuzzturn.ci import annotation, append_summary, from_workspace, line_of, summary_table
from fuzzturn.cli.cases import subject_of
from fuzzturn.cli.told import Told
from fuzzturn.errors import FuzzturnError, InputError

if TYPE_CHECKING:
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.corpus import Entry
    from fuzzturn.outcome import Outcome
    from fuzzturn.project import Project
    from fuzzturn.redaction import Redaction
    from fuzzturn.replay import Replayed

__all__ = ["Annotating", "on_github"]

_FOUND = ("finding", "scenario", "kind", "about", "what", "turn", "failed in", "file")
_REPLAYED = ("entry", "status", "outcome", "about", "what", "file")


def on_github() -> bool:
    """Whether a runner of GitHub Actions reads what is said."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


class Annotating(Told):
    """Annotations are said after all else; the runner shows the first ten of a step, the summary has all."""

    def __init__(self, command: str, project: Project, terminal: Terminal, secrets: Redaction) -> None:
        self._project, self._terminal, self._secrets = project, terminal, secrets
        self._files: Mapping[str, Path] = {}
        self._annotations: list[str] = []
        self._rows: list[Sequence[object]] = []
        self._title, self._head = f"fuzzturn {command}", _FOUND if command == "fuzz" else _REPLAYED

    def started(self, files: Mapping[str, Path], about: Mapping[str, Any]) -> None:  # noqa: ARG002 - a hearer is told more than it needs
        self._files = files

    def searched(
        self,
        outcome: Outcome,
        records: Sequence[Mapping[str, Any]],
        blocks: Sequence[str],  # noqa: ARG002 - a hearer is told more than it needs
    ) -> None:
        for found, record in zip(outcome.found, records, strict=True):
            failure, scenario, kept = found.failure, found.scenario.scenario, record["corpus_file"]
            kind, about = failure.kind.replace("_", " "), f"{failure.subject} ({failure.checker})"
            again = f"\nsee it again: fuzzturn replay {kept}" if kept else ""
            told = f"{about}: turn {failure.turn}: {failure.detail}{again}"
            self._annotate(f"{kind.upper()} {found.id}", told, self._files.get(scenario), failure.subject)
            rate = f"{found.failing.k} of {found.failing.n}"
            self._rows.append((found.id, scenario, kind, about, failure.detail, failure.turn, rate, kept or "-"))
        for error in outcome.agent_errors:
            self._at("the agent broke", f"the agent raised {error}", None, None)

    def checked(self, record: Mapping[str, Any]) -> None:
        if record["warning"]:
            self._at("the judge fails its self-check", record["warning"], None, None, level="warning")

    def replayed(self, path: Path, entry: Entry | None, replayed: Replayed, code: int) -> None:
        subject, status = (subject_of(entry), entry.status) if entry else ("-", "-")
        self._rows.append((path.stem, status, replayed.outcome, subject, replayed.detail, path))
        if code:
            name = entry.provenance.scenario if entry else ""
            self._annotate(f"{replayed.outcome} {path.stem}", f"{subject}: {replayed.detail}\n{path}",
                           self._scenario(name) or path, subject)  # fmt: skip

    def broke(self, error: FuzzturnError) -> None:
        for problem in error.problems if isinstance(error, InputError) else ():
            file = Path(problem.file) if problem.file and Path(problem.file).is_file() else None
            told = f"{problem.what}; {problem.accepted}" if problem.accepted else problem.what
            self._at("fuzzturn", told, file, problem.line)
        if not isinstance(error, InputError):
            self._at("fuzzturn", str(error), None, None)

    def ended(self, code: int | None) -> None:  # noqa: ARG002 - a hearer is told more than it needs
        for line in self._annotations:
            self._terminal.say(line)
        if self._rows:
            rows = [[self._secrets.text(str(cell)) for cell in row] for row in self._rows]
            append_summary(summary_table(self._title, self._head, rows), os.environ)

    def _annotate(self, title: str, text: str, file: Path | None, name: str) -> None:
        """At the line of the constraint, milestone or turn called `name`; at the first where the file has none."""
        self._at(title, text, file, None if file is None else line_of(file, name) or 1)

    def _at(
        self, title: str, text: str, file: Path | None, line: int | None, level: Literal["error", "warning"] = "error"
    ) -> None:
        shown = None if file is None else from_workspace(file, os.environ)
        hidden = self._secrets.text(text)  # before it is escaped: a secret with a percent sign would not be known again
        self._annotations.append(annotation(hidden, title=title, file=shown, line=line, level=level))

    def _scenario(self, name: str) -> Path | None:
        """The scenario's file, where the project itself has one: the starter's is in no repository of the user's."""
        return next((path for path in self._project.scenario_paths() if self._project.root and path.stem == name), None)
