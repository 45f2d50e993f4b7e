"""Rubric file: frozen anchors on disk, and the lock that shows whether they still are what they were.

`rubrics/<rubric_id>.json` holds a rubric, `rubrics.lock` beside it the digest of every rubric that was ever frozen
there. An edit of an anchor is a schema migration (essay, "Version the rubric file"): the changed text needs a new id,
so freezing never overwrites and verifying never repairs.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fuzzturn.document import Address, Document, complaints, parse, read_text, shown
from fuzzturn.document.place import in_file_order
from fuzzturn.errors import InputError, Problem
from fuzzturn.rubric import ANCHORS, Rubric

__all__ = ["LOCK", "freeze", "load_lock", "load_rubric", "verify"]

_A_DIGEST = "64 hexadecimal digits, as `fuzzturn rubric freeze` writes them"
LOCK = "rubrics.lock"
"""The name of the lock, beside the rubrics."""

_PATTERNS = {
    r"^[a-z0-9][a-z0-9._-]*$": "small letters, digits and . _ -, as in orbit-turn-quality-v3",
    r"^\d{4}-\d{2}-\d{2}$": "a date as 2026-03-02",
}


def load_rubric(path: Path) -> Rubric:
    """Read a rubric; whether it is frozen is `verify`'s question. Raises InputError with every problem found."""
    document = _json(path)
    if not isinstance(document.data, dict):
        raise InputError(document.problem((), "a rubric is a JSON object", "schema, rubric_id, frozen_on and scale"))
    problems = _beyond_the_model(document, path)
    try:
        rubric = Rubric.model_validate(document.data)
    except ValidationError as error:
        problems += complaints(error, Rubric, document, _PATTERNS, said=_said_already(document, problems))
        raise InputError(in_file_order(problems)) from None  # pydantic's words are not ours
    if problems:
        raise InputError(problems)
    return rubric


def load_lock(path: Path) -> Mapping[str, str]:
    """Digest by rubric id; empty where there is no lock yet. Raises InputError for a lock that cannot be read."""
    if not path.exists():
        return {}
    document = _json(path)
    data = document.data
    digests = data.get("rubrics") if isinstance(data, dict) and data.get("schema") == 1 else None
    if not isinstance(digests, dict):
        raise InputError(document.problem((), "not a rubric lock", '{"schema": 1, "rubrics": {id: sha256}}'))
    problems = [
        document.problem(("rubrics", id), f"the digest of {id!r} is {shown(digest)}", _A_DIGEST)
        for id, digest in digests.items()
        if not (isinstance(digest, str) and re.fullmatch(r"[0-9a-f]{64}", digest))
    ]
    if problems:
        raise InputError(problems)
    return digests


def verify(rubric: Rubric, lock: Mapping[str, str]) -> Rubric:
    """The rubric, where the lock has it with this very digest. Raises InputError otherwise."""
    frozen = lock.get(rubric.rubric_id)
    if frozen is None:
        what = f"the rubric {rubric.rubric_id!r} (digest {rubric.digest}) is not frozen: {LOCK} does not have it"
        raise InputError(Problem(what=what, accepted="freeze it with `fuzzturn rubric freeze`"))
    if frozen != rubric.digest:
        digests = f"its digest is {rubric.digest}, {LOCK} has {frozen}"
        what = f"the rubric {rubric.rubric_id!r} was changed after it was frozen: {digests}"
        accepted = "undo the change, or give the changed rubric a new id and freeze that"
        raise InputError(Problem(what=what, accepted=accepted))
    return rubric


def freeze(path: Path) -> str:
    """Add a rubric to the lock beside it and return its digest.

    Raises InputError for an id that the lock has already: with another digest, since frozen means frozen, and with
    the same one, since nothing would be done.
    """
    rubric, lock_path = load_rubric(path), path.parent / LOCK
    lock = load_lock(lock_path)
    if (frozen := lock.get(rubric.rubric_id)) is not None:
        same = frozen == rubric.digest
        known = f"with this very digest {frozen}" if same else f"with digest {frozen}, and this one has {rubric.digest}"
        what = f"the id {rubric.rubric_id!r} is frozen already, {known}"
        accepted = "nothing is left to do" if same else "give the changed rubric a new id"
        raise InputError(Problem(file=str(path), what=what, accepted=accepted))
    rubrics = dict(sorted({**lock, rubric.rubric_id: rubric.digest}.items()))
    _replace(lock_path, json.dumps({"schema": 1, "rubrics": rubrics}, indent=2) + "\n")
    return rubric.digest


def _beyond_the_model(document: Document, path: Path) -> list[Problem]:
    """What the model's types cannot say."""
    problems: list[Problem] = []
    name, day, scale = (document.data.get(key) for key in ("rubric_id", "frozen_on", "scale"))
    if isinstance(name, str) and name != path.stem:
        problems.append(document.problem(("rubric_id",), f"the rubric {name!r} stands in {path.name}", f"{name}.json"))
    if isinstance(day, str) and not _is_date(day):
        problems.append(document.problem(("frozen_on",), f"'frozen_on' is {day!r}", "accepted: a date as 2026-03-02"))
    if isinstance(scale, dict) and sorted(scale) != list(ANCHORS):
        what = f"'scale' has the anchors {', '.join(scale) or 'none'}"
        problems.append(document.problem(("scale",), what, f"exactly {', '.join(ANCHORS)}"))
    return problems


def _said_already(document: Document, problems: list[Problem]) -> list[Address]:
    """Wrong anchors are named together, not key by key, and a date that is none is said to be none once."""
    scale, problems_of = document.data.get("scale"), {problem.what.split()[0] for problem in problems}
    anchors: list[Address] = [("scale", key, "[key]") for key in scale] if isinstance(scale, dict) else []
    return [*anchors, *([("frozen_on",)] if "'frozen_on'" in problems_of else [])]


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _json(path: Path) -> Document:
    """A JSON file as a document."""
    text = read_text(path)
    twice: list[str] = []

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        twice.extend(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        return dict(pairs)

    try:
        data = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        conflict = "settle the merge conflict" if text.split("\n")[error.lineno - 1].startswith("<<<<<<<") else None
        problem = Problem(
            file=str(path), line=error.lineno, column=error.colno, what=f"not JSON: {error.msg}", accepted=conflict
        )
        raise InputError(problem) from error
    except RecursionError as error:
        raise InputError(Problem(file=str(path), what="nested too deep")) from error
    placed = _placed(text, path, twice)
    return Document(data=data, file=str(path), places=placed.places, keys=placed.keys)


def _placed(text: str, path: Path, twice: list[str]) -> Document:
    """The places, which JSON's reader does not tell and the other one does: nearly all JSON is YAML.

    Raises InputError for keys given twice.
    """
    try:
        return parse(text, file=str(path))
    except InputError as error:
        if twice:
            said = [problem for problem in error.problems if "is given twice" in problem.what]
            raise InputError(
                said or [Problem(file=str(path), what=f"the key {key!r} is given twice") for key in twice]
            ) from None
        return Document(data=None, file=str(path), places={}, keys={})


def _replace(path: Path, text: str) -> None:
    """Write the whole file or nothing: a reader never sees half a lock."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise InputError(Problem(file=str(path), what=f"cannot be written: {error.strerror}")) from error
