"""Rules: what must hold between the parts of a scenario file, each rule a function from the script to its problems."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from typing import TypeAlias

from fuzzturn.clock import TIME, time
from fuzzturn.errors import Problem, closest
from fuzzturn.scenario_file.placeholders import names, spoken
from fuzzturn.scenario_file.script import Row, Script

__all__ = ["SCRIPT_RULES", "Rule", "SPOKEN_RULES"]

Rule: TypeAlias = Callable[[Script], Iterator[Problem]]
_ASKED = ("state_invariants", "must_mention_any", "must_not_call", "must_call")


def ids_are_unique(script: Script) -> Iterator[Problem]:
    for kind, rows in _kinds(script):
        seen: dict[str, Row] = {}
        for row in rows:
            if row.id is None:
                continue
            if (first := seen.setdefault(row.id, row)) is not row:
                at = (*row.at, "id")
                line = script.problem((*first.at, "id"), "").line
                yield script.problem(at, f"a second {kind} is called {row.id!r}", f"the first stands on line {line}")


def names_are_known(script: Script) -> Iterator[Problem]:
    turns, constraints = script.turns, script.constraints
    yield from _dangling(script, script.milestones, "needs", "milestone", script.milestones)
    yield from _dangling(script, turns, "after", "turn", turns)
    yield from _dangling(script, turns, "states", "constraint", constraints)
    yield from _dangling(script, turns, "lifts", "constraint", constraints)
    yield from _dangling(script, constraints, "supersedes", "constraint", constraints)
    yield from _dangling(script, script.assertions, "turn", "turn", turns)


def nothing_needs_itself(script: Script) -> Iterator[Problem]:
    yield from _cycle(script, script.milestones, "needs")
    yield from _cycle(script, script.constraints, "supersedes")


def after_points_backwards(script: Script) -> Iterator[Problem]:
    """Or a reducer could not tell in one pass what goes when a turn goes."""
    place = {turn.id: turn.place for turn in reversed(script.turns)}
    for turn in script.turns:
        for at, name in turn.names("after"):
            if place.get(name, 0) >= turn.place:
                what = f"turn {turn.id!r} comes after {name!r}, which is not spoken before it"
                yield script.problem(at, what, "the id of an earlier turn")


def milestones_have_one_check(script: Script) -> Iterator[Problem]:
    for milestone in script.milestones:
        given = [key for key in ("check", "judged") if milestone.data.get(key) is not None]
        if len(given) != 1:
            what = f"the milestone {milestone.id!r} has {'both check and' if given else 'neither check nor'} judged"
            yield script.problem(milestone.at, what, "one of the two")


def assertion_turns_exist(script: Script) -> Iterator[Problem]:
    """By number; a name is the business of `names_are_known`."""
    for assertion in script.assertions:
        yield from _out_of_range(script, assertion, "turn")


def assertions_assert(script: Script) -> Iterator[Problem]:
    """One that asks for nothing would be scored as honoured at every turn it names."""
    for assertion in script.assertions:
        if "turn" in assertion.data and not any(assertion.data.get(key) for key in _ASKED):
            yield script.problem(assertion.at, "this assertion asks for nothing", f"one of {', '.join(_ASKED)}")


def questions_are_patterns(script: Script) -> Iterator[Problem]:
    for answer in script.answers:
        for at, pattern in answer.names("asks"):
            try:
                re.compile(pattern, re.IGNORECASE)
            except (re.error, RecursionError, OverflowError) as error:
                yield script.problem(at, f"{pattern!r} is not a regular expression: {error}", "escape it with \\")


def turn_numbers_agree(script: Script) -> Iterator[Problem]:
    for constraint in script.constraints:
        yield from _out_of_range(script, constraint, "state_at_turn")
        number, first = constraint.number("state_at_turn"), script.stated_at(constraint.id)
        at = (*constraint.at, "state_at_turn")
        if number is None and constraint.data.get("state_at_turn") is not None:
            yield script.problem(at, "'state_at_turn' is not a number", "the number of a turn, from 1")
        elif number is not None and 1 <= number <= len(script.turns) and first is not None and first != number:
            what = f"{constraint.id!r} is stated at turn {number} here, but turn {first} states it first"
            yield script.problem(at, what, f"{first}, or leave it out")


def statements_have_a_source(script: Script) -> Iterator[Problem]:
    """What the system prompt states binds from the start; everything else needs a turn in which it is said."""
    misnumbered = script.misnumbered
    for constraint in script.constraints if script.turns else ():
        stated = script.stated_at(constraint.id)
        system = constraint.data.get("source") == "system"
        if system and stated is not None:
            what = f"turn {stated} states {constraint.id!r}, whose source is the system prompt"
            yield script.problem(constraint.at, what, "source: user, or no turn that states it")
        elif constraint.data.get("spare") is True:
            if system or stated is not None:
                source = "the system prompt" if system else f"turn {stated}"
                what = f"{constraint.id!r} is spare, and {source} states it"
                yield script.problem((*constraint.at, "spare"), what, "spare: false, or nothing that states it")
        elif not system and stated is None and constraint.id is not None and constraint.id not in misnumbered:
            what = f"no turn states {constraint.id!r}"
            yield script.problem(
                constraint.at, what, "a turn with it under states, or state_at_turn, or source: system, or spare: true"
            )


def lifts_follow_statements(script: Script) -> Iterator[Problem]:
    known = {constraint.id for constraint in script.constraints}
    stated = {constraint.id for constraint in script.constraints if constraint.data.get("source") == "system"}
    for turn, states in zip(script.turns, script.states, strict=True):
        for at, name in turn.names("lifts"):
            if name in states:
                yield script.problem(at, f"turn {turn.id!r} both states and lifts {name!r}", "one of the two")
            elif name in known and name not in stated:
                what = f"turn {turn.id!r} lifts {name!r}, which nothing has stated before it"
                yield script.problem(at, what, "a constraint that an earlier turn or the system prompt states")
        stated.update(states)


def times_are_times(script: Script) -> Iterator[Problem]:
    """Of the right shape they are by the model; the thirtieth of February is not a day."""
    scenario = Row((), script.document.data if isinstance(script.document.data, dict) else {})
    begins = scenario.text("starts")
    for row, key in ((scenario, "starts"), *((constraint, "expires") for constraint in script.constraints)):
        if (written := row.text(key)) is not None and TIME.match(written) and time(written) is None:
            yield script.problem((*row.at, key), f"there is no such time as {written!r}", "2026-05-12T09:00:00Z")
    for rows, key in ((script.constraints, "expires"), (script.turns, "advance")):
        for row in rows if begins is None else ():
            if row.text(key) is not None:
                what = f"{key!r} is about the session's clock, and the scenario has none"
                yield script.problem((*row.at, key), what, "starts: 2026-05-12T09:00:00Z, before the turns")


def placeholders_are_stated(script: Script) -> Iterator[Problem]:
    known = [constraint.id for constraint in script.constraints if constraint.id]
    states = {turn.at: stated for turn, stated in zip(script.turns, script.states, strict=True)}
    for row in (*script.turns, *script.answers, *script.interruptions):
        for name in names(row.text("user") or ""):
            if name in states.get(row.at, ()) or name in script.misnumbered:
                continue
            at = (*row.at, "user")
            if name not in known:
                hint = f"{closest(name, known)}; or {{{{{name}}}}} to say {{{name}}}"
                yield script.problem(at, f"{{{name}}} names no constraint", hint)
            elif row.at in states:
                yield script.problem(at, f"{{{name}}} is said by a turn that does not state it", f"states: [{name}]")
            else:
                yield script.problem(at, f"{{{name}}} is said outside the turns", "a turn states a constraint")


def statements_are_spoken(script: Script) -> Iterator[Problem]:
    """What a tool tells the agent is not in the user's words."""
    statements = script.statements
    told = {constraint.id for constraint in script.constraints if constraint.data.get("source") == "tool"}
    split = {row.id: [piece for _, piece in row.names("pieces")] for row in script.constraints}
    for turn, stated in zip(script.turns, script.states, strict=True):
        if (user := turn.text("user")) is None or not statements.keys() >= set(names(user)):
            continue  # a placeholder that names nothing is said to; it may be the statement, misspelt
        said = spoken(user, statements)
        for name in dict.fromkeys(stated):
            if name in statements and name not in told and statements[name] not in said:
                if (pieces := split.get(name)) and pieces[-1] in said:
                    continue
                what = f"turn {turn.id!r} states {name!r} but does not say it"
                yield script.problem((*turn.at, "user"), what, f"{{{name}}}, or the statement word for word")


