"""Report: findings, sessions and replays as text for people and as JSON for programs.

A finding explains itself in the order in which one reads: what was said, where it was stated, compacted and violated,
the four signals side by side, the judge in each context, why, and how to see it again.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fuzzturn.evidence import Rate
from fuzzturn.finding import BLIND_SCORE, Failure
from fuzzturn.measure import Measured
from fuzzturn.outcome import Finding
from fuzzturn.scenario import Line
from fuzzturn.scores import TurnScores
from fuzzturn.session import ToolCall, Turn
from fuzzturn.tokens import text_tokens
from fuzzturn.trial import Trial
from fuzzturn.variant import Pad, said_tokens
from fuzzturn.why import Why

__all__ = ["Names", "conversation", "counted", "finding_block", "four_signals", "session_table", "why_sentences"]

_SEEN = {
    "verbatim": "there word for word", "in_summary": "there in a summary", "absent": "not there",
    "stale": "there in an older version", "unknown": "unknown",
}  # fmt: skip
_TITLES = {
    "blind_spot": "BLIND SPOT", "violation": "VIOLATION", "progress": "PROGRESS", "assertion": "ASSERTION",
    "metamorphic": "METAMORPHIC", "block_gap": "BLOCK GAP",
}  # fmt: skip
_LEGEND = {"S": "S a constraint is stated", "C": "C the context is compacted", "V": "V where it goes wrong"}
_SOFT_BLIND = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """How the players are called in a report."""

    agent: str
    agent_identity: str | None
    judge: str
    rubric: str


def finding_block(found: Finding, *, names: Names, again: str, width: int = 100) -> str:
    """One finding as text of at most `width` columns. `again` is the command that shows it once more."""
    failure = found.failure
    lines = [
        f"{_TITLES[failure.kind]} {found.id}  {found.scenario.scenario}: {failure.subject} ({failure.checker})",
        *_wrapped(f"turn {failure.turn}: {failure.detail}", width),
        *_wrapped(_history(found), width),
        "",
        *conversation(found.trial, failure, names.agent, width),
        "",
        *four_signals(found.trial, failure, names, width),
        "",
        *[line for sentence in why_sentences(found.why, failure) for line in _wrapped(sentence, width)],
        "",
        f"  see it again: {again}",
    ]
    return "\n".join(lines)


def why_sentences(why: Why, failure: Failure) -> list[str]:
    """The mechanism and the counterfactuals as plain sentences."""
    sentences = [_lost(why, failure)] if failure.constraint or failure.kind == "block_gap" else []
    if len(why.seen) > 1:
        seen = ", ".join(f"{_SEEN[one.visibility]} from turn {one.turn}" for one in why.seen)
        sentences.append(f"In the agent's view the constraint was {seen}.")
    sentences.append({
        "clean": "Without compaction the same session is clean.",
        "still fails": "Without compaction it fails all the same.",
        "not available": "Without compaction: not available (the agent's build takes no option called compaction).",
    }[why.no_compaction])  # fmt: skip
    if why.restated == "clean":
        sentences.append("Said again just before, the constraint is kept.")
    elif why.restated == "still fails":
        gone = why.restated_visibility in ("absent", "stale")
        lost = why.mechanism in ("lost_by_summariser", "never_reached_summariser")
        again = ", since it is compacted away again before the deciding call" if gone and lost else ""
        sentences.append(f"Said again just before, it is broken all the same{again}.")
    return [*sentences, *_judged(why)]


def _lost(why: Why, failure: Failure) -> str:
    if failure.kind == "block_gap":
        return "The protected block is made by rule from the record: it is so for every judge, whatever the agent saw."
    if why.mechanism == "unknown":
        if failure.visibility == "unknown":
            return "The agent does not tell what it saw, so why the constraint was broken is not known."
        return "The constraint was not in what the agent saw; no compaction was reported that explains it."
    return {
        "never_reached_summariser": f"The statement was cut at turn {why.lost_at} and never reached the summariser.",
        "lost_by_summariser": f"The summariser read the statement at turn {why.lost_at} and left it out.",
        "visible_ignored": "The agent could see the constraint when it acted, and broke it.",
        "stale_version": "The agent saw only a version of the constraint that had been superseded.",
    }[why.mechanism]


def _judged(why: Why) -> list[str]:
    blind = [context for context, score in why.judge.items() if score == BLIND_SCORE]
    seeing = [context for context, score in why.judge.items() if score is not None and score < _SOFT_BLIND]
    if not blind:
        return []
    if len(blind) == len(why.judge) > 1:
        return ["The judge gives a 4 in every context: it does not see this at all."]
    sees = f"; with {_listed(seeing)} it sees it" if seeing else ""
    return [f"The judge gives a 4 when it is given {_listed(blind)}{sees}."]


def session_table(measured: Measured, *, agent: str) -> str:
    """A whole session, one line a turn: the four signals in four columns."""
    rows = [f"  {'turn':>4}  {'id':<16} {'adherence':<12} {'assertions':<11} {'progress':<14} judge"]
    for scores in measured.scores:
        asserted = "-" if scores.assertions.value is None else f"{scores.assertions.value:.2f}"
        progress = "-" if scores.progress.value is None else f"{scores.progress.value:.2f} {scores.progress.trend}"
        judge = " ".join(f"{context} {_score(j.score)}" for context, j in scores.judge.items()) or "-"
        rows.append(f"  {scores.n:>4}  {scores.turn:<16} {_honoured(scores):<12} {asserted:<11} {progress:<14} {judge}")
        rows += [f"        ! {check.constraint}: {check.result.detail}" for check in scores.adherence.failed]
        rows += [f"        ! {failure.expectation}: {failure.detail}" for failure in scores.assertions.failures]
        rows += [f"        ! {breach.detail}" for breach in scores.progress.breaches]
        calls = measured.session.turns[scores.n - 1].model_calls
        rows += [f"        ~ {note}" for call in calls for note in call.notes]
    e = measured.efficiency
    reached = f"reached after turn {e.turns_to_completion}" if measured.goal_reached else "not reached"
    counts = f"{counted(sum(e.tool_calls), 'tool call')}, {counted(e.user_corrections, 'user correction')}"
    error = measured.session.error
    return "\n".join([*rows, f"  goal {reached}; {counts}", *([f"  {agent} raised {error}"] if error else [])])


def counted(n: int, noun: str) -> str:
    """`1 turn`, `2 turns`."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _honoured(scores: TurnScores) -> str:
    """Honoured / binding; idle where no checker had anything to look at, since such a pass says nothing."""
    a = scores.adherence
    if a.value is None:
        return "-"
    return f"{len(a.checks) - len(a.failed)}/{len(a.checks)}{'' if a.exercised else ' idle'}"


