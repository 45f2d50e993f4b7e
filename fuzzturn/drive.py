"""Drive: speak to an agent inside an environment, and record what happens.

A `Cast` says who plays; a `Stage` is one agent with its environment, live, for one session. What an agent raises is
data (`Turn.error`), because a harness that dies with its subject finds nothing.
"""

from __future__ import annotations

import hashlib
import inspect
import uuid
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from fuzzturn.awaited import RAISED, cancelled_by_us, maybe, replied
from fuzzturn.calls import tokens_of
from fuzzturn.clock import told, until
from fuzzturn.errors import FuzzturnError, InputError, PortError, Problem, blaming, closest, origin
from fuzzturn.interleave import interleave
from fuzzturn.ports import Agent, Environment, identity_of
from fuzzturn.prompter import Prompter
from fuzzturn.recorder import Recorder
from fuzzturn.scenario import Line, Scenario
from fuzzturn.session import Chat, Event, ModelCall, Session, Turn, copied, remembering
from fuzzturn.tampering import Tampering

__all__ = ["Cast", "Meter", "Recorder", "Saved", "Stage", "drive", "seed_for"]

SETTLE_SECONDS = 30.0


@dataclass
class Meter:
    """What has been spent so far.

    `agent_turns` counts replies started; restored prefixes cost none, nor do turns all of whose model calls the record
    of calls answered.
    """

    agent_turns: int = 0
    judge_calls: int = 0
    told_tokens: int = 0
    """Tokens of model calls that agents told of and that did not go through the harness's own gateway."""

    def since(self, begun: Meter) -> Meter:
        """What was spent after `begun` was read off."""
        return Meter(
            self.agent_turns - begun.agent_turns,
            self.judge_calls - begun.judge_calls,
            self.told_tokens - begun.told_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """Who plays: how to build the agent and its environment, and from which seed."""

    build: Callable[..., Agent]
    make_environment: Callable[..., Environment]
    name: str
    options: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    sample: int = 0
    private: frozenset[str] = frozenset()
    """Options that no kept file may hold: programs to start and addresses to call."""

    @property
    def told_options(self) -> dict[str, str]:
        """The options that a kept file may hold."""
        return {key: value for key, value in self.options.items() if key not in self.private}


@dataclass(frozen=True, slots=True)
class Saved:
    """A stage between two turns: the agent's snapshot and the environment's."""

    agent: object
    environment: object


def seed_for(seed: int, scenario: str, role: str, sample: int = 0) -> int:
    """sha256(seed, scenario, role, sample) as 63 bits: independent of the variant, so variants can be compared."""
    digest = hashlib.sha256(f"{seed}\x1f{scenario}\x1f{role}\x1f{sample}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


class Stage:
    """One live agent and its environment."""

    def __init__(self, cast: Cast, scenario: Scenario, meter: Meter) -> None:
        self._meter = meter
        self._last: list[tuple[Chat, ...]] = [()]
        self._cast, self._starts = cast, scenario.starts
        self._set_clock(until(scenario.starts, ()))
        environment_seed = seed_for(cast.seed, scenario.scenario, "environment", cast.sample)
        with blaming(f"environment {scenario.environment!r}"):
            self._environment: Any = cast.make_environment(seed=environment_seed)
        self._recorder = Recorder(self._environment)
        # An agent may keep memory under it: two sessions must never share one, not even two of equal seeds.
        self.session_id = f"{scenario.scenario}-{cast.seed}-{cast.sample}-{uuid.uuid4().hex[:12]}"
        if hasattr(self._environment, "open"):
            self._environment.open(session_id=self.session_id, seed=environment_seed)
        self.initial_state = self._observe()
        offers = {
            "seed": seed_for(cast.seed, scenario.scenario, "agent", cast.sample),
            "session_id": self.session_id,
            "sample": cast.sample,
            "system": scenario.system.text if scenario.system else None,
            "now": (lambda: self._now) if scenario.starts else None,
        }
        self._agent: Any = _build(cast, self._recorder, offers)

    @property
    def identity(self) -> str | None:
        """What the agent says of itself, else None."""
        return identity_of(self._agent)

    @property
    def can_snapshot(self) -> bool:
        """Whether sessions can go on from the middle: both agent and environment must offer it."""
        agent, environment = self._agent, self._environment
        saves = hasattr(agent, "snapshot") and hasattr(environment, "snapshot")
        return saves and hasattr(agent, "restore") and hasattr(environment, "restore")

    @property
    def can_disturb(self) -> bool:
        """Whether the agent spoils its own context where a scenario asks for that."""
        return callable(getattr(self._agent, "disturb", None))

    async def speak(self, line: Line, n: int, *, auto: bool = False) -> Turn:
        """Say one user message and record everything until the agent hands back.

        Raises InputError where the turn disturbs an agent that offers no `disturb`.
        """
        if line.advance is not None or line.tool_faults or line.disturbances:
            await self._prepare(line)
        self._meter.agent_turns += 1
        self._recorder.recorded = []
        error: str | None = None
        events: tuple[Event, ...] = ()
        try:
            with remembering(self._last):
                events = (await replied(self._agent, line.user)).events
            if hasattr(self._agent, "settle"):
                await maybe(self._agent.settle(SETTLE_SECONDS))
        except FuzzturnError:
            raise
        except RAISED as raised:
            if cancelled_by_us(raised):
                raise
            events = _told_before(raised)
            file, at = origin(raised)
            error = f"{type(raised).__name__}: {raised} ({Path(file).name}:{at})"
        merged = interleave(events, self._recorder.recorded)
        self._account(merged, error)
        if line.tool_faults:
            self._recorder.tampering = Tampering()
        return Turn(
            n=n, id=line.id, user=line.user, events=merged, state=self._observe(), time=self._time, auto=auto,
            error=error,
        )  # fmt: skip

    async def _prepare(self, line: Line) -> None:
        """Move the clock, and let befall the turn what the scenario says."""
        if self._now is not None and line.advance is not None:
            self._set_clock(until(self._time, [line.advance]))
        self._recorder.tampering = Tampering(line.tool_faults)
        if line.disturbances and not self.can_disturb:
            what = f"turn {line.id!r} disturbs the context of agent {self._cast.name}, which offers no disturb()"
            raise InputError(Problem(what=what, accepted="an agent with disturb(edits), or the scenario without it"))
        if line.disturbances:
            with blaming("disturb()"):
                await maybe(self._agent.disturb(line.disturbances))

    def _account(self, events: Sequence[Event], error: str | None) -> None:
        calls = [event for event in events if isinstance(event, ModelCall)]
        if calls and error is None and all(call.recorded for call in calls):
            self._meter.agent_turns -= 1
        for call in calls:
            if call.recorded is None and call.usage and (told := tokens_of(call.usage)) is not None:
                self._meter.told_tokens += sum(told)

    async def save(self) -> Saved | None:
        """The stage as it stands, or None where it cannot be saved."""
        if not self.can_snapshot:
            return None
        with blaming("snapshot()"):
            return Saved(await maybe(self._agent.snapshot()), await maybe(self._environment.snapshot()))

    async def restore(self, saved: Saved, advances: Sequence[str | None] = ()) -> None:
        """Go on from `saved`, in this fresh instance. The environment stays the object that the agent holds.

        `advances`: how far the clock had moved before each turn until then.
        """
        self._set_clock(until(self._starts, advances))
        with blaming("restore()"):
            await maybe(self._environment.restore(saved.environment))
            await maybe(self._agent.restore(saved.agent))

    async def close(self) -> None:
        """End of session."""
        with blaming("aclose() or close()"):
            if hasattr(self._agent, "aclose"):
                await maybe(self._agent.aclose())
            if hasattr(self._environment, "close"):
                await maybe(self._environment.close())

    def _set_clock(self, now: datetime | None) -> None:
        self._now, self._time = now, told(now)

    def _observe(self) -> Mapping[str, Any]:
        with blaming("environment.observe()"):
            observed = self._environment.observe()
        if not isinstance(observed, Mapping):
            raise PortError(f"environment.observe() returned {observed!r}; it returns a mapping of JSON-able data")
        state: Mapping[str, Any] = copied(dict(observed))
        return state


async def drive(cast: Cast, spoken: Scenario, meter: Meter | None = None) -> Session:
    """Speak a whole scenario to a fresh agent, from the first turn to the last."""
    stage = Stage(cast, spoken, meter or Meter())
    prompter = Prompter(spoken)
    turns: list[Turn] = []
    try:
        while (said := prompter.next(turns[-1] if turns else None)) is not None:
            line, auto = said
            turns.append(await stage.speak(line, len(turns) + 1, auto=auto))
            if turns[-1].error is not None:
                break
    finally:
        await stage.close()
    return Session(
        scenario=spoken.scenario,
        turns=tuple(turns),
        initial_state=stage.initial_state,
        off_script_at=prompter.off_script_at,
    )


def _told_before(raised: BaseException) -> tuple[Event, ...]:
    """What an agent that raised had seen and done in the turn, where it hung that on the exception as `events`."""
    told = getattr(raised, "events", ())
    return tuple(told) if isinstance(told, list | tuple) and all(isinstance(event, Event) for event in told) else ()


_signature = lru_cache(maxsize=64)(inspect.signature)  # every session builds an agent


def _build(cast: Cast, environment: Recorder, offers: Mapping[str, Any]) -> Agent:
    """Build the agent with those keywords it names. Raises InputError for an option that it does not take."""
    looked_up = _signature if isinstance(cast.build, Hashable) else inspect.signature
    parameters = list(looked_up(cast.build).parameters.values())[1:]
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters)
    named = {p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    problems = [
        Problem(what=f"agent {cast.name} takes no option {option!r}", accepted=closest(option, named - offers.keys()))
        for option in cast.options
        if not takes_all and option not in named
    ]
    given = {key: value for key, value in offers.items() if key in named and key not in cast.options}
    missing = [
        p.name for p in parameters if p.default is p.empty and p.name in named - given.keys() - set(cast.options)
    ]
    problems += [
        Problem(what=f"agent {cast.name} requires {name!r}", accepted=f"give it with --agent-option {name}=…")
        for name in missing
    ]
    if problems:
        raise InputError(problems)
    with blaming(f"the build of agent {cast.name}"):
        agent = cast.build(environment, **given, **cast.options)
    if not callable(getattr(agent, "reply", None)):
        raise PortError(
            f"the build of agent {cast.name} returned {agent!r}, which has no reply(message); a build returns an "
            "agent, and a plain function is told by its first parameter: `message` or `messages`"
        )
    return agent
