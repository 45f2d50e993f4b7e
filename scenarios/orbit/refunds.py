"""Refunds: what a text says about whether a hotel's rate has to be refundable."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .phrases import Found, found, phrases
from .terms import terms
from .versions import Statement

__all__ = ["Refundable", "said_about_refunds"]


@dataclass(frozen=True, slots=True)
class Refundable:
    """A hotel's rate has to be refundable."""

    quote: str

    @property
    def figure(self) -> None:
        return None

    def forbids(self, thing: Mapping[str, Any]) -> bool | None:
        """Whether a hotel's rate is not, by its `refundable`. None = it does not say; what is no hotel never does."""
        if "hotel" not in thing:
            return False
        refundable = thing.get("refundable")
        return not refundable if isinstance(refundable, bool) else None


_PHRASES = phrases(
    {
        "NONREF": r"(?:\b(?:non-?\s?refundable|not refundable|no-refund\w*|pre-?paid)\b|"
                  r"\b(?:can't|cannot|can not|can no longer) be (?:cancell?ed|refunded)\b)",
        "REF": r"\b(?<!non-)(?<!non )(?:refundable|free cancell?ation|free to cancel|money back|"
               r"cancell?(?:ed|able)?(?: it)? (?:for free|free of charge|at no (?:cost|charge)|"
               r"without (?:a |any )?(?:fee|charge|penalty|cost)))\b",
        "UNLESS": r"\b(?:unless|if|that is not|which is not|that isn't)\b",
        "ONLY": r"\b(?:only|please|a must|mandatory|required)\b",
        "NEEDNOT": r"\b(?:need not|needn't|(?:does not|doesn't|do not|don't|no longer) "
                   r"(?:need|have|needs|has)(?: to)?)\b",
        "NEEDED": r"\b(?:is|are)(?: no longer|n't| not)(?: really)? (?:needed|required|necessary|important)\b",
        "THAT": r"\bthat is what\b",
    },
    ("lift", "NONREF … ISFINE"),
    ("lift", "NEEDNOT … REF"),
    ("lift", "REF … NEEDED"),
    ("lift", "REF … GONE"),
    ("lift", "FORGET … REF"),
    ("lift", "YOUMAY … NONREF"),
    ("set", "REMEMBER … REF | THAT … MUST"),
    ("set", "NOT … NONREF"),
    ("set", "NONREF … OUT"),
    ("set", "NOT … UNLESS … REF"),
    ("set", "MUST … REF"),
    ("set", "REF … ONLY"),
)  # fmt: skip
_FLIGHT = re.compile(r"\b(?:flights?|legs?|fares?|tickets?)\b", re.IGNORECASE)
_HOTEL = re.compile(r"\b(?:hotels?|rooms?|nights?|rates?|accommodations?|places?)\b", re.IGNORECASE)


def said_about_refunds(text: str) -> tuple[Statement, ...]:
    """Everything that `text` says about it, in order."""
    return tuple(_statement(one) for one in found(text, _PHRASES) if _about_hotels(one.quote))


def _about_hotels(sentence: str) -> bool:
    """A sentence that names neither is about the hotel: no flight here has terms of its own."""
    return _HOTEL.search(sentence) is not None or _FLIGHT.search(sentence) is None


def _statement(said: Found) -> Statement:
    on = replace(terms(said.quote.replace("’", "'")), leg=None)  # a hotel is no leg of the trip
    return Statement(kind="refundable", rule=None if said.kind == "lift" else Refundable(said.quote), terms=on)
