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
    """The next action, from the messages of one model call alone: the same messages, the same action.

    A call that changes something and whose answer did not come is not made again: no tool here tells whether it was
    carried out.
    """
    seen = view(context)
    asked = wants(seen.said)
    doubtful: list[str] = []
    for step in _STEPS:
        action = step(seen, asked)
        if isinstance(action, Calls):
            calls = tuple(call for call in action.calls if not seen.doubtful(call.name, call.args))
            doubtful += [call.name for call in action.calls if call not in calls]
            action = Calls(calls) if calls else None
        if action is not None:
            return action
    return Say(report(seen, asked, doubtful))


def _search_flights(seen: View, asked: Wants) -> Action | None:
    missing = [d for d in _directions_to_search(seen, asked) if not seen.did("search_flights", direction=d)]
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


def _directions_to_search(seen: View, asked: Wants) -> list[str]:
    """What the user wants looked up, what is chosen in order to buy it, and what is to be held and not in view."""
    chosen = _directions_to_hold(seen, asked)
    in_view = [d for d in DIRECTIONS if seen.found("search_flights", "flights", direction=d)]
    return [d for d in DIRECTIONS if d in asked.search or (d in chosen and (d in asked.confirm or d not in in_view))]


def _directions_to_hold(seen: View, asked: Wants) -> list[str]:
    """What the user wants held, and what is to be bought while no hold of it may be."""
    if not (asked.hold or asked.confirm) or seen.did("confirm_booking"):
        return []
    held = {*_buyable(seen, asked), *_bought(seen, asked)}
    return [d for d in DIRECTIONS if d in asked.hold or (d in asked.confirm and d not in held)]


def _bought(seen: View, asked: Wants) -> frozenset[str]:
    """The directions that are bought already, where the user does not want them looked up again."""
    return seen.bought() - asked.search if asked.confirm else frozenset()


def _buyable(seen: View, asked: Wants) -> Mapping[str, Leg]:
    """By direction, the newest held leg, where nothing that is visible now forbids buying it.

    Where the user wants fares looked up again, only a hold made in this turn counts. One that was left over when
    another flight in that direction was bought does not.
    """
    held: dict[str, Leg] = {}
    for hold in seen.holds("flights"):
        if hold in seen.steps or asked.search.isdisjoint(DIRECTIONS):
            left_over = seen.bought(since=hold)
            held |= {str(leg["direction"]): leg for leg in hold.legs if leg["direction"] not in left_over}
    return {direction: leg for direction, leg in held.items() if not seen.refuses(leg)}


def _search_hotels(seen: View, asked: Wants) -> Action | None:
    needed = _wants_hotel_held(seen, asked) and not seen.found("search_hotels", "hotels")
    if not ("hotel" in asked.search or needed) or seen.did("search_hotels"):
        return None
    if seen.trip.city is None:
        return Say("In which city shall I look for a hotel?")
    return Calls((Call("search_hotels", {"city": seen.trip.city}),))


def _wants_hotel_held(seen: View, asked: Wants) -> bool:
    """As with flights; but where a hotel is to be bought with the rest, only one that was looked for is."""
    if "hotel" in asked.hold or "hotel" not in asked.confirm:
        return "hotel" in asked.hold
    looked_for = "hotel" in asked.search or bool(seen.holds("hotel"))
    return looked_for and _buyable_hotel(seen, asked) is None


def _buyable_hotel(seen: View, asked: Wants) -> str | None:
    """The newest held hotel, where nothing that is visible now forbids buying it; as `_buyable`."""
    held = [hold for hold in seen.holds("hotel") if hold in seen.steps or "hotel" not in asked.search]
    hotels = [{"hotel": hold.args["hotel"]} for hold in held]
    return next((hotel["hotel"] for hotel in reversed(hotels) if not seen.refuses(hotel)), None)


def _hold_hotel(seen: View, asked: Wants) -> Action | None:
    if seen.did("hold_booking", kind="hotel") or not _wants_hotel_held(seen, asked):
        return None
    best = hotel(seen)
    failed = any(step.name == "search_hotels" and step.error is not None for step in seen.steps)
    if best is None or failed:
        return None
    flag = {"needs_approval": True} if seen.refuses(best) else {}
    return Calls((Call("hold_booking", {"kind": "hotel", "hotel": best["hotel"], **flag}),))


def _hold_flights(seen: View, asked: Wants) -> Action | None:
    """Hold the choice. What only an approval could allow is held pending that approval.

    Where a search of this turn failed, what an older one found is no choice.
    """
    directions = _directions_to_hold(seen, asked)
    if any(step.name == "search_flights" and step.error is not None for step in seen.steps):
        return None
    chosen = [leg for direction in directions if (leg := flight(seen, direction)) is not None]
    if not chosen or len(chosen) < len(directions) or seen.did("hold_booking", kind="flights"):
        return None
    flag = {"needs_approval": True} if any(map(seen.refuses, chosen)) else {}
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
    ids = sorted(thing for thing in asked.cancel if thing not in (*DIRECTIONS, "hotel"))
    ids += [hold.id for hold in seen.holds("flights") if hold.id and not asked.cancel.isdisjoint(DIRECTIONS)]
    ids += [hold.id for hold in seen.holds("hotel") if hold.id and "hotel" in asked.cancel]
    pending = [id for id in ids if not seen.did("cancel_booking", id=id)]
    return Calls(tuple(Call("cancel_booking", {"id": id}) for id in pending)) if pending else None


def _confirm(seen: View, asked: Wants) -> Action | None:
    """Buy what was asked for: all of the flights or none, and the hotel where one is on hold."""
    if not asked.confirm or seen.did("confirm_booking"):
        return None
    held, bought = _buyable(seen, asked), _bought(seen, asked)
    wanted = [d for d in DIRECTIONS if d in asked.confirm and (d in held or d not in bought)]
    if any(direction not in held for direction in wanted):
        return None
    room = _buyable_hotel(seen, asked) if "hotel" in asked.confirm else None
    place = {"hotel": room} if room is not None else {}
    legs = [held[direction] for direction in wanted]
    booking = {"legs": legs, **place}
    if not (legs or place) or seen.limits.against_paying(booking) is not None:
        return None
    return Calls((Call("confirm_booking", booking),))


_STEPS: tuple[Callable[[View, Wants], Action | None], ...] = (
    _search_flights, _search_hotels, _hold_hotel, _hold_flights, _add_traveller, _expense_code, _cancel, _confirm,
)  # fmt: skip
