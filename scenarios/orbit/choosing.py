"""Choosing: which of the visible flights and hotels the simulated agent takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .view import View

__all__ = ["flight", "hotel"]


def flight(seen: View, direction: str) -> Mapping[str, Any] | None:
    """The leg with the fewest stops, then the lowest fare, among those that no visible limit forbids.

    Where the limits leave none it is the cheapest, which only an approval can allow. None = no flight is visible.
    """
    rows = seen.found("search_flights", "flights", direction=direction)
    legs = [{"flight": row["flight"], "direction": direction, "fare_eur": row["fare_eur"]} for row in rows]
    ranked = sorted(zip(rows, legs, strict=True), key=lambda pair: (pair[0]["stops"], pair[0]["fare_eur"]))
    allowed = [leg for _, leg in ranked if not seen.refuses(leg)]
    return next(iter(allowed), None) or min(legs, key=lambda leg: leg["fare_eur"], default=None)


def hotel(seen: View) -> Mapping[str, Any] | None:
    """The hotel that the user names, else the cheapest one that no visible limit forbids.

    Where the limits leave none it is the cheapest all the same, as with flights. None = no hotel is visible.
    """
    rows = seen.found("search_hotels", "hotels")
    named = [row for row in rows if str(row["hotel"]).lower() in seen.said.lower()]
    allowed = [row for row in rows if not seen.refuses(row)]
    return min(named or allowed or rows, key=lambda row: (row["night_eur"], row["hotel"]), default=None)
