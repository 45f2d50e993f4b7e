"""Versions: which schema version an entry has, and the steps by which an older one becomes the present one.

An older file is migrated by a command and never in passing, so that a diff says what was done to it and when.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from fuzzturn.document import Document, shown
from fuzzturn.errors import InputError

__all__ = ["SCHEMA", "STEPS", "OtherVersion", "Step", "migrated", "refuse_other_versions"]

SCHEMA = 1
Step: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
STEPS: dict[int, Step] = {}
"""From each older version, how its data becomes that of the next. A step changes data only, never `schema`."""


class OtherVersion(InputError):
    """An entry of a schema version that is not the present one. It is left alone."""


def refuse_other_versions(document: Document, steps: Mapping[int, Step] | None = None) -> None:
    """Raises OtherVersion for an older version that has a way to here, and for a newer one."""
    version = _version(document.data)
    if version is None or version == SCHEMA:
        return
    if version in (STEPS if steps is None else steps):
        what = f"schema {version} is older than {SCHEMA}, which this fuzzturn reads"
        raise OtherVersion(document.problem(("schema",), what, f"fuzzturn corpus migrate {document.file or 'FILE'}"))
    if version > SCHEMA:
        what = f"schema {shown(version)} is newer than {SCHEMA}, which this fuzzturn reads"
        writer = document.data.get("fuzzturn")
        told = f"fuzzturn {shown(writer)} wrote it" if isinstance(writer, str) else "it does not say what wrote it"
        raise OtherVersion(document.problem(("schema",), what, f"{told}; a newer fuzzturn reads it"))


def migrated(data: Mapping[str, Any], steps: Mapping[int, Step] | None = None) -> dict[str, Any]:
    """The data of an entry as the present version has it. What has no way from its version to here stays as it is."""
    known = STEPS if steps is None else steps
    now = dict(data)
    while (version := _version(now)) in known:
        assert version is not None
        now = known[version](now) | {"schema": version + 1}
    return now


def _version(data: Any) -> int | None:
    version = data.get("schema") if isinstance(data, dict) else None
    return version if type(version) is int else None
