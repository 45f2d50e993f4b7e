"""Session: what was said and done, turn by turn. Pure data; turns are counted from 1.

A turn is one user message and everything the assistant does until it hands back. Nothing here is ever
guessed: what an agent does not tell is None.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fuzzturn.errors import PortError

__all__ = [
    "Chat", "Commitment", "Compaction", "Event", "Message", "ModelCall", "Session", "ToolCall", "Turn",
    "copied", "in_common", "remembering",
]  # fmt: skip

Chat: TypeAlias = Mapping[str, Any]
"""One chat message as a model sees it: {"role", "content", …}, OpenAI style."""


@dataclass(frozen=True, slots=True)
class Message:
    """Text that the assistant says to the user."""

    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise PortError(f"a message's text is {self.text!r}; it is a text")


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of the agent's model. `context` is the exact message list that call saw; None = unknown.

    The messages are copied, so that an agent may hand over the list it goes on working with.
    """

    context: Sequence[Chat] | None = None
    usage: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()
    """What had to be mended in the answer, or could not be told of it; for people."""
    recorded: bool | None = field(default=None, compare=False)
    """True = answered from the record of model calls, so free; False = made now; None = not known to the harness."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "context", _seen(self.context))


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call with what came back. `error` is the tool's failure as text, None where it worked."""

    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None
    error: str | None = None
    id: str | None = None

    def copied(self) -> ToolCall:
        """The same call, out of reach of whoever goes on using its arguments or result."""
        return ToolCall(self.name, copied(self.args), copied(self.result), self.error, self.id)


@dataclass(frozen=True, slots=True)
class Compaction:
    """Older messages were replaced by less. Every field that is None is unknown.

    `before` and `after` are the context's size in tokens; `dropped` are the messages that left it;
    `summariser_input` are the messages the summariser really read, () = it was not called.
    """

    policy: str | None = None
    before: int | None = None
    after: int | None = None
    dropped: Sequence[Chat] | None = None
    summary: str | None = None
    summariser_input: Sequence[Chat] | None = None

    def __post_init__(self) -> None:
        for name in ("before", "after"):
            size = getattr(self, name)
            if size is not None and type(size) is not int:
                raise PortError(
                    f"a compaction's {name!r} is {size!r}; it is a whole number of tokens, or None = unknown"
                )
        object.__setattr__(self, "dropped", _copied(self.dropped))
        object.__setattr__(self, "summariser_input", _copied(self.summariser_input))


_LAST: ContextVar[list[tuple[Chat, ...]] | None] = ContextVar("_LAST", default=None)


class remembering:
    """Contexts told of in here share the messages that they have in common with the one before; `last` holds that.

    A model call sees nearly all that the call before it saw. Copied each time, a session's cost and memory would grow
    with the square of its length.
    """

    __slots__ = ("_last", "_token")
    _token: Token[list[tuple[Chat, ...]] | None]

    def __init__(self, last: list[tuple[Chat, ...]]) -> None:
        self._last = last

    def __enter__(self) -> None:
        self._token = _LAST.set(self._last)

    def __exit__(self, *_: object) -> None:
        _LAST.reset(self._token)


def _seen(context: Sequence[Chat] | None) -> tuple[Chat, ...] | None:
    """A copy of the context, as far as it is not known already."""
    last = _LAST.get()
    if context is None or last is None:
        return _copied(context)
    given, known = tuple(context), last[0]
    same = in_common(known, given)
    last[0] = (*known[:same], *(_copied(given[same:], same) or ()))
    return last[0]


def _copied(messages: Sequence[Chat] | None, first: int = 0) -> tuple[Chat, ...] | None:
    if messages is None:
        return None
    copies: list[Chat] = []
    for message in messages:
        if type(message) is not dict and not isinstance(message, Mapping):
            at = first + len(copies) + 1
            raise PortError(f"a context holds chat messages ({{'role': …, 'content': …}}); entry {at} is {message!r}")
        copies.append(_dict_copied(message))
    return tuple(copies)


