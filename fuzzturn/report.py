"""Report: findings, sessions and replays as text for people and as JSON for programs.

A finding explains itself in the order in which one reads: what was said, where it was stated, compacted and violated,
the four signals side by side, the judge in each context, why, and how to see it again.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from fuzzturn.finding import Failure
from fuzzturn.measure import Measured
from fuzzturn.rubric import Rubric
from fuzzturn.scores import TurnScores, as_json
from fuzzturn.search import Finding, Outcome
from fuzzturn.session import ToolCall
from fuzzturn.tokens import text_tokens
from fuzzturn.trial import Trial
from fuzzturn.variant import said_tokens
from fuzzturn.why import Why

__all__ = ["campaign_json", "finding_block", "finding_json", "session_json", "session_table", "why_sentences"]

WIDTH = 110
_TITLES = {"blind_spot": "BLIND SPOT", "violation": "VIOLATION", "progress": "PROGRESS", "assertion": "ASSERTION"}
_MARKS = "S a constraint is stated   C the context is compacted   V the violation"


def finding_block(found: Finding, *, agent: str, rubric: Rubric, corpus_file: str | None) -> str:
    """One finding as text of at most WIDTH columns."""
    failure, measured = found.failure, found.trial.measured
    what = failure.constraint or failure.milestone or failure.turn_id
    head = f"{found.scenario.scenario}: {what} ({failure.checker}), turn {failure.turn}"
    lines = [
        f"{_TITLES[failure.kind]} {found.id}  {head}",
        *_wrapped(failure.detail, "  "),
        *_wrapped(_history(found), "  "),
        "",
        *_transcript(measured, failure, agent),
        f"  {_MARKS}",
        "",
        f"  the four signals at turn {failure.turn}",
        *_signals(measured.scores[failure.turn - 1], rubric),
        "",
        *[line for sentence in why_sentences(found.why, failure) for line in _wrapped(sentence, "  ")],
    ]
    if corpus_file:
        lines += ["", f"  see it again: fuzzturn replay {corpus_file}"]
    return "\n".join(lines)


def why_sentences(why: Why, failure: Failure) -> list[str]:
    """The mechanism and the counterfactuals as two or three plain sentences."""
    lost = {
        "never_reached_summariser": f"The statement was cut at turn {why.lost_at} and never reached the summariser.",
        "lost_by_summariser": f"The summariser read the statement at turn {why.lost_at} and left it out.",
        "visible_ignored": "The agent could see the constraint when it acted, and broke it.",
        "stale_version": "The agent saw only a version of the constraint that had been superseded.",
        "unknown": "What the agent saw is not known, or nothing explains why the constraint was gone.",
    }
    sentences = [lost[why.mechanism]] if failure.constraint else []
    sentences.append(f"Without compaction: {why.no_compaction}. Constraint said again just before: {why.restated}.")
    blind = [context for context, score in why.judge.items() if score == 4]
    seeing = [context for context, score in why.judge.items() if score is not None and score < 3]
    if blind:
        sees = f"; given {_listed(seeing)} it sees it" if seeing else ""
        sentences.append(f"The judge gives a 4 when given {_listed(blind)}{sees}.")
    return sentences


def finding_json(found: Finding, *, corpus_file: str | None) -> dict[str, Any]:
    """One finding as the JSON of the command line."""
    failure = found.failure
    said = found.trial.variant.spoken.turns
    return {
        "id": found.id,
        "signature": dict(found.signature),
        "scenario": found.scenario.scenario,
        "kind": failure.kind,
        "constraint": failure.constraint,
        "milestone": failure.milestone,
        "checker": failure.checker,
        "detail": failure.detail,
        "turn": failure.turn,
        "visibility": failure.visibility,
        "judge_score": _worst(failure),
        "judge_context": failure.judge_context,
        "blind_in": list(failure.blind_in),
        "judge": dict(failure.judge),
        "turns": [
            {"id": line.id, "user": line.user, "tokens": text_tokens(line.user), "states": list(line.states)}
            for line in said
        ],
        "n_turns": len(said),
        "n_turns_found": len(found.original.spoken.turns),
        "in_base": found.in_base,
        "failing": asdict(found.failing),
        "minimal": found.minimal,
        "why": asdict(found.why),
        "corpus_file": corpus_file,
    }


def campaign_json(outcomes: Iterable[tuple[Outcome, list[dict[str, Any]]]], **fixed: Any) -> dict[str, Any]:
    """What `fuzz --json` writes. `outcomes`: one a scenario, each with the JSON of its findings."""
    pairs = list(outcomes)
    exercised: dict[str, int] = {}
    for outcome, _ in pairs:
        for checker, times in outcome.exercised.items():
            exercised[checker] = exercised.get(checker, 0) + times
    return {
        "schema": 1,
        **fixed,
        "exercised": exercised,
        "skipped_operators": {o.base.measured.spoken.scenario: dict(o.skipped) for o, _ in pairs if o.skipped},
        "off_script": sum(o.off_script for o, _ in pairs),
        "agent_errors": [error for o, _ in pairs for error in o.agent_errors],
        "judge_unscored": sum(o.judge_unscored for o, _ in pairs),
        "undecided": 0,
        "findings": [finding for _, findings in pairs for finding in findings],
        "errors": [],
    }


def session_table(measured: Measured, *, agent: str) -> str:
    """A whole session, one line a turn: the four signals in four columns."""
    rows = [f"  {'turn':>4}  {'id':<16} {'adherence':<12} {'assertions':<11} {'progress':<14} judge"]
    for scores in measured.scores:
        a = scores.adherence
        honoured = "-" if a.value is None else f"{len(a.checks) - len(a.failed)}/{len(a.checks)}"
        asserted = "-" if scores.assertions.value is None else f"{scores.assertions.value:.2f}"
        progress = "-" if scores.progress.value is None else f"{scores.progress.value:.2f} {scores.progress.trend}"
        judge = " ".join(f"{context} {_score(j.score)}" for context, j in scores.judge.items()) or "-"
        rows.append(f"  {scores.n:>4}  {scores.turn:<16} {honoured:<12} {asserted:<11} {progress:<14} {judge}")
        rows += [f"        ! {check.constraint}: {check.result.detail}" for check in a.failed]
        rows += [f"        ! {failure.expectation}: {failure.detail}" for failure in scores.assertions.failures]
        rows += [f"        ! {breach.detail}" for breach in scores.progress.breaches]
    e = measured.efficiency
    reached = f"reached after turn {e.turns_to_completion}" if measured.goal_reached else "not reached"
    counts = f"{sum(e.tool_calls)} tool calls, {e.user_corrections} user corrections"
    error = measured.session.error
    return "\n".join([*rows, f"  goal {reached}; {counts}", *([f"  {agent} raised {error}"] if error else [])])


def session_json(trial: Trial) -> dict[str, Any]:
    """A session's scores as JSON; the verdict and the efficiency counts stand beside the signals."""
    measured = trial.measured
    return {
        "scenario": measured.spoken.scenario,
        "turns": [as_json(scores) for scores in measured.scores],
        "goal_reached": measured.goal_reached,
        "efficiency": asdict(measured.efficiency),
        "off_script": measured.session.off_script,
        "error": measured.session.error,
    }


