"""Model judge: `--judge litellm/<model>`. Asks for a score in a fixed shape, and takes nothing that is not in it.

The first form of the question has a JSON schema, which servers that know it hold the answer to; one that refuses it is
asked in words. What cannot be read after one more try is no score: never 0, never 4, never a pass.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fuzzturn.adapters.hosted import PATH, Hosted
from fuzzturn.adapters.mending import Said
from fuzzturn.calls import Gateway, Line, Rejected, Request
from fuzzturn.ports import JudgePrompt, Verdict

__all__ = ["HostedJudge"]

_SHAPE = (
    'Answer with one JSON object and nothing else: {"quotes": [verbatim quotes from the data], '
    '"reason": "one sentence", "score": 0, 1, 2, 3 or 4}.'
)
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "quotes": {"type": "array", "items": {"type": "string"}},
        "reason": {"type": "string"},
        "score": {"type": "integer", "enum": [0, 1, 2, 3, 4]},
    },
    "required": ["quotes", "reason", "score"],
    "additionalProperties": False,
}
_FORMAT = {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": _SCHEMA}}


class _Given(BaseModel):
    """A verdict as a model may give it."""

    model_config = ConfigDict(strict=True, extra="ignore")

    score: Annotated[int, Field(ge=0, le=4)]
    reason: str = ""
    quotes: list[str] = []


class HostedJudge:
    """A model that scores. The same question is asked once; its answer is in the record from then on."""

    def __init__(self, model: str, gateway: Gateway, api_base: str | None = None) -> None:
        parameters = {"temperature": 0}
        self._model = Hosted(model=model, gateway=gateway, role="judge", api_base=api_base, parameters=parameters)
        # A refusal is recorded for all questions alike: which of them is asked first may differ from run to run.
        form = {"model": model, "messages": [{"role": "user", "content": ""}], "response_format": _FORMAT}
        self._form = Request(role="judge", path=PATH, body=form)
        self.identity = f"{model} (judge prompt 1)"

    async def score(self, prompt: JudgePrompt) -> Verdict:
        """One verdict. `score` None where two answers could not be read; the reason says what came."""
        messages = [{"role": "user", "content": f"{prompt.text}\n\n{_SHAPE}"}]
        line = Line(prompt.sample)
        for _ in range(2):
            said = await self._ask(messages, line)
            given = _read(said)
            if isinstance(given, _Given):
                return _verdict(given, prompt)
            messages = [*messages[:1], {"role": "assistant", "content": said.text or ""},
                        {"role": "user", "content": f"That cannot be read: {given}. {_SHAPE}"}]  # fmt: skip
        return Verdict(None, f"the judge's answer cannot be read: {given}")

    async def _ask(self, messages: list[dict[str, str]], line: Line) -> Said:
        gateway = self._model.gateway
        if gateway.refused(self._form):
            return await self._model.complete(messages, line)
        try:
            return await self._model.complete(messages, line, last_form=False, response_format=_FORMAT)
        except Rejected as error:
            if error.status not in (400, 422):
                raise
        said = await self._model.complete(messages, line)
        gateway.refuse(self._form)  # it was the form, since it takes the question without
        return said


def _verdict(given: _Given, prompt: JudgePrompt) -> Verdict:
    """A quote that does not occur in what was shown supports nothing, and is left out."""
    found = [quote for quote in given.quotes if quote and quote in prompt.text]
    missing = len(given.quotes) - len(found)
    note = f" ({missing} of {len(given.quotes)} quotes do not occur in what was shown)" if missing else ""
    return Verdict(given.score, given.reason + note, tuple(found))


def _read(said: Said) -> _Given | str:
    """The last JSON object of the answer, or what is wrong with it."""
    text = said.text or ""
    found: dict[str, Any] | None = None
    start = text.find("{")
    while start >= 0:
        try:
            value, end = json.JSONDecoder().raw_decode(text, start)
        except ValueError:
            end = start + 1
        else:
            found = value if isinstance(value, dict) else found
        start = text.find("{", end)
    if found is None:
        cut = ", and was cut off by the token limit" if said.finish == "length" else ""
        return f"it holds no JSON object{cut}"
    try:
        return _Given.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}"
