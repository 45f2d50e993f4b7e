"""Campaigning: carry out a fuzz command, keep what it finds, and say so."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fuzzturn.campaign import Campaign
from fuzzturn.cli.keeping import keep_and_show
from fuzzturn.cli.placing import places_of
from fuzzturn.cli.selfchecking import remark, self_checked
from fuzzturn.cli.spending import STOPPED_BY, bill_lines, check_prices, spent_on_models
from fuzzturn.cli.staging import Staging
from fuzzturn.cli.terminal import Terminal
from fuzzturn.cli.told import Told
from fuzzturn.drive import Meter
from fuzzturn.errors import FuzzturnError, Halted
from fuzzturn.exercise import uncovered
from fuzzturn.finding import Kind
from fuzzturn.outcome import Finding, Outcome
from fuzzturn.records import Run, scenario_digest, write_json
from fuzzturn.report import counted
from fuzzturn.results import campaign_json
from fuzzturn.scenario import Scenario
from fuzzturn.search import search
from fuzzturn.trial import Allowance, Trial

__all__ = ["Budget", "Order", "campaign"]

FOUND, ONLY_ERRORS, CAPPED, INTERRUPTED = 1, 3, 4, 130
REASONS_SHOWN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """`sessions` variants a scenario; `turns` replies started and `minutes` of wall clock in all; None = no bound."""

    sessions: int
    turns: int | None
    minutes: float | None


@dataclass(frozen=True, slots=True)
class Order:
    """What one fuzz command asks for."""

    staging: Staging
    scenarios: Sequence[Scenario]
    budget: Budget
    kinds: Sequence[Kind]
    json_file: Path | None = None
    terminal: Terminal = field(default_factory=Terminal)
    told: Told = field(default_factory=Told)


def campaign(order: Order) -> int:
    """Play every scenario; print and keep each finding; the exit code."""
    staging, budget = order.staging, order.budget
    check_prices(order)
    # Hypothesis keeps what it learns of local modules on disk; ours goes beside the runs, not into the user's folder
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(staging.home / ".fuzzturn" / "hypothesis"))
    campaigns = [_campaign(order, scenario) for scenario in order.scenarios]
    run = Run.create(staging.home, "fuzz", staging.redaction)
    allowance = Allowance(Meter(), budget.turns, None if budget.minutes is None else 60 * budget.minutes)
    begun = time.perf_counter()
    pairs: list[tuple[Outcome, list[dict[str, Any]]]] = []
    blocks: list[str] = []
    misbehaved: FuzzturnError | None = None
    for each in campaigns:
        if allowance.used_up():
            break
        outcome = _outcome(each, order, run, allowance)
        if not isinstance(outcome, Outcome):  # the scenarios before this one are kept
            misbehaved = outcome
            break
        shown = len(blocks)
        pairs.append((outcome, [_keep(found, each, order, run, blocks) for found in outcome.found]))
        order.told.searched(*pairs[-1], blocks[shown:])
    try:
        checked = self_checked(staging, order.scenarios, [outcome for outcome, _ in pairs], allowance)
    except FuzzturnError as error:
        checked, misbehaved = None, misbehaved or error
    if checked is not None:
        order.told.checked(checked)
    result = _result(order, run, pairs, checked, time.perf_counter() - begun)
    run.close(result | {"stopped": allowance.stopped})
    if order.json_file is not None:
        write_json(order.json_file, result, staging.redaction)
    for text in blocks:  # last, so that nothing is lost where nobody reads on
        order.terminal.say(text)
    if misbehaved is not None:
        raise misbehaved
    return _conclude(order, pairs, result, allowance)


def _campaign(order: Order, scenario: Scenario) -> Campaign:
    staging = order.staging
    return Campaign(
        scenario=scenario,
        cast=staging.cast(scenario),
        registry=staging.registry,
        operators=staging.project.load_strategies().of_kind("operator"),
        judge=staging.judge,
        judge_name=staging.judge_name,
        rubric=staging.rubric,
        contexts=staging.chosen.contexts,
        sessions=order.budget.sessions,
        batch=staging.chosen.batch,
        workers=staging.chosen.workers,
        kinds=order.kinds,
        repeats=staging.chosen.repeats,
    )


def _outcome(campaign: Campaign, order: Order, run: Run, allowance: Allowance) -> Outcome | FuzzturnError | None:
    """What was found; the error where somebody's code broke its port in mid-campaign; None where it was ended first."""
    try:
        return asyncio.run(_search(campaign, order, run, allowance))
    except KeyboardInterrupt:  # the second one: whoever presses it again wants out
        allowance.interrupt()
    except Halted as halted:  # before it had anything to show for
        allowance.halt(halted)
    except FuzzturnError as error:
        return error
    return None


