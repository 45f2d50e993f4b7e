"""Labels: what people say of the items, and how far judge and checkers agree with them.

A CSV file has the head `item,label` and a row an item; a YAML file is a mapping of item to label. An item goes by its
id, or by its code, which does not tell the label as the id does. A label is `violating`, `legal`, or a score 0-4, of
which 0 means violating, as it does of a judge's.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from fuzzturn.document import Document, parse, read_text
from fuzzturn.document.place import in_file_order
from fuzzturn.errors import InputError, Problem, closest
from fuzzturn.stress.figures import kappa, majority
from fuzzturn.stress.item import Answer

__all__ = ["Agreement", "Opinion", "agreement", "agreement_json", "code_of", "load_labels"]

Opinion: TypeAlias = str | int
"""violating, legal or a score 0-4."""
_ACCEPTED = "violating, legal, or a score 0, 1, 2, 3 or 4"
_HEAD = ["item", "label"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """A judge and people about the same items; an item's score is that of more than half of its scored answers."""

    labelled: int
    """Items that people labelled."""
    n: int
    """Those of them about which the judge has a majority; the others are in no figure below."""
    kappa: float | None
    """Judge against people, score 0 or not (Cohen 1960)."""
    checkers_kappa: float | None
    """Checkers against people, over all labelled items: whether the truth is one."""
    weighted_kappa: float | None
    """Judge against people where people gave a score: weights by squares (Cohen 1968)."""
    scored: int
    """Items of `n` to which people gave a score."""
    confusion: Mapping[str, int]
    """`people/judge`, each violating or legal."""
    scores: Mapping[str, int]
    """`people/judge`, each 0-4; what never occurred is left out."""


def code_of(item: str) -> str:
    """A name of the item that says nothing of it."""
    return hashlib.sha256(item.encode()).hexdigest()[:8]


def load_labels(path: Path, known: Collection[str]) -> Mapping[str, Opinion]:
    """Labels by item. `known` are the ids of the items there are. Raises InputError with every wrong row, by place."""
    if path.suffix not in (".csv", ".yaml", ".yml"):
        raise InputError(Problem(file=str(path), what="no file of labels", accepted="a .csv or .yaml file"))
    text = read_text(path)
    found: dict[str, Opinion] = {}
    problems: list[Problem] = []
    names, ids = frozenset(known), {code_of(item): item for item in known}
    for row in _csv(text, str(path)) if path.suffix == ".csv" else _yaml(parse(text, file=str(path))):
        if isinstance(row, Problem):
            problems.append(row)
        elif wrong := _wrong(named := replace(row, item=ids.get(row.item, row.item)), names, found):
            problems.append(wrong)
        else:
            found[named.item] = named.label
    if problems:
        raise InputError(in_file_order(problems))
    return found


@dataclass(frozen=True, slots=True)
class _Row:
    """One label; places are (line, column) from 1."""

    item: str
    label: Any
    file: str | None
    item_at: tuple[int, int]
    label_at: tuple[int, int]


def _wrong(row: _Row, known: frozenset[str], found: Mapping[str, Opinion]) -> Problem | None:
    line, column = row.item_at
    if row.item in found:
        return Problem(file=row.file, line=line, column=column, what=f"{row.item!r} has a label already")
    if row.item not in known:
        what, accepted = f"no item is called {row.item!r}", closest(row.item, known)
        return Problem(file=row.file, line=line, column=column, what=what, accepted=accepted)
    scored = isinstance(row.label, int) and not isinstance(row.label, bool) and 0 <= row.label <= 4
    if scored or row.label in ("violating", "legal"):
        return None
    line, column = row.label_at
    return Problem(file=row.file, line=line, column=column, what=f"{row.label!r} is no label", accepted=_ACCEPTED)


def _yaml(document: Document) -> Iterator[_Row | Problem]:
    if not isinstance(document.data, dict):
        yield document.problem((), "no mapping of items to labels", f"a line `item: label`, label {_ACCEPTED}")
        return
    for item, label in document.data.items():
        at = document.places.get((item,), (1, 1))
        yield _Row(item, label, document.file, document.keys.get((item,), at), at)


def _csv(text: str, file: str) -> Iterator[_Row | Problem]:
    """Row by row: an item has no line break in its name. Empty lines are nothing."""
    headed = False
    for line, row in enumerate(re.split("\r\n|\r|\n", text), start=1):
        if not row.strip():
            continue
        try:
            cells = [cell.strip() for cell in next(csv.reader([row], strict=True, skipinitialspace=True))]
        except csv.Error as error:
            yield Problem(file=file, line=line, column=1, what=f"no row of a CSV file: {error}")
            continue
        if not headed and cells != _HEAD:
            yield Problem(file=file, line=line, column=1, what=f"the head is {row!r}", accepted="item,label")
            return
        if headed and len(cells) != len(_HEAD):
            what = f"{len(cells)} cells"
            yield Problem(file=file, line=line, column=1, what=what, accepted="two: item,label")
        elif headed:
            label = int(cells[1]) if re.fullmatch("[0-9]{1,9}", cells[1]) else cells[1]
            yield _Row(cells[0], label, file, (line, 1), (line, _second(row)))
        headed = True
    if not headed:
        yield Problem(file=file, line=1, column=1, what="the file is empty", accepted="item,label")


def _second(row: str) -> int:
    """The column, from 1, at which the second cell begins."""
    first = re.match(r'\s*(?:"(?:[^"]|"")*"[^,]*|[^,]*),\s*', row)
    return first.end() + 1 if first else 1


def agreement(labels: Mapping[str, Opinion], answers: Iterable[Answer]) -> Agreement:
    """How far people agree with a judge's answers of one arm, and with the checkers."""
    scores: dict[str, list[int]] = defaultdict(list)
    truth: dict[str, bool] = {}
    for answer in answers:
        truth[answer.item] = answer.label == "violating"
        if answer.score is not None:
            scores[answer.item].append(answer.score)
    told = [(label, score) for item, label in labels.items() if (score := majority(scores.get(item, ()))) is not None]
    pairs = Counter((int(_violating(label)), int(score == 0)) for label, score in told)
    graded = Counter((label, score) for label, score in told if isinstance(label, int))
    checked = Counter((int(_violating(label)), int(truth[item])) for item, label in labels.items() if item in truth)
    return Agreement(
        labelled=len(labels), n=len(told), kappa=kappa(pairs), checkers_kappa=kappa(checked),
        weighted_kappa=kappa(graded, furthest=4), scored=graded.total(),
        confusion={f"{_WORDS[people]}/{_WORDS[judge]}": pairs[people, judge] for people in (1, 0) for judge in (1, 0)},
        scores={f"{people}/{judge}": count for (people, judge), count in sorted(graded.items())},
    )  # fmt: skip


def agreement_json(found: Agreement) -> dict[str, Any]:
    """The same as JSON."""
    return asdict(found)


_WORDS = ("legal", "violating")


def _violating(label: Opinion) -> bool:
    return label in ("violating", 0)
