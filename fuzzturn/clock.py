"""Clock: the session's own time, which stands still but where a turn moves it; never the machine's.

Times and spans are written in ISO 8601: 2026-05-12T09:00:00Z, PT2H.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta

__all__ = ["TIME", "span", "time", "told", "until"]

TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)$")
"""What a time looks like; whether there is such a day, `time` knows."""
_SPAN = re.compile(r"P(?:(?P<days>\d+)D)?(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+)S)?)?")


def time(written: str) -> datetime | None:
    """The time; None where there is no such time."""
    try:
        return datetime.fromisoformat(written)
    except ValueError:
        return None


def span(written: str | None) -> timedelta:
    """The span of time; None is none. The file's loader has refused all other texts."""
    match = _SPAN.fullmatch(written or "P0D")
    if match is None:
        return timedelta()
    try:
        return timedelta(**{unit: int(number) for unit, number in match.groupdict().items() if number})
    except OverflowError:  # more days than there are: as many as there are
        return timedelta.max


def until(starts: str | None, advances: Iterable[str | None]) -> datetime | None:
    """What the clock shows after all these; None = there is no clock. It stops at the end of time."""
    now = time(starts) if starts else None
    for advance in advances if now is not None else ():
        try:
            now = now + span(advance) if now is not None and advance else now
        except OverflowError:
            now = datetime.max.replace(tzinfo=now.tzinfo if now else None)
    return now


def told(now: datetime | None) -> str | None:
    """The time as records have it."""
    return None if now is None else now.isoformat().replace("+00:00", "Z")
