"""Ports: what users implement. Sync and async both work everywhere a call may wait.

An agent is built once per session by `build(environment, *, …)`, which receives those keywords it names:
seed, session_id, system, now, base_url and the options given on the command line. Optional methods of an agent:

    snapshot() -> object          between turns; unaffected by later mutation
    restore(object)               any number of times, into any fresh instance built with the same options
    settle(timeout)               wait until work in the background is done (seconds)
    aclose()                      end of session
    identity: str                 which model, version, prompt

Optional methods of an environment: snapshot()/restore(), open(session_id, seed), close(). Prefixes of sessions
are reused only where both the agent and the environment offer snapshots.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, get_args, runtime_checkable

from fuzzturn.errors import PortError, blaming
from fuzzturn.registry import tagger
from fuzzturn.rubric import Rubric
from fuzzturn.scores import JudgeContext, Unscored
from fuzzturn.session import Chat, Compaction, Event, Message, ModelCall, ToolCall

__all__ = ["Agent", "Environment", "Judge", "JudgePrompt", "Reply", "Tool", "Verdict", "environment", "identity_of"]

_F = TypeVar("_F", bound=Callable[..., Any])
_EVENTS = (Message, ModelCall, ToolCall, Compaction)


class Reply:
    """What an agent gives back for one user message: the simple case, or `events` in order.

    `context` is what the model saw in the (last) call; None = unknown, never guessed. Tool calls made through
    `environment.call()` are recorded by the harness. An agent that lists them among `events` all the same (same
    name and arguments, in order) tells the harness where they belong; each is still recorded once.
    """

    __slots__ = ("events",)

    def __init__(
        self,
        text: str | None = None,
        tool_calls: Sequence[ToolCall] = (),
        context: Sequence[Chat] | None = None,
        usage: Mapping[str, Any] | None = None,
        *,
        events: Sequence[Event] | None = None,
    ) -> None:
        if events is not None and (text is not None or tool_calls or context is not None or usage is not None):
            raise PortError("Reply takes either events=… or text, tool_calls, context and usage, not both")
        if events is None:
            call = [ModelCall(context, usage)] if context is not None or usage is not None else []
            events = [*call, *tool_calls, *([] if text is None else [Message(text)])]
        for event in events:
            if not isinstance(event, _EVENTS):
                raise PortError(
                    f"Reply was given the event {event!r}; an event is a Message, ModelCall, ToolCall or Compaction"
                )
        self.events: tuple[Event, ...] = tuple(events)

    def __repr__(self) -> str:
        return f"Reply(events={list(self.events)!r})"


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool that an environment offers; `schema` is the JSON schema of its arguments."""

    name: str
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Environment(Protocol):
    """The world that tools act on; one instance per session."""

    @property
    def tools(self) -> Sequence[Tool]:
        """What can be called. May be empty where the agent owns its tools."""
        ...

    def call(self, name: str, /, **args: Any) -> Any:
        """Run a tool. What it raises is the tool's error: recorded, and raised on to the agent."""
        ...

    def observe(self) -> Mapping[str, Any]:
        """The state as JSON-able data."""
        ...


class Agent(Protocol):
    """The system under test."""

    def reply(self, message: str, /) -> Reply | Awaitable[Reply]:
        """Handle one user message. What it raises becomes `Turn.error` and ends the session.

        An exception may carry `events`, a list: what had happened in the turn before it was raised.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePrompt:
    """What a judge is given. `text` is all of it, rendered; the parts are for judges that lay out their own."""

    rubric: Rubric
    goal: str | None
    block: str | None
    history: str
    turn: str
    context: JudgeContext
    text: str
    sample: int = 0
    """Which of several answers to this very text is wanted. One that does not repeat itself draws anew for each."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's answer. `score` 0-4; None = no score, and it stays None.

    `status` says why there is none, and stands beside None only; None = not told. `form` is how the answer was asked
    for, where a judge has several ways. Raises PortError for another status, or for one beside a score.
    """

    score: int | None
    reason: str = ""
    quotes: Sequence[str] = ()
    status: Unscored | None = None
    form: str | None = None

    def __post_init__(self) -> None:
        if self.status is not None and (self.score is not None or self.status not in get_args(Unscored)):
            known = ", ".join(get_args(Unscored))
            raise PortError(f"{self!r}; status is one of {known} beside the score None, else it is None")


class Judge(Protocol):
    """Scores one turn against the anchors. Optional: decide(question, prompt) -> bool | None; identity: str."""

    def score(self, prompt: JudgePrompt, /) -> Verdict | Awaitable[Verdict]: ...


def environment(name: str, *, version: int = 1, owner: str | None = None) -> Callable[[_F], _F]:
    """Tag `make(*, seed: int) -> Environment` as the environment that scenarios call `name`."""
    return tagger("environment", name, version=version, owner=owner)


def identity_of(port: object) -> str | None:
    """What an agent or a judge says of itself: its model, parameters, versions. None = it does not tell.

    Raises PortError where telling it fails.
    """
    with blaming(f"the identity of {type(port).__name__}"):
        identity = getattr(port, "identity", None)
    return identity if isinstance(identity, str) else None
