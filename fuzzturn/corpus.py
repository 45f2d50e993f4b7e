"""Corpus: one shrunk finding as one YAML file that replays without Hypothesis, strategies or the scenario file.

An entry holds a complete scenario whose turns are the turns as spoken, the rubric's text, and what was seen. It names
no code: the environment and the checks are registered names, agent and judge are fingerprints. No times, no host
names, a fixed key order: a file changes only when what it says changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from fuzzturn.document import Document, complaints, dump, load, prune
from fuzzturn.document.place import in_file_order
from fuzzturn.errors import InputError
from fuzzturn.finding import Kind, Pinned
from fuzzturn.registry import Registry
from fuzzturn.rubric import Rubric
from fuzzturn.scenario import Part, Scenario
from fuzzturn.scenario_file import parse_scenario
from fuzzturn.scores import JudgeContext, Visibility

__all__ = [
    "Entry", "FingerprintNote", "Note", "Provenance", "RateNote", "as_kept", "load_entry", "pieces_of",
    "save_entry",
]  # fmt: skip

_AN_ENTRY = "`fuzzturn run` and `fuzzturn fuzz` take scenarios; the latter writes entries to corpus/"


class FingerprintNote(Part):
    """Which agent or judge it was. `name` may be a shipped one; any other comes from the config or the options."""

    name: str
    options: Mapping[str, str] = {}
    identity: str | None = None


class RateNote(Part):
    """`k` of `n` fresh runs failed; Wilson bounds at 95 %."""

    k: int
    n: int
    low: float
    high: float


class Provenance(Part):
    """Where the finding comes from. Sizes are user turns and tokens said by the user."""

    scenario: str
    operators: tuple[str, ...]
    seed: int
    turns_found: int
    tokens_found: int
    turns: int
    tokens: int
    in_base: bool = False


class Note(Part):
    """What explains the failure, see `fuzzturn.why`."""

    mechanism: str
    lost_at: int | None = None
    no_compaction: str
    restated: str
    restated_visibility: Visibility | None = None
    judge: Mapping[str, int | None] = {}


class Entry(Part):
    """One corpus file. `scenario` is kept as the file's data; `spoken` parses it."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    finding: str
    status: Literal["open", "fixed"] = "open"
    kind: Kind
    constraint: str | None = None
    checker: str
    milestone: str | None = None
    turn: int
    turn_id: str
    detail: str
    call: str | None = None
    visibility: Visibility
    judge_context: JudgeContext | None = None
    blind_in: tuple[JudgeContext, ...] = ()
    failing: RateNote
    minimal: bool
    why: Note
    agent: FingerprintNote
    judge: FingerprintNote | None = None
    provenance: Provenance
    pieces: Mapping[str, str] = {}
    """Digest of the file behind every registered name that the entry uses, as "kind name"."""
    rubric: Rubric
    scenario: Mapping[str, Any]
    records: tuple[Mapping[str, Any], ...] = ()
    """The four signals of each turn, as seen in the fresh run."""

    def spoken(self, file: str | None = None) -> Scenario:
        """The scenario to speak. Raises InputError."""
        document = Document(data=dict(self.scenario), file=file, places={}, keys={})
        return parse_scenario(document, spoken_turns=True)

    def pinned(self) -> Pinned:
        """The predicate that a replay checks."""
        return Pinned(
            kind=self.kind,
            checker=self.checker,
            constraint=self.constraint,
            milestone=self.milestone,
            judge_context=self.judge_context,
            turn=self.turn_id.partition("@")[0] if self.kind == "assertion" else None,
        )


def save_entry(entry: Entry, folder: Path) -> Path:
    """Write `<folder>/<scenario>/<finding>.yaml`, replacing an entry of the same id."""
    path = folder / entry.provenance.scenario / f"{entry.finding}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dump(_to_data(entry)), encoding="utf-8")
    return path


def load_entry(path: Path) -> Entry:
    """Read an entry. Raises InputError with every problem at its place, the scenario's included."""
    document = load(path)
    if isinstance(document.data, dict) and "turns" in document.data and "finding" not in document.data:
        at = ("scenario",) if "scenario" in document.data else ()
        raise InputError(document.problem(at, "this is a scenario, not a corpus entry", _AN_ENTRY, key=True))
    data, problems = prune(document, Entry, {})
    try:
        entry = Entry.model_validate(data)
    except ValidationError as error:
        problems += complaints(error, Entry, document, {})
        raise InputError(in_file_order(problems)) from None
    if problems:
        raise InputError(problems)
    parse_scenario(document.part("scenario"), spoken_turns=True)  # with places, so that its problems have them
    return entry


def as_kept(spoken: Scenario) -> Scenario:
    """The scenario of an entry: as spoken, without constraints that no turn of it states."""
    stated = {id for line in spoken.turns for id in line.states}
    kept = [c for c in spoken.constraints if c.id in stated or c.source == "system"]
    ids = {c.id for c in kept}
    kept = [c if c.supersedes in ids else c.model_copy(update={"supersedes": None}) for c in kept]
    turns = [line.model_copy(update={"lifts": tuple(x for x in line.lifts if x in ids)}) for line in spoken.turns]
    return spoken.model_copy(update={"constraints": tuple(kept), "turns": tuple(turns), "interruptions": ()})


def pieces_of(scenario: Scenario, registry: Registry) -> dict[str, str]:
    """Every registered name that replaying the scenario uses, with the digest of its file. Raises UnknownName."""
    return {f"{kind} {name}": registry.get(kind, name).digest() for kind, name in _names(scenario)}


def _names(scenario: Scenario) -> Iterable[tuple[str, str]]:
    names = {("environment", scenario.environment)}
    names |= {("checker", constraint.checker) for constraint in scenario.constraints}
    names |= {("milestone", milestone.check) for milestone in scenario.goal.milestones if milestone.check}
    names |= {("invariant", name) for assertion in scenario.assertions for name in assertion.state_invariants}
    return sorted(names)


def _to_data(entry: Entry) -> dict[str, Any]:
    """The file's data, in the model's order; what is empty or None is left out."""
    data = entry.model_dump(by_alias=True, mode="python", exclude_none=True)
    return {key: value for key, value in data.items() if value not in ((), {}, None)}
