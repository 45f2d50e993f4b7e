"""Prices: what one sentence says about how much a leg may cost, in EUR.

Four things can be said: a ceiling, a new figure for it, that it is gone, and an approval to go over it once. Where
patterns overlap the more specific one wins, in that order reversed: "forget about the EUR 450 limit" is no new limit.
Amounts may be in euro cents; those in other currencies are not read, since nothing here knows a rate.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Any, Literal, TypeAlias

from fuzzturn.compaction import is_question, sentences

from .terms import terms, without_terms
from .versions import Statement

__all__ = ["Ceiling", "said_about_prices"]

Kind: TypeAlias = Literal["set", "change", "lift", "approve"]


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A highest fare per leg, in EUR. `exclusive`: the amount itself is too much already ("under EUR 450")."""

    amount: float
    exclusive: bool
    quote: str

    @property
    def figure(self) -> float:
        return self.amount

    def forbids(self, leg: Mapping[str, Any]) -> bool:
        """Whether the leg's `fare_eur` is too high. A fare that is no number is not known to be."""
        fare = leg.get("fare_eur")
        if isinstance(fare, bool) or not isinstance(fare, int | float):
            return False
        return fare > self.amount or (self.exclusive and fare == self.amount)


@lru_cache(maxsize=4096)
def said_about_prices(text: str) -> tuple[Statement, ...]:
    """Everything that `text` says about the price of a leg, in order; each quote is a sentence of the text."""
    return tuple(said for sentence in sentences(text) for said in _sentence(sentence))


_FIGURE = r"(?:\d{1,3}(?:[.,]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d{1,2})?)"
_EURO = r"(?:EUR|euros?|€)"
_CENTS = r"[\s-]*cents?\b"
_OTHER = r"(?:\$|£|USD|GBP|CHF|dollars?|pounds?|francs?)"
_UNIT = (
    r"(?:%|:|\s*(?:am|pm|o'clock|hours?|minutes?|days?|nights?|weeks?|people|stops?|kg|km|percent|legs?\b|flights?\b|"
    rf"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|cents?\b|{_OTHER}))"
)
_BARE = (
    r"(?<![\w.,:$£/-])(?<!USD )(?<!GBP )(?<!CHF )(?!20\d\d\b)"
    rf"\d{{2,5}}(?:[.,]\d{{1,2}})?(?![\w/:-])(?![.,]\d)(?!{_UNIT})"
)
_LIMIT = r"(?:limit|ceiling|cap|maximum|max|threshold|upper bound|budget)"

