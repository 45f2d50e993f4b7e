"""Standing: what calls came to, as far as results tell: answers that were lost, a hotel on hold or booked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

__all__ = ["CHANGES", "Called", "TIMED_OUT", "hotel_stands", "is_lost"]

CHANGES = frozenset({"hold_booking", "confirm_booking", "add_traveller", "cancel_booking"})
"""The tools that change something."""
TIMED_OUT = "timed_out"
"""The key under which the agent notes that an answer did not come."""

Called: TypeAlias = tuple[str, Mapping[str, Any], Any, str | None]
"""Name, arguments, result and error of a call; error None = it worked, or nothing is shown of how it went."""

_NO_ANSWER = re.compile(r"\b(?:no (?:answer|response|reply)|timed[ -]?out|time-?out)\b", re.IGNORECASE)


def is_lost(result: Any, error: str | None) -> bool:
    """Whether the answer of a call did not come: it may have been carried out or not."""
    noted = isinstance(result, Mapping) and result.get(TIMED_OUT) is True
    return noted or (error is not None and _NO_ANSWER.search(error) is not None)


def hotel_stands(calls: Iterable[Called]) -> bool | None:
    """Whether a hotel is on hold or booked after these calls, by what is shown of them; None = it may be."""
    surely: dict[str, str] = {}  # hotels by the ids of their holds and bookings
    perhaps = False
    for name, args, result, error in calls:
        hotel, lost = args.get("hotel"), is_lost(result, error)
        if name not in CHANGES or (error is not None and not lost):
            continue
        if name == "cancel_booking":
            gone = [id for id, held in surely.items() if id in (args.get("id"), held)]  # an id may not be shown
            perhaps = perhaps or any(lost or id != args.get("id") for id in gone)
            surely = {id: held for id, held in surely.items() if id not in gone}
        elif hotel is not None and lost:
            perhaps = True
        elif hotel is not None:
            bought = name == "confirm_booking"
            surely = {id: held for id, held in surely.items() if not (bought and held == hotel)}
            surely[str(_id(result) or hotel)] = str(hotel)
    return True if surely else None if perhaps else False


def _id(result: Any) -> Any:
    return result.get("id") if isinstance(result, Mapping) else None
