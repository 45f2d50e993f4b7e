"""Payments: what a text says about whether anything may be paid for, that is confirmed, at all.

Two rules come to the same thing: "nothing is paid before somebody approves" and "for now things are only held".
An approval allows one payment and leaves the rule in place; a lift ends it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from .phrases import Found, found, phrases

__all__ = ["APPROVALS", "Payments", "covers", "said_about_payments"]

APPROVALS = ("", "flights", "hotel", "everything")
"""What an approval can be for."""
Kind: TypeAlias = Literal["ban", "approve", "lift"]


@dataclass(frozen=True, slots=True)
class Payments:
    """One thing said about paying; `quote` is the sentence that says it."""

    kind: Kind
    quote: str
    of: str = ""
    """What an approval is for, one of APPROVALS; "" for the other kinds."""

    @property
    def alone(self) -> bool:
        """Whether the approval says by itself that it is for one payment: then others need one too.

        One that names a figure is about what things cost.
        """
        return _SINGLE.search(self.quote) is not None and not re.search(r"\d", self.quote)


def covers(approved: str, booking: Mapping[str, Any]) -> bool:
    """Whether leave to pay for `approved` (flights, hotel, everything, or "" for nothing) covers a confirmation."""
    of_flights, of_hotel = bool(booking.get("legs")), booking.get("hotel") is not None
    return (
        approved == "everything" or (approved == "flights" and not of_hotel) or (approved == "hotel" and not of_flights)
    )


_PAY = (
    r"(?:paid|pay(?:s|ing|ments?)?|confirm(?:s|ed|ing|ations?)?|book(?:ed|ing|ings|s)?|bought|buy(?:s|ing)?|"
    r"purchas(?:e|es|ed|ing)|charged?|spent|spend(?:ing)?|money)"
)
_YES = (
    r"(?:approv(?:es?|ed|al)|sign(?:s|ed)?[- ]off|authori[sz](?:es?|ed|ation)|okay(?:s|ed)?|ok|go-ahead|"
    r"green light|consent|permission|say-so|blessing|say(?:s)? (?:so|yes)|said (?:so|yes)|agree(?:s|d)?)"
)
_PHRASES = phrases(
    {
        "PAY": rf"\b{_PAY}\b",
        "YES": rf"\b{_YES}\b",
        "UNTIL": r"\b(?:before|until|till|unless|without|except (?:with|after))\b",
        "AFTER": r"\b(?:only|solely)\b[^.;!?]{0,40}?\b(?:after|once|with|when|if)\b",
        "NEEDS": r"\b(?:needs?|requires?|must (?:have|get|wait for)|has to (?:have|get|wait for)|waits? for|"
                 r"subject to)\b",
        "YET": r"\b(?:yet|for now|for the moment|for the time being|so far|until|till|before|"
               r"at this stage|right now)\b",
        "HELD": r"\b(?:holds?|held|holding|on hold|reserved?|reservations?)\b",
        "JUST": r"\b(?:only|just|merely|nothing but|no more than)\b",
        "NOTHING": r"\b(?:nothing|no \w+)\b",
        "NEVER": r"\b(?:never|not|nothing|no|none|don't|without)\b",
        "RULE": r"\b(?:hold-only|holds? only|holding only|freeze|approval rule|sign-off rule|"
                r"(?:payment|booking|purchase) (?:ban|rule|stop))\b",
        "HAS": r"(?<!before )(?<!until )(?<!unless )(?<!once )(?<!when )(?<!after )(?<!if )"
               r"\b(?!(?:before|until|unless|once|when|after|if|not|never|nobody|please|to|will|must|should|can|could|may|might|"
               r"would)\b)[\w'-]+"
               r"(?: (?:has|have|just|now|herself|himself|hereby|gladly))*",
        "GIVES": r" (?:approve[sd]?|authori[sz]e[sd]?|signs? off(?: on)?|signed off(?: on)?|okay(?:s|ed)|agree[sd]? to|"
                 r"sa(?:ys|id) yes to|(?:gives?|gave|given)(?: you| us| me)? (?:the|his|her|their|a|my) "
                 r"(?:approval|go-ahead|okay|ok|green light|consent|permission|blessing)(?: for| to| on)?)\b",
        "ONE": r"\b(?:one|once|this time|single|the|this|that|it|them)\b",
        "ONCE": r"\b(?:one|once|this time|a single)\b",
        "HAVE": r"\byou have (?:my|his|her|their|[A-Z][\w'-]+) (?:approval|go-ahead|okay|permission|consent)\b",
        "NONEED": r"\b(?:no (?:longer|need|more)|not|nobody|need not|needn't|don't|does not|doesn't)\b",
        "NEEDED": r"\b(?:needed|required|necessary|needs?|approves?|approve|any ?more)\b",
        "THAT": r"\b(?:that is (?:as far as|all)|nothing\b[^.;!?]{0,30}?\b(?:beyond|more than) that)\b",
    },
    ("lift", "RULE … GONE"),
    ("lift", "FORGET … RULE"),
    ("lift", "YES … NONEED … NEEDED"),
    ("lift", "NONEED … NEEDED … YES"),
    ("ban", "REMEMBER … HELD | THAT"),
    ("ban", "NOT … PAY … UNTIL … YES"),
    ("ban", "UNTIL … YES … NOT … PAY"),
    ("ban", "PAY … AFTER … YES"),
    ("ban", "PAY … NEEDS … YES"),
    ("approve", "YOUMAY … PAY … ONCE"),
    ("lift", "YOUMAY … PAY"),
    ("approve", "HAVE … PAY"),
    ("approve", "HAS GIVES … ONE"),
    ("ban", "JUST … HELD … NEVER … PAY"),
    ("ban", "HELD … NEVER … PAY"),
    ("ban", "JUST … HELD … YET"),
    ("ban", "YET … JUST … HELD"),
    ("ban", "NOT … PAY … YET"),
    ("ban", "PAY NOTHING … YET"),
    ("ban", "YET … NOT … PAY"),
)  # fmt: skip
# "I never paid so much before" tells of something and forbids nothing.
_TELLING = re.compile(
    r"\b(?:I|we|he|she|they)(?:'ve)?(?: (?:have|has|had)(?:n't)?)?(?: (?:never|not|yet))* "
    r"(?:paid|booked|bought|confirmed|spent)\b",
    re.IGNORECASE,
)
_SINGLE = re.compile(r"\b(?:one|once|single|this time)\b", re.IGNORECASE)
_FLIGHTS = re.compile(r"\b(?:flights?|fares?|legs?|tickets?)\b", re.IGNORECASE)
_HOTEL = re.compile(r"\b(?:hotels?|rooms?)\b", re.IGNORECASE)
_KINDS: dict[str, Kind] = {"ban": "ban", "approve": "approve", "lift": "lift"}


def said_about_payments(text: str) -> tuple[Payments, ...]:
    """Everything that `text` says about paying, in order."""
    said = found(text, _PHRASES, on_terms=False)
    told = (one for one in said if one.kind != "ban" or not _TELLING.search(one.match.string))
    return tuple(Payments(_KINDS[one.kind], one.quote, _of(one)) for one in told)


def _of(said: Found) -> str:
    """What an approval is for. A sentence that names both, or neither, means everything."""
    flights, hotel = _FLIGHTS.search(said.quote), _HOTEL.search(said.quote)
    if said.kind != "approve":
        return ""
    return "everything" if bool(flights) == bool(hotel) else "flights" if flights else "hotel"
