"""Results: a finding, a campaign and a session as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from fuzzturn.finding import Failure
from fuzzturn.outcome import Finding, Outcome
from fuzzturn.scores import as_json
from fuzzturn.tokens import text_tokens
from fuzzturn.trial import Trial

__all__ = ["campaign_json", "finding_json", "session_json"]


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
        "judged": found.judged and asdict(found.judged),
        "flips": found.flips and asdict(found.flips),
        "minimal": found.minimal,
        "shrinking": asdict(found.shrinking),
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
        "coverage": {o.base.measured.spoken.scenario: o.coverage for o, _ in pairs},
        "skipped_operators": {o.base.measured.spoken.scenario: dict(o.skipped) for o, _ in pairs if o.skipped},
        "off_script": sum(o.off_script for o, _ in pairs),
        "agent_errors": [error for o, _ in pairs for error in o.agent_errors],
        "judge_unscored": sum(o.judge_unscored for o, _ in pairs),
        "undecided": sum(o.undecided for o, _ in pairs),
        "dismissed": sum(o.dismissed for o, _ in pairs),
        "findings": [finding for _, findings in pairs for finding in findings],
        "errors": [],
    }


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


def _worst(failure: Failure) -> int | None:
    """The score in the finding's own context; where the judge is blind in none, the highest one it gave."""
    if failure.judge_context is not None:
        return failure.judge[failure.judge_context]
    return max((score for score in failure.judge.values() if score is not None), default=None)
