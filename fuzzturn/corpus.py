"""Corpus: one shrunk finding as one YAML file that replays without Hypothesis, strategies or the scenario file.

An entry holds a complete scenario whose turns are the turns as spoken, the rubric's text, and what was seen. It names
no code: the environment and the checks are registered names, agent and judge are fingerprints. No times, no host
names, a fixed key order: a file changes only when what it says changes. A file edited by hand is held against itself:
what it says was broken has to be something that its own scenario has, or a replay would find nothing and call it fixed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

from pydantic import AfterValidator, Field, StringConstraints, ValidationError

from fuzzturn.document import Document, complaints, dump, load, prune
from fuzzturn.document.place import in_file_order
from fuzzturn.errors import InputError, Problem, closest
from fuzzturn.finding import Kind, Pinned, scripted_turn
from fuzzturn.redaction import NOTHING, Redaction
from fuzzturn.registry import Registry
from fuzzturn.rubric import ANCHORS, Rubric
from fuzzturn.scenario import Assertion, Id, Part, Scenario
from fuzzturn.scenario_file import parse_scenario
from fuzzturn.scores import Breach, JudgeContext, Visibility

__all__ = [
    "Entry", "FingerprintNote", "Note", "Provenance", "RateNote", "as_kept", "entry_path", "load_entry", "pieces_of",
    "save_entry",
]  # fmt: skip

_FINDING = r"^[0-9a-f]{8}$"
_PATTERNS = {
    _FINDING: "8 hexadecimal digits, in quotes",
    get_args(Id)[1].pattern: "a name of letters, digits and _ . : @ # - that begins with a letter",
}
_PROBLEMS: tuple[str, ...] = get_args(get_type_hints(Breach)["problem"])
_LONE = re.compile("[\ud800-\udfff]")
_AN_ENTRY = "`fuzzturn run` and `fuzzturn fuzz` take scenarios; the latter writes entries to corpus/"


def _as_read(value: Any) -> Any:
    """Lists as tuples, as a file reads back: an entry is equal to what its file says."""
    if isinstance(value, Mapping):
        return {key: _as_read(item) for key, item in value.items()}
    return tuple(_as_read(item) for item in value) if isinstance(value, list | tuple) else value


Data = Annotated[Mapping[str, Any], AfterValidator(_as_read)]


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

    scenario: Id
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
    finding: Annotated[str, StringConstraints(pattern=_FINDING)]
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
    rubric_digest: str | None = None
    """sha256 of the rubric when the entry was written; None = an entry of before digests were kept."""
    scenario: Data
    records: tuple[Data, ...] = ()
    """The four signals of each turn, as seen in the fresh run."""
    replaced_characters: int | None = None
    """How many lone surrogates, which no UTF-8 file can hold, stand in this file as U+FFFD; None = none."""

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
            turn=scripted_turn(self.turn_id) if self.kind == "assertion" else None,
        )


def entry_path(entry: Entry, folder: Path) -> Path:
    """Where an entry goes: `<folder>/<scenario>/<finding>.yaml`."""
    return folder / entry.provenance.scenario / f"{entry.finding}.yaml"


def save_entry(entry: Entry, folder: Path, *, beside: bool = False, redaction: Redaction = NOTHING) -> Path:
    """Write the entry at its path, replacing one of the same id; or `beside` that one. Raises InputError.

    What the redaction takes out of what was said is taken out everywhere in the entry, so that it fits together still.
    """
    path = entry_path(entry, folder)
    if beside:
        path = path.with_stem(f"{path.stem}-again")
    text = dump(redaction.data(_to_data(entry)))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(Problem(file=str(path), what=f"cannot be written: {error.strerror}")) from error
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
        problems += complaints(error, Entry, document, _PATTERNS)
        raise InputError(in_file_order(problems)) from None
    if problems:
        raise InputError(problems)
    spoken = parse_scenario(document.part("scenario"), spoken_turns=True)  # with places, so that its problems have them
    if problems := [*_about_the_rubric(document, entry), *_about_what_broke(document, entry, spoken)]:
        raise InputError(in_file_order(problems))
    return entry


def _about_the_rubric(document: Document, entry: Entry) -> Iterator[Problem]:
    """Scores under another text are scores of something else."""
    if sorted(entry.rubric.scale) != list(ANCHORS):
        what = f"'scale' has the anchors {', '.join(entry.rubric.scale) or 'none'}"
        yield document.problem(("rubric", "scale"), what, f"exactly {', '.join(ANCHORS)}")
    if entry.rubric_digest not in (None, entry.rubric.digest):
        what = f"the rubric was edited by hand: its digest is {entry.rubric.digest}, written was {entry.rubric_digest}"
        accepted = "undo the edit; a changed rubric has another id, and scores of its own"
        yield document.problem(("rubric",), what, accepted, key=True)


def _about_what_broke(document: Document, entry: Entry, spoken: Scenario) -> Iterator[Problem]:
    """Constraint, milestone, checker and turn are the scenario's, as the kind of the finding has them."""
    if entry.kind in ("blind_spot", "violation"):
        yield from _broken_constraint(document, entry, spoken)
    elif entry.constraint is not None:
        yield document.problem(("constraint",), f"a finding of kind {entry.kind} has no constraint", "leave it out")
    if entry.kind == "progress":
        known = [milestone.id for milestone in spoken.goal.milestones]
        yield from _named(document, "milestone", "milestone", entry.milestone, known)
        yield from _named(document, "checker", "progress problem", entry.checker, _PROBLEMS)
    elif entry.milestone is not None:
        yield document.problem(("milestone",), f"a finding of kind {entry.kind} has no milestone", "leave it out")
    turns = [line.id for line in spoken.turns]
    if not (spoken.answers and re.fullmatch("auto[1-9][0-9]*", entry.turn_id)):  # said in answer to the agent
        yield from _named(document, "turn_id", "turn", entry.turn_id, turns)
    if entry.kind == "assertion" and entry.turn_id in turns:
        asked = [name for a in spoken.assertions if a.turn == entry.turn_id for name in _expectations(a)]
        yield from _named(document, "checker", f"expectation of turn {entry.turn_id!r}", entry.checker, asked)


