"""Model agent: `--agent litellm/<model>`, a hosted model in our tool loop, with a compaction policy of choice."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from fuzzturn.adapters.hosted import TIMEOUT_SECONDS, Hosted
from fuzzturn.adapters.loop import ROUNDS, Play, Summarise, ToolLoop
from fuzzturn.calls import Gateway, Line
from fuzzturn.compaction import policy
from fuzzturn.errors import InputError, Problem
from fuzzturn.ports import Environment
from fuzzturn.session import Chat

__all__ = ["builder", "number", "summarised", "whole"]

_INSTRUCTION = (
    "Summarise the conversation between user and assistant so far, for an assistant that will go on with it without "
    "seeing it: what the user wants, what was found and done, what is open. Answer with the summary alone."
)

_NOT_EXTRA = frozenset({"model", "messages", "tools", "stream", "api_base", "base_url", "api_key"})
"""What the adapter itself fills in; a key in a request's parameters would be written down with them."""
_TAKEN_FROM = "further parameters of the request; the server is --api-base, and a key is in the environment"


def builder(model: str, gateway: Gateway, api_base: str | None) -> Callable[..., ToolLoop]:
    """The build of an agent on that model."""

    def build(
        environment: Environment,
        *,
        system: str | None = None,
        sample: int = 0,
        compaction: str = "none",
        summariser: str = "by_rule",
        rounds: str = str(ROUNDS),
        timeout: str = str(TIMEOUT_SECONDS),
        temperature: str | None = None,
        max_tokens: str | None = None,
        extra: str = "{}",
        **policy_options: str,
    ) -> ToolLoop:
        """A session of the model; each `sample` is given answers of its own to equal requests.

        compaction: a policy of `fuzzturn.compaction`, with its options beside it. summariser: by_rule, `model` (the
        agent's own) or litellm/<model>. rounds: model calls in a turn. timeout: seconds a call. temperature and
        max_tokens: as the provider takes them, left to it where not given. extra: a JSON object of further parameters.
        Raises InputError for a value or option that cannot be used.
        """
        parameters = _parameters(temperature, max_tokens, extra)
        seconds = number("timeout", timeout)
        hosted = Hosted(model=model, gateway=gateway, api_base=api_base, timeout=seconds, parameters=parameters)
        asked = None
        if summariser != "by_rule":
            asked = Hosted(model=_summariser(summariser, model), gateway=gateway, role="summariser",
                           api_base=api_base, timeout=seconds)  # fmt: skip
        compact = policy(compaction, **policy_options)
        play = Play(
            policy=compact,
            summarise=summarised(asked) if asked else None,
            system=system,
            rounds=whole("rounds", rounds),
            identity=f"{model} (compaction={compact.identity})",
        )
        return ToolLoop(environment, hosted, play, sample=sample)

    return build


def summarised(model: Hosted) -> Summarise:
    """A summariser that asks the model."""

    async def summarise(messages: Sequence[Chat], line: Line) -> str:
        shown = "\n".join(json.dumps(dict(message), ensure_ascii=False, default=str) for message in messages)
        said = await model.complete(
            [{"role": "system", "content": _INSTRUCTION}, {"role": "user", "content": shown}], line
        )
        return said.text or ""

    return summarise


def _summariser(given: str, model: str) -> str:
    if given == "model":
        return model
    if given.startswith("litellm/") and given != "litellm/":
        return given.removeprefix("litellm/")
    raise InputError(f"agent option summariser is {given!r}; accepted: by_rule, model, litellm/<model>")


def _parameters(temperature: str | None, max_tokens: str | None, extra: str) -> dict[str, Any]:
    try:
        parameters = json.loads(extra)
    except ValueError as error:
        raise InputError(
            f"agent option extra is {extra!r}, which is no JSON: {error}; a JSON object is accepted"
        ) from error
    if not isinstance(parameters, dict):
        raise InputError(f"agent option extra is {extra!r}; a JSON object of request parameters is accepted")
    if taken := sorted(_NOT_EXTRA & parameters.keys()):
        raise InputError(Problem(what=f"agent option extra holds {taken[0]!r}", accepted=_TAKEN_FROM))
    if temperature is not None:
        parameters["temperature"] = number("temperature", temperature)
    if max_tokens is not None:
        parameters["max_tokens"] = whole("max_tokens", max_tokens)
    return parameters


def number(option: str, text: str) -> float:
    """A number from 0 up. Raises InputError."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise InputError(f"agent option {option} is {text!r}; a number from 0 up is accepted")
    return value


def whole(option: str, text: str) -> int:
    """A whole number from 1 up. Raises InputError."""
    if not text.strip().isdecimal() or int(text) < 1:
        raise InputError(f"agent option {option} is {text!r}; a whole number from 1 up is accepted")
    return int(text)
