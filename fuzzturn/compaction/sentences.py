"""Sentences: what form a sentence has, by rule: a question, a request, or neither."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["is_question", "is_request", "sentences"]


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, each a substring of it: split after . ! ? before a space, and at line ends."""
    return tuple(part.strip() for part in re.split(r"(?<=[.!?])\s+|[\r\n]+", text) if part.strip())


def is_question(sentence: str) -> bool:
    return sentence.rstrip("\"')]} ").endswith("?")


# Verbs that ask for something to be done now. Verbs of standing conduct (keep, stay, avoid, remember, respect, make
# sure) are left out on purpose: "keep it short" is a preference, and preferences are what this summariser loses.
_VERBS = (
    "add|answer|arrange|ask|book|build|buy|call|cancel|change|check|choose|clean|close|compare|compute|confirm|convert|"
    "copy|correct|count|create|delete|describe|draft|edit|email|explain|extend|fetch|fill|finali[sz]e|find|fix|forward|"
    "get|give|go ahead|help|hold|install|list|look|merge|move|open|order|pay|pick|plan|prepare|print|put|read|record|"
    "register|release|remove|rename|repeat|replace|report|reserve|run|save|schedule|search|see|select|send|set up|show|"
    "sort|start|stop|suggest|recommend|summari[sz]e|switch|take|tell|test|translate|try|update|upload|use|verify|write"
)
_LEAD_IN = (
    r"(?:(?:and|also|alright|all right|besides|by the way|finally|first|great|hello|hi|just|kindly|meanwhile|next|now|"
    r"ok|okay|one more thing|perfect|please|quickly|right|second|so|thanks|thank you|then|well|yes|let us|let's|"
    r"if you (?:can|could)|when you (?:can|have time)|(?:can|could|would|will) you|go ahead and|"
    r"i(?:'d| would) like (?:you )?to|i (?:need|want) (?:you )?to|i(?:'d| would) ask you to)\s*[,:;–—-]?\s+)*"
)
_REQUEST = re.compile(rf"{_LEAD_IN}(?:{_VERBS})\b(?!\s+(?:no|nothing|none|never)\b)", re.IGNORECASE)
_WISH = re.compile(
    rf"{_LEAD_IN}i(?:(?:'d| would) like| need| want|(?:'m| am) looking for) (?:an?|some|two|three) ", re.IGNORECASE
)


@lru_cache(maxsize=4096)
def is_request(sentence: str) -> bool:
    """Whether the sentence asks for something to be done now: an imperative, a polite question or a wish.

    A prohibition ("never …", "do not …", "book nothing that …") asks for nothing to be done, so it is none.
    """
    plain = sentence.replace("’", "'")
    return bool(_REQUEST.match(plain) or _WISH.match(plain))
