"""Reading: an entry from its file, held against the schema and against itself. A file may come from anybody."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from fuzzturn.corpus.entry import CONTENT_TYPE, FINDING, KEY, Entry
from fuzzturn.corpus.limits import too_much
from fuzzturn.corpus.rules import about_the_calls, about_the_rates, about_the_rubric, about_what_broke
from fuzzturn.corpus.versions import refuse_other_versions
from fuzzturn.document import Document, complaints, load, parse, prune
from fuzzturn.document.place import in_file_order
from fuzzturn.errors import InputError, Problem
from fuzzturn.scenario import Id
from fuzzturn.scenario_file import parse_scenario

__all__ = ["entry_files", "load_document", "load_entry", "parse_entry", "read_entry"]

_PATTERNS = {
    FINDING: "8 hexadecimal digits, in quotes",
    KEY: "64 hexadecimal digits, in quotes",
    CONTENT_TYPE: "a media type, as text/event-stream",
    get_args(Id)[1].pattern: "a name of letters, digits and _ . : @ # - that begins with a letter",
}
_AN_ENTRY = "`fuzzturn run` and `fuzzturn fuzz` take scenarios; the latter writes entries to corpus/"


def entry_files(folder: Path) -> list[Path]:
    """The corpus files below a folder, sorted. Pipes and devices are none; what else cannot be read is still one."""
    return sorted(path for path in folder.rglob("*.yaml") if path.is_file() or path.is_symlink())


def load_entry(path: Path) -> Entry:
    """Read an entry. Raises InputError with every problem at its place, the scenario's included."""
    return read_entry(load_document(path))


def parse_entry(text: str, *, file: str | None = None) -> Entry:
    """The entry that a text holds; `file` is what problems call it. Raises InputError."""
    return read_entry(parse(text, file=file))


def load_document(path: Path) -> Document:
    """The file's data with places. Raises InputError, for a link as well: what it leads to is no part of a corpus."""
    if path.is_symlink():
        raise InputError(Problem(file=str(path), what="a symbolic link", accepted="a copy of what it leads to"))
    return load(path)


def read_entry(document: Document) -> Entry:
    """The entry that a document holds. Raises InputError; OtherVersion where it is only too old or too new."""
    if isinstance(document.data, dict) and "turns" in document.data and "finding" not in document.data:
        at = ("scenario",) if "scenario" in document.data else ()
        raise InputError(document.problem(at, "this is a scenario, not a corpus entry", _AN_ENTRY, key=True))
    refuse_other_versions(document)
    entry = Entry.model_validate(_held_against_the_model(document))
    if problems := list(too_much(document)):  # before anything is made of it
        raise InputError(in_file_order(problems))
    spoken = parse_scenario(document.part("scenario"), spoken_turns=True)  # with places, so that its problems have them
    if entry.twin is not None:
        parse_scenario(document.part("twin"), spoken_turns=True)
    if problems := [
        *about_the_calls(document, entry),
        *about_the_rates(document, entry),
        *about_the_rubric(document, entry),
        *about_what_broke(document, entry, spoken),
    ]:
        raise InputError(in_file_order(problems))
    return entry


def _held_against_the_model(document: Document) -> Any:
    data, problems = prune(document, Entry, {})
    try:
        Entry.model_validate(data)
    except ValidationError as error:
        problems += complaints(error, Entry, document, _PATTERNS)
        raise InputError(in_file_order(problems)) from None
    if problems:
        raise InputError(problems)
    return data
