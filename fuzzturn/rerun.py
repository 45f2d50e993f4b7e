"""Rerun: an entry played several times, and held against the rate it was kept with.

FIXED       the constraint was put to the test and never broken, and that is no chance at the rate of then
RARER       it is broken less often than then; also where it was never broken, but so few runs may have missed it
MORE OFTEN  it is broken more often than then
FAILING     as often as then, as far as these runs tell
CHANGED     the judge's share of 4s is another one; or nothing was tested in any run
ERROR       the agent broke in every run, or a name is gone

Two rates differ where Newcombe's 95 % interval of their difference excludes zero (`evidence.difference`).
"""

from __future__ import annotations

from collections.abc import Sequence

from fuzzturn.corpus import Entry, RateNote
from fuzzturn.evidence import Rate, difference, rate
from fuzzturn.finding import BLIND_SCORE
from fuzzturn.replay import Outcome, Replayed, replay
from fuzzturn.scenario import Scenario
from fuzzturn.trial import Bench

__all__ = ["CHANCE", "rerun", "verdict"]

CHANCE = 0.05
"""How likely it may be, at the lowest rate that the entry's interval allows, that a failure is missed in all runs."""


async def rerun(entry: Entry, spoken: Scenario, benches: Sequence[Bench]) -> Replayed:
    """Play the entry on each of the benches, at least one, each of another sample."""
    return verdict(entry, [await replay(entry, spoken, bench) for bench in benches])


def verdict(entry: Entry, runs: Sequence[Replayed]) -> Replayed:
    """What runs of an entry, at least one, say of it together."""
    if len(runs) == entry.failing.n == 1:
        return runs[0]
    told = [run for run in runs if run.outcome != "ERROR"]
    broken = [run for run in told if run.failure is not None]
    tested = [run for run in told if run.failure is not None or run.outcome == "FIXED"]
    if not tested:
        return told[0] if told else runs[0]
    now = rate(len(broken), len(runs))  # of all runs, as then: one in which nothing was tested did not fail either
    outcome, detail = _against(entry, now, len(tested))
    if (judged := _judged(entry, broken)) is not None and outcome == "FAILING":
        outcome, detail = "CHANGED", f"{detail}; {judged}"
    if left := len(runs) - len(tested):
        detail += f"; in {left} of {len(runs)} runs nothing was tested, or the agent broke"
    shown = (broken or tested)[0]
    return Replayed(
        outcome=outcome, detail=detail, failure=shown.failure, trial=shown.trial, changed=shown.changed, now=now
    )


def _against(entry: Entry, now: Rate, tested: int) -> tuple[Outcome, str]:
    then = _rate(entry.failing)
    said = f"broken in {now.k} of {now.n} runs ({now.low:.2f}-{now.high:.2f}), when it was kept in {then.k} of {then.n}"
    said += f" ({then.low:.2f}-{then.high:.2f})"
    if then.n == 1:  # of an agent that repeats itself, as far as was known: there is no interval worth the name
        return "FAILING" if now.k else "FIXED", said
    if now.k == 0:
        chance = (1 - then.low) ** tested
        if chance <= CHANCE:
            return "FIXED", said
        return "RARER", f"{said}; at {then.low:.2f} so many runs miss it with a chance of {chance:.2f}"
    apart = difference(now, then)
    return "RARER" if apart.high < 0 else "MORE OFTEN" if apart.low > 0 else "FAILING", said


def _judged(entry: Entry, broken: Sequence[Replayed]) -> str | None:
    """How the judge's share of 4s differs from then; None = it does not, or nobody knows."""
    if entry.judged is None or entry.judge_context is None:
        return None
    scores = [run.failure.judge.get(entry.judge_context) for run in broken if run.failure is not None]
    given = [score for score in scores if score is not None]
    if not given:
        return None
    now, then = rate(sum(score == BLIND_SCORE for score in given), len(given)), _rate(entry.judged)
    apart = difference(now, then)
    if apart.low <= 0 <= apart.high:
        return None
    return f"the judge gives a 4 in {now.k} of {now.n} answers, then {then.k} of {then.n}"


def _rate(note: RateNote) -> Rate:
    """With its own interval: the one in the file is for people, and somebody may have written it by hand."""
    return rate(note.k, note.n)
