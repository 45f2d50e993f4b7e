"""Keys: what a model call is known by in the record: the digest of its redacted, normalised request.

Left out is what providers document as not altering the answer; kept is everything else, `stream` included, since the
recorded answer has its shape. The server's address is no part of it: it changes with every port.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal, TypeAlias

from fuzzturn.errors import InputError, PortError, Problem, blaming
from fuzzturn.redaction import NOTHING, Redaction

__all__ = ["Keys", "Known", "Request", "Role", "difference", "dumps"]

Role: TypeAlias = Literal["agent", "summariser", "judge"]
_IGNORED = frozenset({
    "user", "metadata", "safety_identifier", "prompt_cache_key", "prompt_cache_retention", "store", "service_tier",
})  # fmt: skip
_NORMALISED = "[normalised]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One model call before it is made. `path` is the API's ("/chat/completions"), `body` its JSON."""

    role: Role
    path: str
    body: Mapping[str, Any]

    @property
    def model(self) -> str:
        return str(self.body.get("model", "unknown"))

    def __str__(self) -> str:
        messages = self.body.get("messages") or self.body.get("input") or ()
        count = len(messages) if isinstance(messages, list | tuple) else 1
        last = messages[-1] if isinstance(messages, list | tuple) and messages else messages
        text = json.dumps(last, ensure_ascii=False, default=str)
        shown = text if len(text) <= 160 else text[:159] + "…"
        return f"{self.role} call {self.path} of model {self.model}, {count} messages, the last one {shown}"


@dataclass(frozen=True, slots=True)
class Keys:
    """How requests become keys. `normalise`: what varies without meaning anything (a clock, an id), per project."""

    redaction: Redaction = NOTHING
    normalise: tuple[re.Pattern[str], ...] = ()
    normaliser: Callable[[dict[str, Any]], Any] | None = None
    """Given the request's body as plain data; what it returns stands in its place."""

    @classmethod
    def of(cls, redaction: Redaction, patterns: Iterable[str], normaliser: Callable[..., Any] | None = None) -> Keys:
        """From the project's options. Raises InputError for a pattern that is no regular expression."""
        compiled, problems = [], []
        for given in patterns:
            try:
                compiled.append(re.compile(given))
            except re.error as error:
                what = f"the normalise pattern {given!r} is no regular expression: {error}"
                problems.append(Problem(what=what, accepted="a regular expression of what varies from run to run"))
        if problems:
            raise InputError(problems)
        return cls(redaction, tuple(compiled), normaliser)

    def known(self, request: Request) -> Known:
        """What the request is known by. Raises PortError where the normaliser fails."""
        written = self.redaction.data(dict(request.body))
        body = {key: value for key, value in written.items() if key not in _IGNORED}
        if self.normaliser is not None:
            with blaming("the normaliser"):
                body = self.normaliser(json.loads(json.dumps(body, default=str)))
            if not isinstance(body, Mapping):
                raise PortError(f"the normaliser returned {body!r}; it returns the request's body, changed")
        canonical = dumps({"path": request.path, "body": _cleaned(body, self.normalise)})
        digest = hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
        return Known(digest, written, canonical)


@dataclass(frozen=True, slots=True)
class Known:
    """A request as the record knows it."""

    key: str
    """sha256 of `canonical`, in hex."""
    written: Mapping[str, Any]
    """The whole body, redacted."""
    canonical: str
    """The part that decides the answer, normalised, as canonical JSON."""


def dumps(value: object) -> str:
    """Canonical JSON."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


def difference(recorded: Any, asked: Any, path: str = "") -> str | None:
    """Where two JSON values first differ, as a path with what stands there in each; None = nowhere."""
    if isinstance(recorded, Mapping) and isinstance(asked, Mapping):
        keys = sorted({*recorded, *asked})
        steps = (
            (f"{path}.{key}" if path else key, recorded.get(key, _MISSING), asked.get(key, _MISSING)) for key in keys
        )
    elif isinstance(recorded, list) and isinstance(asked, list):
        pairs = enumerate(zip_longest(recorded, asked, fillvalue=_MISSING))
        steps = ((f"{path}[{i}]", one, other) for i, (one, other) in pairs)
    elif _short(recorded, None) == _short(asked, None):
        return None
    else:
        return f"{path}: recorded {_short(recorded)}, asked {_short(asked)}"
    return next((found for at, one, other in steps if (found := difference(one, other, at)) is not None), None)


_MISSING = object()


def _cleaned(value: Any, patterns: tuple[re.Pattern[str], ...]) -> Any:
    """Without nulls, and without what the patterns name."""
    if isinstance(value, str):
        for pattern in patterns:
            value = pattern.sub(_NORMALISED, value)
        return value
    if isinstance(value, Mapping):
        return {str(key): _cleaned(item, patterns) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_cleaned(item, patterns) for item in value]
    return value


def _short(value: Any, longest: int | None = 100) -> str:
    if value is _MISSING:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if longest is None or len(text) <= longest else text[: longest - 1] + "…"
