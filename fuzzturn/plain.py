"""Plain: a text as it was before somebody wrote it into a transcript: without XML and JSON escapes, white space folded.

Frameworks hand their summariser the conversation as text, escaped as XML (LangChain) or JSON; a statement with a
quotation mark or an umlaut in it would else not be found there.
"""

from __future__ import annotations

import html
import re
from functools import lru_cache

__all__ = ["plain"]

_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|([bfnrt])|(["\\/]))')


@lru_cache(maxsize=1024)
def plain(text: str) -> str:
    """The text unescaped, at most twice (a transcript in JSON within a request in JSON)."""
    if "\\" in text or "&" in text:
        for _ in range(2):
            text = html.unescape(_ESCAPE.sub(_unescaped, text))
        # beyond the basic plane JSON escapes one character as a pair
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return " ".join(text.split())


def _unescaped(match: re.Match[str]) -> str:
    code, space, itself = match.groups()
    return chr(int(code, 16)) if code else " " if space else itself
