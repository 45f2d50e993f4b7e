"""Campaigns: one agent of this world under the operators of the project, and what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzzturn.campaign import Campaign, campaign_bench
from fuzzturn.drive import Meter
from fuzzturn.finding import Failure, scripted_turn
from fuzzturn.offers import marked
from fuzzturn.outcome import Finding
from fuzzturn.project import find_project
from fuzzturn.registry import Registered
from fuzzturn.search import search
from fuzzturn.trial import Allowance, Bench, Trial
from fuzzturn.variant import Drop

from .planted import Trouble, cast
from .script import ROOM
from .steward import Steward
from .store import REGISTRY, Reader

__all__ = ["OPERATORS", "SELDOM", "Result", "bench", "campaign", "run", "shown"]

_PROJECT = find_project(Path(__file__).resolve().parent)
OPERATORS: tuple[Registered, ...] = tuple(_PROJECT.load_strategies().of_kind("operator"))
SELDOM = frozenset(piece.tag.name for piece in OPERATORS if marked(piece, "seldom"))
_BROKEN = ("blind_spot", "violation")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a campaign found. Sessions and turns are counted from the campaign's start, its base run included."""

    sessions: int
    agent_turns: int
    first_session: int | None = None
    """The session that first showed the fault; None = none did."""
    first_turns: int | None = None
    """The agent turns until the batch of that session was through."""
    kind: str | None = None
    user_turns: int | None = None
    """User turns of the shrunk session."""
    minimal: bool | None = None
    operators: tuple[str, ...] = ()
    """Whose edits are left in it, drops aside."""
    turns: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    """What else was found: kind and what it is about."""


def campaign(
    agent: type[Steward] = Steward, *, sessions: int, seed: int = 0, without: Collection[str] = ()
) -> Campaign:
    """All operators but those, all kinds of finding; the judge is asked in the agent's own context."""
    return Campaign(
        scenario=ROOM,
        cast=cast(agent, seed),
        registry=REGISTRY,
        operators=tuple(piece for piece in OPERATORS if piece.tag.name not in without),
        judge=Reader(),
        judge_name="store reader",
        rubric=_PROJECT.find_rubric(),
        contexts=("agent",),
        sessions=sessions,
    )


def bench(agent: type[Steward] = Steward) -> Bench:
    """A bench on which nothing was played."""
    return campaign_bench(campaign(agent, sessions=0))


def shown(failures: Sequence[Failure], trouble: Trouble) -> Failure | None:
    """The first of the failures that is the trouble's."""
    return next((f for f in failures if f.kind in _BROKEN and f.constraint in trouble.breaks), None)


def run(asked: Campaign, trouble: Trouble | None = None) -> Result:
    """Search and shrink; what is the trouble's own is told of at length, all else briefly."""
    meter, sessions = Meter(), 0
    first: tuple[int, int] | None = None

    def hear(trial: Trial) -> None:
        nonlocal sessions, first
        sessions += 1
        if first is None and trouble and shown(trial.failures, trouble):
            first = sessions, meter.agent_turns

    outcome = asyncio.run(search(asked, hear, Allowance(meter)))
    own = [f for f in outcome.found if trouble and shown([f.failure], trouble)]
    others = [f"{f.failure.kind} {f.failure.subject}" for f in outcome.found if f not in own]
    told = _told(min(own, key=_size)) if own else {}
    return Result(
        sessions=outcome.sessions,
        agent_turns=outcome.spent.agent_turns,
        first_session=first and first[0],
        first_turns=first and first[1],
        others=tuple(others),
        **told,
    )


def _size(finding: Finding) -> int:
    return len(finding.trial.variant.spoken.turns)


def _told(finding: Finding) -> dict[str, Any]:
    variant = finding.trial.variant
    return {
        "kind": finding.failure.kind,
        "user_turns": len(variant.spoken.turns),
        "minimal": finding.minimal,
        "operators": tuple(dict.fromkeys(edit.operator for edit in variant.edits if not isinstance(edit, Drop))),
        "turns": tuple(scripted_turn(line.id) for line in variant.spoken.turns),
    }
