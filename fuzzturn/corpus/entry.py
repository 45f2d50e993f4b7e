"""Entry: one shrunk finding as data, with all that a replay and a review need of it.

It holds a complete scenario whose turns are the turns as spoken, the rubric's text, and what was seen. It names no
code: the environment and the checks are registered names, agent and judge are fingerprints.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints

from fuzzturn.calls import Role
from fuzzturn.document import Document
from fuzzturn.finding import Kind, Pinned, scripted_turn, signature_id
from fuzzturn.rubric import Rubric
from fuzzturn.scenario import Id, Part, Scenario
from fuzzturn.scenario_file import parse_scenario
from fuzzturn.scores import JudgeContext, Visibility

__all__ = ["FINDING", "CallNote", "Entry", "FingerprintNote", "Note", "Past", "Provenance", "RateNote"]

FINDING = r"^[0-9a-f]{8}$"
"""What an id looks like: it is a part of a file's name."""
KEY = r"^[0-9a-f]{64}$"
CONTENT_TYPE = r"^[!-~][ -~]{0,199}$"
"""One line of printable ASCII: it becomes a header."""


def _as_read(value: Any) -> Any:
    """Lists as tuples, as a file reads back: an entry is equal to what its file says."""
    if isinstance(value, Mapping):
        return {key: _as_read(item) for key, item in value.items()}
    return tuple(_as_read(item) for item in value) if isinstance(value, list | tuple) else value


Data = Annotated[Mapping[str, Any], AfterValidator(_as_read)]


Mechanism: TypeAlias = Literal[
    "never_reached_summariser", "lost_by_summariser", "visible_ignored", "stale_version", "unknown"
]
Counterfactual: TypeAlias = Literal["clean", "still fails", "not available"]


RUNS_MAX = 10_000
"""Of one entry."""
Number = Annotated[int, Field(ge=0, le=10**9)]


class FingerprintNote(Part):
    """Which agent or judge it was. `name` may be a shipped one; any other comes from the config or the options."""

    name: str
    options: Mapping[str, str] = {}
    identity: str | None = None


class RateNote(Part):
    """`k` of `n` fresh runs failed; Wilson bounds at 95 %. A replay plays as many, so there is an end to them."""

    k: Annotated[int, Field(ge=0, le=RUNS_MAX)]
    n: Annotated[int, Field(ge=1, le=RUNS_MAX)]
    low: Annotated[float, Field(ge=0, le=1)]
    high: Annotated[float, Field(ge=0, le=1)]


class Provenance(Part):
    """Where the finding comes from. Sizes are user turns and tokens said by the user."""

    scenario: Id
    scenario_digest: str | None = None
    """Of the scenario that was varied, see `pieces.script_digest`; None = an entry of before it was noted."""
    operators: tuple[str, ...]
    seed: int
    turns_found: int
    tokens_found: int
    turns: int
    tokens: int
    in_base: bool = False


class Past(Part):
    """An earlier and longer session of the same finding, which a shorter one replaced. Sizes as in `Provenance`."""

    turns: Annotated[int, Field(ge=1)]
    tokens: Annotated[int, Field(ge=0)]
    seed: int


class Sighting(Part):
    """From which turn on the constraint stood how in what the agent saw."""

    turn: Number
    visibility: Visibility


class Note(Part):
    """What explains the failure, see `fuzzturn.why`."""

    mechanism: Mechanism
    lost_at: int | None = None
    no_compaction: Counterfactual
    restated: Counterfactual
    restated_visibility: Visibility | None = None
    seen: tuple[Sighting, ...] = ()
    judge: Mapping[str, int | None] = {}


class CallNote(Part):
    """An answer of a model that the session was given: the `nth`, from 0, to the request of that key, in one sample."""

    key: Annotated[str, StringConstraints(pattern=KEY)]
    role: Role
    sample: Number
    nth: Number
    status: Annotated[int, Field(ge=100, le=599)] = 200
    content_type: Annotated[str, StringConstraints(pattern=CONTENT_TYPE)] = "application/json"
    body: str
    """As the record has it: whole, redacted, a stream with all of its events."""


class Entry(Part):
    """One corpus file. `scenario` is kept as the file's data; `spoken` parses it."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    fuzzturn: str | None = None
    """The version that wrote it; None = one from before that was noted."""
    finding: Annotated[str, StringConstraints(pattern=FINDING)]
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
    """In how many fresh runs the agent did what is wrong."""
    judged: RateNote | None = None
    """In how many of these runs the judge gave a 4; None = it has no part, or answers alike."""
    minimal: bool
    why: Note
    agent: FingerprintNote
    judge: FingerprintNote | None = None
    provenance: Provenance
    seen: Annotated[int, Field(ge=1, le=10**9)] = 1
    """How many campaigns have found it; not in the file while it is 1."""
    history: tuple[Past, ...] = ()
    """What was kept before, the latest last."""
    pieces: Mapping[str, str] = {}
    """Digest of the file behind every registered name that the entry uses, as "kind name"."""
    rubric: Rubric
    rubric_digest: str | None = None
    """sha256 of the rubric when the entry was written; None = an entry of before digests were kept."""
    scenario: Data
    twin: Data | None = None
    """What the session is held against, as spoken; None = the finding is of another kind than metamorphic."""
    records: tuple[Data, ...] = ()
    """The four signals of each turn, as seen in the fresh run."""
    samples: tuple[Number, ...] = ()
    """In which samples a replay on `calls` plays it, as many as runs; empty = in those from 0 on."""
    calls: tuple[CallNote, ...] = ()
    """The model calls of such a replay; empty = the agent makes none that fuzzturn sees, or too many to carry."""
    replaced_characters: int | None = None
    """How many lone surrogates, which no UTF-8 file can hold, stand in this file as U+FFFD; None = none."""

    def spoken(self, file: str | None = None) -> Scenario:
        """The scenario to speak. Raises InputError."""
        document = Document(data=dict(self.scenario), file=file, places={}, keys={})
        return parse_scenario(document, spoken_turns=True)

    def spoken_twin(self, file: str | None = None) -> Scenario | None:
        """The scenario of the twin, where there is one. Raises InputError."""
        if self.twin is None:
            return None
        document = Document(data=dict(self.twin), file=file, places={}, keys={})
        return parse_scenario(document, spoken_turns=True)

    @property
    def signature(self) -> Mapping[str, Any]:
        """What makes it this finding and no other. It is told from the rest of the entry, whatever `finding` says."""
        return {
            "agent": self.agent.name,
            "scenario": self.provenance.scenario,
            "constraint": self.constraint or self.milestone or scripted_turn(self.turn_id),
            "checker": self.checker,
            "kind": self.kind,
            "judge_context": self.judge_context,
            "mechanism": self.why.mechanism,
            "call": self.call,
        }

    @property
    def signature_id(self) -> str:
        """The finding id that the signature gives."""
        return signature_id(self.signature)

    @property
    def size(self) -> tuple[int, int]:
        """User turns, then tokens said."""
        return self.provenance.turns, self.provenance.tokens

    @property
    def order(self) -> tuple[int, int, int]:
        """Tool faults and forced cuts, then its size: of two sessions of one finding the smaller is kept."""
        turns = [turn for turn in self.scenario.get("turns", ()) if isinstance(turn, Mapping)]
        faults = sum(len(turn.get(key) or ()) for turn in turns for key in ("tool_faults", "disturbances"))
        return faults, *self.size

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
