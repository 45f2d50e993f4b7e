"""Carrying: the model calls that the replay of a finding needs, put into its entry.

The session is played once more, offline, so on what the record holds: what the gateway then answers is what a replay
needs. It costs no model call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TypeAlias

from fuzzturn.adapters import HOSTED
from fuzzturn.adapters.access import RECORD
from fuzzturn.calls import Answer, Place, Role
from fuzzturn.cli.replaying import benches_of, contexts_of
from fuzzturn.cli.staging import Staging
from fuzzturn.corpus import Entry, calls_beyond, notes_of
from fuzzturn.drive import Meter
from fuzzturn.errors import FuzzturnError, Halted
from fuzzturn.measure import Jury, judged
from fuzzturn.outcome import Finding
from fuzzturn.replay import Replayed, replay
from fuzzturn.report import counted
from fuzzturn.rerun import verdict
from fuzzturn.sampled import ATTEMPTS
from fuzzturn.samples import FRESH
from fuzzturn.trial import Trial

__all__ = ["Carrying", "carrying"]

_Calls: TypeAlias = dict[Place, tuple[Role, Answer]]
_ELSE = f"`replay --offline` needs {RECORD}"


@dataclass(frozen=True, slots=True)
class Carrying:
    """An entry, and in a line what it carries or why it does not; None = no model is asked, as far as is seen here."""

    entry: Entry
    told: str | None = None


@dataclass(slots=True)
class _Noted:
    """What the gateway answered, in which samples."""

    calls: _Calls
    samples: tuple[int, ...] = ()


def carrying(entry: Entry, found: Finding, staging: Staging) -> Carrying:
    """The entry with the model calls that its replay needs, of the finding that it was made of."""
    chosen = staging.chosen
    if not (_through_gateway(staging) or chosen.judge.startswith(HOSTED)):
        return Carrying(entry)
    offline = replace(staging, chosen=replace(chosen, offline=True))
    try:
        with closing(offline.gateway):
            noted = asyncio.run(_noted(entry, found.trial, offline))
        notes = notes_of(noted.calls)
    except FuzzturnError as error:
        return Carrying(entry, f"carries no model calls, {_ELSE}: {error}")
    if (beyond := calls_beyond([note.body for note in notes])) is not None:
        return Carrying(entry, f"carries no model calls, {_ELSE}: {beyond} are more than a file may hold")
    if not notes:
        return Carrying(entry)
    samples = () if noted.samples == (0,) else noted.samples
    told = f"carries the {counted(len(notes), 'model call')} of its replay: `replay --offline` asks no model"
    return Carrying(entry.model_copy(update={"samples": samples, "calls": notes}), told)


async def _noted(entry: Entry, trial: Trial, offline: Staging) -> _Noted:
    if _through_gateway(offline):
        return await _played(entry, offline)
    if entry.failing.n == 1:
        return await _rejudged(entry, trial, offline)
    raise Halted("record", "the runs of this agent are not recorded, only what its judge said of them")


async def _played(entry: Entry, offline: Staging) -> _Noted:
    """The session, played as a replay plays it, in samples that the campaign has played it in."""
    noted, runs, missing, spoken = _Noted({}), list[Replayed](), None, entry.spoken()
    for sample in _samples(entry):
        calls: _Calls = {}
        offline.gateway.noted = calls
        (bench,) = benches_of(offline, entry, spoken, [sample])
        try:
            runs.append(await replay(entry, spoken, bench))
        except Halted as halted:  # the campaign played something else in this sample
            missing = missing or halted
            continue
        noted.calls |= calls
        noted.samples += (sample,)
        if len(runs) == entry.failing.n:
            break
    if missing is not None and len(runs) < entry.failing.n:
        raise missing
    if (told := verdict(entry, runs)).outcome != "FAILING":
        raise Halted("record", f"played on the recorded calls it is {told.outcome}: {told.detail}")
    return noted


def _samples(entry: Entry) -> Iterator[int]:
    """Where the runs may be that its rate was measured by: of an agent that does not repeat itself, fresh samples, the
    first of which were spent on results that turned out to be luck."""
    n = entry.failing.n
    yield from [0] if n == 1 else range(FRESH, FRESH + ATTEMPTS * n)


async def _rejudged(entry: Entry, trial: Trial, offline: Staging) -> _Noted:
    """The session as it was played: its agent is no business of the gateway's, and would be paid once more."""
    calls: _Calls = {}
    offline.gateway.noted = calls
    fresh = tuple(replace(scores, judge={}, seen_by_check={}) for scores in trial.measured.scores)
    jury = Jury(offline.judge, offline.judge_name, entry.rubric, contexts_of(entry), Meter())
    failing = [scores.n for scores in fresh if scores.adherence.failed]
    await judged(replace(trial.measured, scores=fresh), failing, jury)
    return _Noted(calls, (0,))


def _through_gateway(staging: Staging) -> bool:
    """Whether the agent's own model calls are seen here."""
    return staging.chosen.agent.startswith(HOSTED) or staging.chosen.agent == "proxy"