def _history(found: Finding) -> str:
    small, was = found.trial.variant.spoken, found.original.spoken
    sizes = (
        f"seen in a session of {counted(len(was.turns), 'turn')} ({said_tokens(was)} tokens said), "
        f"shrunk to {counted(len(small.turns), 'turn')} ({said_tokens(small)} tokens)"
    )
    base = "; the unedited script breaks it too" if found.in_base else ""
    spent = f"{counted(found.shrinking.agent_turns, 'agent turn')} ({found.shrinking.at_least} at the least)"
    minimal = f"minimal, shown in {spent}" if found.minimal else "not proven minimal"
    return f"{sizes}; {minimal}; failed in {_rates(found)}{base}"


def _rates(found: Finding) -> str:
    """How often, the agent's noise apart from the judge's."""
    k, n = found.failing.k, found.failing.n
    told = [f"{k} of {counted(n, 'fresh run')}{_within(found.failing) if n > 1 else ''}"]
    if found.judged is not None:
        told.append(f"the judge gives a 4 in {_of(found.judged, 'run')} of those")
    if found.flips is not None and found.flips.k:
        told.append(f"asked again about the same turn it contradicts itself in {_of(found.flips, 'answer')}")
    return "; ".join(told)


def _of(rate: Rate, noun: str) -> str:
    return f"{rate.k} of {counted(rate.n, noun)}{_within(rate)}"


def _within(rate: Rate) -> str:
    return f" ({rate.low:.2f}-{rate.high:.2f})"


def conversation(trial: Trial, failure: Failure, agent: str, width: int) -> list[str]:
    """The turns up to the one that goes wrong, with marks, and what the marks mean."""
    transcript = list(_transcript(trial, failure, agent, width))
    legend = "   ".join(text for mark, text in _LEGEND.items() if any(mark in line[6:10] for line in transcript))
    return [*transcript, f"  {legend}"]


