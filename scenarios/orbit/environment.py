"""Environment: the simulated travel desk whose tools search, hold, confirm and cancel.

Nothing it returns carries a limit or a policy: what the user forbade stands in the conversation and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from fuzzturn.ports import Tool, environment

from .fares import EXPENSE_CODE, Table, table
from .schemas import TOOLS, misfit

__all__ = ["Orbit", "ToolError", "make"]


class ToolError(ValueError):
    """A tool refused. Not a PortError: a refusal is an event of the simulated world that an agent must handle."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One flight in one direction at the fare in EUR at which it was held or bought."""

    flight: str
    direction: str
    fare_eur: float


@dataclass(frozen=True, slots=True)
class Item:
    """A hold or a booking. `travellers` are those on the trip when it was bought; a hold has none."""

    id: str
    legs: tuple[Leg, ...] = ()
    hotel: str | None = None
    needs_approval: bool = False
    travellers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class World:
    """Everything that changes. Frozen, so that a snapshot is the value itself and no later call can reach into it."""

    holds: tuple[Item, ...] = ()
    bookings: tuple[Item, ...] = ()
    travellers: tuple[str, ...] = ()
    made: int = 0
    """How many ids were given out."""

    def id(self, letter: str) -> str:
        return f"{letter}{self.made + 1}"


class Orbit:
    """One session's travel desk."""

    def __init__(self, seed: int) -> None:
        self._table = table(seed)
        self._world = World()
        self._handlers: Mapping[str, Callable[..., Mapping[str, Any]]] = {
            "search_flights": self._search_flights,
            "search_hotels": self._search_hotels,
            "hold_booking": self._hold_booking,
            "confirm_booking": self._confirm_booking,
            "add_traveller": self._add_traveller,
            "cancel_booking": self._cancel_booking,
            "lookup_expense_code": self._lookup_expense_code,
        }

    @property
    def tools(self) -> Sequence[Tool]:
        return TOOLS

    def call(self, name: str, /, **args: Any) -> Any:
        """Run a tool. Raises ToolError, saying what is accepted, for an unknown tool, bad arguments or a refusal."""
        tool = next((tool for tool in TOOLS if tool.name == name), None)
        if tool is None:
            raise ToolError(f"no tool is called {name!r}; known: {', '.join(tool.name for tool in TOOLS)}")
        if fault := misfit(tool.schema, args, name):
            raise ToolError(fault)
        return self._handlers[name](**args)

    def observe(self) -> Mapping[str, Any]:
        """Holds, bookings and travellers, as fresh JSON-able data."""
        world = self._world
        return {
            "holds": [_held(item) for item in world.holds],
            "bookings": [_item(item) | {"travellers": list(item.travellers)} for item in world.bookings],
            "travellers": list(world.travellers),
        }

    def snapshot(self) -> World:
        """The state, to be restored any number of times into any instance made with the same seed."""
        return self._world

    def restore(self, snapshot: World) -> None:
        self._world = snapshot

    def _search_flights(self, destination: str, date: str, direction: str, origin: str = "") -> Mapping[str, Any]:
        _day(date, "search_flights.date")
        if destination == origin:
            raise ToolError(f"search_flights goes from {origin!r} to {destination!r}; accepted: two different places")
        return {"flights": [flight.row() for flight in self._table.towards(direction, destination)]}

    def _search_hotels(
        self,
        city: str,
        checkin: str | None = None,
        checkout: str | None = None,
    ) -> Mapping[str, Any]:
        days = [_day(day, "search_hotels date") for day in (checkin, checkout) if day is not None]
        if days != sorted(set(days)):
            raise ToolError(f"search_hotels.checkout is {checkout!r}; accepted: a day after checkin {checkin!r}")
        return {"hotels": [hotel.row() for hotel in self._table.hotels(city)]}

    def _hold_booking(
        self,
        kind: str,
        legs: Sequence[Mapping[str, Any]] = (),
        hotel: str | None = None,
        needs_approval: bool = False,
        refundable: bool | None = None,
    ) -> Mapping[str, Any]:
        if (kind == "flights") != bool(legs) or (kind == "hotel") != (hotel is not None):
            raise ToolError(f"hold_booking of kind {kind!r} takes {'legs' if kind == 'flights' else 'hotel'} alone")
        world = self._world
        room = _hotel(self._table, hotel, refundable)
        item = Item(world.id("H"), _legs(self._table, legs), room, needs_approval)
        self._world = replace(world, holds=(*world.holds, item), made=world.made + 1)
        return {"id": item.id, "status": "awaiting approval" if needs_approval else "held"}

    def _confirm_booking(
        self, legs: Sequence[Mapping[str, Any]] = (), hotel: str | None = None, refundable: bool | None = None
    ) -> Mapping[str, Any]:
        if not legs and hotel is None:
            raise ToolError("confirm_booking was given nothing to confirm; accepted: legs, a hotel, or both")
        world = self._world
        room = _hotel(self._table, hotel, refundable)
        item = Item(world.id("B"), _legs(self._table, legs), room, travellers=world.travellers)
        left = tuple(hold for hold in world.holds if not _covers(item, hold))
        self._world = replace(world, holds=left, bookings=(*world.bookings, item), made=world.made + 1)
        return {"id": item.id, "status": "confirmed"}

    def _add_traveller(self, name: str) -> Mapping[str, Any]:
        if name not in self._world.travellers:
            self._world = replace(self._world, travellers=(*self._world.travellers, name))
        return {"travellers": len(self._world.travellers)}

    def _cancel_booking(self, id: str) -> Mapping[str, Any]:
        known = [item.id for item in (*self._world.holds, *self._world.bookings)]
        if id not in known:
            raise ToolError(f"cancel_booking.id is {id!r}; accepted: {', '.join(known) or 'nothing, none is held'}")
        holds = tuple(item for item in self._world.holds if item.id != id)
        bookings = tuple(item for item in self._world.bookings if item.id != id)
        self._world = replace(self._world, holds=holds, bookings=bookings)
        return {"id": id, "status": "cancelled"}

    def _lookup_expense_code(self, topic: str = "travel") -> Mapping[str, Any]:
        return {"topic": topic, "code": EXPENSE_CODE}


