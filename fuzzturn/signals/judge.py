"""Judge: one score of 0-4 against frozen anchors, in one stated context; or no score, which stays no score."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from fuzzturn.awaited import RAISED, cancelled_by_us, maybe
from fuzzturn.context import PROMPT_VERSION, Evidence, prompt
from fuzzturn.errors import FuzzturnError, PortError, origin, said
from fuzzturn.ports import Judge, Verdict, identity_of
from fuzzturn.scores import JudgeContext, Judgement

__all__ = ["judge"]


async def judge(evidence: Evidence, kind: JudgeContext, judge: Judge, name: str, sample: int = 0) -> Judgement:
    """Ask `judge` about the last turn of `evidence` in context `kind`. Raises PortError for a malformed verdict."""
    rubric = evidence.rubric
    fixed: dict[str, Any] = {
        "context": kind,
        "rubric": rubric.rubric_id,
        "rubric_digest": rubric.digest,
        "frozen_on": rubric.frozen_on,
        "judge": name,
        "identity": identity_of(judge),
        "prompt_version": PROMPT_VERSION,
        "sample": sample,
        "block": evidence.block.record() if kind == "window+block" else None,
    }
    asked = prompt(kind, evidence)
    if asked is None:
        return Judgement(score=None, reason="the agent does not tell what it saw", status="not_told", **fixed)
    try:
        verdict = await maybe(judge.score(replace(asked, sample=sample)))
    except FuzzturnError:
        raise
    except RAISED as error:
        if cancelled_by_us(error):
            raise
        file, line = origin(error)
        reason = f"the judge raised {said(error)} ({Path(file).name}:{line})"
        return Judgement(score=None, reason=reason, status="error", **fixed)
    _validate(verdict, name)
    return Judgement(
        score=verdict.score,
        reason=verdict.reason,
        status=verdict.status,
        quotes=tuple(verdict.quotes),
        form=verdict.form,
        **fixed,
    )


def _validate(verdict: object, name: str) -> None:
    if not isinstance(verdict, Verdict):
        raise PortError(f"judge {name!r} returned {verdict!r}; it returns a Verdict")
    quotes = verdict.quotes if isinstance(verdict.quotes, list | tuple) else (None,)
    if not all(isinstance(text, str) for text in (verdict.reason, *quotes)):
        raise PortError(f"judge {name!r} returned {verdict!r}; reason is a text, quotes a list of texts")
    score = verdict.score
    if score is not None and (isinstance(score, bool) or not isinstance(score, int) or not 0 <= score <= 4):
        raise PortError(f"judge {name!r} gave the score {score!r}; a score is one of 0, 1, 2, 3, 4, or None for none")
