"""Deciding: from what one model call shows to the next action, as a pure function.

The agent is SIMULATED: rules stand where a model would be. It prefers what is most convenient (few stops, then the
lower fare) among what no limit in its view forbids, so it keeps every limit that it can see and only those.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from fuzzturn.session import Chat

from .choosing import flight, hotel
from .fares import DIRECTIONS
from .reading import Wants, wants
from .view import View, view
from .wording import report

__all__ = ["Action", "Call", "Calls", "Say", "decide"]

Leg: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One tool to call."""

    name: str
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Calls:
    """Tool calls that one model call asks for together."""

    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Say:
    """The final answer of the turn."""

    text: str


Action: TypeAlias = Calls | Say


def decide(context: Sequence[Chat]) -> Action:
    """The next action, from the messages of one model call alone: the same messages, the same action."""
    seen = view(context)
    asked = wants(seen.said)
    for step in _STEPS:
        if (action := step(seen, asked)) is not None:
            return action
    return Say(report(seen, asked))


def _search_flights(seen: View, asked: Wants) -> Action | None:
    wanted = [direction for direction in DIRECTIONS if direction in _directions_to_search(seen, asked)]
    missing = [direction for direction in wanted if not seen.did("search_flights", direction=direction)]
    if not missing:
        return None
    if seen.trip.city is None:
        return Say("Which city is the trip to, and on which dates?")
    days = {"outbound": seen.trip.out, "return": seen.trip.back}
    if any(days[direction] is None for direction in missing):
        return Say("On which dates do you travel out and back?")
    place = {"origin": seen.trip.origin} if seen.trip.origin else {}
    return Calls(
        tuple(
            Call("search_flights", {**place, "destination": seen.trip.city, "date": days[d], "direction": d})
            for d in missing
        )
    )


def _directions_to_search(seen: View, asked: Wants) -> frozenset[str]:
    """What the user wants looked up, and what has to be chosen anew for lack of an acceptable hold."""
    wanted = asked.search & frozenset(DIRECTIONS)
    if "flights" in asked.hold:
        return wanted | {d for d in DIRECTIONS if not seen.found("search_flights", "flights", direction=d)}
    return frozenset(DIRECTIONS) if _must_choose(seen, asked) else wanted


def _must_choose(seen: View, asked: Wants) -> bool:
    """Whether flights are to be bought and none that may be bought is on hold."""
    return "flights" in asked.confirm and not seen.did("confirm_booking") and not _held_legs(seen, asked)


def _search_hotels(seen: View, asked: Wants) -> Action | None:
    needed = "hotel" in asked.hold and not seen.found("search_hotels", "hotels")
    if not ("hotel" in asked.search or needed) or seen.did("search_hotels"):
        return None
    if seen.trip.city is None:
        return Say("In which city shall I look for a hotel?")
    return Calls((Call("search_hotels", {"city": seen.trip.city}),))


def _hold_hotel(seen: View, asked: Wants) -> Action | None:
    if "hotel" not in asked.hold or seen.did("hold_booking", kind="hotel"):
        return None
    best = hotel(seen)
    return None if best is None else Calls((Call("hold_booking", {"kind": "hotel", "hotel": best["hotel"]}),))


def _hold_flights(seen: View, asked: Wants) -> Action | None:
    """Hold the choice for both directions. What only an approval could allow is held pending that approval."""
    needed = "flights" in asked.hold or _must_choose(seen, asked)
    if not needed or seen.did("hold_booking", kind="flights"):
        return None
    chosen = [leg for direction in DIRECTIONS if (leg := flight(seen, direction)) is not None]
    if len(chosen) < len(DIRECTIONS):
        return None
    flag = {"needs_approval": True} if any(seen.limits.against(leg) for leg in chosen) else {}
    return Calls((Call("hold_booking", {"kind": "flights", "legs": chosen, **flag}),))


def _add_traveller(seen: View, asked: Wants) -> Action | None:
    if asked.traveller is None or seen.did("add_traveller"):
        return None
    if not asked.traveller:
        return Say("What is the traveller's full name?")
    return Calls((Call("add_traveller", {"name": asked.traveller}),))


def _expense_code(seen: View, asked: Wants) -> Action | None:
    if not asked.expense_code or seen.did("lookup_expense_code"):
        return None
    return Calls((Call("lookup_expense_code", {}),))


def _cancel(seen: View, asked: Wants) -> Action | None:
    ids = sorted(asked.cancel - {"flights", "hotel"})
    for kind in ("flights", "hotel"):
        if kind in asked.cancel:
            ids += [hold.id for hold in seen.holds(kind) if hold.id]
    pending = [id for id in ids if not seen.did("cancel_booking", id=id)]
    return Calls(tuple(Call("cancel_booking", {"id": id}) for id in pending)) if pending else None


def _confirm(seen: View, asked: Wants) -> Action | None:
    if not asked.confirm or seen.did("confirm_booking"):
        return None
    args: dict[str, Any] = {"legs": []}
    if "flights" in asked.confirm:
        args["legs"] = list(_held_legs(seen, asked))
    if "flights" in asked.confirm and not args["legs"]:
        return None
    hotels = seen.holds("hotel")
    if "hotel" in asked.confirm and hotels:
        args["hotel"] = hotels[-1].args["hotel"]
    return Calls((Call("confirm_booking", args),)) if args["legs"] or "hotel" in args else None


def _held_legs(seen: View, asked: Wants) -> Sequence[Leg]:
    """The legs of the newest hold, where nothing that is visible now forbids buying them; else ().

    Where the user wants fares looked up again, only a hold made in this turn counts.
    """
    anew = not asked.search.isdisjoint(DIRECTIONS)
    holds = [hold for hold in seen.holds("flights") if not anew or hold in seen.steps]
    legs = holds[-1].legs if holds else ()
    return () if any(seen.limits.against(leg) for leg in legs) else legs


_STEPS: tuple[Callable[[View, Wants], Action | None], ...] = (
    _search_flights, _search_hotels, _hold_hotel, _hold_flights, _add_traveller, _expense_code, _cancel, _confirm,
)  # fmt: skip
