"""Calls: the model calls of agent, summariser and judge: recorded, replayed, paid and bounded in one place."""

from __future__ import annotations

from fuzzturn.calls.bill import Bill, Role, Tokens, tokens_of
from fuzzturn.calls.gateway import CallFailed, Gateway, Line, Rejected, Served, Transient, Unsendable
from fuzzturn.calls.keys import Keys, Request
from fuzzturn.calls.prices import Price, Prices
from fuzzturn.calls.record import Answer, CallRecord, Place
from fuzzturn.calls.threads import in_thread

__all__ = [
    "Answer", "Bill", "CallFailed", "CallRecord", "Gateway", "Keys", "Line", "Place", "Price", "Prices", "Rejected",
    "Request", "Role", "Served", "Tokens", "Transient", "Unsendable", "in_thread", "tokens_of",
]  # fmt: skip