def _dict_copied(data: Mapping[Any, Any]) -> dict[Any, Any]:
    """Most messages and arguments hold texts and numbers only, and a context is copied at every model call."""
    twin = dict(data)
    for key, value in twin.items():
        if type(value) not in _UNCHANGING:
            twin[key] = copied(value)
    return twin


def copied(value: Any) -> Any:
    """A copy that later changes of `value` do not reach. For JSON-like data several times cheaper than deepcopy."""
    kind = type(value)
    if kind in _UNCHANGING:
        return value
    if kind is dict:
        return _dict_copied(value)
    if kind is list:
        return [copied(item) for item in value]
    return copy.deepcopy(value)


def in_common(one: Sequence[Chat], other: Sequence[Chat]) -> int:
    """How many leading messages two contexts share."""
    most = min(len(one), len(other))
    if one[:most] == other[:most]:  # nearly always one goes on where the other ends
        return most
    return next((i for i in range(most) if one[i] != other[i]), most)


_UNCHANGING = frozenset({str, int, float, bool, type(None)})


Event: TypeAlias = Message | ModelCall | ToolCall | Compaction


@dataclass(frozen=True, slots=True)
class Commitment:
    """Something the assistant promised in `turn`, in its own words, found by the rule named `rule`."""

    turn: int
    text: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn as it happened."""

    n: int
    """Counted from 1 over all turns of the session, inserted and automatic ones included."""
    id: str
    """The script's turn id; inserted and automatic turns carry an id of their own."""
    user: str
    events: tuple[Event, ...] = ()
    """In the order in which they happened."""
    state: Mapping[str, Any] = field(default_factory=dict)
    """What the environment showed after the turn."""
    time: str | None = None
    """What the session's clock showed in the turn; None = the scenario has no clock."""
    auto: bool = False
    """True where the scripted user answered a question of the agent's."""
    error: str | None = None
    """What the agent raised, as text; the session ends there. None = nothing."""
    text: str = field(init=False, repr=False, compare=False)
    """All that the assistant said in this turn."""
    tool_calls: tuple[ToolCall, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """What the checks of this turn and of every later one read again and again is gathered once."""
        said = [event.text for event in self.events if isinstance(event, Message)]
        object.__setattr__(self, "text", "\n".join(said))
        object.__setattr__(self, "tool_calls", tuple([event for event in self.events if isinstance(event, ToolCall)]))

    def copied(self) -> Turn:
        """The same turn, its tool calls out of reach of whoever changes those."""
        if not self.tool_calls:
            return self
        events = tuple([event.copied() if isinstance(event, ToolCall) else event for event in self.events])
        return Turn(
            n=self.n, id=self.id, user=self.user, events=events, state=self.state, time=self.time, auto=self.auto,
            error=self.error,
        )  # fmt: skip

    def seen_by(self, call: int | None) -> Sequence[Chat] | None:
        """The context of the model call that issued tool call number `call` (from 0); None = the turn's last one.

        Returns None where the agent does not tell.
        """
        seen: Sequence[Chat] | None = None
        count = -1
        for event in self.events:
            if isinstance(event, ModelCall):
                seen = event.context
            elif isinstance(event, ToolCall):
                count += 1
                if count == call:
                    break
        return seen

    @property
    def model_calls(self) -> tuple[ModelCall, ...]:
        return tuple(event for event in self.events if isinstance(event, ModelCall))

    @property
    def compactions(self) -> tuple[Compaction, ...]:
        return tuple(event for event in self.events if isinstance(event, Compaction))


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One variant spoken to one agent."""

    scenario: str
    turns: tuple[Turn, ...]
    initial_state: Mapping[str, Any] = field(default_factory=dict)
    """What the environment showed before the first turn."""
    off_script_at: int | None = None
    """The first turn that ended in a question which the script has no answer for; None = there was none."""

    @property
    def off_script(self) -> bool:
        """The agent asked something that the script has no answer for."""
        return self.off_script_at is not None

    @property
    def error(self) -> str | None:
        """What the agent raised, or None. Only the last turn can carry one."""
        return self.turns[-1].error if self.turns else None

    def state_before(self, n: int) -> Mapping[str, Any]:
        """The environment's state just before turn `n`."""
        return self.turns[n - 2].state if n > 1 else self.initial_state
