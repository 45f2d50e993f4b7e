"""Hosted: models behind litellm, as an agent's model, a summariser and a judge's. The one module that imports litellm.

litellm is imported at the first call: it takes seconds and reaches for the network unless told not to. It is asked
synchronously, in threads: its async clients belong to the event loop that first used them, and a campaign has several
loops. Its own retries are off (they repeat what cannot succeed); the gateway has ours.
"""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from fuzzturn.adapters.mending import Said, as_function, plain_text
from fuzzturn.calls import Answer, Gateway, Line, Rejected, Request, Role, Transient, in_thread
from fuzzturn.ports import Tool
from fuzzturn.session import Chat

__all__ = ["PATH", "Hosted"]

PATH = "litellm"
"""What stands for the API's path in the record: the shape of the answers is litellm's."""
TIMEOUT_SECONDS = 120.0
_LOOPBACK = "127.0.0.1,localhost"
_PASSING = frozenset({408, 409, 425, 429})
"""HTTP states other than 5xx that may pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """A model that litellm can reach, behind the gateway. `parameters` go with every request (temperature, …)."""

    model: str
    gateway: Gateway
    role: Role = "agent"
    api_base: str | None = None
    """Of any OpenAI-compatible server; None = the provider's own."""
    timeout: float = TIMEOUT_SECONDS
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The model as litellm wants it: a server of one's own speaks OpenAI's protocol unless it is said otherwise."""
        return self.model if self.api_base is None or "/" in self.model else f"openai/{self.model}"

    async def ask(self, messages: Sequence[Chat], tools: Sequence[Tool], line: Line) -> Said:
        """One answer, with the tools on offer. Raises what `Gateway.ask` raises."""
        if not tools:
            return await self.complete(messages, line)
        return await self.complete(messages, line, tools=[as_function(tool) for tool in tools])

    async def complete(self, messages: Sequence[Chat], line: Line, *, last_form: bool = True, **more: Any) -> Said:
        """One answer to a request that carries `more`. Raises what `Gateway.ask` raises."""
        body = {"model": self.model, "messages": [dict(message) for message in messages], **self.parameters, **more}
        request = Request(role=self.role, path=PATH, body=body)
        served = await self.gateway.ask(request, line, lambda: self._send(body), last_form=last_form)
        return said(json.loads(served.answer.body), recorded=served.recorded)

    async def _send(self, body: Mapping[str, Any]) -> Answer:
        return await in_thread(self._call, body)

    def _call(self, body: Mapping[str, Any]) -> Answer:
        own: dict[str, Any] = {"api_base": self.api_base} if self.api_base else {}
        if self.api_base and not os.environ.get("OPENAI_API_KEY"):
            own["api_key"] = "none"  # the client refuses to start without one; a server of one's own asks for none
        try:
            once = {"model": self.name, "timeout": self.timeout, "num_retries": 0, "max_retries": 0}
            response = _litellm().completion(**{**_sendable(body), **own, **once})
        except Exception as error:
            if (status := getattr(error, "status_code", None)) is None:
                raise
            raise _fault(int(status), error, self.api_base) from error
        data = response.model_dump(mode="json", exclude_none=True)
        if not data.get("choices"):
            raise Transient("malformed answer", "there is no choice in it")
        return Answer(body=json.dumps(_sendable(data), ensure_ascii=False).encode(), usage=data.get("usage"))


def _sendable(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same, with "?" for half a character, as a token limit leaves it: no request could hold it."""
    text = json.dumps(data, ensure_ascii=False, default=str)
    try:
        text.encode()
    except UnicodeEncodeError:
        replaced: Mapping[str, Any] = json.loads(text.encode(errors="replace"))
        return replaced
    return data


def said(completion: Mapping[str, Any], *, recorded: bool) -> Said:
    """What a chat completion says."""
    choice = completion["choices"][0]
    message = choice.get("message") or {}
    text, refusal = plain_text(message.get("content")), plain_text(message.get("refusal"))
    return Said(
        text=text or refusal or text,
        refused=not text and bool(refusal),
        calls=message.get("tool_calls") or (),
        finish=choice.get("finish_reason"),
        usage=completion.get("usage"),
        recorded=recorded,
    )


def _fault(status: int, error: Exception, api_base: str | None) -> Transient | Rejected:
    """By the state that litellm gives the error; a connection that fails and a missing key are 500 to it."""
    asked = f" (asked at {api_base}{'; most servers want /v1 at the end' * (status == 404)})" if api_base else ""
    text = str(error) + asked
    if "Missing credentials" in text or "api_key client option must be set" in text:
        return Rejected(401, "no key was given for this model: set the provider's variable, such as OPENAI_API_KEY")
    if "insufficient_quota" in str(getattr(error, "body", None)):
        return Rejected(402, text)  # sent with 429, but waiting does not help
    if status in _PASSING or status >= 500:
        reason = {429: "rate limit", 408: "time-out"}.get(status, f"server error {status}")
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
        reason = "no connection" if "Connection error" in text else reason
        return Transient(reason, text, _seconds(headers.get("retry-after")))
    return Rejected(status, text)


def _seconds(value: str | None) -> float | None:
    try:
        return None if value is None else max(float(value), 0.0)
    except ValueError:
        return None


@lru_cache(maxsize=1)
def _litellm() -> Any:
    """litellm, quiet, and kept from the network at import (prices and tokenizers would be fetched)."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_OFFLINE_MODE", "true")
    for name in ("NO_PROXY", "no_proxy"):  # whatever leads out of here, a server on this machine is not behind it
        os.environ[name] = ",".join(filter(None, (os.environ.get(name), _LOOPBACK)))
    # said at its first call of types that nobody here uses, and alarming
    warnings.filterwarnings("ignore", "Items .* on TypedDict class .* are using the `ReadOnly` qualifier", UserWarning)
    import litellm

    litellm.suppress_debug_info = True
    litellm.drop_params = False  # a parameter that is dropped in silence changes what was asked
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.ERROR)
    return litellm
