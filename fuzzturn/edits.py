"""Edits: the closed set of what an operator may do to a scenario, as data.

Each has the name of the operator that drew it and an anchor, the id of a scripted turn (or END). What they do when
they are applied is `variant`'s job.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Any, Literal, TypeAlias

from fuzzturn.errors import InputError, Problem
from fuzzturn.filler import PAD_TOKENS_MIN
from fuzzturn.scenario import Disturbance, ToolFault

__all__ = [
    "END", "Bury", "Disturb", "Drop", "Edit", "InPlace", "Insert", "Move", "Pad", "Tamper", "Word", "briefly",
    "disturbs_the_world", "edit_from_json", "edit_to_json", "lead_id", "preserves", "with_tokens",
]  # fmt: skip

END = "$"
"""The anchor behind the last scripted turn; no turn id can be this."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.:#-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert:
    """Speak an extra turn just before `anchor`. `mentions`: the reply must mention one of them (an assertion).

    What it states must stand in `user` as `{constraint id}`: that is where the statement goes, in the words that are
    in force by then. `reminder`: it is spoken only where all that it states is in force there already. `advance`: the
    session's clock moves so far before it.
    """

    operator: str
    anchor: str
    name: str
    """Begins with a letter; letters, digits and _ . : # - follow. The turn's id is made from it."""
    user: str
    mentions: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    lifts: tuple[str, ...] = ()
    reminder: bool = False
    advance: str | None = None

    def __post_init__(self) -> None:
        said = all(f"{{{id}}}" in self.user for id in self.states)
        if not (_NAME.fullmatch(self.name) and self.user and all(self.mentions) and said):
            accepted = (
                "a name of letters, digits and _ . : # - that begins with a letter, texts that are not empty, and in "
                "the user's words a {constraint id} for each constraint stated"
            )
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """State the constraint in other words: `text` in the place of its statement, in the turn `anchor`, which says it.

    `lead`: a first piece, which an extra turn just before says; then `text` is the second. Of several for one
    constraint the last counts.
    """

    operator: str
    anchor: str
    constraint: str
    text: str
    lead: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bury:
    """Speak so many tokens of filler in the turn's own message, `before` and `after` what it says. The last counts."""

    operator: str
    anchor: str
    before: int = 0
    after: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tamper:
    """Let this befall tool calls of the turn, see `scenario.ToolFault`."""

    operator: str
    anchor: str
    fault: Literal["error", "timeout", "pad", "notice"]
    tool: str | None = None
    text: str = ""
    tokens: int = 0
    times: int = 1

    @property
    def in_script(self) -> ToolFault:
        """The same as a scenario has it."""
        return ToolFault(kind=self.fault, tool=self.tool, text=self.text, tokens=self.tokens, times=self.times)


@dataclass(frozen=True, slots=True, kw_only=True)
class Disturb:
    """Let the agent do this to its own context in the turn, see `scenario.Disturbance`."""

    operator: str
    anchor: str
    fault: str
    text: str = ""
    instead: str = ""

    @property
    def in_script(self) -> Disturbance:
        """The same as a scenario has it."""
        return Disturbance.model_validate({"kind": self.fault, "text": self.text, "instead": self.instead})


InPlace: TypeAlias = Word | Bury | Tamper | Disturb
"""What changes a scripted turn and neither its place nor, but for `lead`, the number of turns."""
Edit: TypeAlias = Insert | Pad | Drop | Move | InPlace
_KINDS: Mapping[str, type[Edit]] = {
    "insert": Insert, "pad": Pad, "drop": Drop, "move": Move, "replace": Word, "bury": Bury,
    "tool_fault": Tamper, "summary_fault": Disturb,
}  # fmt: skip


def lead_id(edit: Word) -> str:
    """The id of the extra turn that says the first piece."""
    return f"lead.{edit.constraint}@{edit.anchor}"


def preserves(edit: Edit) -> bool:
    """Whether a correct agent acts the same with and without the edit: it changes neither what binds nor the world."""
    if isinstance(edit, Insert):
        return not edit.lifts and edit.advance is None and (edit.reminder or not edit.states)
    return not disturbs_the_world(edit)


def disturbs_the_world(edit: Edit) -> bool:
    """Whether tools or summaries fail through it: no agent can be blamed for all that follows from that."""
    return isinstance(edit, Disturb) or (isinstance(edit, Tamper) and edit.fault != "pad")


def with_tokens(pad: Pad, tokens: int) -> Pad:
    """The same pad with a concrete size."""
    return replace(pad, tokens=max(tokens, PAD_TOKENS_MIN), to=None)


def briefly(edit: Edit) -> str:
    """The edit in a few words, for a failing test's output."""
    match edit:
        case Pad(tokens=None):
            return f"pad(to threshold {edit.to} {edit.anchor})"
        case Pad():
            return f"pad({edit.tokens} tokens before {edit.anchor})"
        case Insert():
            return f"{edit.name}(before {edit.anchor})"
        case Move():
            return f"move({edit.anchor} by {edit.offset:+d})"
        case Bury():
            return f"bury({edit.anchor} in {edit.before} and {edit.after} tokens)"
        case Tamper() | Disturb():
            return f"{edit.fault}({edit.anchor})"
        case _:
            return f"{edit.operator if isinstance(edit, Word) else 'drop'}({edit.anchor})"


def edit_to_json(edit: Edit) -> dict[str, Any]:
    """A JSON object with `kind`; fields that have their default value are left out."""
    kind = next(name for name, cls in _KINDS.items() if type(edit) is cls)
    own = asdict(edit)
    given = {f.name: own[f.name] for f in fields(edit) if f.default is MISSING or own[f.name] != f.default}
    return {"kind": kind} | {k: list(v) if isinstance(v, tuple) else v for k, v in given.items()}


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
