"""Telling: what CI is told of a command: a JUnit file, events as they happen, GitHub's annotations."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzzturn.ci import Case, Events, junit
from fuzzturn.cli.annotating import Annotating, on_github
from fuzzturn.cli.cases import broken_case, campaign_cases, replay_case, unplayed_case
from fuzzturn.cli.told import Told
from fuzzturn.errors import FuzzturnError, InputError, Problem

if TYPE_CHECKING:
    from fuzzturn.cli.staging import Staging
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.corpus import Entry
    from fuzzturn.outcome import Outcome
    from fuzzturn.redaction import Redaction
    from fuzzturn.replay import Replayed
    from fuzzturn.trial import Trial

__all__ = ["Outputs", "Several", "telling"]


@dataclass(frozen=True, slots=True)
class Outputs:
    """The files asked for; None = none."""

    junit: Path | None = None
    ndjson: Path | None = None


@contextmanager
def telling(command: str, outputs: Outputs, staging: Staging, terminal: Terminal) -> Iterator[Several]:
    """Everybody who has to be told, until the command ends. An error is told and goes on."""
    with ExitStack() as stack:
        hearers: list[Told] = []
        if outputs.ndjson is not None:
            hearers.append(_Events(command, stack.enter_context(Events(outputs.ndjson, staging.redaction))))
        if outputs.junit is not None:
            hearers.append(_Junit(command, outputs.junit, staging.redaction))
        if on_github():
            hearers.append(Annotating(command, staging.project, terminal, staging.redaction))
        told = Several(hearers)
        try:
            yield told
        except FuzzturnError as error:
            told.broke(error)
            told.ended(None)
            raise
        except BaseException:  # an interrupt, or a fault of ours: what there is to tell is told all the same
            told.ended(None)
            raise


class Several(Told):
    """Tells each of several."""

    def __init__(self, hearers: Sequence[Told]) -> None:
        self._hearers = hearers

    def started(self, files: Mapping[str, Path], about: Mapping[str, Any]) -> None:
        for hearer in self._hearers:
            hearer.started(files, about)

    def played(self, scenario: str, trial: Trial) -> None:
        for hearer in self._hearers:
            hearer.played(scenario, trial)

    def searched(self, outcome: Outcome, records: Sequence[Mapping[str, Any]], blocks: Sequence[str]) -> None:
        for hearer in self._hearers:
            hearer.searched(outcome, records, blocks)

    def checked(self, record: Mapping[str, Any]) -> None:
        for hearer in self._hearers:
            hearer.checked(record)

    def replayed(self, path: Path, entry: Entry | None, replayed: Replayed, code: int) -> None:
        for hearer in self._hearers:
            hearer.replayed(path, entry, replayed, code)

    def broke(self, error: FuzzturnError) -> None:
        for hearer in self._hearers:
            hearer.broke(error)

    def ended(self, code: int | None) -> None:
        for hearer in self._hearers:
            hearer.ended(code)


class _Events(Told):
    def __init__(self, command: str, events: Events) -> None:
        self._command, self._events = command, events
        self._sessions: dict[str, int] = {}

    def started(self, files: Mapping[str, Path], about: Mapping[str, Any]) -> None:
        kind = "scenarios" if self._command == "fuzz" else "entries"
        self._events.tell("started", command=self._command, **{kind: list(files)}, **about)

    def played(self, scenario: str, trial: Trial) -> None:
        n = self._sessions[scenario] = self._sessions.get(scenario, -1) + 1  # 0 = the script as written
        session = trial.measured.session
        failures = [{"kind": f.kind, "about": f.subject, "checker": f.checker, "turn": f.turn} for f in trial.failures]
        told = {"turns": len(session.turns), "failures": failures, "agent_error": session.error}
        self._events.tell("session", scenario=scenario, n=n, **told)

    def searched(
        self,
        outcome: Outcome,
        records: Sequence[Mapping[str, Any]],
        blocks: Sequence[str],  # noqa: ARG002 - a hearer is told more than it needs
    ) -> None:
        for record in records:
            self._events.tell("finding", **record)
        self._events.tell("searched", scenario=outcome.base.measured.spoken.scenario, sessions=outcome.sessions,
                          agent_turns=outcome.spent.agent_turns, judge_calls=outcome.spent.judge_calls,
                          findings=[record["id"] for record in records], undecided=outcome.undecided,
                          dismissed=outcome.dismissed, agent_errors=dict(outcome.agent_errors))  # fmt: skip

    def checked(self, record: Mapping[str, Any]) -> None:
        self._events.tell("self_check", **record)

    def replayed(self, path: Path, entry: Entry | None, replayed: Replayed, code: int) -> None:
        finding, status = (entry.finding, entry.status) if entry else (None, None)
        self._events.tell("replayed", file=str(path), finding=finding, status=status, outcome=replayed.outcome,
                          detail=replayed.detail, now=replayed.now and asdict(replayed.now),
                          changed=list(replayed.changed), code=code)  # fmt: skip

    def broke(self, error: FuzzturnError) -> None:
        self._events.tell("error", kind=type(error).__name__, what=str(error))

    def ended(self, code: int | None) -> None:
        self._events.tell("ended", code=code)


class _Junit(Told):
    def __init__(self, command: str, path: Path, secrets: Redaction) -> None:
        self._command, self._path, self._secrets = command, path, secrets
        self._begun = time.perf_counter()
        self._kinds: Collection[str] = ()
        self._left: dict[str, None] = {}
        """The scenarios that were asked for and are not searched yet, in order."""
        self._cases: list[Case] = []

    def started(self, files: Mapping[str, Path], about: Mapping[str, Any]) -> None:
        self._kinds = about.get("kinds", ())
        self._left = dict.fromkeys(files) if self._command == "fuzz" else {}

    def searched(self, outcome: Outcome, records: Sequence[Mapping[str, Any]], blocks: Sequence[str]) -> None:
        self._left.pop(outcome.base.measured.spoken.scenario, None)
        self._cases += campaign_cases(outcome, records, blocks, self._kinds)

    def replayed(self, path: Path, entry: Entry | None, replayed: Replayed, code: int) -> None:
        self._cases.append(replay_case(path, entry, replayed, code))

    def broke(self, error: FuzzturnError) -> None:
        self._cases.append(broken_case(self._command, error))

    def ended(self, code: int | None) -> None:  # noqa: ARG002 - a hearer is told more than it needs
        cases = [self._hidden(case) for case in (*self._cases, *map(unplayed_case, self._left))]
        text = junit(f"fuzzturn {self._command}", cases, time.perf_counter() - self._begun)
        try:
            self._path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(Problem(file=str(self._path), what=f"cannot be written: {error.strerror}")) from error

    def _hidden(self, case: Case) -> Case:
        """Without secrets; before it becomes XML, in which they would be written otherwise."""
        hide = self._secrets.text
        return replace(case, name=hide(case.name), message=hide(case.message), text=hide(case.text))