def _history(found: Finding) -> str:
    small, was = found.trial.variant.spoken, found.original.spoken
    sizes = (
        f"seen in a session of {len(was.turns)} turns and {said_tokens(was)} tokens said, "
        f"shrunk to {len(small.turns)} turns and {said_tokens(small)} tokens"
    )
    base = "; the unedited script shows it too" if found.in_base else ""
    minimal = "minimal" if found.minimal else "not proven minimal"
    return f"{sizes}; {minimal}; failed in {found.failing.k} of {found.failing.n} fresh runs{base}"


def _transcript(measured: Measured, failure: Failure, agent: str) -> Iterator[str]:
    lines = {line.id: line for line in measured.spoken.turns}
    for turn in measured.session.turns[: failure.turn]:
        stated = turn.id in lines and lines[turn.id].states
        marks = ("S" if stated else "") + ("C" if turn.compactions else "") + ("V" if turn.n == failure.turn else "")
        yield from _spoken(f"  {turn.n:>3} {marks:<3} user   ", _shortened(turn.user))
        for call in turn.tool_calls if turn.n == failure.turn else ():
            yield from _spoken(f"          {agent[:6]:<6} ", _called(call))
        if turn.text:
            yield from _spoken(f"          {agent[:6]:<6} ", _shortened(turn.text))


def _spoken(lead: str, text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead)) or [lead.rstrip()]


def _shortened(text: str, most: int = 200) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[:most].rstrip()} … ({text_tokens(text)} tokens)"


def _called(call: ToolCall) -> str:
    args = ", ".join(f"{key}={value!r}" for key, value in call.args.items())
    return f"calls {call.name}({args})" + (f" -> {call.error}" if call.error else "")


def _signals(scores: TurnScores, rubric: Rubric) -> Iterator[str]:
    a, p = scores.adherence, scores.progress
    honoured = f"{len(a.checks) - len(a.failed)} of {len(a.checks)} binding honoured ({len(a.exercised)} exercised)"
    honoured = "not scored: nothing binds" if a.value is None else honoured
    yield f"    adherence   {honoured}"
    failed = len(scores.assertions.failures)
    asserted = "not scored: none scripted here" if scores.assertions.value is None else f"{failed} failed"
    yield f"    assertions  {asserted}"
    yield f"    progress    {'not scored' if p.value is None else f'{p.value:.2f} {p.trend}'}"
    judged = "   ".join(f"{context}: {_score(j.score)}" for context, j in scores.judge.items())
    yield f"    judge       {judged or 'not asked'}   (rubric {rubric.rubric_id})"


def _score(score: int | None) -> str:
    return "no score" if score is None else str(score)


def _worst(failure: Failure) -> int | None:
    """The score in the finding's own context; where the judge is blind in none, the highest one it gave."""
    if failure.judge_context is not None:
        return failure.judge[failure.judge_context]
    return max((score for score in failure.judge.values() if score is not None), default=None)


def _listed(contexts: Iterable[str]) -> str:
    names = {"agent": "what the agent saw", "window": "the window alone", "full": "the full record"}
    return ", ".join(names.get(context, f"the {context.replace('+', ' and the ')}") for context in contexts)


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)