def four_signals(trial: Trial, failure: Failure, names: Names, width: int) -> list[str]:
    """The four signals of the turn that goes wrong, and who played."""
    return [
        f"  the four signals at turn {failure.turn}",
        *_signals(trial.measured.scores[failure.turn - 1]),
        *_wrapped(f"agent {names.agent_identity or names.agent}; judge {names.judge}; rubric {names.rubric}", width),
    ]


def _transcript(trial: Trial, failure: Failure, agent: str, width: int) -> Iterator[str]:
    measured = trial.measured
    stated = {line.id for line in measured.spoken.turns if line.states}
    lines = {line.id: line for line in measured.spoken.turns}
    speaker = max(min(len(agent), 12), 4)
    for turn in measured.session.turns[: failure.turn]:
        marks = f"{'S' if turn.id in stated else ''}{'C' if turn.compactions else ''}"
        marks += "V" if turn.n == failure.turn else ""
        yield from _spoken(f"  {turn.n:>3} {marks:<3} {'user':<{speaker}}  ", _said(trial, turn), width)
        for trouble in _troubles(lines.get(turn.id)):
            yield from _spoken(f"          {'':<{speaker}}  ", trouble, width)
        for call in turn.tool_calls if turn.n == failure.turn else ():
            yield from _spoken(f"          {agent[:speaker]:<{speaker}}  ", _called(call), width)
        if turn.text:
            yield from _spoken(f"          {agent[:speaker]:<{speaker}}  ", _shortened(turn.text), width)


def _troubles(line: Line | None) -> Iterator[str]:
    """What befalls tools and context in the turn, by the scenario's own doing."""
    for fault in line.tool_faults if line else ():
        size = f" of {fault.tokens} tokens" if fault.tokens else ""
        text = f": {_shortened(fault.text, 100)}" if fault.text else size
        yield f"[tool {fault.kind}, {fault.tool or 'the first call'}{text}]"
    for disturbance in line.disturbances if line else ():
        told = ": ".join(filter(None, (disturbance.kind, _shortened(disturbance.text, 80))))
        yield f"[disturbed, {told}]"


def _said(trial: Trial, turn: Turn) -> str:
    """What the user said; where an edit put the turn there, which one."""
    edit = trial.variant.inserted.get(turn.id)
    if isinstance(edit, Pad):
        return f"[{text_tokens(turn.user)} tokens of filler] {_shortened(turn.user, 60)}"
    if edit is not None:
        return f"[inserted by {edit.operator}] {_shortened(turn.user)}"
    return f"[answer] {_shortened(turn.user)}" if turn.auto else _shortened(turn.user)


def _spoken(lead: str, text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=lead, subsequent_indent=" " * len(lead)) or [lead.rstrip()]


def _shortened(text: str, most: int = 240) -> str:
    flat = " ".join(text.split())
    return textwrap.shorten(flat, most, placeholder=" …", break_on_hyphens=False)


def _called(call: ToolCall) -> str:
    args = ", ".join(f"{key}={value!r}" for key, value in call.args.items())
    return f"calls {call.name}({args})" + (f" -> {call.error}" if call.error else "")


def _signals(scores: TurnScores) -> Iterator[str]:
    a, p = scores.adherence, scores.progress
    honoured = f"{len(a.checks) - len(a.failed)} of {len(a.checks)} binding honoured ({len(a.exercised)} exercised)"
    failed = len(scores.assertions.failures)
    asserted = "not scored: none scripted here" if scores.assertions.value is None else f"{failed or 'none'} failed"
    yield f"    adherence    {'not scored: nothing binds' if a.value is None else honoured}"
    yield f"    assertions   {asserted}"
    yield f"    progress     {'not scored' if p.value is None else f'{p.value:.2f} {p.trend}'}"
    if not scores.judge:
        yield "    judge        not asked"
    for i, (context, j) in enumerate(scores.judge.items()):
        blind = "   blind" if j.score == BLIND_SCORE and a.failed else ""
        yield f"    {'judge' if i == 0 else '':<12} {context:<13} {_score(j.score)}{blind}"


def _score(score: int | None) -> str:
    return "no score" if score is None else str(score)


def _listed(contexts: Iterable[str]) -> str:
    names = {"agent": "what the agent saw", "window": "the last turns alone", "full": "the full record",
             "window+block": "the last turns and the protected block"}  # fmt: skip
    *others, last = [names[context] for context in contexts]
    return f"{', '.join(others)} or {last}" if others else last


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
