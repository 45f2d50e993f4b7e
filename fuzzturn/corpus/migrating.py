"""Migrating: a corpus file of an older schema version rewritten as the present one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fuzzturn.corpus.reading import load_document, read_entry
from fuzzturn.corpus.versions import SCHEMA, migrated
from fuzzturn.corpus.writing import write_entry

__all__ = ["migrate"]


def migrate(path: Path, *, by: str | None = None) -> int | None:
    """Rewrite an entry's file; the schema version that it had, None where it had the present one and stays as it is.

    `by`: the version of fuzzturn that writes it. Raises InputError, and leaves the file alone, where what comes of it
    cannot be read.
    """
    document = load_document(path)
    data = migrated(document.data)
    entry = read_entry(replace(document, data=data))
    if data == document.data:
        return None
    write_entry(entry.model_copy(update={"fuzzturn": by}), path)
    had: int = document.data["schema"]
    return had if had != SCHEMA else None
