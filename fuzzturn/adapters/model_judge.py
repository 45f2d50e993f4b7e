"""Model judge: `--judge litellm/<model>`. A model that scores turns and decides judged milestones, by asking it.

It is asked in the strictest form that its server takes and believed in none. What cannot be read after one more try, a
refusal, and a score that its own reason denies are no score: never 0, never 4, never a pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from fuzzturn.adapters.contradiction import contradicts
from fuzzturn.adapters.hosted import Hosted
from fuzzturn.adapters.ladder import Form, Ladder
from fuzzturn.adapters.prompting import filled, prompts
from fuzzturn.adapters.reading import Unread, given, occurs, refuses, saying
from fuzzturn.calls import Gateway, Line
from fuzzturn.ports import JudgePrompt, Verdict

__all__ = ["HostedJudge"]

T = TypeVar("T", bound=BaseModel)
_PARAMETERS = {"temperature": 0}
_BEGUN: dict[str, Any] = {"quotes": {"type": "array", "items": {"type": "string"}}, "reason": {"type": "string"}}
"""Quotes and reason come first: what is written first cannot be made up to suit the score."""


def _schema(**last: Mapping[str, Any]) -> dict[str, Any]:
    properties = {**_BEGUN, **last}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


class _Scored(BaseModel):
    """A verdict as a model may give it."""

    model_config = ConfigDict(strict=True, extra="ignore")

    score: Annotated[int, Field(ge=0, le=4)]
    reason: str = ""
    quotes: list[str] = []


class _Decided(BaseModel):
    """A decision as a model may give it."""

    model_config = ConfigDict(strict=True, extra="ignore")

    answer: Literal["yes", "no", "cannot tell"]


class HostedJudge:
    """A model that judges. The same question is asked once; its answer is in the record from then on."""

    def __init__(self, model: str, gateway: Gateway, api_base: str | None = None) -> None:
        hosted = Hosted(model=model, gateway=gateway, role="judge", api_base=api_base, parameters=_PARAMETERS)
        self._verdicts = Ladder(hosted, "verdict", _schema(score={"type": "integer", "enum": [0, 1, 2, 3, 4]}))
        answers = {"type": "string", "enum": ["yes", "no", "cannot tell"]}
        self._decisions = Ladder(hosted, "decision", _schema(answer=answers))
        self._prompts = prompts()
        parameters = ", ".join(f"{name}={value}" for name, value in _PARAMETERS.items())
        self.identity = f"{model} ({parameters}, judge prompt {self._prompts.version})"

    async def score(self, prompt: JudgePrompt) -> Verdict:
        """One verdict. `score` None where there is none that counts; status and reason say why."""
        question = filled(self._prompts.judge, shown=prompt.text)
        found, form = await _asked(self._verdicts, question, prompt, _Scored)
        if isinstance(found, Unread):
            said = {"refused": "the judge refused"}.get(found.status, "the judge's answer cannot be read")
            return Verdict(None, f"{said}: {found.why}", status=found.status, form=form)
        if refuses(found.reason):
            return Verdict(None, f"the judge refused: {found.reason}", status="refused", form=form)
        if contradicts(found.score, found.reason):
            why = f"the judge gave {found.score} and contradicts it: {found.reason}"
            return Verdict(None, why, status="contradiction", form=form)
        return _verdict(found, form, prompt)

    async def decide(self, question: str, prompt: JudgePrompt) -> bool | None:
        """Whether it is so, at the end of the turn that `prompt` shows last; None where no answer settles it."""
        asked = filled(self._prompts.decide, shown=prompt.text, question=question)
        found, _ = await _asked(self._decisions, asked, prompt, _Decided)
        return None if isinstance(found, Unread) else {"yes": True, "no": False}.get(found.answer)


async def _asked(ladder: Ladder, question: str, prompt: JudgePrompt, shape: type[T]) -> tuple[T | Unread, Form]:
    """The answer, asked for once more where the first cannot be read. A refusal is not pressed."""
    asking, line = {"role": "user", "content": question}, Line(prompt.sample)
    said, form = await ladder.ask([asking], line)
    found = given(said, shape, prompt.text)
    if not isinstance(found, Unread) or found.status == "refused":
        return found, form
    before = {"role": "assistant", "content": saying(said) or "(nothing)"}  # some servers take no empty message
    again = {"role": "user", "content": filled(prompts().repair, fault=found.why)}
    said, form = await ladder.ask([asking, before, again], line)
    return given(said, shape, prompt.text), form


def _verdict(found: _Scored, form: Form, prompt: JudgePrompt) -> Verdict:
    """A quote that does not occur in what was shown supports nothing, and is left out."""
    quotes = [quote for quote in found.quotes if quote and occurs(quote, prompt.text)]
    missing = len(found.quotes) - len(quotes)
    note = f" ({missing} of {len(found.quotes)} quotes do not occur in what was shown)" if missing else ""
    return Verdict(found.score, found.reason + note, tuple(quotes), form=form)
