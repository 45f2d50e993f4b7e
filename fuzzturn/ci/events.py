"""Events: what a command does, one JSON object a line, each written as it happens."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from fuzzturn.errors import InputError, Problem
from fuzzturn.redaction import NOTHING, Redaction

__all__ = ["SCHEMA", "Events"]

SCHEMA = 1


class Events:
    """A file that grows by one line an event; a reader that follows it never sees half of one for long.

    Raises InputError where it cannot be written.
    """

    def __init__(self, path: Path, redaction: Redaction = NOTHING) -> None:
        self._path, self._redaction = path, redaction
        try:
            self._file: TextIO = path.open("w", encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise self._unwritable(error) from error

    def __enter__(self) -> Events:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def tell(self, event: str, **fields: Any) -> None:
        """One event. What JSON cannot hold is written as text."""
        data = self._redaction.data({"schema": SCHEMA, "event": event, **fields})
        try:
            self._file.write(json.dumps(data, ensure_ascii=False, default=str) + "\n")
            self._file.flush()
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> InputError:
        return InputError(Problem(file=str(self._path), what=f"cannot be written: {error.strerror}"))
