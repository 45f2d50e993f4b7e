"""Keep: a finding as a corpus entry."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fuzzturn import __version__
from fuzzturn.corpus import Entry, FingerprintNote, Note, Provenance, RateNote, as_kept, pieces_of, script_digest
from fuzzturn.drive import Cast
from fuzzturn.outcome import Finding
from fuzzturn.registry import Registry
from fuzzturn.rubric import Rubric
from fuzzturn.scenario_file import scenario_to_data
from fuzzturn.scores import as_json
from fuzzturn.variant import Variant, said_tokens

__all__ = ["as_entry"]


def as_entry(found: Finding, cast: Cast, judge: FingerprintNote | None, rubric: Rubric, registry: Registry) -> Entry:
    """Everything that a file needs in order to replay and to be reviewed by itself."""
    failure, kept = found.failure, as_kept(found.trial.variant.spoken)
    return Entry(
        fuzzturn=__version__,
        finding=found.id,
        kind=failure.kind,
        constraint=failure.constraint,
        checker=failure.checker,
        milestone=failure.milestone,
        turn=failure.turn,
        turn_id=failure.turn_id,
        detail=failure.detail,
        call=failure.call,
        visibility=failure.visibility,
        judge_context=failure.judge_context,
        blind_in=failure.blind_in,
        failing=RateNote(**asdict(found.failing)),
        judged=RateNote(**asdict(found.judged)) if found.judged is not None else None,
        minimal=found.minimal,
        why=Note(**asdict(found.why)),
        agent=FingerprintNote(name=cast.name, options=cast.told_options, identity=found.identity),
        judge=judge,
        provenance=_provenance(found, cast),
        pieces=pieces_of(kept, registry),
        rubric=rubric,
        scenario=scenario_to_data(kept),
        twin=_twin(found),
        records=tuple(as_json(scores) for scores in found.trial.measured.scores),
    )


def _twin(found: Finding) -> dict[str, Any] | None:
    if found.failure.kind != "metamorphic" or found.trial.twin is None:
        return None
    return scenario_to_data(as_kept(found.trial.twin.spoken))


def _provenance(found: Finding, cast: Cast) -> Provenance:
    was, now = found.original.spoken, found.trial.variant.spoken
    return Provenance(
        scenario=found.scenario.scenario,
        scenario_digest=script_digest(found.scenario),
        operators=_operators(found.original),
        seed=cast.seed,
        turns_found=len(was.turns),
        tokens_found=said_tokens(was),
        turns=len(now.turns),
        tokens=said_tokens(now),
        in_base=found.in_base,
    )


def _operators(variant: Variant) -> tuple[str, ...]:
    return tuple(sorted({edit.operator for edit in variant.edits}))
