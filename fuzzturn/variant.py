"""Variant: a scenario plus edits, and the scenario that is spoken once they are applied.

Applying never fails and never asks whether an edit "fits": an edit whose anchor is gone does nothing, dropping a
turn drops what makes no sense without it, and a move goes as far as the partial order allows. So every subset of a
variant's edits is a variant too, which is what lets a reducer work on edits freely.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import MISSING, asdict, dataclass, fields, replace
from functools import cached_property
from itertools import count
from math import inf
from typing import Any, Literal, TypeAlias

from fuzzturn.errors import InputError, Problem
from fuzzturn.scenario import Assertion, Line, Scenario
from fuzzturn.tokens import CHARACTERS_PER_TOKEN, PER_MESSAGE, text_tokens

__all__ = [
    "END", "PAD_TOKENS_MIN", "Drop", "Edit", "Insert", "Move", "Pad", "Variant", "edit_from_json", "edit_to_json",
    "filler", "said_tokens", "spoken_key", "with_tokens",
]  # fmt: skip

END = "$"
"""The anchor behind the last scripted turn; no turn id can be this."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.:#-]*")
PAD_TOKENS_MIN = 12
"""The shortest filler that still reads as a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert:
    """Speak an extra turn just before `anchor`. `mentions`: the reply must mention one of them (an assertion)."""

    operator: str
    anchor: str
    name: str
    """Begins with a letter; letters, digits and _ . : # - follow. The turn's id is made from it."""
    user: str
    mentions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not (_NAME.fullmatch(self.name) and self.user and all(self.mentions)):
            accepted = "a name of letters, digits and _ . : # - that begins with a letter, and texts that are not empty"
            raise InputError(Problem(what=f"operator {self.operator!r} drew {self!r}", accepted=accepted))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pad:
    """Speak a filler turn just before `anchor`.

    `tokens` is the size of the user's message. None = as large as it takes for the context to cross the agent's
    compaction threshold `to` the anchor: "before" it is handled, or only "after" it has begun. The search solves
    that while it plays the session, so no such symbol is ever recorded.
    """

    operator: str
    anchor: str
    tokens: int | None = None
    to: Literal["before", "after"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """Leave the turn out, and with it whatever makes no sense without it."""

    operator: str
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Speak the turn `offset` places later (negative: earlier), as far as the partial order allows.

    Places are those of the script, dropped turns included; the other turns keep their order. Of several moves of one
    turn the last counts.
    """

    operator: str
    anchor: str
    offset: int


Edit: TypeAlias = Insert | Pad | Drop | Move
_KINDS: Mapping[str, type[Edit]] = {"insert": Insert, "pad": Pad, "drop": Drop, "move": Move}


@dataclass(frozen=True)
class Variant:
    """A scenario and the edits drawn for it, in the order drawn."""

    scenario: Scenario
    edits: tuple[Edit, ...] = ()

    @cached_property
    def spoken(self) -> Scenario:
        """The scenario whose turns are the turns as spoken."""
        return self._applied[0]

    @cached_property
    def inserted(self) -> Mapping[str, Insert | Pad]:
        """For each spoken turn that an edit inserted: the edit."""
        return self._applied[1]

    @cached_property
    def _applied(self) -> tuple[Scenario, Mapping[str, Insert | Pad]]:
        return _speak(self.scenario, self.edits)

    @cached_property
    def key(self) -> str:
        """Equal exactly for variants that speak the same turns in the same order."""
        extras = [(n, self.inserted.get(line.id)) for n, line in enumerate(self.spoken.turns)]
        unsolved = [(n, pad.to) for n, pad in extras if isinstance(pad, Pad) and pad.tokens is None]
        return spoken_key(self.spoken, extra=unsolved or None)

    def __repr__(self) -> str:
        """Short, since it stands in every failing test of a user's: which scenario, and what was done to it."""
        return f"<{self.scenario.scenario}{''.join(f' + {_briefly(edit)}' for edit in self.edits)}>"

    def with_edits(self, edits: Iterable[Edit]) -> Variant:
        return Variant(self.scenario, tuple(edits))


def spoken_key(scenario: Scenario, *, extra: object = None) -> str:
    """sha256 over what the turns say and do to the ledger; ids and titles do not count."""
    said = [[line.user, line.states, line.lifts] for line in scenario.turns]
    return hashlib.sha256(json.dumps([scenario.scenario, said, extra]).encode()).hexdigest()


def _briefly(edit: Edit) -> str:
    match edit:
        case Pad(tokens=None):
            return f"pad(to threshold {edit.to} {edit.anchor})"
        case Pad():
            return f"pad({edit.tokens} tokens before {edit.anchor})"
        case Insert():
            return f"{edit.name}(before {edit.anchor})"
        case Drop():
            return f"drop({edit.anchor})"
        case Move():
            return f"move({edit.anchor} by {edit.offset:+d})"


def edit_to_json(edit: Edit) -> dict[str, Any]:
    """A JSON object with `kind`; fields that are None or empty are left out."""
    kind = next(name for name, cls in _KINDS.items() if type(edit) is cls)
    given = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(edit).items() if v is not None and v != ()}
    return {"kind": kind} | given


def edit_from_json(data: Mapping[str, Any]) -> Edit:
    """The inverse of `edit_to_json`. Raises InputError for an unknown kind, an unknown field or a missing one."""
    cls = _KINDS.get(str(data.get("kind")))
    if cls is None:
        raise InputError(f"{dict(data)!r} is not an edit; its kind is one of {', '.join(_KINDS)}")
    given: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items() if k != "kind"}
    known = {field.name: field.default is MISSING for field in fields(cls)}
    if not {name for name, required in known.items() if required} <= given.keys() <= known.keys():
        accepted = ", ".join(name if required else f"{name} (optional)" for name, required in known.items())
        raise InputError(f"{dict(data)!r} is not an edit; the fields of a {data['kind']} are {accepted}")
    return cls(**given)


