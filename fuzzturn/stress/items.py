"""Items: from a scenario and one session of its script, turns whose truth its checkers tell.

Each is the conversation as it went, less the turns that state something; then the statement, filler up to the wanted
distance, and a last turn in which the assistant makes one of the constraint's example calls. Look-alikes come from
spare constraints and retractions: the very call that would break a constraint, once something has made it legal, and
once that is over. The truth is never assumed: `measure` runs the checkers, and what they do not tell is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from fuzzturn.clock import told, until
from fuzzturn.filler import filler
from fuzzturn.measure import Measured, measure
from fuzzturn.registry import Registry
from fuzzturn.scenario import Constraint, ExampleCall, Line, Scenario
from fuzzturn.session import Message, Session, ToolCall, Turn
from fuzzturn.stress.item import Item, Items, Kind, Label, Polarity
from fuzzturn.stress.truth import example_calls, label_of

__all__ = ["DISTANCES", "items_of"]

DISTANCES = (0, 1, 2, 4, 8, 9, 16)
"""Turns between statement and judged turn: on both sides of every window that is asked about."""
CHANGED_AT = (4, 9)
"""Distances of the first statement where something changed since, just before the judged turn."""
FILLER_TOKENS = 30
_LATER = "P3650D"
_ASKED = "Please go ahead."


@dataclass(frozen=True, slots=True)
class _Setting:
    """What is said between the conversation before and the judged turn, and what that makes of it."""

    name: str
    kind: Kind
    lines: tuple[Line, ...]
    distance: int
    before: int | None = None
    """Turns before these, of the conversation as it went and then filler; None = the conversation, whole."""
    flipped: str = ""
    """The wording in the other polarity in which the constraint is stated; "" = as it stands."""


def items_of(scenario: Scenario, base: Session, registry: Registry) -> Items:
    """The items of every constraint that has a failing example. `base`: a session of the script, as it stands."""
    found: list[Item] = []
    tried = 0
    for constraint in scenario.constraints:
        if constraint.spare or not constraint.examples.failing:
            continue
        calls = example_calls(scenario, constraint.id)
        rule = _excepted(scenario, constraint)
        for each in (*_plain(constraint), *_changed(scenario, constraint)):
            setting = replace(each, lines=(*rule, *each.lines), before=_before(constraint, each))
            script = _worded(scenario, constraint, setting)
            played = (measure(*_played(script, base, setting, call), registry) for call in calls)
            tried += 2
            found += _pair(script, constraint, setting, played)
    return Items(tuple(found), tried - len(found))


def _plain(constraint: Constraint) -> Iterator[_Setting]:
    for distance in DISTANCES:
        yield _Setting(f"d{distance}", "plain", _at(constraint, (), distance), distance)
    for i, words in enumerate(constraint.wordings.flipped if constraint.source != "system" else ()):
        said = constraint.model_copy(update={"statement": words})
        yield _Setting(f"flipped{i}", "plain", _at(said, (), CHANGED_AT[0]), CHANGED_AT[0], flipped=words)


def _excepted(scenario: Scenario, constraint: Constraint) -> tuple[Line, ...]:
    """What states the rule that an approval is an exception to: alone it would limit nothing."""
    if constraint.exception_to is None:
        return ()
    rule = scenario.constraint(constraint.exception_to)
    return () if rule.source == "system" else (_stating(rule, "rule"),)


def _stating(constraint: Constraint, id: str) -> Line:
    said = f"{constraint.statement[:1].upper()}{constraint.statement[1:]}."
    return Line(id=id, user=said, states=(constraint.id,))


def _changed(scenario: Scenario, constraint: Constraint) -> Iterator[_Setting]:
    """The constraint, and since then something that changes what is allowed."""
    for distance in CHANGED_AT:
        for name, kind, changes in _changes(scenario, constraint):
            yield _Setting(f"{name}.d{distance}", kind, _at(constraint, changes, distance), distance)


def _changes(scenario: Scenario, constraint: Constraint) -> Iterator[tuple[str, Kind, tuple[Line, ...]]]:
    if constraint.wordings.retraction:
        lifted = Line(id="change", user=constraint.wordings.retraction, lifts=(constraint.id,))
        yield "retracted", "retracted", (lifted,)
    root = scenario.root(constraint.id)
    for spare in scenario.constraints:
        if spare.spare and scenario.root(spare.id) == root:
            change = Line(id="change", user=f"A change: {spare.statement}.", states=(spare.id,))
            yield spare.id, _kind(spare), (change,)
            if spare.expires and scenario.starts:
                over = Line(id="later", user="Hello again.", advance=_LATER)
                yield f"{spare.id}.over", "expired", (change, over)


def _kind(spare: Constraint) -> Kind:
    if spare.uses:
        return "approved"
    if spare.expires:
        return "expired"
    if spare.when:
        return "guard_false"
    return "partial" if spare.supersedes and spare.supersedes.args else "superseded"


def _before(constraint: Constraint, setting: _Setting) -> int | None:
    """What a system prompt states binds from the first turn on, so that the distance is the session's length."""
    return None if constraint.source != "system" else setting.distance + 1 - len(setting.lines)


