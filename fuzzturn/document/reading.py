"""Reading: one YAML file as plain data with places. Everything that is wrong with it is said at once.

The data is built from the parser's events and not by a loader: events know nothing of Python objects, cannot expand
an alias, and let depth be checked before anything recurses.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from fuzzturn.document.place import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_NODES,
    Address,
    Document,
    cut,
    in_file_order,
)
from fuzzturn.document.scalars import Refusal, plain
from fuzzturn.document.syntax import explained
from fuzzturn.errors import InputError, Problem

__all__ = ["examine", "load", "parse", "read_text"]

_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # some builds of PyYAML come without libyaml
# NEL, U+2028 and U+2029 are line breaks in YAML 1.1: it would fold them into a space and count lines as no editor does.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_MANY = 10
"""After that many unreadable characters a file is not a text, and more of them tell nobody anything."""
_MOST = 5000
"""Of these, which cost nothing to find. More would only fill the memory, and then the screen."""
_QUOTE_IT = "a text that begins with {} has to be quoted"


def load(path: Path) -> Document:
    """Read a YAML file. Raises InputError with every problem found, each with line and column."""
    return parse(read_text(path), file=str(path))


def read_text(path: Path) -> str:
    """The text of a UTF-8 file of at most 4 MiB. Raises InputError where it is anything else."""
    try:
        with open(path, "rb", opener=_at_once) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):  # a pipe gives nothing, a device has no end
                raise InputError(Problem(file=str(path), what="not a regular file", accepted="a text in UTF-8"))
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(Problem(file=str(path), what=f"cannot be read: {error.strerror}")) from error
    if len(content) > MAX_BYTES:
        raise InputError(Problem(file=str(path), what="the file is larger than 4 MiB", accepted="at most 4 MiB"))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        *above, before = content[: error.start].decode("utf-8").split("\n")
        line, column = len(above) + 1, len(before) + 1
        what, accepted = "not a text in UTF-8", "save it as UTF-8"
        problem = Problem(file=str(path), line=line, column=column, what=what, accepted=accepted)
        raise InputError(problem) from error


def _at_once(path: str, flags: int) -> int:
    """Without waiting for somebody to write into a pipe; Windows has no such thing."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def parse(text: str, *, file: str | None = None) -> Document:
    """Read YAML from a text; `file` is what problems call it. Raises InputError with every problem found."""
    document = examine(text, file=file)
    if document.problems:
        raise InputError(document.problems)
    return document


def examine(text: str, *, file: str | None = None) -> Document:
    """Read YAML, with the problems beside what could be read all the same, so that a caller can add its own.

    Raises InputError where nothing can be read.
    """
    if unwritable := _unwritable(text, file):
        raise InputError(unwritable)
    reader = _Reader(text, file)
    try:
        data = reader.document()
    except yaml.MarkedYAMLError as error:
        found = explained(error, text, file, _PARSER)
        if all((found.line, found.column) != (problem.line, problem.column) for problem in reader.problems):
            reader.problems.append(found)
        raise InputError(in_file_order(reader.problems)) from error
    problems = tuple(in_file_order(reader.problems))
    return Document(data=data, file=file, places=reader.places, keys=reader.keys, problems=problems)