def _broken_constraint(document: Document, entry: Entry, spoken: Scenario) -> Iterator[Problem]:
    checkers = {constraint.id: constraint.checker for constraint in spoken.constraints}
    yield from _named(document, "constraint", "constraint", entry.constraint, checkers)
    if (checker := checkers.get(entry.constraint or "")) is not None and checker != entry.checker:
        what = f"{entry.constraint!r} is not checked by {entry.checker!r}"
        yield document.problem(("checker",), what, closest(entry.checker, [checker]))
    if entry.kind == "blind_spot" and entry.judge_context is None:
        yield document.problem((), "'judge_context' is missing", "the context in which the judge was blind")
    elif entry.kind == "violation" and entry.judge_context is not None:
        what = f"a judge blind in {entry.judge_context} makes it a blind_spot, not a violation"
        yield document.problem(("judge_context",), what, "leave it out, or kind: blind_spot", key=True)


def _expectations(assertion: Assertion) -> Iterator[str]:
    """What an assertion asks for, in the words in which `fuzzturn.signals.assertions` says that it does not hold."""
    yield from (f"state_invariants: {name}" for name in assertion.state_invariants)
    yield from ["must_mention_any"] * bool(assertion.must_mention_any)
    yield from (f"must_not_call: {name}" for name in assertion.must_not_call)
    yield from (f"must_call: {call.name}" for call in assertion.must_call)


def _named(document: Document, key: str, kind: str, given: str | None, known: Iterable[str]) -> Iterator[Problem]:
    """A problem where `given` is not among what the entry's own scenario has."""
    names = list(known)
    if given is None:
        yield document.problem((), f"{key!r} is missing", closest("", names))
    elif given not in names:
        yield document.problem((key,), f"the scenario of this entry has no {kind} {given!r}", closest(given, names))


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
    data["rubric_digest"] = entry.rubric_digest or entry.rubric.digest
    found: list[str] = []
    data = _writable(data, found)
    if found:
        data["replaced_characters"] = len(found) + (entry.replaced_characters or 0)
    order = [field.alias or name for name, field in Entry.model_fields.items()]
    return {key: data[key] for key in order if data.get(key) not in ([], {}, None)}


def _writable(value: Any, found: list[str]) -> Any:
    """The same without lone surrogates; what each was is added to `found`."""
    if isinstance(value, str):
        found += _LONE.findall(value)
        return _LONE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_writable(key, found): _writable(item, found) for key, item in value.items()}
    return [_writable(item, found) for item in value] if isinstance(value, list | tuple) else value
