"""Record: requests and answers in `.fuzzturn/calls.sqlite`, so that asking the same again costs nothing.

An answer is found by key, sample and number: the second answer to equal requests of one session is another answer.
The first writer wins, since a session that was played on with one answer must find that one again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzzturn.calls.keys import Known, Request, difference, dumps
from fuzzturn.errors import Halted, InputError, Problem

__all__ = ["Answer", "CallRecord", "Place"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
  key TEXT NOT NULL, sample INTEGER NOT NULL, nth INTEGER NOT NULL,
  role TEXT NOT NULL, path TEXT NOT NULL, model TEXT NOT NULL,
  request TEXT NOT NULL, canonical TEXT NOT NULL,
  status INTEGER NOT NULL, content_type TEXT NOT NULL, body BLOB NOT NULL, usage TEXT,
  PRIMARY KEY (key, sample, nth)
)
"""
_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a model's server answered, whole. `body` as it came, decoded from any compression; streams included."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"
    usage: Mapping[str, Any] | None = None
    """Tokens as the server counted them; None = it did not say."""


@dataclass(frozen=True, slots=True)
class Place:
    """Which answer to which request: the `nth` served to one session, counted from 0, in one sample."""

    key: str
    sample: int
    nth: int


class CallRecord:
    """The record of one project. `path` None = kept in memory only. Opened at the first look.

    `carried`: answers that came from elsewhere and go before those of the record; they are never written to it.
    """

    def __init__(self, path: Path | None, carried: Mapping[Place, Answer] | None = None) -> None:
        self._path = path
        self._carried = carried or {}
        self._opened: sqlite3.Connection | None = None

    @property
    def _db(self) -> sqlite3.Connection:
        if self._opened is None:
            self._opened = _open(self._path)
        return self._opened

    def find(self, place: Place) -> Answer | None:
        """The recorded answer; None = there is none."""
        if (carried := self._carried.get(place)) is not None:
            return carried
        sql = "SELECT body, status, content_type, usage FROM calls WHERE key = ? AND sample = ? AND nth = ?"
        with self._told("read"):
            row = self._db.execute(sql, (place.key, place.sample, place.nth)).fetchone()
        if row is None:
            return None
        body, status, content_type, usage = row
        return Answer(body=body, status=status, content_type=content_type, usage=usage and json.loads(usage))

    def keep(self, place: Place, request: Request, known: Known, answer: Answer) -> None:
        """Write an answer down, unless another process was quicker. Nothing in it is secret any more."""
        usage = None if answer.usage is None else dumps(answer.usage)
        row = (place.key, place.sample, place.nth, request.role, request.path, _text(request.model),
               _text(dumps(known.written)), _text(known.canonical), answer.status, answer.content_type, answer.body,
               usage)  # fmt: skip
        with self._told("written"), self._db:
            self._db.execute(f"INSERT OR IGNORE INTO calls VALUES ({', '.join('?' * len(row))})", row)

    def nearest(self, request: Request, known: Known) -> str | None:
        """Where the most similar recorded request differs; None = no request of that role and path is recorded."""
        sql = "SELECT canonical FROM calls WHERE role = ? AND path = ?"
        with self._told("read"):
            texts = (row[0] for row in self._db.execute(sql, (request.role, request.path)))
            best = max(texts, key=lambda text: _alike(text, known.canonical), default=None)
        if best is None:
            return None
        where = difference(json.loads(best), json.loads(known.canonical))
        return where.removeprefix("body.") if where else "nothing: it was asked less often"

    @contextmanager
    def _told(self, done: str) -> Iterator[None]:
        """Raises Halted where it cannot be done (it is locked, the disk is full): no other call can go better."""
        try:
            yield
        except sqlite3.Error as error:
            raise Halted("record", f"the record of model calls {self._path} cannot be {done}: {error}") from error

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None


def _alike(one: str, other: str) -> int:
    """How many characters two texts share at their beginnings. Contexts are long: halving, not one by one."""
    same, most = 0, min(len(one), len(other))
    while same < most:
        middle = (same + most + 1) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            most = middle - 1
    return same


def _text(text: str) -> str:
    """As the file can hold it: half a surrogate pair as JSON's own escape."""
    return text.encode(errors="backslashreplace").decode()


def _open(path: Path | None) -> sqlite3.Connection:
    try:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(path or ":memory:", timeout=30, check_same_thread=False)
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _VERSION):
            what = f"this record has version {version}, and this fuzzturn reads version {_VERSION}"
            raise InputError(Problem(file=str(path), what=what, accepted="another fuzzturn, or a record made anew"))
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute(_SCHEMA)
        db.execute("SELECT body, usage FROM calls LIMIT 0")  # a table of that name may be somebody else's
        db.execute(f"PRAGMA user_version = {_VERSION}")
        db.commit()
    except (OSError, sqlite3.Error) as error:
        what = f"the record of model calls cannot be opened: {error}"
        accepted = "a record of fuzzturn's, or none, in a folder that may be written to"
        raise InputError(Problem(file=str(path), what=what, accepted=accepted)) from error
    return db
