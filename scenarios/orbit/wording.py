"""Wording: what the simulated agent says at the end of a turn.

It reports what it did with names, ids and fares. What the user remarks on it acknowledges in a word and does not
repeat: an acknowledgement that carried a limit would keep that limit alive through every compaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from .choosing import flight, hotel
from .facts import fact_about
from .fares import DIRECTIONS
from .limits import mentions_limit
from .reading import Wants
from .standing import CHANGES
from .view import View

__all__ = ["report"]


def report(seen: View, asked: Wants, doubtful: Sequence[str] = ()) -> str:
    """The final answer of the turn: what failed, what was found, done and bought, and answers to questions.

    `doubtful`: the tools that were not called again, since nobody knows what came of it the last time.
    """
    told = (say(seen) for say in (_failures, _flights, _hotels, _holds))
    answered = (say(seen, asked) for say in (_others, _bookings, _answers))
    known = " ".join(chain(*told, _left_open(doubtful), *answered))
    return known or ("Understood." if mentions_limit(seen.said) else "Noted.")


def _failures(seen: View) -> Iterator[str]:
    for step in seen.steps:
        if step.lost and step.name in CHANGES:
            yield f"{step.name} gave no answer, so I do not know whether it went through."
        elif step.error is not None:
            yield f"{step.name} failed: {step.error}."


def _left_open(doubtful: Sequence[str]) -> Iterator[str]:
    for name in dict.fromkeys(doubtful):
        yield f"Whether {name} went through the last time I do not know, so I did not repeat it."


def _flights(seen: View) -> Iterator[str]:
    if _worked(seen, "hold_booking", kind="flights"):
        return
    for direction in DIRECTIONS:
        if not _worked(seen, "search_flights", direction=direction):
            continue
        leg = flight(seen, direction)
        if leg is None:
            yield f"There is no {direction} flight that day."
        else:
            over = _against(seen, leg)
            yield f"{_upper(_leg(leg))}{over}."


def _against(seen: View, leg: Mapping[str, Any]) -> str:
    if not seen.refuses(leg):
        return ""
    dear = seen.limits.forbids("ceiling", seen.known(leg))
    return ", the cheapest, is over your limit" if dear else ", the cheapest, is not what you allow"


def _hotels(seen: View) -> Iterator[str]:
    if _worked(seen, "search_hotels") and not _worked(seen, "hold_booking", kind="hotel"):
        best = hotel(seen)
        yield "There is no hotel there." if best is None else f"{best['hotel']} has rooms at EUR {best['night_eur']}."


def _holds(seen: View) -> Iterator[str]:
    for step in seen.steps:
        if step.name != "hold_booking" or step.error is not None:
            continue
        if step.args.get("needs_approval"):
            things = f"{_legs(step.legs)} wait" if step.legs else f"{step.args['hotel']} waits"
            yield f"{things} as {step.id} for your approval of the {'fare' if step.legs else 'rate'}."
        elif step.legs and not _worked(seen, "confirm_booking"):
            yield f"{_legs(step.legs)} are on hold as {step.id}; I'll keep them until you confirm."
        elif not step.legs and "hotel" not in _confirmed(seen):
            yield f"{step.args['hotel']} is on hold as {step.id}; I'll keep it until you confirm."


def _others(seen: View, asked: Wants) -> Iterator[str]:
    for step in seen.steps:
        if step.error is not None:
            continue
        if step.name == "add_traveller":
            yield f"{step.args['name']} is on the trip."
        elif step.name == "lookup_expense_code":
            yield f"The expense code is {step.result['code']}."
        elif step.name == "cancel_booking":
            yield f"{step.args['id']} is cancelled."
    if asked.cancel and not seen.did("cancel_booking"):
        yield "There is nothing on hold to cancel."


def _bookings(seen: View, asked: Wants) -> Iterator[str]:
    step = seen.did("confirm_booking")
    if step is not None and step.error is None:
        things = [_leg(leg) for leg in step.legs]
        things += [f"hotel {step.args['hotel']}"] if "hotel" in step.args else []
        yield f"Confirmed as {step.id}: {', '.join(things)}."
    if asked.confirm and step is None:
        yield "Nothing is confirmed."
    if "hotel" in asked.confirm and not seen.holds("hotel") and (step is None or "hotel" not in step.args):
        yield "No hotel is on hold."


def _answers(seen: View, asked: Wants) -> Iterator[str]:
    if asked.question and not seen.steps:
        yield fact_about(asked.question) or "I do not know that, sorry."
    if asked.unclear and not seen.steps:
        yield "I am not sure what you would like me to do."


def _confirmed(seen: View) -> Mapping[str, Any]:
    step = seen.did("confirm_booking")
    return {} if step is None or step.error is not None else step.args


def _worked(seen: View, name: str, **args: Any) -> bool:
    step = seen.did(name, **args)
    return step is not None and step.error is None


def _legs(legs: Iterable[Mapping[str, Any]]) -> str:
    return _upper(" and ".join(_leg(leg) for leg in legs))


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _leg(leg: Mapping[str, Any]) -> str:
    return f"{leg['direction']} {leg['flight']} at EUR {leg['fare_eur']}"
