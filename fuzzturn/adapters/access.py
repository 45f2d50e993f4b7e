"""Access: the way to models as a project's file and a command's options set it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzzturn.calls import Bill, CallRecord, Gateway, Keys, Prices
from fuzzturn.redaction import Redaction, redaction

__all__ = ["RECORD", "Access", "access", "project_redaction"]

RECORD = Path(".fuzzturn") / "calls.sqlite"


@dataclass(frozen=True, slots=True)
class Access:
    """The way to models. `api_base`: of an OpenAI-compatible server; None = each provider's own."""

    gateway: Gateway
    api_base: str | None = None


def project_redaction(config: Mapping[str, Any]) -> Redaction:
    """What no file may hold: the project's `redact` patterns, and secrets among the environment's variables."""
    return redaction(config.get("redact", ()), os.environ)


def access(config: Mapping[str, Any], home: Path, load: Callable[[str], Callable[..., Any]], **chosen: Any) -> Access:
    """From the project's options and those `chosen` for one command, which win: api_base, offline, budget_usd.

    `home`: where the record is, opened at the first model call. `load` finds the function that a spec names. Raises
    InputError for a pattern, price or normaliser that cannot be used.
    """
    options = {**config, **{key: value for key, value in chosen.items() if value is not None}}
    normaliser = options.get("normaliser")
    gateway = Gateway(
        record=CallRecord(home / RECORD),
        keys=Keys.of(project_redaction(config), options.get("normalise", ()), load(normaliser) if normaliser else None),
        bill=Bill(Prices.of(options.get("price", ())), options.get("budget_usd")),
        offline=bool(options.get("offline")),
    )
    return Access(gateway, options.get("api_base"))
