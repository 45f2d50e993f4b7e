"""Reading: what one user message asks the travel desk to do, and the trip it speaks of.

By rule and in English. What a message allows and forbids is `limits`' part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from fuzzturn.compaction import is_question, is_request, sentences

__all__ = ["Trip", "Wants", "trip", "wants"]


@dataclass(frozen=True, slots=True)
class Trip:
    """Where and when. Days are ISO dates; None = not said."""

    origin: str | None = None
    city: str | None = None
    out: str | None = None
    back: str | None = None

    def updated(self, newer: Trip) -> Trip:
        """This trip with whatever `newer` says."""
        return Trip(
            newer.origin or self.origin, newer.city or self.city, newer.out or self.out, newer.back or self.back
        )


@dataclass(frozen=True, slots=True)
class Wants:
    """What a message asks for; everything empty = nothing."""

    search: frozenset[str] = frozenset()
    """What to look up: outbound, return, hotel."""
    hold: frozenset[str] = frozenset()
    """What to put on hold: outbound, return, hotel."""
    confirm: frozenset[str] = frozenset()
    """What to buy: outbound, return, hotel."""
    cancel: frozenset[str] = frozenset()
    """What to give up: outbound, return, hotel, or ids such as H2."""
    traveller: str | None = None
    """Whom to add. "" = somebody whose name is not said."""
    expense_code: bool = False
    question: str | None = None
    """The last question of the message."""
    unclear: str | None = None
    """The last request that nothing above covers."""


_SEARCH = (
    r"(?:find|search|look|check|see|show|list|get|compare|suggest|recommend|fetch|pick|choose|like|need|want|give)"
)
_HOLD = r"(?:put(?=[^.;!?]*\bon hold\b)|place(?=[^.;!?]*\bon hold\b)|hold|reserve|set aside)"
_CONFIRM = r"(?:book|confirm|buy|purchase|finali[sz]e|go ahead)"
_CANCEL = r"(?:cancel|release|give up|undo)"
# "Sort it out" leaves open what is done: looked up and bought, for want of a reason not to.
_ARRANGE = r"(?:arrange|sort out|take care of|see to|get(?=[^.;!?]*\b(?:sorted|settled|done)\b))"
_VERB = re.compile(
    rf"\b(?<!on )(?:(?P<arrange>{_ARRANGE})|(?P<hold>{_HOLD})|(?P<confirm>{_CONFIRM})|(?P<cancel>{_CANCEL})|"
    rf"(?P<search>{_SEARCH}))\b",
    re.I,
)
_FLIGHTS = re.compile(
    r"\b(?:flights?|fares?|legs?|connections?|pair|planes?|outbound|return|both directions|tickets?|seats?|"
    r"way (?:there|out|back|home))\b",
    re.I,
)
_OUTBOUND = re.compile(r"\b(?:outbound|outward|way (?:there|out)|flight (?:there|out))\b", re.I)
_RETURN = re.compile(
    r"\b(?:return(?! (?:trip|flights|tickets|journey|on|by)\b)|inbound|way (?:back|home)|flight (?:back|home))\b", re.I
)
_HOTEL = re.compile(r"\b(?:hotels?|rooms?|places? to (?:stay|sleep)|accommodations?)\b", re.I)
_ALL = re.compile(r"\b(?:everything|all|whole|trip|it all|lot|booking|reservation|journey)\b", re.I)
_IT = re.compile(r"\b(?:it|them|that|those|these|this|one|ones)\b", re.I)
_EVERYTHING = frozenset({"outbound", "return", "hotel"})
_ID = re.compile(r"\b[HB]\d+\b")
_WHICH = re.compile(
    r"\b(?:which|what|any|are there) (?:\w+ ){0,2}(?P<what>flights?|fares?|connections?|hotels?)\b", re.I
)
_CODE = re.compile(
    r"\b(?:expenses?|cost|billing|project|accounting|booking)[\s-](?:code|centre|center|account)\b"
    r"|\bcode\b[^.;!?]*\bexpenses?\b|\bexpenses?\b[^.;!?]*\bcode\b",
    re.I,
)
_NAME = r"([A-Z][\w’'-]+(?: (?:van|von|de|da|del|der|di|la|bin|al|[A-Z][\w’'-]*\.?)){1,5})"
_TRAVELLER = re.compile(
    rf"\b(?i:add|register|put) (?:Ms\.? |Mr\.? |Mrs\.? |Dr\.? )?{_NAME}"
    rf"|\b(?i:travell?er|passenger)(?i:'s name)?(?: (?i:is|will be|should be)|:|,)? {_NAME}"
)
_SOMEBODY = re.compile(r"\b(?:add|register)\b[^.;!?]*\b(?:travell?er|passenger|colleague|person)\b", re.I)


@lru_cache(maxsize=4096)
def wants(message: str) -> Wants:
    """What the message asks for. Remarks ask for nothing, whatever words occur in them."""
    found, earlier = Wants(), list[str]()
    for sentence in sentences(message):
        before = found
        found = _named(found, sentence)
        if is_request(sentence):
            found = _ordered(found, sentence, earlier)
        if is_question(sentence):
            found = replace(_asked(found, sentence), question=sentence)
        elif is_request(sentence) and found == before:
            found = replace(found, unclear=sentence)
        # "The whole office smells of coats" names nothing that could be booked, and "book the whole trip" does.
        earlier.insert(0, sentence if is_request(sentence) else _ALL.sub("", sentence))
    return found


def _named(found: Wants, sentence: str) -> Wants:
    """A traveller may be named in a request or in a plain statement."""
    if match := _TRAVELLER.search(sentence.replace("’", "'")):
        return replace(found, traveller=next(filter(None, match.groups())).rstrip("."))
    if found.traveller is None and _SOMEBODY.search(sentence) and is_request(sentence):
        return replace(found, traveller="")
    return found


def _asked(found: Wants, sentence: str) -> Wants:
    if _CODE.search(sentence):
        return replace(found, expense_code=True)
    if match := _WHICH.search(sentence):
        topics = {"hotel"} if _HOTEL.search(match["what"]) else _directions(sentence)
        return replace(found, search=found.search | topics)
    return found


def _ordered(found: Wants, sentence: str, earlier: Sequence[str]) -> Wants:
    """Every verb of the request with what it is about: its own words, else ("it") what was named last before it."""
    if _CODE.search(sentence):
        return replace(found, expense_code=True)
    for verb, words, own in _clauses(sentence):
        before = (own, *earlier)
        if verb == "search":
            topics = {"hotel"} if _HOTEL.search(words) else set()
            if _FLIGHTS.search(words):
                topics |= _directions(words)
            found = replace(found, search=found.search | topics)
        elif verb == "cancel":
            about = frozenset(_ID.findall(words)) or _bookable(words, before)
            found = replace(found, cancel=found.cancel | about)
        elif verb == "hold":
            found = replace(found, hold=found.hold | _bookable(words, before))
        elif verb == "arrange":
            about = _bookable(words, before)
            found = replace(found, search=found.search | about, confirm=found.confirm | about)
        else:
            found = replace(found, confirm=found.confirm | _bookable(words, before))
    return found


def _clauses(sentence: str) -> Iterator[tuple[str, str, str]]:
    """(kind of verb, the words after it, the words before it) for each verb."""
    matches = list(_VERB.finditer(sentence))
    ends = [match.start() for match in matches[1:]] + [len(sentence)]
    for match, end in zip(matches, ends, strict=False):
        yield str(match.lastgroup), sentence[match.end() : end], sentence[: match.start()]


def _directions(words: str) -> set[str]:
    one_way = {name for name, cue in (("outbound", _OUTBOUND), ("return", _RETURN)) if cue.search(words)}
    return one_way or {"outbound", "return"}


def _bookable(words: str, before: Sequence[str]) -> frozenset[str]:
    """What is to be held, bought or given up; with no word about it ("Confirm.") everything."""
    silent = not words.strip(" .!?,")
    about = _named_things(words)
    if not about and (silent or _IT.search(words)):
        about = next(filter(None, map(_named_things, before)), frozenset())
    return about or (_EVERYTHING if silent else frozenset())


def _named_things(words: str) -> frozenset[str]:
    if _ALL.search(words):
        return _EVERYTHING
    flights = _directions(words) if _FLIGHTS.search(words) else set()
    return frozenset(flights | ({"hotel"} if _HOTEL.search(words) else set()))


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?P<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_DAYS = (
    re.compile(r"\b(?P<year>\d{4})-(?P<number>\d{2})-(?P<day>\d{2})\b"),
    re.compile(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH},? (?P<year>\d{{4}})\b"),
    re.compile(rf"\b{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})\b"),
    # "12 to 14 May 2026": the first day borrows month and year from the second.
    re.compile(rf"\b(?P<day>\d{{1,2}})(?= ?(?:to|until|till|and|-|–) ?\d{{1,2}} {_MONTH} (?P<year>\d{{4}})\b)"),
)
_BACK = re.compile(r"\b(?:back|return\w*|home|until|till|inbound)\b[^.;!?\d]*$|\bto\s+$", re.I)
_NO_CITY = r"(?!January|February|March|April|May|June|July|August|September|October|November|December|\w+day\b)"
_CITY = re.compile(rf"\b(?i:to|in|at|for|towards) (?P<city>{_NO_CITY}[A-Z][a-z]+)\b")
_ORIGIN = re.compile(rf"\b(?i:from) (?P<city>{_NO_CITY}[A-Z][a-z]+)\b")
_ANSWERED_CITY = re.compile(rf"^\W*(?P<city>{_NO_CITY}[A-Z][a-z]+)\b")
_TRAVEL = re.compile(r"\b(?:trips?|travel\w*|fly\w*|go|journey)\b", re.I)


@lru_cache(maxsize=4096)
def trip(message: str, *, answering: bool = False) -> Trip:
    """The trip that the message's requests speak of; all of the message where it answers the agent's question."""
    said = Trip()
    for sentence in sentences(message):
        if answering or (is_request(sentence) and any(cue.search(sentence) for cue in (_FLIGHTS, _HOTEL, _TRAVEL))):
            said = said.updated(_places(sentence, answering)).updated(_days(sentence))
    return said


def _places(sentence: str, answering: bool) -> Trip:
    city = _CITY.search(sentence) or (_ANSWERED_CITY.search(sentence) if answering else None)
    origin = _ORIGIN.search(sentence)
    return Trip(origin=origin["city"] if origin else None, city=city["city"] if city else None)


def _days(sentence: str) -> Trip:
    """The first day named is the way out and the second the way back, unless a word before it says otherwise."""
    found = sorted({(m.start(), day) for pattern in _DAYS for m in pattern.finditer(sentence) if (day := _iso(m))})
    days = [(bool(_BACK.search(sentence[:start])), day) for start, day in found]
    if len(days) == 2 and days[0][0] == days[1][0]:
        days = [(False, days[0][1]), (True, days[1][1])]
    out = next((day for back, day in days if not back), None)
    return Trip(out=out, back=next((day for back, day in days if back), None))


def _iso(match: re.Match[str]) -> str | None:
    groups = match.groupdict()
    month = int(groups["number"]) if groups.get("number") else _MONTHS.index(groups["month"].lower()) + 1
    try:
        return date(int(groups["year"]), month, int(groups["day"])).isoformat()
    except ValueError:
        return None
