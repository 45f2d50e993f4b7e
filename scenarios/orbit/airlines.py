"""Airlines: what a text says about airlines that are not to be booked.

A flight number begins with its airline's code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .phrases import Found, found, phrases
from .terms import terms
from .versions import Statement

__all__ = ["AIRLINES", "Excluded", "airline", "said_about_airlines"]

AIRLINES: Mapping[str, str] = {
    "AQ": "Aldara", "IB": "Iberia", "LH": "Lufthansa", "LX": "Swiss", "OS": "Austrian", "TP": "TAP", "VY": "Vueling",
}  # fmt: skip
"""Code -> name. Aldara exists in the simulated world only."""


@dataclass(frozen=True, slots=True)
class Excluded:
    """An airline, by its code, that is not to be booked."""

    code: str
    quote: str

    @property
    def figure(self) -> None:
        return None

    def forbids(self, thing: Mapping[str, Any]) -> bool:
        """Whether a leg is a flight of that airline."""
        return airline(thing.get("flight")) == self.code


def airline(flight: object) -> str | None:
    """The code that a flight number begins with; None where it is no flight number."""
    match = re.match(r"([A-Z0-9]{2}) ?\d{1,4}$", flight) if isinstance(flight, str) else None
    return match[1] if match else None


_ONE = (
    rf"(?:\b(?:{'|'.join(AIRLINES.values())})\b(?: \((?:{'|'.join(AIRLINES)})\))?|(?-i:\b(?:{'|'.join(AIRLINES)})\b))"
)
_PHRASES = phrases(
    {
        "AIRLINE": rf"(?P<airlines>{_ONE}(?:(?:,| or| and| nor|, or)(?: with)? {_ONE})*)",
        "OUT": r"(?: flights?)? (?:is|are|must|may|can|should|has|have|will)\b[^.;!?]{0,20}?\b(?:out|off limits|"
               r"off the list|excluded|banned|barred|blocked|ruled out|not|never|no longer|avoided)\b",
        "LEAVE": r"\b(?:exclude|leave out|steer clear of|stay away from|keep away from|keep off|boycott|rule out)\b",
        "BUT": r"\b(?:anything|any (?:airline|carrier|one|flight)|everyone|anyone|every (?:airline|carrier))\b"
               r"[^.;!?]{0,12}?\b(?:but|except|other than)\b",
        "BACK": r"\b(?:is|are)(?: now)? (?:back|allowed|permitted)\b",
        "NOFUSS": r"\b(?:no (?:problem|objections?)|nothing (?:wrong|against)|no longer)\b",
        "BOOK": r"\b(?:book|take|use|fly|choose)\b",
    },
    ("lift", "NOFUSS … AIRLINE"),
    ("lift", "AIRLINE … ISFINE"),
    ("lift", "AIRLINE … BACK"),
    ("lift", "FORGET … AIRLINE"),
    ("lift", "YOUMAY … BOOK … AIRLINE"),
    ("set", "BUT … AIRLINE"),
    ("set", "LEAVE … AIRLINE"),
    ("set", "NOT … AIRLINE"),
    ("set", "AIRLINE OUT"),
)  # fmt: skip


def said_about_airlines(text: str) -> tuple[Statement, ...]:
    """Everything that `text` says about airlines, in order; each of them is a kind of its own."""
    return tuple(_statement(code, one) for one in found(text, _PHRASES) for code in _codes(one))


def _statement(code: str, said: Found) -> Statement:
    rule = Excluded(code, said.quote) if said.kind == "set" else None
    return Statement(kind=f"airline {code}", rule=rule, terms=terms(said.quote.replace("’", "'")))


def _codes(said: Found) -> list[str]:
    named = said.match["airlines"]
    return [code for code, name in AIRLINES.items() if re.search(rf"\b{name}\b", named, re.I) or code in named]