def _speak(scenario: Scenario, edits: tuple[Edit, ...]) -> tuple[Scenario, Mapping[str, Insert | Pad]]:
    dropped: set[str] = set()
    for edit in edits:
        if isinstance(edit, Drop):
            dropped |= scenario.dependants(edit.anchor)
    # Ordered before anything is dropped, so that leaving a turn out never changes the order of the others: else a
    # smaller session could carry a statement past a turn that the larger one kept it from.
    lines = [line for line in _order(scenario.turns, edits) if line.id not in dropped]
    kept = {line.id for line in lines}
    turns, expected, inserted = _with_inserts(lines, edits, scenario)
    assertions = [a for a in scenario.assertions if a.turn in kept]
    return scenario.model_copy(update={"turns": tuple(turns), "assertions": (*assertions, *expected)}), inserted


def _order(lines: Sequence[Line], edits: tuple[Edit, ...]) -> Sequence[Line]:
    """Kahn's algorithm with the wished place as priority, so that the partial order always holds."""
    # The last move of a turn counts. The sum of two could pass a turn that each alone keeps away from.
    offsets = {edit.anchor: edit.offset for edit in edits if isinstance(edit, Move)}
    if not offsets:
        return lines
    wish = _wishes(lines, offsets)
    waiting = {line.id: {id for id in line.after if id in wish} for line in lines}
    by_id = {line.id: line for line in lines}
    script = {line.id: i for i, line in enumerate(lines)}
    ready = [(wish[id], script[id], id) for id, needs in waiting.items() if not needs]
    heapq.heapify(ready)
    ordered: list[Line] = []
    while ready:
        _, _, id = heapq.heappop(ready)
        ordered.append(by_id[id])
        for other, needs in waiting.items():
            if id in needs:
                needs.remove(id)
                if not needs:
                    heapq.heappush(ready, (wish[other], script[other], other))
    return ordered


def _wishes(lines: Sequence[Line], offsets: Mapping[str, int]) -> dict[str, float]:
    """The place that each turn would take. A move by k passes k neighbours: half a place more is beyond the k-th."""
    wish: dict[str, float] = {line.id: i for i, line in enumerate(lines)}
    last: dict[str, float] = {}  # how far a turn may go later without dragging along one that needs it
    for i in reversed(range(len(lines))):
        line = lines[i]
        if k := offsets.get(line.id, 0):
            wish[line.id] = i + k - 0.5 if k < 0 else max(i, min(i + k + 0.5, last.get(line.id, inf)))
        for id in line.after:
            last[id] = min(last.get(id, inf), wish[line.id])
    return wish


def _with_inserts(
    lines: list[Line], edits: tuple[Edit, ...], scenario: Scenario
) -> tuple[list[Line], list[Assertion], dict[str, Insert | Pad]]:
    """Extra turns go just before their anchors, in the order of the edits, under ids that the scenario has not used."""
    inserted: dict[str, Insert | Pad] = {}
    before: dict[str, list[Line]] = {id: [] for id in (*(line.id for line in lines), END)}
    expected: list[Assertion] = []
    taken = {line.id for line in scenario.turns}
    for edit in edits:
        if not isinstance(edit, Insert | Pad) or edit.anchor not in before:
            continue
        name, place = edit.name if isinstance(edit, Insert) else "pad", "end" if edit.anchor == END else edit.anchor
        id = _free_id(f"{name}@{place}", taken)
        taken.add(id)
        user = edit.user if isinstance(edit, Insert) else filler(edit.tokens or PAD_TOKENS_MIN)
        before[edit.anchor].append(Line(id=id, user=user))
        inserted[id] = edit
        if isinstance(edit, Insert) and edit.mentions:
            expected.append(Assertion(turn=id, must_mention_any=edit.mentions))
    spoken = [line for scripted in lines for line in (*before[scripted.id], scripted)]
    return [*spoken, *before[END]], expected, inserted


def _free_id(stem: str, taken: Set[str]) -> str:
    return next(id for n in count(1) if (id := stem if n == 1 else f"{stem}.{n}") not in taken)


_SMALL_TALK = (
    "Just a thought, nothing to do.",
    "It has been raining since this morning and the whole office smells of wet coats.",
    "A colleague brought pastries, the kind with cinnamon, and they were gone in no time.",
    "Somebody keeps humming the same tune next door, and now it is stuck in my head as well.",
    "The plant by the window looks happier since we moved it closer to the light.",
    "My neighbour told me a long story about a ferry and a lost umbrella, and I still wonder how it ended.",
    "Anyway, the coffee machine works again, which makes everybody a good deal friendlier.",
    "I like afternoons like this, when nothing much happens and the street outside is quiet.",
)


def filler(tokens: int) -> str:
    """Small talk that asks for nothing, of exactly `tokens` tokens (at least PAD_TOKENS_MIN), trailing off in dots."""
    length = (max(tokens, PAD_TOKENS_MIN) - PER_MESSAGE) * CHARACTERS_PER_TOKEN
    words = " ".join(_SMALL_TALK)
    text = ((words + " ") * (length // len(words) + 1))[: length + 1]
    return text[: text.rindex(" ")].ljust(length, ".")


def with_tokens(pad: Pad, tokens: int) -> Pad:
    """The same pad with a concrete size."""
    return replace(pad, tokens=max(tokens, PAD_TOKENS_MIN), to=None)


def said_tokens(scenario: Scenario) -> int:
    """Tokens of all that the user says."""
    return sum(text_tokens(line.user) for line in scenario.turns)
