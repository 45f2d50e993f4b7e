"""Agent: a SIMULATED travel agent, a loop of model calls over a message list that compaction may shorten.

No model is behind it. Each "model call" is `deciding.decide`, a pure function of that call's messages; between calls
the agent holds the message list and a counter for call ids, and nothing else. So whatever it forgets, it forgets
because compaction took it, which is the failure this stand-in exists to show.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from fuzzturn.compaction import OPTION_NAMES, Policy, cuts, is_summary, policy, spoil, spoils
from fuzzturn.errors import InputError, Problem, closest
from fuzzturn.ports import Environment, Reply
from fuzzturn.scenario import Disturbance
from fuzzturn.session import Chat, Event, Message, ModelCall, ToolCall

from .deciding import Call, Say, decide
from .standing import TIMED_OUT
from .terms import said_now

__all__ = ["MODEL_CALLS_MAX", "OrbitAgent", "Snapshot", "build"]

MODEL_CALLS_MAX = 12
"""Model calls in one turn before the agent gives up, in words."""

_GIVING_UP = "I could not finish that in one go; please ask again."


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything the agent remembers. The messages are kept as JSON, which nothing can change from outside."""

    messages: str
    calls: int


class OrbitAgent:
    """One session of the simulated agent. `now` is what it reads the time from, None where there is no clock."""

    def __init__(
        self,
        environment: Environment,
        *,
        system: str | None,
        compact: Policy,
        identity: str,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        self._environment = environment
        self._system: tuple[Chat, ...] = ({"role": "system", "content": system},) if system else ()
        self._compact = compact
        self._now = now
        self._messages: tuple[Chat, ...] = ()
        self._calls = 0
        self._disturbed: tuple[Disturbance, ...] = ()
        self.identity = identity

    def disturb(self, disturbances: Sequence[Disturbance]) -> None:
        """Let these befall the next reply: it compacts below its threshold too, or its next summary is spoilt."""
        self._disturbed = tuple(disturbances)

    async def reply(self, message: str) -> Reply:
        """Handle one user message. Compaction is considered before every model call, so also within the turn."""
        self._messages += ({"role": "user", "content": message},)
        befalls, self._disturbed = self._disturbed, ()
        cut, faults = cuts(befalls, within=False), spoils(befalls)
        events: list[Event] = []
        for call in range(MODEL_CALLS_MAX):
            summarised = self._compact_where_due(events, cut, faults)
            faults = () if summarised else faults
            context = self._context()
            events.append(ModelCall(context))
            action = decide(_readable(context))
            if isinstance(action, Say):
                return self._final(events, action.text)
            events += await self._run(action.calls)
            cut = call == 0 and cuts(befalls, within=True)
        return self._final(events, _GIVING_UP)

    def snapshot(self) -> Snapshot:
        """The state between two turns."""
        return Snapshot(json.dumps(self._messages), self._calls)

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot of an agent that was built with the same options."""
        self._messages = tuple(json.loads(snapshot.messages))
        self._calls = snapshot.calls

    def _compact_where_due(self, events: list[Event], cut: bool, faults: Sequence[Disturbance]) -> bool:
        """Compact where the policy says so, or has to. Whether a summary was made, one refused as too long included."""
        plan = (self._compact.forced if cut else self._compact).plan(self._messages)
        if plan is None:
            return False
        summary = spoil(self._compact.summarise(plan.reads), faults, plan.reads) if plan.reads else None
        compacted = plan.finish(summary)
        self._messages = compacted.messages
        event = compacted.event()
        events += [] if event is None else [event]
        return summary is not None

    def _context(self) -> tuple[Chat, ...]:
        """What a model call sees; where there is a clock, the time is told just before the newest turn."""
        if self._now is None:
            return (*self._system, *self._messages)
        turns = (i for i, m in enumerate(self._messages) if m.get("role") == "user" and not is_summary(m))
        newest = max(turns, default=0)
        time = {"role": "system", "content": said_now(self._now())}
        return (*self._system, *self._messages[:newest], time, *self._messages[newest:])

    def _final(self, events: list[Event], text: str) -> Reply:
        self._messages += ({"role": "assistant", "content": text},)
        return Reply(events=[*events, Message(text)])

    async def _run(self, calls: Sequence[Call]) -> list[ToolCall]:
        done = [await self._call(call) for call in calls]
        asked = [_as_chat(call) for call in done]
        results = [{"role": "tool", "tool_call_id": call.id, "content": _content(call)} for call in done]
        self._messages += ({"role": "assistant", "content": "", "tool_calls": asked}, *results)
        return done

    async def _call(self, call: Call) -> ToolCall:
        self._calls += 1
        id = f"c{self._calls}"
        try:
            result = self._environment.call(call.name, **call.args)
            result = await result if inspect.isawaitable(result) else result
        except TimeoutError as error:  # it may have been carried out all the same
            told = str(error) or "no answer"
            return ToolCall(call.name, call.args, {"error": told, TIMED_OUT: True}, error=told, id=id)
        except (ValueError, OSError, RuntimeError) as error:  # a tool's refusal or failure is news, not the end
            return ToolCall(call.name, call.args, error=str(error) or type(error).__name__, id=id)
        return ToolCall(call.name, call.args, result, id=id)


def build(
    environment: Environment,
    *,
    seed: int = 0,  # noqa: ARG001 - every build is offered one; nothing is drawn here, so every seed is the same agent
    system: str | None = None,
    now: Callable[[], datetime] | None = None,
    compaction: str = "summary_keep_recent",
    **options: object,
) -> OrbitAgent:
    """A fresh SIMULATED agent.

    compaction: the name of a policy of `fuzzturn.compaction`. options: those of that policy, by name, as values or as
    the texts of a command line; for the default, threshold (900 tokens) and keep (4 messages) and more. Raises
    InputError for what cannot be used.
    """
    unknown = [option for option in options if option not in OPTION_NAMES]
    if unknown:
        accepted = ("compaction", *OPTION_NAMES)
        raise InputError(
            Problem(what=f"agent orbit takes no option {option!r}", accepted=closest(option, accepted))
            for option in unknown
        )
    compact = policy(compaction, **options)
    identity = f"orbit 1 (simulated, by rule; compaction={compact.identity})"
    return OrbitAgent(environment, system=system, compact=compact, identity=identity, now=now)


@lru_cache(maxsize=4096)
def _as_json(content: str) -> str:
    try:
        json.loads(content)
    except ValueError:
        return json.dumps(content)
    return content


def _readable(context: Sequence[Chat]) -> Sequence[Chat]:
    """The same context for rules that read tool results as JSON: what a policy wrote in the place of one is a text."""
    return [
        {**message, "content": _as_json(message["content"])} if message.get("role") == "tool" else message
        for message in context
    ]


def _as_chat(call: ToolCall) -> Chat:
    arguments = json.dumps(call.args, separators=(",", ":"), ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _content(call: ToolCall) -> str:
    result: Any = call.result if call.result is not None or call.error is None else {"error": call.error}
    return json.dumps(result, separators=(",", ":"), ensure_ascii=False)
