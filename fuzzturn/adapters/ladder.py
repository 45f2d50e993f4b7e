"""Ladder: one question asked in the strictest form that the model's server takes.

    json_schema   the server holds the answer to the schema
    tool          a forced call of one tool whose arguments have that schema
    json_object   any JSON object; the question says in words which
    text          the question alone

A step down is taken only where the server refused the form above (status 400 or 422) and took the same question in one
below. That is remembered with the record of calls, so replays ask what was asked. A server may well ignore a form that
it takes: whoever reads the answer trusts none of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from fuzzturn.adapters.hosted import PATH, Hosted
from fuzzturn.adapters.mending import Said
from fuzzturn.calls import Line, Rejected, Request
from fuzzturn.session import Chat

__all__ = ["FILTERED", "Form", "Ladder"]

Form: TypeAlias = Literal["json_schema", "tool", "json_object", "text"]
FILTERED = "content_filter"
"""The finish reason of an answer that a provider's filter stopped. Some refuse the whole question instead."""
_REFUSED_FORM = (400, 422)
_FILTER_WORDS = ("content_filter", "ContentPolicyViolation", "content management policy")


@dataclass(frozen=True, slots=True)
class _Rung:
    form: Form
    parameters: Mapping[str, Any]
    mark: Request
    """What a refusal of the form is recorded under: the same for all questions, since any may be the first."""


class Ladder:
    """Questions to one model whose answers have one schema. `name` is what the schema and the tool are called."""

    def __init__(self, model: Hosted, name: str, schema: Mapping[str, Any]) -> None:
        self._model = model
        blank = {"model": model.model, "messages": [{"role": "user", "content": ""}]}
        self._rungs = [
            _Rung(form, more, Request(role=model.role, path=PATH, body={**blank, **more}))
            for form, more in _forms(name, schema).items()
        ]

    async def ask(self, messages: Sequence[Chat], line: Line) -> tuple[Said, Form]:
        """The answer, and the form it was asked in. Raises what `Gateway.ask` raises where no form is taken."""
        gateway, refused = self._model.gateway, list[Request]()
        lowest = self._rungs[-1]
        for rung in (rung for rung in self._rungs if rung is lowest or not gateway.refused(rung.mark)):
            try:
                said = await self._model.complete(messages, line, last_form=rung is lowest, **rung.parameters)
            except Rejected as error:
                if any(word in str(error) for word in _FILTER_WORDS):
                    return Said(finish=FILTERED), rung.form
                if rung is lowest or error.status not in _REFUSED_FORM:
                    raise
                refused.append(rung.mark)
            else:
                for mark in refused:  # it was the form, since the question is taken without
                    gateway.refuse(mark)
                return said, rung.form
        raise AssertionError("unreachable")  # the lowest rung returns or raises


def _forms(name: str, schema: Mapping[str, Any]) -> dict[Form, dict[str, Any]]:
    tool = {"name": name, "description": f"Give your {name}.", "parameters": schema}
    return {
        "json_schema": {
            "response_format": {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}
        },
        "tool": {
            "tools": [{"type": "function", "function": tool}],
            "tool_choice": {"type": "function", "function": {"name": name}},
        },
        "json_object": {"response_format": {"type": "json_object"}},
        "text": {},
    }
