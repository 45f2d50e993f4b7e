"""Parts: CPU microseconds a turn of each step that a session goes through, beside what agent and environment take."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from fuzzturn.drive import Cast
from fuzzturn.measure import Measured, judged, measure
from fuzzturn.ports import Judge
from fuzzturn.records import Run
from fuzzturn.session import Session
from fuzzturn.variant import Variant

from .plain import Steady
from .stage import SCENARIO, STAGING, bench

__all__ = ["Parts", "least"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """CPU microseconds a turn. `players` is the agent and its environment alone, asked by nobody but a loop."""

    players: float
    played: float
    """Playing through a tree, snapshots of every turn included; the players' own time is in it."""
    signals: float
    records: float
    """Writing sessions.jsonl and scores.jsonl."""
    judge: float
    """The fourth signal at every turn, in window+block, and its records; the judge itself takes no time."""

    @property
    def drive(self) -> float:
        return self.played - self.players

    @property
    def campaign(self) -> float:
        """The harness as a campaign has it: the judge is asked where a checker fails, and here none does."""
        return self.drive + self.signals + self.records

    @property
    def harness(self) -> float:
        return self.campaign + self.judge


def least(cast: Cast, variants: Sequence[Variant], repeats: int) -> Parts:
    """The least that each part took over the repeats: what others do on the machine only ever adds.

    Few sessions and many repeats find a quiet moment even on a busy machine.
    """
    rounds = [asyncio.run(_parts(cast, variants)) for _ in range(repeats)]
    return Parts(**{part: min(getattr(one, part) for one in rounds) for part in Parts.__slots__})


async def _parts(cast: Cast, variants: Sequence[Variant]) -> Parts:
    players = await _timed(lambda: _bare(cast, variants))
    stage = bench(cast, Steady(), workers=1)
    playing, sessions = await _took(lambda: _played(stage.tree.play, variants))
    turns = sum(len(session.turns) for session in sessions)
    signals, measured = await _took(lambda: _measured(variants, sessions))
    judging, scored = await _took(lambda: _judged(measured, Steady()))
    with TemporaryDirectory() as folder:
        writing = await _timed(lambda: _written(Path(folder), variants, measured))
        writing_all = await _timed(lambda: _written(Path(folder), variants, scored))
    per_turn = 1e6 / turns
    return Parts(
        players=players * per_turn,
        played=playing * per_turn,
        signals=signals * per_turn,
        records=writing * per_turn,
        judge=(judging + writing_all - writing) * per_turn,
    )


async def _took(work: Callable[[], Awaitable[T]]) -> tuple[float, T]:
    begun = time.process_time()
    done = await work()
    return time.process_time() - begun, done


async def _timed(work: Callable[[], Awaitable[object]]) -> float:
    return (await _took(work))[0]


async def _bare(cast: Cast, variants: Sequence[Variant]) -> None:
    """The same work by the players, asked by nobody but a loop."""
    for variant in variants:
        environment: Any = cast.make_environment(seed=1)
        agent: Any = cast.build(environment)
        reply = getattr(agent, "act", agent.reply)
        for line in variant.spoken.turns:
            await reply(line.user)
            environment.observe()
            agent.snapshot()
            environment.snapshot()


async def _played(play: Callable[..., Awaitable[Session]], variants: Sequence[Variant]) -> list[Session]:
    return [await play(variant.spoken) for variant in variants]


async def _measured(variants: Sequence[Variant], sessions: Sequence[Session]) -> list[Measured]:
    pairs = zip(variants, sessions, strict=True)
    return [measure(variant.spoken, session, STAGING.registry) for variant, session in pairs]


async def _judged(measured: Sequence[Measured], judge: Judge) -> list[Measured]:
    jury = bench(STAGING.cast(SCENARIO), judge, workers=1).jury
    return [await judged(one, range(1, len(one.scores) + 1), jury) for one in measured]


async def _written(folder: Path, variants: Sequence[Variant], measured: Sequence[Measured]) -> None:
    run = Run.create(folder, "overhead")
    for n, (variant, one) in enumerate(zip(variants, measured, strict=True)):
        run.session(f"s{n}", variant, one, STAGING.registry)
    run.close({})
