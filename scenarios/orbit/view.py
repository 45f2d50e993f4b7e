"""View: what the text of one model call shows: the request, the trip, the limits, what was done and what is held.

Everything is read afresh from the messages of that call and from nothing else; what compaction took out of them is
not known here. A summary counts like what it stands for: its requests as said, its tool calls as made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from fuzzturn.compaction import is_question, is_summary, notes
from fuzzturn.session import Chat

from .limits import Limits
from .reading import Trip, trip
from .standing import CHANGES, hotel_stands, is_lost
from .terms import Scene, told_time

__all__ = ["Step", "View", "view"]

Leg: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """A tool call with what came back; `error` None = it worked, or all that is left of it does not say."""

    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None
    error: str | None = None

    @property
    def legs(self) -> tuple[Leg, ...]:
        return tuple(self.args.get("legs") or ())

    def rows(self, name: str) -> Sequence[Mapping[str, Any]]:
        """What a search found; () where that is not shown row by row."""
        return self.result.get(name) or () if isinstance(self.result, Mapping) else ()

    @property
    def id(self) -> str | None:
        return self.result.get("id") if isinstance(self.result, Mapping) else None

    @property
    def lost(self) -> bool:
        """Whether its answer did not come, so that it may have been carried out."""
        return is_lost(self.result, self.error)


@dataclass(frozen=True, slots=True)
class View:
    """What one call shows."""

    said: str
    """The user's newest message, after the one that it completes where it answers a question of the agent's."""
    steps: tuple[Step, ...]
    """Tool calls since then."""
    earlier: tuple[Step, ...]
    trip: Trip
    limits: Limits

    def did(self, name: str, **args: Any) -> Step | None:
        """The newest call of this turn with that name and at least those arguments."""
        matching = (s for s in reversed(self.steps) if s.name == name and args.items() <= dict(s.args).items())
        return next(matching, None)

    def doubtful(self, name: str, args: Mapping[str, Any]) -> bool:
        """Whether the same call was made before, changes something, and its answer did not come."""
        made = (*self.earlier, *self.steps)
        return any(s.name == name and s.name in CHANGES and s.lost and s.args == args for s in made)

    def found(self, name: str, rows: str, **args: Any) -> tuple[Mapping[str, Any], ...]:
        """The rows of the newest visible search that worked; () where none is visible row by row."""
        for step in reversed((*self.earlier, *self.steps)):
            if step.name == name and args.items() <= dict(step.args).items() and isinstance(step.result, Mapping):
                return tuple(step.result.get(rows) or ())
        return ()

    def known(self, thing: Mapping[str, Any]) -> Mapping[str, Any]:
        """A leg, or a hotel, with all that visible searches say of it."""
        kind, rows = ("flight", "flights") if "flight" in thing else ("hotel", "hotels")
        listed = (row for step in (*self.earlier, *self.steps) for row in step.rows(rows))
        return {**next((row for row in listed if row.get(kind) == thing[kind]), {}), **thing}

    def refuses(self, thing: Mapping[str, Any]) -> bool:
        """Whether a visible limit forbids to hold or buy it, or may do so for all that is visible of the thing."""
        if not self.limits.rules:
            return False
        known = self.known(thing)
        return self.limits.against(known) is not None or self.limits.undecided(known) is not None

    def bought(self, since: Step | None = None) -> frozenset[str]:
        """The directions of which a purchase is visible, or one that may have been made; only what came `since`."""
        made = (*self.earlier, *self.steps)
        made = made if since is None else made[made.index(since) :]
        confirmed = [s for s in made if s.name == "confirm_booking" and (s.error is None or s.lost)]
        return frozenset(str(leg["direction"]) for step in confirmed for leg in step.legs)

    def holds(self, kind: str) -> tuple[Step, ...]:
        """Holds of that kind that are visible and neither given up nor bought since, oldest first.

        One whose answer did not come counts as made, so that it is not made twice; it has no id.
        """
        held: dict[str, Step] = {}
        for i, step in enumerate((*self.earlier, *self.steps)):
            if step.error is not None and not step.lost:
                continue
            if step.name == "hold_booking" and step.args.get("kind") == kind and (step.id or step.lost):
                held[step.id or f"?{i}"] = step
            elif step.name == "cancel_booking":
                held.pop(str(step.args.get("id")), None)
            elif step.name == "confirm_booking":
                held = {id: hold for id, hold in held.items() if not _bought(hold, step)}
        return tuple(held.values())


@dataclass(frozen=True, slots=True)
class _Entry:
    role: Literal["rule", "asked", "user", "assistant", "step"]
    text: str = ""
    step: Step | None = None


def view(context: Sequence[Chat]) -> View:
    """Read the messages of one model call, a system prompt and a summary included."""
    entries = list(_entries(context))
    newest = max((i for i, entry in enumerate(entries) if entry.role == "user"), default=-1)
    before, since = entries[: max(newest, 0)], entries[newest + 1 :]
    said = entries[newest].text if newest >= 0 else ""
    if _answers(entries, newest):
        question = max((i for i, entry in enumerate(before) if entry.role == "user"), default=None)
        said = said if question is None else f"{before[question].text}\n{said}"
    earlier = _steps(before)
    held = hotel_stands((step.name, step.args, step.result, step.error) for step in earlier)
    scene = Scene(_now(context), held)
    return View(said, _steps(since), earlier, _trip(entries), _limits(entries).at(scene))


def _now(context: Sequence[Chat]) -> datetime | None:
    """The time that the context tells; None = it tells none."""
    told = (told_time(str(m.get("content"))) for m in reversed(context) if m.get("role") == "system")
    return next((now for now in told if now is not None), None)


def _entries(context: Sequence[Chat]) -> Iterator[_Entry]:
    results = {m.get("tool_call_id"): m.get("content") for m in context if m.get("role") == "tool"}
    for message in context:
        role, text = message.get("role"), str(message.get("content") or "")
        if is_summary(message):
            for note in notes(text):
                step = _step(note.name, note.args, note.result) if note.name is not None else None
                yield _Entry("asked", note.text) if step is None else _Entry("step", step=step)
        elif role == "user":
            yield _Entry("user", text)
        elif role == "system":
            if told_time(text) is None:
                yield _Entry("rule", text)
        elif role == "assistant":
            for call in message.get("tool_calls") or ():
                function, content = call["function"], results.get(call["id"])
                result = _loaded(content) if content else None
                yield _Entry("step", step=_step(function["name"], _loaded(function["arguments"]), result))
            if text:
                yield _Entry("assistant", text)


@lru_cache(maxsize=4096)
def _loaded(text: str) -> Any:
    # Every model call reads every message again, so the same text is parsed many times; nobody writes into the result.
    return json.loads(text)


def _step(name: str, args: Mapping[str, Any], result: Any) -> Step:
    return Step(name, args, result, error=result.get("error") if isinstance(result, Mapping) else None)


def _steps(entries: Sequence[_Entry]) -> tuple[Step, ...]:
    return tuple(entry.step for entry in entries if entry.step is not None)


def _answers(entries: Sequence[_Entry], i: int) -> bool:
    """Whether the user's message there directly follows a question of the assistant's."""
    return i > 0 and entries[i - 1].role == "assistant" and is_question(entries[i - 1].text)


def _trip(entries: Sequence[_Entry]) -> Trip:
    known = Trip()
    for i, entry in enumerate(entries):
        if entry.role in ("user", "asked"):
            known = known.updated(trip(entry.text, answering=_answers(entries, i)))
        elif entry.step is not None and entry.step.name == "search_flights":
            args = entry.step.args
            day = {"out" if args.get("direction") == "outbound" else "back": args.get("date")}
            known = known.updated(Trip(origin=args.get("origin"), city=args.get("destination"), **day))
    return known


def _limits(entries: Sequence[_Entry]) -> Limits:
    """Fold what may set a limit: system prompt and user. An approval is spent by the first turn that used it.

    A payment of which nobody knows whether it was made leaves the approval as it is: that allows nothing else.
    """
    limits, legs, paid = Limits(), list[Leg](), False
    for entry in entries:
        if entry.step is not None:
            paid = paid or (entry.step.name == "confirm_booking" and entry.step.error is None)
            legs += entry.step.legs if entry.step.name in ("hold_booking", "confirm_booking") else ()
        elif entry.role != "assistant":
            limits = (limits.used(legs, paid=paid) if legs or paid else limits).heard(entry.text)
            legs, paid = [], False
    return limits


def _bought(hold: Step, booking: Step) -> bool:
    bought = [leg.get("flight") for leg in booking.legs]
    hotel = hold.args.get("hotel")
    return all(leg.get("flight") in bought for leg in hold.legs) and hotel in (None, booking.args.get("hotel"))
