"""Hours: what a text says about the hours at which no flight may leave.

Hours are local times of departure. "Between 23:00 and 06:00" takes in 23:00 and leaves out 06:00.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .phrases import Found, found, phrases
from .terms import terms
from .versions import Statement

__all__ = ["NIGHT", "Night", "minutes", "said_about_hours"]

NIGHT = (23 * 60, 6 * 60)
"""What night means where no hours are named, in minutes after midnight: from 23:00 on, before 06:00."""
_DAY = 24 * 60


@dataclass(frozen=True, slots=True)
class Night:
    """No flight leaves from `start` on and before `end`, minutes after midnight; over midnight where start > end."""

    start: int
    end: int
    quote: str

    @property
    def figure(self) -> tuple[int, int]:
        return self.start, self.end

    def forbids(self, thing: Mapping[str, Any]) -> bool | None:
        """Whether a leg leaves then, by its `dep` (HH:MM). None = it does not say; what is no flight never does."""
        if "flight" not in thing:
            return False
        leaves = minutes(thing.get("dep"))
        return None if leaves is None else (leaves - self.start) % _DAY < (self.end - self.start) % _DAY


def minutes(clock: object) -> int | None:
    """Minutes after midnight of a time such as 23:05, 11 pm or midnight; None for anything else."""
    match = _CLOCK.fullmatch(clock.strip()) if isinstance(clock, str) else None
    if match is None:
        return None
    if match["midnight"]:
        return 0
    hour, half = int(match["hour"]), (match["half"] or "").lower()
    hour = hour % 12 + (12 if half == "pm" else 0) if half else hour
    return (hour * 60 + int(match["minute"] or 0)) % _DAY if hour <= 24 else None


_CLOCK = re.compile(
    r"(?P<midnight>midnight)|(?P<hour>\d{1,2})(?::(?P<minute>[0-5]\d))?(?: ?h)?\s?(?P<half>am|pm)?", re.I
)
_TIME = r"(?:midnight|\d{1,2}(?::[0-5]\d)?(?: ?h\b)?(?:\s?[ap]m\b)?)"
_PHRASES = phrases(
    {
        "FLY": r"\b(?:flights?|legs?|departures?|depart(?:s|ing)?|leaves?|leaving|fly|flying|flies|"
               r"takes? off|travel\w*|planes?|in the air|takeoffs?)\b",
        "REDEYE": r"\b(?:red-?\s?eyes?|(?:over|mid)?night(?:time)?[- ](?:flights?|departures?|connections?|legs?))\b",
        "BYNIGHT": r"\b(?:by|at|during the|in the middle of the|in the|through the|over) ?night\b",
        "HOURS": rf"\b(?:between|from)\s(?P<start>{_TIME})\s(?:and|to|until|till)\s(?P<end>{_TIME})",
        "LATE": rf"\b(?:after|past|later than|from)\s(?P<start>{_TIME})",
        "EARLY": rf"\b(?:before|earlier than|until)\s(?P<end>{_TIME})",
        "PAIR": rf"(?P<start>{_TIME})\s(?:and|to|until|till)\s(?P<end>{_TIME})",
        "BETWEEN": r"\bbetween (?:them|those)\b",
    },
    ("lift", "REDEYE … ISFINE"),
    ("lift", "FLY … BYNIGHT … ISFINE"),
    ("lift", "FORGET … REDEYE"),
    ("lift", "REDEYE … GONE"),
    ("lift", "YOUMAY … FLY … BYNIGHT"),
    ("lift", "YOUMAY … REDEYE"),
    ("lift", "FLY … HOURS … ISFINE"),
    ("lift", "FLY … HOURS … GONE"),
    ("set", "REMEMBER … PAIR | BETWEEN … NOT … FLY"),
    ("set", "REMEMBER … PAIR | NOT … FLY … BETWEEN"),
    ("set", "NOT … FLY … HOURS"),
    ("set", "NOT … FLY … LATE … EARLY"),
    ("set", "NOT … FLY … EARLY … LATE"),
    ("day", "FLY … MUST … HOURS"),
    ("day", "MUST … FLY … HOURS"),
    ("set", "NOT … REDEYE"),
    ("set", "NOT … FLY … BYNIGHT"),
    ("set", "REDEYE … OUT"),
    ("set", "FLY … BYNIGHT … OUT"),
)  # fmt: skip


def said_about_hours(text: str) -> tuple[Statement, ...]:
    """Everything that `text` says about hours of departure, in order."""
    return tuple(_statement(one) for one in found(text, _PHRASES))


def _statement(said: Found) -> Statement:
    on = terms(said.quote.replace("’", "'"))
    groups = said.match.groupdict()
    start, end = minutes(groups.get("start")), minutes(groups.get("end"))
    named = None if start is None or end is None else (start, end)
    if said.kind == "lift":
        return Statement(kind="night", rule=None, terms=on, figure=named)
    start, end = named or NIGHT
    rule = Night(end, start, said.quote) if said.kind == "day" else Night(start, end, said.quote)
    return Statement(kind="night", rule=rule, terms=on)
