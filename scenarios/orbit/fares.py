"""Fares: what can be bought in the simulated world, drawn from the seed.

The seed decides flight numbers, minutes of departure and the order of rows, and nothing that a story could depend on:
under every seed each direction has one non-stop flight at a pleasant hour, and the outbound one costs EUR 610.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["CITIES", "DIRECTIONS", "EXPENSE_CODE", "Flight", "Hotel", "Table", "table"]

DIRECTIONS = ("outbound", "return")
CITIES = ("Barcelona", "Berlin", "Lisbon", "Madrid", "Paris", "Porto", "Rome", "Vienna")
EXPENSE_CODE = "CX-402"

# direction, carrier, hour of departure, stops, fare in EUR
_ROUTES = (
    ("outbound", "TP", 9, 0, 610),
    ("outbound", "IB", 6, 1, 430),
    ("outbound", "LH", 5, 1, 450),
    ("return", "TP", 17, 0, 395),
    ("return", "LH", 21, 1, 340),
)
_HOTELS = (("Casa do Rio", 118), ("Hotel Miradouro", 164))


@dataclass(frozen=True, slots=True)
class Flight:
    """One flight; `dep` is local time HH:MM, `fare_eur` the price of the leg in whole euros."""

    flight: str
    direction: str
    dep: str
    stops: int
    fare_eur: int

    def row(self) -> dict[str, Any]:
        """As a search lists it: the direction is what was asked for."""
        return {key: value for key, value in asdict(self).items() if key != "direction"}


@dataclass(frozen=True, slots=True)
class Hotel:
    """One hotel; `night_eur` is the price of a night in whole euros."""

    hotel: str
    night_eur: int


@dataclass(frozen=True, slots=True)
class Table:
    """All flights and hotels of one session, in the order in which searches list them."""

    flights: tuple[Flight, ...]
    hotels: tuple[Hotel, ...]

    def towards(self, direction: str) -> tuple[Flight, ...]:
        return tuple(flight for flight in self.flights if flight.direction == direction)

    def flight(self, number: str) -> Flight | None:
        return next((flight for flight in self.flights if flight.flight == number), None)


def table(seed: int) -> Table:
    """The table of that seed; any whole number will do."""
    noise = hashlib.sha256(f"orbit:{seed}".encode()).digest()
    flights = [
        Flight(f"{carrier}{200 + 20 * i + noise[i] % 20}", direction, f"{hour:02}:{noise[i] % 12 * 5:02}", stops, fare)
        for i, (direction, carrier, hour, stops, fare) in enumerate(_ROUTES)
    ]
    order = sorted(range(len(flights)), key=lambda i: noise[8 + i])
    hotels = [Hotel(*row) for row in _HOTELS]
    return Table(tuple(flights[i] for i in order), tuple(hotels[:: 1 if noise[16] % 2 else -1]))
