"""Fares: what can be bought in the simulated world, drawn from the seed.

The seed decides flight numbers, minutes of departure and the order of rows, and nothing that a story could depend on:
airlines, hours, stops, fares and rates are the same under every seed. Cities of which nothing particular is known
share one offer. Flight numbers and hotel names are unique over all cities, so a booking need not name its city.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, TypeAlias

__all__ = ["CITIES", "DIRECTIONS", "EXPENSE_CODE", "Flight", "Hotel", "Offer", "Table", "table"]

DIRECTIONS = ("outbound", "return")
_Route: TypeAlias = tuple[str, str, int, int, int]
_Room: TypeAlias = tuple[str, int, bool | None]
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
_NIGHT_ROUTES = (
    ("outbound", "OS", 23, 0, 89),
    ("outbound", "LH", 10, 1, 214),
    ("outbound", "LX", 13, 1, 239),
    ("return", "OS", 4, 0, 97),
    ("return", "LH", 16, 1, 188),
)
_ALDARA_ROUTES = (
    ("outbound", "AQ", 8, 0, 124),
    ("outbound", "LH", 11, 1, 207),
    ("outbound", "VY", 15, 1, 189),
    ("return", "AQ", 18, 0, 139),
    ("return", "VY", 12, 1, 176),
)
# name, price of a night in EUR, whether the rate is refundable (None = the hotel does not say)
_HOTELS = (("Casa do Rio", 118, None), ("Hotel Miradouro", 164, None))
_PORTO_HOTELS = (("Ribeira Nova", 92, False), ("Casa das Camélias", 131, True))

# city -> first flight number, routes, hotels
_OFFERS: Mapping[str, tuple[int, tuple[_Route, ...], tuple[_Room, ...]]] = {
    "": (200, _ROUTES, _HOTELS),
    "Porto": (300, _ROUTES, _PORTO_HOTELS),
    "Berlin": (400, _ROUTES, (("Haus am Kanal", 109, None), ("Hotel Lindenhof", 148, None))),
    "Vienna": (500, _NIGHT_ROUTES, (("Pension Nussdorf", 96, None), ("Hotel Donaublick", 137, None))),
    "Madrid": (600, _ALDARA_ROUTES, (("Hostal Chueca", 88, None), ("Hotel Retiro", 142, None))),
    "Rome": (700, _ROUTES, (("Albergo Tevere", 121, None), ("Hotel Gianicolo", 158, None))),
}


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
    """One hotel; `night_eur` is the price of a night in whole euros. `refundable` None = it does not say."""

    hotel: str
    night_eur: int
    refundable: bool | None = None

    def row(self) -> dict[str, Any]:
        """As a search lists it; what the hotel does not say is not there."""
        return {key: value for key, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Offer:
    """What one city has, in the order in which searches list it."""

    flights: tuple[Flight, ...]
    hotels: tuple[Hotel, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """All offers of one session, by city; "" is the offer of every city that has none of its own."""

    offers: Mapping[str, Offer]

    def towards(self, direction: str, city: str) -> tuple[Flight, ...]:
        """The flights between home and that city in one direction."""
        return tuple(flight for flight in self._offer(city).flights if flight.direction == direction)

    def hotels(self, city: str) -> tuple[Hotel, ...]:
        return self._offer(city).hotels

    def every_flight(self) -> tuple[Flight, ...]:
        return tuple(flight for offer in self.offers.values() for flight in offer.flights)

    def every_hotel(self) -> tuple[Hotel, ...]:
        return tuple(hotel for offer in self.offers.values() for hotel in offer.hotels)

    def _offer(self, city: str) -> Offer:
        return self.offers.get(city, self.offers[""])


@lru_cache(maxsize=64)
def table(seed: int) -> Table:
    """The table of that seed; any whole number will do."""
    noise = hashlib.sha256(f"orbit:{seed}".encode()).digest()
    return Table({city: _offer(*offer, noise) for city, offer in _OFFERS.items()})


def _offer(first: int, routes: tuple[_Route, ...], rooms: tuple[_Room, ...], noise: bytes) -> Offer:
    flights = [
        Flight(
            f"{carrier}{first + 20 * i + noise[i] % 20}", direction, f"{hour:02}:{_minute(noise[i]):02}", stops, fare
        )
        for i, (direction, carrier, hour, stops, fare) in enumerate(routes)
    ]
    order = sorted(range(len(flights)), key=lambda i: noise[8 + i])
    hotels = [Hotel(*room) for room in rooms]
    return Offer(tuple(flights[i] for i in order), tuple(hotels[:: 1 if noise[16] % 2 else -1]))


def _minute(noise: int) -> int:
    return noise % 12 * 5
