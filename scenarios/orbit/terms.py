"""Terms: on what terms a sentence's rule holds: for one direction, until a time, while a hotel is on hold or is not.

A condition is about how things stood when the user spoke: what is held in the same turn changes nothing in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Literal, TypeAlias

__all__ = ["ALWAYS", "Direction", "Scene", "Terms", "said_now", "terms", "told_time", "without_terms"]

Direction: TypeAlias = Literal["outbound", "return"]


@dataclass(frozen=True, slots=True)
class Scene:
    """What is known when a rule is applied."""

    now: datetime | None = None
    """The time, in the zone of the conversation; None = nobody says, and nothing runs out."""
    hotel: bool | None = None
    """Whether a hotel was on hold or booked when the user spoke; None = that is not known."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of one sentence. None = there are none of that kind."""

    leg: Direction | None = None
    """The only direction that it is about."""
    until: datetime | None = None
    """From then on it is over."""
    hotel: bool | None = None
    """Whether a hotel has to be on hold or booked, or must not be."""

    @property
    def temporary(self) -> bool:
        """Whether it ends by itself, or comes and goes."""
        return self.until is not None or self.hotel is not None

    def covers(self, thing: Mapping[str, Any]) -> bool | None:
        """Whether it is about the leg or hotel; None = the leg's `direction` is not known."""
        if self.leg is None:
            return True
        if "flight" not in thing:
            return False
        direction = thing.get("direction")
        return None if direction is None else direction == self.leg

    def hold(self, scene: Scene) -> bool | None:
        """Whether it holds in that scene; None = that is not known."""
        if self.until is not None and scene.now is not None and scene.now >= self.until:
            return False
        if self.hotel is None:
            return True
        return None if scene.hotel is None else scene.hotel is self.hotel


ALWAYS = Terms()
"""No terms at all."""
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DATE = (
    r"(?:(?P<day>\d{1,2})(?:st|nd|rd|th)? (?:of )?(?P<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*,? "
    r"(?P<year>\d{4})|(?P<iso>\d{4}-\d\d-\d\d))(?:(?:,? at |, | |T)(?P<clock>\d{1,2}:\d\d)\b)?"
)
_UNTIL = re.compile(rf"\b(?:until|till|up to and including|through) (?:the )?{_DATE}", re.IGNORECASE)
_NOW = re.compile(rf"It is {_DATE}\.")
_WHILE = re.compile(
    r"\b(?P<word>once|as soon as|when(?:ever)?|if|while|as long as|after|unless|until|before)\b[^.;!?,\d]{0,30}?"
    r"\b(?:hotel|room)s?\b[^.;!?,\d]{0,20}?\b(?:on hold|held|reserved|booked)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:no|not|none|\w+n't)\b", re.IGNORECASE)
_UNLESS = ("unless", "until", "before")
_OUTBOUND = re.compile(r"\b(?:outbound|outward|way (?:there|out)|flight (?:there|out))\b", re.IGNORECASE)
_RETURN = re.compile(
    r"\b(?:return(?! (?:trip|flights|tickets|journey|on|by)\b)|inbound|way (?:back|home)|flight (?:back|home))\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def terms(sentence: str) -> Terms:
    """The terms that the sentence names. One that names both directions is about both."""
    outbound, back = _OUTBOUND.search(sentence), _RETURN.search(sentence)
    leg: Direction | None = None
    if bool(outbound) != bool(back):
        leg = "outbound" if outbound else "return"
    until, state = _UNTIL.search(sentence), _WHILE.search(sentence)
    hotel = None if state is None else bool(_NEGATED.search(state[0])) is (state["word"].lower() in _UNLESS)
    return Terms(leg, None if until is None else _time(until, or_end_of_day=True), hotel)


def without_terms(sentence: str) -> str:
    """The sentence, of the same length, with blanks for the time and the condition that it names."""
    for pattern in (_UNTIL, _WHILE):
        sentence = pattern.sub(lambda match: " " * len(match[0]), sentence)
    return sentence


def said_now(now: datetime) -> str:
    """The sentence by which a model is told the time, to the minute."""
    return f"It is {now.day} {_MONTHS[now.month - 1]} {now.year}, {now:%H:%M}."


@lru_cache(maxsize=4096)
def told_time(text: str) -> datetime | None:
    """The time that such a sentence tells; None where the text is another one."""
    match = _NOW.fullmatch(text)
    return None if match is None else _time(match)


def _time(match: re.Match[str], *, or_end_of_day: bool = False) -> datetime | None:
    """The time named; None where there is no such day. A day alone lasts until it ends."""
    groups = match.groupdict()
    month = [name[:3] for name in _MONTHS].index(groups["month"][:3].capitalize()) + 1 if groups["month"] else 0
    date = groups["iso"] or f"{groups['year']}-{month:02}-{int(groups['day']):02}"
    clock = groups["clock"]
    try:
        named = datetime.fromisoformat(f"{date}T{(clock or '0:00').zfill(5)}")
    except ValueError:
        return None
    return named + timedelta(days=1) if or_end_of_day and clock is None else named
