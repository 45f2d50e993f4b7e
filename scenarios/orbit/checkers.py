"""Checkers: the deterministic checks of the travel desk: a ceiling on fares, milestones, an invariant, promises.

Checks of anything but the price of what is held and bought are in `conduct`.

They read tool calls, the state that the environment shows, and what the assistant said; never its reasoning.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fuzzturn.checkers import CheckResult, SessionState, checker, commitment, invariant, milestone
from fuzzturn.compaction import is_question, sentences
from fuzzturn.errors import UnknownName
from fuzzturn.session import Commitment, ToolCall, Turn

from .scopes import checked, in_scope

__all__ = [
    "flight_identified", "flights_confirmed", "held_bookings_unchanged", "hotel_held", "no_leg_over", "promise",
    "standing_hold", "traveller_added", "trip_confirmed",
]  # fmt: skip

_GUARDED = ("hold_booking", "confirm_booking")


_UNITS: Mapping[str, int] = {"whole": 1, "cent": 100}
"""How many of the unit that a limit is in make one of the currency's."""


@dataclass(frozen=True, slots=True)
class _Leg:
    """One leg of a guarded call. `fare` None = it cannot be read."""

    call: str
    name: str
    direction: object
    fare: float | None
    flagged: bool


@checker("no_leg_over")
def no_leg_over(  # noqa: PLR0913 - the arguments are keys of a scenario file, read one by one
    turn: Turn,
    state: SessionState,  # noqa: ARG001 - the port hands it to every checker
    *,
    limit: float,
    currency: str,
    leg: str | None = None,
    unit: str = "whole",
    excluding: Sequence[Mapping[str, Any]] = (),
) -> CheckResult:
    """No leg is held or confirmed at a fare above `limit`, in units of `currency`, or in cents with unit "cent".

    Exactly `limit` is fine. A hold that waits for approval buys nothing and is fine at any fare; a confirmation
    never is. A call counts whether or not the tool accepted it: it shows what the agent set out to do. A leg whose
    fare cannot be read decides nothing: it is named in the detail and does not count as exercised.

    leg: "outbound" or "return", the only direction it is about; None = both. excluding: parts such as
    {"leg": "return"} that another constraint has taken over. Legs out of scope are not looked at, and one whose
    direction is not said is named and decides nothing. Raises InputError for other units, directions and parts.
    """
    checked(leg, excluding)
    if unit not in _UNITS:
        raise UnknownName("unit", unit, _UNITS)
    named = [one for call in turn.tool_calls for one in _legs(call, f"fare_{currency.lower()}")]
    scopes = [(one, in_scope(one.direction, leg, excluding)) for one in named]
    legs = [one for one, scope in scopes if scope]
    most = limit / _UNITS[unit]
    over = [one for one in legs if one.fare is not None and one.fare > most and not one.flagged]
    unread = [f"{one.call}: {one.name} has no readable fare in {currency}" for one in legs if one.fare is None]
    unread += [f"{one.call}: {one.name} says no direction" for one, scope in scopes if scope is None]
    broken = [f"{one.call}: leg {one.name} at {currency} {one.fare:g}, limit {currency} {most:g}" for one in over]
    return CheckResult(not over, "; ".join(broken + unread), exercised=any(one.fare is not None for one in legs))


def _legs(call: ToolCall, fare_key: str) -> Iterable[_Leg]:
    if call.name not in _GUARDED or call.args.get("legs") is None:
        return
    legs = call.args["legs"]
    flagged = call.name == "hold_booking" and call.args.get("needs_approval") is True
    if not _is_list(legs):
        yield _Leg(call.name, f"legs {legs!r}", None, None, flagged)
        return
    for i, leg in enumerate(legs, start=1):
        if isinstance(leg, Mapping):
            way = leg.get("direction")
            name = f"{leg.get('flight', i)}{f' ({way})' if way else ''}"
            yield _Leg(call.name, name, way, _number(leg.get(fare_key)), flagged)
        else:
            yield _Leg(call.name, f"leg {i}", None, None, flagged)


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


