"""Loading: a scenario file read into the model, or everything that is wrong with it in one error."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from pydantic import ValidationError

from fuzzturn.document import Document, complaints, examine, prune, read_text
from fuzzturn.document.place import in_file_order
from fuzzturn.errors import InputError, Problem
from fuzzturn.scenario import Id, Scenario, Span, Time
from fuzzturn.scenario_file.resolving import RESERVED, SHORTHAND, not_yet, resolved, system_text
from fuzzturn.scenario_file.rules import SCRIPT_RULES, SPOKEN_RULES
from fuzzturn.scenario_file.script import Script

__all__ = ["load_scenario", "parse_scenario"]

_PATTERNS = {
    get_args(Id)[1].pattern: "a name of letters, digits and _ . : @ # - that begins with a letter",
    get_args(Time)[1].pattern: "a time such as 2026-05-12T09:00:00Z",
    get_args(Span)[1].pattern: "a span of time such as PT2H, PT90M or P1DT12H",
}


def load_scenario(path: Path) -> Scenario:
    """Read a scenario file, which is called like its scenario. Raises InputError with every problem found."""
    document = examine(read_text(path), file=str(path))
    if isinstance(document.data, dict) and "finding" in document.data and "turns" not in document.data:
        what = "this is a corpus entry, not a scenario"
        raise InputError(document.problem(("finding",), what, "`fuzzturn replay` speaks it again", key=True))
    name = document.data.get("scenario") if isinstance(document.data, dict) else None
    if isinstance(name, str) and name != path.stem:
        what = f"the scenario {name!r} stands in {path.name}"
        accepted = f"scenario: {path.stem}, or the file name {name}{path.suffix}"
        return _parse(document, False, [document.problem(("scenario",), what, accepted)])
    return _parse(document, False, [])


def parse_scenario(document: Document, *, spoken_turns: bool = False) -> Scenario:
    """The scenario that a document holds. Raises InputError with every problem found.

    `spoken_turns`: the turns are those of a variant, as in a corpus entry. A variant may leave out the turn that
    states a constraint, or lift one before it is stated, which in a script is a mistake.
    """
    return _parse(document, spoken_turns, [])


def _parse(document: Document, spoken_turns: bool, problems: list[Problem]) -> Scenario:
    if not isinstance(document.data, dict):
        raise InputError(
            document.problems
            or document.problem((), "a scenario is a mapping", "schema: 1, scenario: …, title: …, and so on")
        )
    data, unknown = prune(document, Scenario, SHORTHAND, RESERVED)
    script = Script.of(document, data)
    text, unreadable = system_text(document, data.get("system"))
    later = dict(not_yet(script, data))
    numbers = [(*row.at, "turn") for row in script.assertions if row.number("turn") is not None]
    said = {*later, *numbers, *([("system", "text")] if unreadable else [])}
    problems = [*problems, *unknown, *unreadable, *later.values()]
    for rule in SPOKEN_RULES if spoken_turns else SCRIPT_RULES:
        problems.extend(rule(script))
    try:
        scenario = Scenario.model_validate(resolved(script, data, text))
    except ValidationError as error:
        problems.extend(complaints(error, Scenario, document, _PATTERNS, said=said))
        raise InputError(_all(document, problems)) from None  # pydantic's words are not ours
    if found := _all(document, problems):
        raise InputError(found)
    return scenario


def _all(document: Document, problems: list[Problem]) -> list[Problem]:
    """What reading found and what the rules found, without what they make of a part that could not be read."""
    unread = {(problem.line, problem.column) for problem in document.problems}
    return in_file_order([*document.problems, *(p for p in problems if (p.line, p.column) not in unread)])
