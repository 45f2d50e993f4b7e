"""Overhead: what the harness itself costs, in CPU milliseconds, with the simulated agent.

    python benchmarks/overhead.py [SESSIONS]

Prints the load average beside the figures. "Drive" speaks the unedited Lisbon script to a fresh agent each time; "four
signals" adds the deterministic three and the judge in window+block, on every turn; "generated" is one distinct variant.
"Simulated" is what the agent's reply() and the judge's score() take of that: with a model behind them it falls away.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fuzzturn.cli.options import choose
from fuzzturn.cli.staging import Staging
from fuzzturn.drive import Cast, Meter, drive
from fuzzturn.measure import Jury, guarded_turns, judged, measure
from fuzzturn.project import find_project
from fuzzturn.scenario import Scenario
from fuzzturn.session import Session
from fuzzturn.vary import draw, variants


def cpu(work: Callable[[], object], times: int) -> float:
    """CPU seconds for one call of `work`, the mean over `times` after a warm-up."""
    work()
    begun = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - begun) / times


class Spent:
    """CPU seconds inside the simulated players."""

    seconds = 0.0

    async def reply(self, agent: Any, message: str) -> Any:
        begun = time.process_time()
        answer = await agent.reply(message)
        self.seconds += time.process_time() - begun
        return answer

    def score(self, judge: Any, prompt: Any) -> Any:
        begun = time.process_time()
        verdict = judge.score(prompt)
        self.seconds += time.process_time() - begun
        return verdict


def simulated(staging: Staging, scenario: Scenario, sessions: int) -> float:
    """CPU seconds a turn inside the players, measured in runs of their own: measuring costs, too."""
    spent, cast, judge = Spent(), staging.cast(scenario), staging.judge

    class Watched:
        def __init__(self, agent: Any) -> None:
            self.agent = agent

        async def reply(self, message: str) -> Any:
            return await spent.reply(self.agent, message)

    class WatchedJudge:
        def score(self, prompt: Any) -> Any:
            return spent.score(judge, prompt)

    watched = replace(cast, build=lambda environment, **offers: Watched(cast.build(environment, **offers)))
    turns = 0
    for _ in range(sessions):
        session = asyncio.run(play(watched, scenario))
        asyncio.run(score(staging, scenario, session, WatchedJudge()))
        turns += len(session.turns)
    return spent.seconds / turns


async def play(cast: Cast, scenario: Scenario) -> Session:
    return await drive(cast, scenario)


async def score(staging: Staging, scenario: Scenario, session: Session, judge: Any) -> None:
    measured = measure(scenario, session, staging.registry)
    jury = Jury(judge, "reference", staging.rubric, ("window+block",), Meter())
    await judged(measured, range(1, len(session.turns) + 1), jury)


def main(sessions: int = 100) -> None:
    project = find_project()
    staging = Staging(project, choose({}, {}, ("window+block",)))
    scenario = staging.scenarios(["lisbon_offsite"])[0]
    cast = staging.cast(scenario)
    session = asyncio.run(play(cast, scenario))
    turns = len(session.turns)
    driving = cpu(lambda: asyncio.run(play(cast, scenario)), sessions) / turns
    deterministic = cpu(lambda: measure(scenario, session, staging.registry), sessions) / turns
    scoring = cpu(lambda: asyncio.run(score(staging, scenario, session, staging.judge)), sessions) / turns
    strategy = variants(
        scenario,
        operators=project.load_strategies().of_kind("operator"),
        guarded=guarded_turns(scenario, session, staging.registry),
    )
    begun = time.process_time()
    distinct = len({variant.key for cell in range(16) for variant in draw(strategy, 25, seed=1, cell=cell)})
    drawing = (time.process_time() - begun) / distinct
    load = os.getloadavg()[0]
    print(f"drive                       {1000 * driving:7.3f} ms CPU a turn")
    print(f"three deterministic signals {1000 * deterministic:7.3f} ms CPU a turn")
    print(f"all four signals            {1000 * scoring:7.3f} ms CPU a turn (judge: reference, window+block)")
    print(f"drive plus four signals     {1000 * (driving + scoring):7.3f} ms CPU a turn")
    print(f"of which simulated players  {1000 * simulated(staging, scenario, sessions):7.3f} ms CPU a turn")
    print(f"generated                   {1000 * drawing:7.3f} ms CPU a distinct variant ({distinct} of them)")
    print(f"load average {load:.1f}, {os.cpu_count()} cores")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