class _Reader:
    """One pass over the events of one file."""

    def __init__(self, text: str, file: str | None) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self.places: dict[Address, tuple[int, int]] = {}
        self.keys: dict[Address, tuple[int, int]] = {}
        self._events: Iterator[Any] = yaml.parse(text, Loader=_PARSER)
        self._nodes = 0

    def document(self) -> Any:
        next(self._events)  # the stream's start
        start = next(self._events)
        if isinstance(start, yaml.StreamEndEvent):
            raise InputError(Problem(file=self.file, what="the file is empty", accepted="one YAML document"))
        data = self._value(next(self._events), ())
        next(self._events)  # the document's end
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            self._complain(after, "a second document begins here", "one document a file")
            raise InputError(in_file_order(self.problems))  # whatever the first lacks may stand in the second
        return data

    def _value(self, event: Any, at: Address) -> Any:
        self.places.setdefault(at, _place(event))
        self._nodes += 1
        if self._nodes > MAX_NODES:
            self._complain(event, "more values than a file may hold", f"at most {MAX_NODES}")
            raise InputError(in_file_order(self.problems))
        if isinstance(event, yaml.AliasEvent):
            return self._complain(event, f"*{event.anchor} is an alias", f"write it out; {_QUOTE_IT.format('*')}")
        self._refuse_marks(event)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if len(at) >= MAX_DEPTH:
            self._complain(event, "nested too deep", f"at most {MAX_DEPTH} levels")
            raise InputError(in_file_order(self.problems))
        return self._mapping(event, at) if isinstance(event, yaml.MappingStartEvent) else self._sequence(at)

    def _scalar(self, event: Any) -> Any:
        if event.style:  # quoted or a block: a text, whatever it looks like
            return event.value
        value = plain(event.value)
        return self._complain(event, *value) if isinstance(value, Refusal) else value

    def _sequence(self, at: Address) -> tuple[Any, ...]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._value(event, (*at, len(items))))
        return tuple(items)

    def _mapping(self, start: Any, at: Address) -> dict[str, Any]:
        items: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event, at, items)
            value = next(self._events)
            if start.flow_style and _is_absent(value) and isinstance(event, yaml.ScalarEvent):
                self._no_value(start, event, first=not items)
                self.places[(*at, key)] = _place(event)  # where its absence is told, and told once
            read = self._value(value, (*at, key))
            items.setdefault(key, read)
        return items

    def _no_value(self, start: Any, key: Any, *, first: bool) -> None:
        if first:
            what = f"{{{key.value}}} is a mapping without a value"
            spaced = "a space after the colon; " if ":" in key.value else ""
            self._complain(start, what, spaced + _QUOTE_IT.format("{"))
        else:
            self._complain(key, f"the key {key.value!r} has no value", "write null, or leave the key out")

    def _key(self, event: Any, at: Address, items: dict[str, Any]) -> str:
        """The key as text. One that cannot stand is kept as it is written, to go on reading what follows."""
        if not isinstance(event, yaml.ScalarEvent):
            self._complain(event, "a key is a list, a mapping or an alias", "a key is a text")
            self._value(event, (*at, "?"))
            return "?"
        self._refuse_marks(event)
        if not event.style:
            self._refuse_plain_key(event)
        if event.value in items:
            line = self.keys[(*at, event.value)][0]
            self._complain(event, f"the key {event.value!r} is given twice", f"it stands on line {line} already")
        self.keys.setdefault((*at, event.value), _place(event))
        return str(event.value)

    def _refuse_plain_key(self, event: Any) -> None:
        meaning = plain(event.value)
        if event.value == "<<":
            self._complain(event, "<< merges another mapping", "write its keys out")
        elif isinstance(meaning, Refusal):
            self._complain(event, *meaning)
        elif not isinstance(meaning, str):
            self._complain(event, f"the key {event.value or 'null'} is not a text", "quote it")

    def _refuse_marks(self, event: Any) -> None:
        if event.anchor:
            self._complain(event, f"&{event.anchor} is an anchor", f"leave it out; {_QUOTE_IT.format('&')}")
        if event.tag:
            self._complain(event, f"{event.tag} is a tag", f"leave it out; {_QUOTE_IT.format('!')}")

    def _complain(self, event: Any, what: str, accepted: str) -> None:
        line, column = _place(event)
        problem = Problem(file=self.file, line=line, column=column, what=cut(what), accepted=cut(accepted))
        self.problems.append(problem)
        if len(self.problems) >= _MOST:
            raise InputError(in_file_order(self.problems))


def _place(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _is_absent(event: Any) -> bool:
    return isinstance(event, yaml.ScalarEvent) and not event.value and not event.style


def _unwritable(text: str, file: str | None) -> list[Problem]:
    found = []
    for match in islice(_UNWRITABLE.finditer(text), _MANY):
        before = text[: match.start()]
        line, column = before.count("\n") + 1, match.start() - before.rfind("\n")
        code = f"\\u{ord(match[0]):04x}"
        accepted = f'inside double quotes, as "{code}"'
        found.append(Problem(file=file, line=line, column=column, what=f"the character {code}", accepted=accepted))
    return found
