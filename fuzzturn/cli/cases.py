"""Cases: what a campaign or a replay comes to, as the test cases of a JUnit file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzzturn.ci import Case
from fuzzturn.errors import FuzzturnError

if TYPE_CHECKING:
    from fuzzturn.corpus import Entry
    from fuzzturn.outcome import Outcome
    from fuzzturn.replay import Replayed
    from fuzzturn.scenario import Scenario

__all__ = ["broken_case", "campaign_cases", "replay_case", "subject_of", "unplayed_case"]

_BROKEN = {"blind_spot", "violation"}


def campaign_cases(
    outcome: Outcome, records: Sequence[Mapping[str, Any]], blocks: Sequence[str], kinds: Collection[str]
) -> Iterator[Case]:
    """One case a constraint, one for the milestones and one for the assertions, as far as `kinds` were looked for.

    What a finding's <failure> says is its block. A constraint that nothing put to the test did not pass.
    """
    scenario = outcome.base.measured.spoken
    group = f"fuzz.{scenario.scenario}"
    for name, mine in _subjects(scenario, records, kinds).items():
        if mine:
            yield _failure(group, name, mine, blocks)
        else:
            told = _untested(outcome, name)
            yield Case(group=group, name=name, verdict="skipped" if told else "passed", message=told)
    if outcome.agent_errors:
        told = "\n".join(f"{times} x {error}" for error, times in outcome.agent_errors.items())
        first = next(iter(outcome.agent_errors))
        yield Case(group=group, name="agent", verdict="error", kind="agent", message=f"raised {first}", text=told)
    if outcome.undecided:
        told = f"{outcome.undecided} seen once, and neither shown again nor ruled out"
        yield Case(group=group, name="undecided", verdict="error", kind="undecided", message=told)


def unplayed_case(scenario: str) -> Case:
    """A scenario that was asked for and not finished: a cap, an interrupt or an error came first."""
    told = "the campaign ended before this scenario was searched"
    return Case(group=f"fuzz.{scenario}", name="campaign", verdict="error", kind="not played", message=told)


def broken_case(command: str, error: FuzzturnError) -> Case:
    """What ended the command itself."""
    told = str(error)
    return Case(group=command, name="campaign" if command == "fuzz" else "corpus", verdict="error",
                kind=type(error).__name__, message=told.partition("\n")[0], text=told)  # fmt: skip


def replay_case(path: Path, entry: Entry | None, replayed: Replayed, code: int) -> Case:
    """One corpus entry. `code` is what it adds to the exit code: 1 a regression, 3 an error, else 0."""
    name = path.stem
    group = "corpus"
    if entry is not None:
        group, name = f"corpus.{entry.provenance.scenario}", f"{path.stem} {subject_of(entry)}"
    outcome: str = replayed.outcome
    told: dict[str, Any] = {"kind": outcome, "message": replayed.detail.partition("\n")[0], "text": replayed.detail}
    if code:
        told["verdict"] = "failure" if code == 1 else "error"
    elif outcome != "FIXED" and entry is not None and entry.status == "open":
        told["verdict"] = "skipped"  # known, and as bad as it was
    else:
        told = {}
    return Case(group=group, name=name, file=str(path), **told)


def subject_of(entry: Entry) -> str:
    """What an entry is about in a word."""
    return entry.constraint or entry.milestone or entry.turn_id


def _subjects(
    scenario: Scenario, records: Sequence[Mapping[str, Any]], kinds: Collection[str]
) -> dict[str, list[Mapping[str, Any]]]:
    """The cases of one scenario by name, each with the findings that it failed by."""
    names = [constraint.id for constraint in scenario.constraints] if _BROKEN & set(kinds) else []
    names += ["milestones"] * ("progress" in kinds) + ["assertions"] * (
        "assertion" in kinds and bool(scenario.assertions)
    )
    found: dict[str, list[Mapping[str, Any]]] = {name: [] for name in names}
    for record in records:
        where = {"progress": "milestones", "assertion": "assertions"}.get(record["kind"], record["constraint"])
        found.setdefault(where, []).append(record)
    return found


def _untested(outcome: Outcome, name: str) -> str:
    """Why nothing is known of it though nothing was found; "" where it was put to the test."""
    checker = next((c.checker for c in outcome.base.measured.spoken.constraints if c.id == name), None)
    if checker is not None and checker not in outcome.exercised:
        return f"{checker} was never exercised, so {name} was never tested"
    if checker is None and sum(outcome.agent_errors.values()) >= outcome.sessions:
        return "the agent broke in every session"
    return ""


def _failure(group: str, name: str, records: Sequence[Mapping[str, Any]], blocks: Sequence[str]) -> Case:
    first = records[0]
    more = f" (and {len(records) - 1} more)" if len(records) > 1 else ""
    message = f"{first['id']} turn {first['turn']}: {first['detail']}{more}"
    shown = [text.strip() for text in blocks if any(r["id"] in text.partition("\n")[0] for r in records)]
    return Case(group=group, name=name, verdict="failure", kind=first["kind"], message=message,
                text="\n\n".join(shown), file=first["corpus_file"])  # fmt: skip