@environment("orbit")
def make(*, seed: int) -> Orbit:
    """A fresh travel desk. The seed decides flight numbers and the order of rows, never what a city offers."""
    return Orbit(seed)


def _day(text: str, where: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ToolError(f"{where} is {text!r}; accepted: an ISO date such as 2026-05-12") from None


def _legs(table: Table, legs: Sequence[Mapping[str, Any]]) -> tuple[Leg, ...]:
    """The legs as the table knows them: nobody buys a flight that is not there, or at a price of their own."""
    for leg in legs:
        known = next((flight for flight in table.every_flight() if flight.flight == leg["flight"]), None)
        if known is None or known.direction != leg["direction"]:
            offered = ", ".join(f.flight for f in table.every_flight() if f.direction == leg["direction"])
            raise ToolError(f"no {leg['direction']} flight is called {leg['flight']!r}; accepted: {offered}")
        if known.fare_eur != leg["fare_eur"]:
            raise ToolError(f"{known.flight} costs EUR {known.fare_eur}; fare_eur {leg['fare_eur']!r} is not accepted")
        if leg.get("dep", known.dep) != known.dep:
            raise ToolError(f"{known.flight} leaves at {known.dep}; dep {leg['dep']!r} is not accepted")
    return tuple(Leg(leg["flight"], leg["direction"], leg["fare_eur"]) for leg in legs)


def _hotel(table: Table, name: str | None, refundable: bool | None) -> str | None:
    """The hotel as the table knows it, and nobody makes its rate refundable by saying so."""
    if name is None:
        return None
    known = next((hotel for hotel in table.every_hotel() if hotel.hotel == name), None)
    if known is None:
        names = ", ".join(hotel.hotel for hotel in table.every_hotel())
        raise ToolError(f"no hotel is called {name!r}; accepted: {names}")
    if refundable is not None and refundable is not known.refundable:
        raise ToolError(f"the rate of {name} is not as said; refundable {refundable!r} is not accepted")
    return name


def _covers(booking: Item, hold: Item) -> bool:
    return set(hold.legs) <= set(booking.legs) and hold.hotel in (None, booking.hotel)


def _item(item: Item) -> dict[str, Any]:
    legs = [{"flight": leg.flight, "direction": leg.direction, "fare_eur": leg.fare_eur} for leg in item.legs]
    return {"id": item.id, "legs": legs, "hotel": item.hotel}


def _held(item: Item) -> dict[str, Any]:
    return _item(item) | {"kind": "flights" if item.legs else "hotel", "needs_approval": item.needs_approval}
