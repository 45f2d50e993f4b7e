"""Document: plain data from a YAML file, with the line and column of everything in it, and back again.

    load(path), parse(text) -> Document     reading: one pass, every problem collected, nothing guessed
    examine(text) -> Document               the same, with the problems beside the data
    dump(data) -> str                       writing: what `parse` reads back as equal data
    prune, complaints                       strictness: a document held against a pydantic model

A file may come from outside, so it is read without tags, anchors or aliases, and within limits of size and depth.
"""

from __future__ import annotations

from fuzzturn.document.place import Address, Document
from fuzzturn.document.reading import examine, load, parse, read_text
from fuzzturn.document.strictness import complaints, known_keys, prune, shown
from fuzzturn.document.writing import dump

__all__ = [
    "Address",
    "Document",
    "complaints",
    "dump",
    "examine",
    "known_keys",
    "load",
    "parse",
    "prune",
    "read_text",
    "shown",
]