SPOKEN_RULES: tuple[Rule, ...] = (
    ids_are_unique, names_are_known, nothing_needs_itself, after_points_backwards, milestones_have_one_check,
    assertion_turns_exist, questions_are_patterns, turn_numbers_agree, placeholders_are_stated, statements_are_spoken,
    times_are_times,
)  # fmt: skip
"""What holds for any turns, also for those of a variant, which may leave out or move what states a constraint."""

SCRIPT_RULES: tuple[Rule, ...] = (*SPOKEN_RULES, statements_have_a_source, lifts_follow_statements, assertions_assert)
"""What holds for a scenario as it is written."""


def _kinds(script: Script) -> Iterator[tuple[str, tuple[Row, ...]]]:
    yield "milestone", script.milestones
    yield "constraint", script.constraints
    yield "turn", script.turns
    yield "interruption", script.interruptions


def _dangling(script: Script, rows: Iterable[Row], key: str, kind: str, targets: Iterable[Row]) -> Iterator[Problem]:
    known = {target.id for target in targets if target.id is not None}
    for row in rows:
        for at, name in row.names(key):
            if name not in known:
                yield script.problem(at, f"no {kind} is called {name!r}", closest(name, known))


def _cycle(script: Script, rows: Iterable[Row], key: str) -> Iterator[Problem]:
    by_id = {row.id: row for row in rows if row.id is not None}
    graph = {id: [name for _, name in row.names(key) if name in by_id] for id, row in by_id.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = list(reversed(error.args[1]))
        first = min(circle, key=list(by_id).index)
        what = f"{key} goes round in a circle: {' -> '.join(circle)}"
        yield script.problem((*by_id[first].at, key), what, "leave one of them out")


def _out_of_range(script: Script, row: Row, key: str) -> Iterator[Problem]:
    number, turns = row.number(key), len(script.turns)
    if turns and number is not None and not 1 <= number <= turns:
        yield script.problem((*row.at, key), f"there is no turn {number}", f"accepted: 1 to {turns}")