# A phrase is written with these words; "…" stands for a few words, "-" for a few without a figure or "by" among them.
_WORDS: Mapping[str, str] = {
    "AMOUNT": rf"(?P<amount>{_EURO}\s*{_FIGURE}(?!\w)(?!{_CENTS})|(?<![\w.,]){_FIGURE}[\s-]*{_EURO}(?!\w)(?!{_CENTS})|"
              rf"(?<![\w.,]){_FIGURE}[\s-]*(?:{_EURO}[\s-]*)?cents?\b|(?P<bare>{_BARE}))",
    "LIMIT": rf"\b{_LIMIT}\b",
    "NOT": r"\b(?:no|not|never|nothing|none|nobody|cannot|neither|without|avoid|refuse|reject|skip|\w+n't)\b",
    "OVER": r"\b(?:over|above|beyond|past|exceed\w*|north of|in excess of|"
            r"(?:more(?: expensive)?|higher|pricier|dearer|greater|costlier) than)\b",
    "ATMOST": r"\b(?:at most|at or (?:below|under)|up to|no more than|not more than|not (?:over|above)|within|"
              r"(?:cap(?:ped)?|limit(?:ed)?)(?: \w+){0,3} (?:at|to))\b",
    "BELOW": r"\b(?P<below>under|below|beneath|less than|cheaper than|lower than)\b",
    "ORLESS": rf"\b(?:{_LIMIT}|tops|at (?:the )?most|or (?:less|under|below|cheaper)|the most|the highest)\b",
    "YOUMAY": r"\b(?:you (?:may|can|could|are (?:allowed|free) to|have my (?:permission|approval|ok|okay) to)|"
              r"it(?:'s| is| would be) (?:fine|okay|ok|all right|alright) to)",
    "GOOVER": r"(?:go (?:over|above|beyond|past|higher)|exceed|break|ignore|pass|spend more|"
              r"(?:book|hold|confirm|take)[^.;!?]{0,40}? (?:over|above))\b",
    "UPTO": r"\b(?:up to|at most|as far as|to)\b",
    "ONCE": rf"(?:\b(?:once|this time|one time|exception)\b|\b{_LIMIT}\b)",
    "IAPPROVE": r"\bI(?:'ll| will| do| hereby| now)? (?:approve|authori[sz]e|allow|okay|sign off on)(?: of)?",
    "THE": r"(?: (?:the|this|that|one|an?))?",
    "FARE": r"\b(?:exception|flight|leg|fare|one|booking|price|hold)\b",
    "FORGET": r"\b(?:forget|drop|ignore|scrap|lift|remove|withdraw|disregard|waive|cancel|never mind|take back)\b",
    "GONE": r"\b(?:no longer|not [^.;!?]{0,20}?any ?more|(?:is|are) (?:gone|lifted|off|void|history)|"
            r"(?:does not|doesn't|do not|don't) (?:apply|count|matter|hold))\b",
    "NOLONGER": r"\b(?:there is|there's) no (?:longer an? |more )?(?:\w+ )?",
    "MOVE": r"\b(?:raise|lower|change|move|increase|reduce|lift|drop|put|set|bring)\b",
    "NOW": r"\b(?:now|becomes|has become|goes (?:up|down) to)\b",
    "MAKE": r"\b(?:make|let's say|let us say|call)(?: it| that)?",
    "ISFINE": r"\b(?:is|are|would be)(?: also| now| just)? (?:fine|okay|ok|all right|alright|allowed|acceptable)\b",
    "TO": r"\b(?:to|at)\b",
    "INSTEAD": r"\binstead\b",
    "APPROVED": r"\b(?:has|have|had) approved\b",
    "WHATEVER": r"\b(?:whatever|any price|any fare|any amount|all of it)\b",
    "REMEMBER": r"\bto (?:remember|keep in mind)\b",
    "THAT": r"\b(?:that(?: is|'s) (?:the (?:most|highest|maximum)|as much as)|(?:no|not|never)\b[^.;!?]{0,40}?"
            r"\b(?:more than|over|above) that)\b",
    "|": r"\s*;[^.;!?]{0,400}?",
    "…": r"[^.;!?]{0,90}?",
    "-": r"(?:(?!\bby\b)[^.;!?\d]){0,60}?",
}  # fmt: skip

# Where phrases overlap in a sentence, the one further up wins. "bare" ones mean something only once a ceiling stands.
_PHRASES: tuple[tuple[Kind, bool, str], ...] = (
    ("approve", False, "YOUMAY GOOVER … UPTO AMOUNT"),
    ("approve", False, "YOUMAY GOOVER … ONCE"),
    ("approve", False, "IAPPROVE THE AMOUNT"),
    ("approve", False, "IAPPROVE THE - FARE"),
    ("approve", False, "APPROVED WHATEVER"),
    ("change", False, "MOVE - LIMIT … TO AMOUNT"),
    ("lift", False, "FORGET … LIMIT"),
    ("lift", False, "LIMIT … GONE"),
    ("lift", False, "NOLONGER LIMIT"),
    ("change", False, "LIMIT - NOW - AMOUNT"),
    ("change", True, "MAKE AMOUNT"),
    ("change", True, "AMOUNT INSTEAD"),
    ("change", True, "AMOUNT - ISFINE"),
    ("set", False, "REMEMBER - AMOUNT | THAT"),
    ("set", False, "NOT … OVER - AMOUNT"),
    ("set", False, "ATMOST - AMOUNT"),
    ("set", False, "LIMIT - AMOUNT"),
    ("set", False, "AMOUNT … ORLESS"),
    ("set", True, "BELOW - AMOUNT"),
)


def _pattern(phrase: str) -> re.Pattern[str]:
    return re.compile(r"\s*".join(_WORDS[word] for word in phrase.split()), re.IGNORECASE)


_COMPILED = tuple((kind, weak, _pattern(phrase)) for kind, weak, phrase in _PHRASES)