async def _search(campaign: Campaign, order: Order, run: Run, allowance: Allowance) -> Outcome:
    name, heard, wrong, begun = campaign.scenario.scenario, 0, 0, allowance.meter.agent_turns
    cast = campaign.cast
    fixed = {"seed": cast.seed, "sample": cast.sample, "scenario_digest": scenario_digest(campaign.scenario)}
    _interrupts(allowance, order.terminal)
    with order.terminal.campaign(name, campaign.sessions) as tell:

        def hear(trial: Trial) -> None:
            nonlocal heard, wrong
            session = f"{name}-{heard:05d}"
            run.session(session, trial.variant, trial.measured, campaign.registry, **fixed)
            order.told.played(name, trial)
            heard, wrong = heard + 1, wrong + bool(trial.failures)
            tell(heard, wrong, allowance.meter.agent_turns - begun)

        outcome = await search(campaign, hear, allowance)
    for note in outcome.notes:
        order.terminal.note(f"{name}: {note}")
    order.terminal.note(
        f"{name}: {counted(heard, 'session')}, {wrong} of them with something wrong; "
        f"{counted(len(outcome.found), 'finding')} after shrinking; {outcome.spent.agent_turns} agent turns"
    )
    return outcome


def _interrupts(allowance: Allowance, terminal: Terminal) -> None:
    """The first Ctrl-C ends the campaign between two batches; the second one is Python's own."""
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        allowance.interrupt()
        terminal.note("interrupted: what was found so far is kept; press again to stop at once")

    with suppress(
        NotImplementedError, ValueError, RuntimeError
    ):  # no such thing on this system, or not the main thread
        loop.add_signal_handler(signal.SIGINT, interrupt)


def _keep(found: Finding, campaign: Campaign, order: Order, run: Run, blocks: list[str]) -> dict[str, Any]:
    """Write the finding's entry; what there is to say of it is added to `blocks`."""
    kept = keep_and_show(found, campaign, order.staging, order.terminal, run)
    blocks += kept.blocks
    run.append("findings", {"schema": 1, "run": run.id} | kept.record)
    return kept.record


def _result(
    order: Order,
    run: Run,
    pairs: Sequence[tuple[Outcome, list[dict[str, Any]]]],
    checked: dict[str, Any] | None,
    wall: float,
) -> dict[str, Any]:
    staging, chosen = order.staging, order.staging.chosen
    identities = sorted({found.identity for o, _ in pairs for found in o.found if found.identity})
    return campaign_json(
        pairs,
        run=run.id,
        seed=chosen.seed,
        fingerprints={
            "agent": {"name": chosen.agent, "options": dict(chosen.agent_options), "identity": identities},
            "judge": staging.judge_note.model_dump() if staging.judge_note else None,
            "rubric": {"id": staging.rubric.rubric_id, "digest": staging.rubric.digest},
        },
        spent={
            "sessions": sum(o.sessions for o, _ in pairs),
            "agent_turns": sum(o.spent.agent_turns for o, _ in pairs),
            "judge_calls": sum(o.spent.judge_calls for o, _ in pairs) + (checked or {}).get("judge_calls", 0),
            **spent_on_models(staging.bill, sum(o.spent.told_tokens for o, _ in pairs)),
            "wall_s": round(wall, 3),
        },
        self_check=checked,
        thresholds={o.base.measured.spoken.scenario: o.threshold and asdict(o.threshold) for o, _ in pairs},
    )