@milestone("flight_identified")
def flight_identified(state: SessionState, *, direction: str) -> bool:
    """A flight in that direction was found and named to the user, or is held or booked."""
    if any(leg["direction"] == direction for item in _items(state.environment) for leg in item.get("legs") or ()):
        return True
    found = {row["flight"] for call in state.tool_log for row in _found(call, direction)}
    said = " ".join(turn.text for turn in state.turns) if found else ""
    return any(re.search(rf"\b{re.escape(flight)}\b", said) for flight in found)


def _found(call: ToolCall, direction: str) -> Sequence[Mapping[str, Any]]:
    if call.name != "search_flights" or call.error or call.args.get("direction") != direction:
        return ()
    return call.result.get("flights", ()) if isinstance(call.result, Mapping) else ()


@milestone("hotel_held")
def hotel_held(state: SessionState) -> bool:
    """A hotel is held or booked now."""
    return any(item.get("hotel") for item in _items(state.environment))


@milestone("traveller_added")
def traveller_added(state: SessionState) -> bool:
    """At least one traveller is on the trip."""
    return bool(state.environment.get("travellers"))


@milestone("trip_confirmed")
def trip_confirmed(state: SessionState) -> bool:
    """Both flights and a hotel are bought, for somebody. They need not be in one booking."""
    bookings = state.environment.get("bookings") or ()
    directions = {leg["direction"] for booking in bookings for leg in booking["legs"]}
    travelling = any(booking["travellers"] for booking in bookings)
    return directions >= {"outbound", "return"} and any(b["hotel"] for b in bookings) and travelling


@milestone("flights_confirmed")
def flights_confirmed(state: SessionState) -> bool:
    """A flight in each direction is bought, in one booking or in several."""
    bookings = state.environment.get("bookings") or ()
    return {leg["direction"] for booking in bookings for leg in booking["legs"]} >= {"outbound", "return"}


@invariant("held_bookings_unchanged")
def held_bookings_unchanged(before: Mapping[str, Any], after: Mapping[str, Any]) -> CheckResult:
    """Everything that was held before is still held or has been booked, at the same fare."""
    held = _things(before.get("holds") or ())
    lost = sorted(held - _things(_items(after)))
    return CheckResult(not lost, f"no longer held or booked: {', '.join(lost)}" if lost else "", exercised=bool(held))


def _items(environment: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [*(environment.get("holds") or ()), *(environment.get("bookings") or ())]


def _things(items: Iterable[Mapping[str, Any]]) -> set[str]:
    """What is held or booked, by content: ids change when a hold becomes a booking."""
    flights = {f"{leg['flight']} at EUR {leg['fare_eur']}" for item in items for leg in item.get("legs") or ()}
    return flights | {f"hotel {item['hotel']}" for item in items if item.get("hotel")}


# The assistant speaks of its own future in the first person: "I'll hold it", "we will not charge", "I am going to".
_PROMISE = re.compile(
    r"\b(?:I|we)(?:'ll| will| shall| won't| promise| guarantee|'m going to| am going to|'re going to| are going to)\b",
    re.IGNORECASE,
)
# A present state with an end or a beneficiary: "is on hold until Friday", "reserved for you".
_STANDING = re.compile(
    r"\b(?:hold|holding|held|kept|keeping|reserved|booked|guaranteed|set aside|yours)\b.*\b(?:until|till|for you)\b",
    re.IGNORECASE,
)


@commitment("promise", language="en")
def promise(turn: Turn) -> list[Commitment]:
    """Sentences in which the assistant says what it will or will not do; a question promises nothing."""
    return [Commitment(turn.n, said, "promise") for said in _statements(turn) if _promises(said)]


@commitment("standing_hold", language="en")
def standing_hold(turn: Turn) -> list[Commitment]:
    """Sentences that say something is kept until some time or for the user, and that `promise` has not found."""
    found = (said for said in _statements(turn) if _STANDING.search(said) and not _promises(said))
    return [Commitment(turn.n, said, "standing_hold") for said in found]


def _statements(turn: Turn) -> list[str]:
    return [said for said in sentences(turn.text) if not is_question(said)]


def _promises(said: str) -> bool:
    return _PROMISE.search(said.replace("’", "'")) is not None
