"""Guards: the conditions under which a constraint of the travel desk may bind, on the state before a turn."""

from __future__ import annotations

from fuzzturn.checkers import SessionState, guard

__all__ = ["hotel_is_held"]


@guard("hotel_is_held")
def hotel_is_held(state: SessionState) -> bool:
    """A hotel is on hold or booked, also one that waits for approval."""
    items = (*(state.environment.get("holds") or ()), *(state.environment.get("bookings") or ()))
    return any(item.get("hotel") for item in items)
