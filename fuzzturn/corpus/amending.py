"""Amending: one line of a corpus file edited, the rest left as it is to the byte, comments included."""

from __future__ import annotations

import re
from pathlib import Path

from fuzzturn.corpus.entry import Entry
from fuzzturn.corpus.reading import load_document
from fuzzturn.corpus.writing import put
from fuzzturn.document import Document, known_keys, parse
from fuzzturn.errors import InputError

__all__ = ["amend", "amended"]

_WORD = re.compile(r"""(?P<quote>['"]?)\w+(?P=quote)""")
_MARK = "\ufeff"


def amend(path: Path, key: str, value: str | int) -> None:
    """Set one top-level key of an entry's file to a word or a whole number. Raises InputError."""
    document = load_document(path)
    text = path.read_bytes().decode("utf-8")
    mark = _MARK if text.startswith(_MARK) else ""
    put((mark + amended(text.removeprefix(mark), document, key, value)).encode(), path)


def amended(text: str, document: Document, key: str, value: str | int) -> str:
    """The text with another value for the key; a line with it, where its place is, if it had none.

    `document` is the text as read. Raises InputError where the key does not stand in a line of its own.
    """
    new = _replaced(text, document, key, value) if key in document.data else _inserted(text, document, key, value)
    if new is not None and parse(new, file=document.file).data == {**document.data, key: value}:
        return new
    what = f"{key!r} does not stand in a line of its own"
    raise InputError(document.problem((key,), what, f"the line {key}: {value}, in column 1", key=True))


def _replaced(text: str, document: Document, key: str, value: str | int) -> str | None:
    line, column = document.places[(key,)]
    lines = text.split("\n")
    if line > len(lines) or (old := _WORD.match(lines[line - 1], column - 1)) is None:
        return None
    lines[line - 1] = f"{lines[line - 1][: old.start()]}{value}{lines[line - 1][old.end() :]}"
    return "\n".join(lines)


def _inserted(text: str, document: Document, key: str, value: str | int) -> str | None:
    order = list(known_keys(Entry))
    behind = (other for other in order[order.index(key) :] if (other,) in document.keys)
    if (after := next(behind, None)) is None or document.keys[(after,)][1] != 1:
        return None
    line = document.keys[(after,)][0] - 1
    lines = text.split("\n")
    lines.insert(line, f"{key}: {value}" + "\r" * lines[line].endswith("\r"))
    return "\n".join(lines)
