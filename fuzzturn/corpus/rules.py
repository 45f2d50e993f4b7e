"""Rules: what must hold between the parts of an entry.

A file edited by hand is held against itself: what it says was broken has to be something that its own scenario has, or
a replay would find nothing and call it fixed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import get_args, get_type_hints

from fuzzturn.calls.streams import EVENT_STREAM
from fuzzturn.corpus.entry import Entry
from fuzzturn.document import Document
from fuzzturn.errors import Problem, closest
from fuzzturn.finding import GAPS, RELATIONS
from fuzzturn.rubric import ANCHORS
from fuzzturn.scenario import Assertion, Scenario
from fuzzturn.scores import Breach

__all__ = ["about_the_calls", "about_the_rates", "about_the_rubric", "about_what_broke"]

_PROBLEMS: tuple[str, ...] = get_args(get_type_hints(Breach)["problem"])


def about_the_rates(document: Document, entry: Entry) -> Iterator[Problem]:
    """What never failed is no finding, and nothing fails more often than it is played."""
    for name, note, least in (("failing", entry.failing, 1), ("judged", entry.judged, 0)):
        if note is not None and not least <= note.k <= note.n:
            yield document.problem((name, "k"), f"{note.k} of {note.n} is no rate", f"{least} to {note.n}")


def about_the_rubric(document: Document, entry: Entry) -> Iterator[Problem]:
    """Scores under another text are scores of something else."""
    if sorted(entry.rubric.scale) != list(ANCHORS):
        what = f"'scale' has the anchors {', '.join(entry.rubric.scale) or 'none'}"
        yield document.problem(("rubric", "scale"), what, f"exactly {', '.join(ANCHORS)}")
    if entry.rubric_digest not in (None, entry.rubric.digest):
        what = f"the rubric was edited by hand: its digest is {entry.rubric.digest}, written was {entry.rubric_digest}"
        accepted = "undo the edit; a changed rubric has another id, and scores of its own"
        yield document.problem(("rubric",), what, accepted, key=True)


def about_the_calls(document: Document, entry: Entry) -> Iterator[Problem]:
    """A replay finds one answer at a place and reads it; it plays as many samples as there were runs."""
    first: dict[tuple[str, int, int], int] = {}
    for n, call in enumerate(entry.calls):
        known = first.setdefault((call.key, call.sample, call.nth), n)
        if known != n:
            what = f"call {n + 1} has the key, sample and nth of call {known + 1}"
            yield document.problem(("calls", n), what, "one answer to each request")
        if not call.content_type.lower().startswith(EVENT_STREAM) and not _is_json(call.body):
            yield document.problem(("calls", n, "body"), "'body' is no JSON", "the answer as the server gave it")
    if entry.samples and not entry.calls:
        yield document.problem(("samples",), "there are samples and no calls", "both, or neither", key=True)
    elif entry.samples and len({*entry.samples}) != entry.failing.n:
        what = f"{len({*entry.samples})} samples for {entry.failing.n} runs"
        yield document.problem(("samples",), what, "one for each run, all different", key=True)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def about_what_broke(document: Document, entry: Entry, spoken: Scenario) -> Iterator[Problem]:
    """Constraint, milestone, checker and turn are the scenario's, as the kind of the finding has them."""
    if entry.kind in ("blind_spot", "violation"):
        yield from _broken_constraint(document, entry, spoken)
    elif entry.kind == "block_gap":
        yield from _named(document, "checker", "gap of the protected block", entry.checker, GAPS)
    elif entry.kind == "metamorphic":
        yield from _difference(document, entry, spoken)
    elif entry.constraint is not None:
        yield document.problem(("constraint",), f"a finding of kind {entry.kind} has no constraint", "leave it out")
    if entry.kind == "progress":
        known = [milestone.id for milestone in spoken.goal.milestones]
        yield from _named(document, "milestone", "milestone", entry.milestone, known)
        yield from _named(document, "checker", "progress problem", entry.checker, _PROBLEMS)
    elif entry.milestone is not None and entry.kind != "metamorphic":
        yield document.problem(("milestone",), f"a finding of kind {entry.kind} has no milestone", "leave it out")
    turns = [line.id for line in spoken.turns]
    if not (spoken.answers and re.fullmatch("auto[1-9][0-9]*", entry.turn_id)):  # said in answer to the agent
        yield from _named(document, "turn_id", "turn", entry.turn_id, turns)
    if entry.kind == "assertion" and entry.turn_id in turns:
        asked = [name for a in spoken.assertions if a.turn == entry.turn_id for name in _expectations(a)]
        yield from _named(document, "checker", f"expectation of turn {entry.turn_id!r}", entry.checker, asked)


def _broken_constraint(document: Document, entry: Entry, spoken: Scenario) -> Iterator[Problem]:
    checkers = {constraint.id: constraint.checker for constraint in spoken.constraints}
    yield from _named(document, "constraint", "constraint", entry.constraint, checkers)
    if (checker := checkers.get(entry.constraint or "")) is not None and checker != entry.checker:
        what = f"{entry.constraint!r} is not checked by {entry.checker!r}"
        yield document.problem(("checker",), what, closest(entry.checker, [checker]))
    if entry.kind == "blind_spot" and entry.judge_context is None:
        yield document.problem((), "'judge_context' is missing", "the context in which the judge was blind")
    elif entry.kind == "violation" and entry.judge_context is not None:
        what = f"a judge blind in {entry.judge_context} makes it a blind_spot, not a violation"
        yield document.problem(("judge_context",), what, "leave it out, or kind: blind_spot", key=True)


def _difference(document: Document, entry: Entry, spoken: Scenario) -> Iterator[Problem]:
    yield from _named(document, "checker", "relation", entry.checker, RELATIONS)
    if entry.constraint is not None:
        yield from _named(document, "constraint", "constraint", entry.constraint, [c.id for c in spoken.constraints])
    else:
        yield from _named(document, "milestone", "milestone", entry.milestone, [m.id for m in spoken.goal.milestones])
    if entry.twin is None:
        yield document.problem((), "'twin' is missing", "the scenario that the session is held against")


def _expectations(assertion: Assertion) -> Iterator[str]:
    """What an assertion asks for, in the words in which `fuzzturn.signals.assertions` says that it does not hold."""
    yield from (f"state_invariants: {name}" for name in assertion.state_invariants)
    yield from ["must_mention_any"] * bool(assertion.must_mention_any)
    yield from (f"must_not_call: {name}" for name in assertion.must_not_call)
    yield from (f"must_call: {call.name}" for call in assertion.must_call)


def _named(document: Document, key: str, kind: str, given: str | None, known: Iterable[str]) -> Iterator[Problem]:
    """A problem where `given` is not among what the entry's own scenario has."""
    names = list(known)
    if given is None:
        yield document.problem((), f"{key!r} is missing", closest("", names))
    elif given not in names:
        yield document.problem((key,), f"the scenario of this entry has no {kind} {given!r}", closest(given, names))
