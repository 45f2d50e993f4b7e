"""Selfchecking: whether the judge that a campaign's blind spots rest on looks at what it judges.

The twins are made from the sessions of the unedited scripts, which the campaign has played: no agent turn is spent.
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from fuzzturn.adapters import HOSTED
from fuzzturn.cli.staging import Staging
from fuzzturn.cli.terminal import Terminal
from fuzzturn.drive import Meter
from fuzzturn.memo import Memo
from fuzzturn.outcome import Outcome
from fuzzturn.ports import Judge
from fuzzturn.report import counted
from fuzzturn.scenario import Scenario
from fuzzturn.stress.arms import DEFAULT
from fuzzturn.stress.asking import ask, questions
from fuzzturn.stress.checking import Checked, check, checked_json
from fuzzturn.stress.item import Answer, Item
from fuzzturn.stress.items import items_of
from fuzzturn.stress.selfcheck import self_check
from fuzzturn.trial import Allowance

__all__ = ["remark", "self_checked"]

_ENDED = ("interrupted", "minutes")
"""What ends a campaign also for a judge that costs nothing. Where a model may not be asked, the judge may be none."""


def self_checked(
    staging: Staging, scenarios: Sequence[Scenario], outcomes: Sequence[Outcome], allowance: Allowance
) -> dict[str, Any] | None:
    """The self-check of the judge as JSON; None where no finding rests on a 4 of its own.

    `outcomes`: of the first of the `scenarios`. `warning` is what a user has to know of a judge that fails, else None.
    Raises PortError for a judge that misbehaves.
    """
    blind = sum(found.failure.kind == "blind_spot" for outcome in outcomes for found in outcome.found)
    if staging.judge is None or not blind:
        return None
    meter = Meter()
    played = zip(scenarios, outcomes, strict=False)  # a campaign may end before the last scenario
    items = [
        item
        for scenario, outcome in played
        for item in items_of(scenario, outcome.base.measured.session, staging.registry).items
    ]
    checked = _checked(staging, staging.judge, items, allowance, meter)
    failed = checked.check.decision == "fails"
    return {
        "judge": staging.judge_name,
        **checked_json(checked),
        "judge_calls": meter.judge_calls,
        "warning": _warning(staging, checked, blind) if failed else None,
    }


def remark(checked: Mapping[str, Any] | None, terminal: Terminal) -> None:
    """Say so where the judge measures nothing; where it passes, or too little was asked to tell, the JSON says it."""
    if checked is not None and checked["warning"]:
        terminal.error(f"WARNING: {checked['warning']}")


def _checked(staging: Staging, judge: Judge, items: Sequence[Item], allowance: Allowance, meter: Meter) -> Checked:
    once = Memo(judge, meter, steady=True)

    async def asking(wanted: Sequence[Item]) -> list[Answer]:
        asked = list(questions(wanted, [DEFAULT], 1, staging.rubric))
        return await ask(asked, once, staging.judge_name, staging.chosen.workers)

    if allowance.stopped not in _ENDED:
        try:
            return asyncio.run(check(items, asking))
        except KeyboardInterrupt:  # what the campaign found is kept all the same
            allowance.interrupt()
    return Checked(self_check([]), allowance.stopped)


def _warning(staging: Staging, checked: Checked, blind: int) -> str:
    means = "Its 4s mean nothing" if checked.check.twins.n else "Whether its 4s mean anything is not known"
    rest = f"{counted(blind, 'blind spot')} here {'rests' if blind == 1 else 'rest'} on them"
    return (
        f"the judge {staging.judge_name} fails its self-check: {checked.check.why}. {means}, and {rest}; "
        f"that the constraints were broken is true all the same. More of it: {_command(staging)}"
    )


def _command(staging: Staging) -> str:
    chosen, more = staging.chosen, staging.agent_words
    if chosen.judge.startswith(HOSTED) and chosen.api_base is not None and "--api-base" not in more:
        more += f" --api-base {shlex.quote(chosen.api_base)}"
    return f"fuzzturn stress --judge {shlex.quote(chosen.judge)}{more}"
