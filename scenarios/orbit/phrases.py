"""Phrases: which of several patterns a text's sentences match.

A phrase is written with the words of a vocabulary, each a piece of a regular expression, so that it reads like what it
stands for. Where two phrases overlap in a sentence the one listed first wins: "night flights are fine now" forbids
nothing, although "no night flights" would.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fuzzturn.compaction import is_question, sentences

from .terms import without_terms

__all__ = ["Found", "Phrase", "found", "phrases"]


@dataclass(frozen=True, slots=True)
class Found:
    """A phrase found in `quote`, a sentence of the text as it stands there."""

    kind: str
    match: re.Match[str]
    quote: str


Phrase: TypeAlias = tuple[str, re.Pattern[str]]

# "…" stands for a few words of the same clause, "|" stands between two pieces of what is said in two.
_WORDS: Mapping[str, str] = {
    "NOT": r"\b(?:no|not|never|nothing|none|nobody|cannot|neither|nor|without|avoid|refuse|reject|skip|\w+n't)\b",
    "MUST": r"\b(?:must|has to|have to|needs? to|needs|should|shall|only|always|make sure|"
            r"keep|stay|is to|are to|insists?)\b",
    "ISFINE": r"\b(?:is|are|would be)(?: also| now| just| again)* (?:fine|okay|ok|all right|allowed|acceptable|"
              r"welcome)\b",
    "OUT": r"\b(?:is|are)(?: strictly| also)? (?:out\b|off limits|off the list|excluded|banned|barred|"
           r"blocked|forbidden|ruled out|not\b|never\b|no option|avoided)",
    "FORGET": r"\b(?:forget|drop|ignore|scrap|lift|remove|withdraw|disregard|waive|never mind|take back)\b",
    "GONE": r"\b(?:no longer|not [^.;!?]{0,20}?any ?more|"
            r"(?:is|are|has been|have been) (?:gone|lifted|off(?! limits)|over|history|withdrawn)|"
            r"(?:does not|doesn't|do not|don't) (?:apply|count|matter|hold))\b",
    "YOUMAY": r"\byou (?:may|can|could|are (?:allowed|free) to)(?! not\b)",
    "REMEMBER": r"\bto (?:remember|keep in mind)\b",
    "|": r"\s*;[^.;!?]{0,400}?",
    "…": r"[^.;!?]{0,90}?",
}  # fmt: skip
_POLITE = re.compile(r"(?:\w+,? )?(?:can|could|would|will) you\b", re.IGNORECASE)


def phrases(words: Mapping[str, str], *written: tuple[str, str]) -> tuple[Phrase, ...]:
    """Compile (kind, phrase) pairs over the common vocabulary and `words`, in order of precedence."""
    known = {**_WORDS, **words}
    return tuple(
        (kind, re.compile(r"\s*".join(known[word] for word in phrase.split()), re.IGNORECASE))
        for kind, phrase in written
    )


def found(text: str, patterns: Sequence[Phrase], *, on_terms: bool = True) -> Iterator[Found]:
    """Everything that `text` says in these phrases, in order. Questions lay nothing down, polite requests do.

    `on_terms`: times and conditions that a sentence names are no part of what is looked for.
    """
    for sentence in sentences(text):
        plain = sentence.replace("’", "'")
        plain = without_terms(plain) if on_terms else plain
        if not is_question(plain) or _POLITE.match(plain):
            yield from _in_sentence(sentence, plain, patterns)


def _in_sentence(sentence: str, plain: str, patterns: Sequence[Phrase]) -> list[Found]:
    taken: list[Found] = []
    for kind, pattern in patterns:
        for match in pattern.finditer(plain):
            if not any(match.start() < t.match.end() and t.match.start() < match.end() for t in taken):
                taken.append(Found(kind, match, sentence))
    return sorted(taken, key=lambda one: one.match.start())