_LEG = re.compile(r"\b(?:legs?|flights?|fares?|tickets?|(?:each|one|either|every) (?:way|direction))\b", re.IGNORECASE)
_COSTS = re.compile(rf"\b(?:{_LIMIT}|spend|costs?|pay|prices?)\b", re.IGNORECASE)
_ELSEWHERE = re.compile(
    r"\b(?:hotels?|rooms?|nights?|dinners?|meals?|taxis?|altogether|overall|in (?:all|total)|total|sum|whole trip)\b",
    re.IGNORECASE,
)
_TELLING = re.compile(
    r"\b(?:was|were|paid|used to|last (?:year|time|month|week)|(?:I|we|he|she|they) once)\b", re.IGNORECASE
)
_BINDING = re.compile(
    r"\b(?:keep|stay|must|should|shall|may|can|has to|have to|needs? to|need|want|please|only|find|book|make sure|"
    r"is to|are to|every|each|any)\b",
    re.IGNORECASE,
)
_POLITE = re.compile(r"(?:\w+,? )?(?:can|could|would|will) you\b", re.IGNORECASE)


@lru_cache(maxsize=4096)
def _sentence(sentence: str) -> tuple[Statement, ...]:
    plain = without_terms(sentence.replace("’", "'"))
    if is_question(plain) and not _POLITE.match(plain):
        return ()
    if _ELSEWHERE.search(plain) and not _LEG.search(plain):
        return ()
    taken: list[tuple[int, int]] = []
    found: list[tuple[int, Statement]] = []
    for kind, weak, pattern in _COMPILED:
        for match in pattern.finditer(plain):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            if kind == "set" and not _binds(plain, match, weak):
                continue
            taken.append(match.span())
            found.append((match.start(), _said(kind, weak, match, sentence)))
    return tuple(said for _, said in sorted(found, key=lambda pair: pair[0]))


def _binds(plain: str, match: re.Match[str], weak: bool) -> bool:
    """Whether the sentence lays something down about prices, and does not merely tell of one."""
    if match.groupdict().get("bare") and not (_LEG.search(plain) or _COSTS.search(plain)):
        return False
    binding = _BINDING.search(plain) is not None
    return binding if weak else binding or not _TELLING.search(_clause(plain, match))


def _clause(plain: str, match: re.Match[str]) -> str:
    """The part of the sentence, from one colon or comma to the next, that the match stands in."""
    before, after = re.split("[,:]", plain[: match.start()]), re.split("[,:]", plain[match.end() :])
    return before[-1] + match[0] + after[0]


def _said(kind: Kind, weak: bool, match: re.Match[str], sentence: str) -> Statement:
    groups = match.groupdict()
    amount = _value(groups["amount"]) if groups.get("amount") else None
    on = terms(sentence.replace("’", "'"))
    if kind == "lift":
        return Statement(kind="ceiling", rule=None, terms=on, figure=_named(match))
    rule = Ceiling(inf if amount is None else amount, bool(groups.get("below")), sentence)
    return Statement(kind="ceiling", rule=rule, terms=on, once=kind == "approve", bare=weak and kind == "change")


_AMOUNT = re.compile(_WORDS["AMOUNT"], re.IGNORECASE)
_AMOUNT_BEFORE = re.compile(rf"{_WORDS['AMOUNT']}[\s-]*$", re.IGNORECASE)
_AMOUNT_AFTER = re.compile(rf" (?:of|at) {_WORDS['AMOUNT']}", re.IGNORECASE)


def _named(match: re.Match[str]) -> float | None:
    """The figure of the limit that is taken back: "the EUR 450 limit", "the limit of EUR 450"; None = whichever."""
    before, after = match.string[: match.start()], match.string[match.end() :]
    named = _AMOUNT.search(match[0]) or _AMOUNT_BEFORE.search(before) or _AMOUNT_AFTER.match(after)
    return None if named is None else _value(named["amount"])


def _value(amount: str) -> float:
    """The figure in EUR. A point or comma before exactly three digits separates thousands."""
    digits = re.sub(r"[^\d.,]", "", amount).strip(".,")
    digits = re.sub(r"[.,](?=\d{3}(?:\D|$))", "", digits)
    value = float(digits.replace(",", "."))
    return value / 100 if "cent" in amount.lower() else value
