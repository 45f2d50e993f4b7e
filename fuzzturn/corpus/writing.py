"""Writing: an entry as a file that changes only when what it says changes. No times, no host names, fixed key order."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from fuzzturn.corpus.carried import redacted_body
from fuzzturn.corpus.entry import CallNote, Entry
from fuzzturn.corpus.reading import load_document, parse_entry
from fuzzturn.document import dump
from fuzzturn.errors import InputError, Problem
from fuzzturn.redaction import NOTHING, Redaction

__all__ = ["entry_path", "put", "save_entry", "write_entry"]

_DIGESTS = ("calls", "pieces", "rubric_digest")
"""Keys of an entry that hold digests."""
_LONE = re.compile("[\ud800-\udfff]")


def entry_path(entry: Entry, folder: Path) -> Path:
    """Where an entry goes: `<folder>/<scenario>/<finding>.yaml`."""
    return folder / entry.provenance.scenario / f"{entry.finding}.yaml"


def save_entry(entry: Entry, folder: Path, *, redaction: Redaction = NOTHING) -> Path:
    """Write the entry at its path below the corpus `folder`, replacing one that is there. Raises InputError."""
    path = entry_path(entry, folder)
    write_entry(entry, path, redaction=redaction)
    return path


def write_entry(entry: Entry, path: Path, *, redaction: Redaction = NOTHING) -> None:
    """Write the entry as `path`. The `x-*` keys of the file that it replaces, which people added, stay at its end.

    What the redaction takes out of what was said is taken out everywhere in the entry, so that it fits together still.
    Raises InputError, also for an entry that could not be read again.
    """
    text = dump(_without_secrets(_to_data(entry), redaction) | _notes(path))
    parse_entry(text, file=str(path))
    put(text.encode(), path)


def put(content: bytes, path: Path) -> None:
    """Replace a file as a whole, or not at all. Raises InputError."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.parent.is_symlink() and not path.exists():  # a corpus from anybody may hold a link to anywhere
            raise InputError(
                Problem(file=str(path), what=f"{path.parent} leads out of the corpus", accepted="a folder")
            )
        new.write_bytes(content)
        new.replace(path)
    except OSError as error:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise InputError(Problem(file=str(path), what=f"cannot be written: {error.strerror}")) from error


def _notes(path: Path) -> dict[str, Any]:
    try:
        data = load_document(path).data
    except InputError:
        return {}
    return {key: value for key, value in data.items() if key[:2] == "x-"} if isinstance(data, dict) else {}


def _to_data(entry: Entry) -> dict[str, Any]:
    """The file's data, in the model's order; what is empty or None is left out."""
    data = entry.model_dump(by_alias=True, mode="python", exclude_none=True)
    data["calls"] = [call.model_dump(exclude_defaults=True) for call in entry.calls]
    if not entry.why.seen:
        del data["why"]["seen"]
    data["rubric_digest"] = entry.rubric_digest or entry.rubric.digest
    found: list[str] = []
    data = _writable(data, found)
    if found:
        data["replaced_characters"] = len(found) + (entry.replaced_characters or 0)
    order = [field.alias or name for name, field in Entry.model_fields.items()]
    if entry.seen == 1:  # a number that every new file would have says nothing
        del data["seen"]
    return {key: data[key] for key in order if data.get(key) not in ([], {}, None)}


def _without_secrets(data: dict[str, Any], redaction: Redaction) -> dict[str, Any]:
    """The same, redacted. Digests stay: they hold no secret, and a pattern of digits would find some in them."""
    if not redaction.patterns:
        return data
    clean: dict[str, Any] = redaction.data({key: data[key] for key in data if key not in _DIGESTS})
    if digest := data["provenance"].get("scenario_digest"):
        clean["provenance"]["scenario_digest"] = digest
    if calls := data.get("calls"):
        clean["calls"] = [_call_without_secrets(call, redaction) for call in calls]
    return {key: clean.get(key, data[key]) for key in data}


def _call_without_secrets(call: dict[str, Any], redaction: Redaction) -> dict[str, Any]:
    kind = call.get("content_type", CallNote.model_fields["content_type"].default)
    return call | {"body": redacted_body(call["body"], kind, redaction)}


def _writable(value: Any, found: list[str]) -> Any:
    """The same without lone surrogates; what each was is added to `found`."""
    if isinstance(value, str):
        found += _LONE.findall(value)
        return _LONE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_writable(key, found): _writable(item, found) for key, item in value.items()}
    return [_writable(item, found) for item in value] if isinstance(value, list | tuple) else value