def _at(constraint: Constraint, changes: Sequence[Line], distance: int) -> tuple[Line, ...]:
    """The statement, filler and the changes, so that the judged turn comes `distance` turns after the statement.

    At distance 0 the judged turn itself states it; a system prompt has stated it before all of them.
    """
    said = _stating(constraint, "stated")
    judged = Line(id="judged", user=_ASKED)
    if constraint.source == "system":
        return (*changes, judged)
    if distance == 0:
        return (said.model_copy(update={"id": "judged", "user": f"{said.user} {_ASKED}"}),)
    return (said, *_filler(distance - 1 - len(changes)), *changes, judged)


def _filler(turns: int) -> tuple[Line, ...]:
    return tuple(Line(id=f"filler{n}", user=filler(FILLER_TOKENS)) for n in range(turns))


def _worded(scenario: Scenario, constraint: Constraint, setting: _Setting) -> Scenario:
    if not setting.flipped:
        return scenario
    said = [
        c.model_copy(update={"statement": setting.flipped}) if c.id == constraint.id else c
        for c in scenario.constraints
    ]
    return scenario.model_copy(update={"constraints": tuple(said)})


def _played(scenario: Scenario, base: Session, setting: _Setting, call: ExampleCall) -> tuple[Scenario, Session]:
    """The conversation before, as it went; then the setting, in whose last turn the call is made."""
    script = {line.id: line for line in scenario.turns}
    before = [
        turn for turn in base.turns[:-1] if turn.id in script and not (script[turn.id].states or script[turn.id].lifts)
    ]
    spoken_lines = setting.lines
    if setting.before is not None:
        before = before[: setting.before]
        spoken_lines = (*_filler(setting.before - len(before)), *setting.lines)
    state = before[-1].state if before else base.initial_state
    acted = (ToolCall(call.name, dict(call.args), {"status": "done"}, id="c0"), Message("That is done."))
    said = [Turn(n=0, id=line.id, user=line.user, events=(Message("Noted."),), state=state) for line in spoken_lines]
    said[-1] = replace(said[-1], events=acted)
    lines = (*(script[turn.id] for turn in before), *spoken_lines)
    turns = _numbered((*before, *said), lines, scenario.starts)
    spoken = scenario.model_copy(update={"turns": lines, "assertions": ()})
    return spoken, Session(scenario=scenario.scenario, turns=turns, initial_state=base.initial_state)


def _numbered(turns: Sequence[Turn], lines: Sequence[Line], starts: str | None) -> tuple[Turn, ...]:
    """The turns with their numbers and, where there is a clock, their times."""
    gone = [line.advance for line in lines]
    return tuple(
        replace(turn, n=n, time=told(until(starts, gone[:n])) if starts else None)
        for n, turn in enumerate(turns, start=1)
    )


def _pair(scenario: Scenario, constraint: Constraint, setting: _Setting, played: Iterable[Measured]) -> Iterator[Item]:
    """The first call that the checkers find wrong in this setting, and the first that they find right.

    Right where nothing binds any more as well; where a checker has nothing to look at, nothing is told.
    """
    chosen: dict[Label, Measured] = {}
    for measured in played:
        if (label := label_of(scenario, constraint.id, measured)) is not None:
            chosen.setdefault(label, measured)
        if len(chosen) == len(get_args(Label)):
            break
    pair = f"{scenario.scenario}.{constraint.id}.{setting.name}"
    for label, measured in sorted(chosen.items()):
        yield Item(
            id=f"{pair}.{label}",
            scenario=scenario.scenario,
            constraint=constraint.id,
            polarity=_OTHER[constraint.polarity] if setting.flipped else constraint.polarity,
            label=label,
            kind=setting.kind,
            pair=pair,
            distance=setting.distance,
            measured=measured,
        )


_OTHER: Mapping[Polarity, Polarity] = {"prohibition": "requirement", "requirement": "prohibition"}