def _conclude(
    order: Order, pairs: Sequence[tuple[Outcome, list[dict[str, Any]]]], result: dict[str, Any], allowance: Allowance
) -> int:
    terminal, spent = order.terminal, result["spent"]
    errors = Counter[str]()
    for outcome, _ in pairs:
        errors.update(outcome.agent_errors)
    for error, times in errors.items():
        terminal.error(f"{counted(times, 'session')} ended because the agent raised {error}")
    if not result["findings"] and errors.total() < spent["sessions"]:
        played = f"{counted(spent['sessions'], 'session')}, {counted(spent['agent_turns'], 'agent turn')} executed"
        terminal.say(f"nothing found in {played}")
    checkers = {c.checker for o, _ in pairs for c in o.base.measured.spoken.constraints}
    if idle := sorted(checkers - result["exercised"].keys()):
        terminal.say(f"never exercised, so never tested: {', '.join(idle)}")
    _remark_gaps(order, pairs)
    _remark(order, pairs, result, allowance)
    if allowance.stopped == "interrupted":
        return INTERRUPTED
    if result["findings"]:
        return FOUND
    if allowance.stopped in ("offline", "refused", "record"):
        return ONLY_ERRORS
    if result["undecided"] or len(pairs) < len(order.scenarios):
        return CAPPED
    return ONLY_ERRORS if errors else 0


def _remark_gaps(order: Order, pairs: Sequence[tuple[Outcome, list[dict[str, Any]]]]) -> None:
    """Constraints against which nothing was held, at any distance from their statement or at some."""
    for outcome, _ in pairs:
        scenario = outcome.base.measured.spoken
        places = places_of(order.staging.files.get(scenario.scenario), scenario)
        spare: list[str] = []
        for constraint, missing in uncovered(scenario, outcome.coverage):
            place = places[constraint]
            if scenario.constraint(constraint).spare:
                spare.append(f"{constraint} ({place})")
            elif outcome.coverage.get(constraint):
                far = " or ".join(missing)
                order.terminal.note(f"{place}: {constraint} was never looked at {far} turns after it was stated")
            else:
                order.terminal.note(f"{place}: {constraint} was never looked at")
        if spare:
            order.terminal.note(f"spare constraints that were never looked at: {', '.join(spare)}")


def _remark(
    order: Order, pairs: Sequence[tuple[Outcome, list[dict[str, Any]]]], result: dict[str, Any], allowance: Allowance
) -> None:
    """What limits how far the result can be trusted."""
    terminal = order.terminal
    reasons = Counter[str]()
    for outcome, _ in pairs:
        reasons.update(outcome.unscored_because)
    for reason, times in reasons.most_common(REASONS_SHOWN):
        terminal.note(f"the judge gave no score {counted(times, 'time')}: {reason}")
    if len(reasons) > REASONS_SHOWN:
        terminal.note(f"… and {counted(len(reasons) - REASONS_SHOWN, 'other reason')}; scores.jsonl has them all")
    remark(result["self_check"], terminal)
    _remark_doubts(order, result)
    for line in bill_lines(order.staging.bill):
        terminal.note(line)
    if allowance.stopped is not None and allowance.stopped in STOPPED_BY:
        asked = len(order.scenarios) * (order.budget.sessions + 1)
        played = f"after {result['spent']['sessions']} of {counted(asked, 'session')}"
        terminal.error(f"stopped by {STOPPED_BY[allowance.stopped]} {played}")
        if allowance.because:
            terminal.error(allowance.because)


def _remark_doubts(order: Order, result: dict[str, Any]) -> None:
    """What was seen and is not claimed."""
    terminal, repeats = order.terminal, order.staging.chosen.repeats
    if undecided := result["undecided"]:
        what = f"{counted(undecided, 'failure')} did not show again in a fresh run, or there was none: "
        if repeats == 1:
            what += "the agent, the environment or the judge does not repeat itself (--repeats 20 decides by evidence)"
        else:
            what = f"{counted(undecided, 'failure')} undecided: too rare to tell, or what was allowed was spent"
        terminal.error(what)
    if dismissed := result["dismissed"]:
        terminal.note(f"{counted(dismissed, 'failure')} dismissed: no more frequent than unrelated ones would be")
