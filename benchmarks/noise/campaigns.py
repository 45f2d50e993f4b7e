"""Campaigns: one campaign of a part, run by the engine or by Hypothesis, as a row."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.compare.world import World
from benchmarks.faults.planted import Fault
from fuzzturn.calls import CallRecord, Gateway
from fuzzturn.campaign import Campaign
from fuzzturn.finding import Kind
from fuzzturn.outcome import Finding, Outcome
from fuzzturn.scores import JudgeContext
from fuzzturn.search import search
from fuzzturn.sequential import Count, Rule
from fuzzturn.variant import Variant

from .agents import Stochastic
from .chance import Asked, Seeded
from .given import by_hypothesis
from .judges import FLIPPED, LENIENT, Erring
from .parts import fault_of
from .row import Key, Reported, Row
from .truth import truth

__all__ = ["REPEATS", "SESSIONS", "campaign", "row"]

SESSIONS = 60
REPEATS = 20
"""Fresh runs in which the final session is measured."""
FIRST_HIT_OF_5 = Count(hits=1, most=5)
_VIOLATIONS: tuple[Kind, ...] = ("violation",)
_JUDGED: tuple[Kind, ...] = ("blind_spot", "violation")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    """Who is examined, and by whom."""

    agent: Stochastic
    seed: int
    judge: Erring | None = None
    contexts: tuple[JudgeContext, ...] = ("agent",)
    """Without compaction that loses it, the agent's own context holds the rule, so a judge can be right."""
    rule: Rule | None = None


def row(key: Key) -> Row:
    """Run the campaign of that part, method, share and seed."""
    part, method, p, seed = key
    agent = Stochastic(fault=fault_of(part, seed), p=p)
    if part == "planted" and method == "Hypothesis":
        return _hypothesis(key, agent)
    if part == "planted":
        rule = None if method == "fuzzturn" else FIRST_HIT_OF_5
        return _engine(key, _Setting(agent=agent, seed=seed, rule=rule))
    if part == "lenient judge":
        judge = Erring(LENIENT, Seeded(seed), flips=False)
        certain = replace(agent, background=0.0)
        return _engine(key, _Setting(agent=certain, seed=seed, judge=judge, contexts=("agent", "full")))
    if part == "flipping judge":
        judge = Erring(FLIPPED if method == "flipping" else 0.0, Seeded(seed), flips=True)
        return _engine(key, _Setting(agent=agent, seed=seed, judge=judge))
    return _twice(key, agent)


def campaign(setting: _Setting) -> Campaign:
    """The campaign. Without a judge a background violation and the planted one look the same: the harder case."""
    plain = World(setting.agent.fault, setting.seed).campaign(SESSIONS)
    return replace(
        plain,
        cast=setting.agent.cast(setting.seed),
        judge=setting.judge,
        judge_name="none" if setting.judge is None else setting.judge.identity,
        contexts=setting.contexts,
        kinds=_VIOLATIONS if setting.judge is None else _JUDGED,
        repeats=REPEATS,
        rule=setting.rule,
    )


def _engine(key: Key, setting: _Setting) -> Row:
    outcome = asyncio.run(search(campaign(setting)))
    return _row(key, setting, outcome)


def _row(key: Key, setting: _Setting, outcome: Outcome) -> Row:
    judge = setting.judge
    return Row(
        **_named(key, setting.agent.fault),
        found=tuple(_reported(setting.agent, finding) for finding in outcome.found),
        sessions=outcome.sessions,
        turns=outcome.spent.agent_turns,
        undecided=outcome.undecided,
        dismissed=outcome.dismissed,
        judge_calls=judge.asked if judge else 0,
        judge_erred=judge.erred if judge else 0,
    )


def _named(key: Key, fault: Fault) -> Mapping[str, Any]:
    part, method, p, seed = key
    return {"part": part, "method": method, "p": p, "seed": seed, "fault": fault.name}


def _reported(agent: Stochastic, finding: Finding) -> Reported:
    constraint = finding.failure.constraint
    assert constraint is not None  # kinds of failures that are about one
    return Reported(
        kind=finding.failure.kind,
        constraint=constraint,
        **_true(agent, finding.trial.variant, constraint),
        minimal=finding.minimal,
        failing=finding.failing,
        judged=finding.judged,
        flips=finding.flips,
        shrink_turns=finding.shrinking.agent_turns,
    )


def _true(agent: Stochastic, session: Variant, constraint: str) -> Mapping[str, Any]:
    so, noise = truth(agent, session, constraint), (agent.p, agent.background)
    return {
        "turns": len(session.spoken.turns),
        "carries": so.carries,
        "true_rate": round(so.rate(*noise), 4),
        "caused": so.caused(*noise),
    }


def _hypothesis(key: Key, agent: Stochastic) -> Row:
    """The example that Hypothesis reports is what it takes for minimal, flaky or not."""
    watched = by_hypothesis(agent, key[3], SESSIONS)
    final = watched.final
    found = () if final is None else (
        Reported(kind="violation", constraint=final.constraint, minimal=True,
                 **_true(agent, final.session, final.constraint)),
    )  # fmt: skip
    return Row(
        **_named(key, agent.fault),
        found=found,
        sessions=watched.executions,
        turns=watched.turns,
        flaky=watched.flaky,
    )


def _twice(key: Key, agent: Stochastic) -> Row:
    """The campaign, and once more with nothing but its record. The row is the second one's."""
    with TemporaryDirectory() as folder:
        first, _ = _recorded(key, agent, Path(folder) / "calls.db", offline=False)
        again, calls = _recorded(key, agent, Path(folder) / "calls.db", offline=True)
    return replace(again, model_calls=calls, same=_claims(first) == _claims(again))


def _recorded(key: Key, agent: Stochastic, file: Path, *, offline: bool) -> tuple[Row, int]:
    record = CallRecord(file)
    try:
        asked = Asked(Gateway(record=record, offline=offline))
        judge = Erring(FLIPPED, asked, flips=True)
        setting = _Setting(agent=replace(agent, chance=asked), seed=key[3], judge=judge)
        return _engine(key, setting), asked.live
    finally:
        record.close()


def _claims(row: Row) -> object:
    """What a campaign says; what it spent is another matter, since what is recorded costs nothing."""
    return row.sessions, row.undecided, row.dismissed, [replace(found, shrink_turns=None) for found in row.found]
