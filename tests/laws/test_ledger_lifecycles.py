"""Law: the ledger is what the plainest reading of its rules makes of the turns, from the first one again each time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.troubles.campaigns import OPERATORS, bench
from benchmarks.troubles.script import ROOM
from fuzzturn.clock import until
from fuzzturn.ledger import Ledger, opening, speak, use
from fuzzturn.measure import called_tools, guarded_turns, measure
from fuzzturn.scenario import Constraint, Line, Scenario, When
from fuzzturn.variant import Variant, preserves
from fuzzturn.vary import variants

NAMES = ("a", "b", "c", "d")
STARTS = datetime(2026, 5, 12, 9, tzinfo=UTC)
HOURS = (1, 2, 5)
SPANS = {None: timedelta(), "PT1H": timedelta(hours=1), "PT3H": timedelta(hours=3), "P30D": timedelta(days=30)}
PARTS: Sequence[Mapping[str, Any]] = ({}, {"leg": "out"}, {"leg": "back"})


BENCH = bench()
BASE = asyncio.run(BENCH.run(Variant(ROOM))).measured
GUARDED, CALLED = guarded_turns(ROOM, BASE.session, BENCH.registry), called_tools(BASE.session)
DRAWN = variants(ROOM, operators=OPERATORS, guarded=GUARDED, called=CALLED, themed=True)


@dataclass(frozen=True)
class Spoken:
    """One turn as it happened: what was said, how far the clock went, what held before it and was looked at in it."""

    line: Line
    holds: frozenset[str]
    exercised: frozenset[str]


@st.composite
def constraints(draw: st.DrawFn) -> tuple[Constraint, ...]:
    """Four of them, each of which may supersede an earlier one, in part or wholly, for a while or for good."""
    made: list[Constraint] = []
    for i, name in enumerate(NAMES):
        old = draw(st.sampled_from([None, *NAMES[:i]]))
        system = draw(st.integers(0, 5)) == 0
        end = draw(st.sampled_from([None] * 5 + [*HOURS]))
        data = {
            "id": name,
            "checker": name,
            "statement": f"keep {name}",
            "source": "system" if system else "user",
            "supersedes": None if old is None else {"id": old, "args": draw(st.sampled_from(PARTS))},
            "uses": draw(st.sampled_from([None, None, 1])),
            "when": draw(st.sampled_from([None] * 3 + [{"check": f"g{name}"}])),
            "expires": None if end is None else (STARTS + timedelta(hours=end)).isoformat().replace("+00:00", "Z"),
        }
        made.append(Constraint.model_validate(data))
    return tuple(made)


@st.composite
def sessions(draw: st.DrawFn) -> tuple[Scenario, tuple[Spoken, ...]]:
    """A scenario, and the turns of a session with what went on around them."""
    rules = draw(constraints())
    said = [c.id for c in rules if c.source == "user"]
    some = st.sets(st.sampled_from(NAMES), max_size=2)
    lines = []
    for n in range(draw(st.integers(1, 8))):
        states = draw(st.lists(st.sampled_from(said), max_size=2, unique=True)) if said else []
        lifts = [name for name in sorted(draw(some)) if name not in states] if draw(st.booleans()) else []
        hours = draw(st.sampled_from([None, None, "PT1H", "PT3H"]))
        lines.append(Line(id=f"t{n}", user="words", states=tuple(states), lifts=tuple(lifts), advance=hours))
    data = {
        "schema": 1, "scenario": "drawn", "title": "Drawn", "environment": "none",
        "starts": STARTS.isoformat().replace("+00:00", "Z"),
        "goal": {"says": "something", "milestones": ({"id": "done", "check": "done"},)},
    }  # fmt: skip
    scenario = Scenario.model_validate({**data, "constraints": rules, "turns": tuple(lines)})
    turns = tuple(Spoken(line, frozenset(draw(some)), frozenset(draw(some))) for line in lines)
    return scenario, turns


def by_engine(scenario: Scenario, turns: Sequence[Spoken]) -> list[Ledger]:
    """The ledger at each turn, as `measure` goes through a session."""
    ledger, found = opening(scenario), []
    for n, turn in enumerate(turns, start=1):

        def holds(when: When, turn: Spoken = turn) -> bool:
            return when.check.removeprefix("g") in turn.holds

        now = until(scenario.starts, [t.line.advance for t in turns[:n]])
        ledger = speak(ledger, scenario, turn.line, n, now=now, holds=holds)
        found.append(ledger)
        ledger = use(ledger, turn.exercised, n)
    return found


def family(scenario: Scenario, name: str) -> str:
    """The first of the constraints that it supersedes, directly or not."""
    old = scenario.constraint(name).supersedes
    return name if old is None else family(scenario, old.id)


def in_force(scenario: Scenario, turns: Sequence[Spoken]) -> dict[str, list[Mapping[str, Any]]]:
    """What binds at the last of the turns, with the parts that another version has: by going through all of them.

    Written from the page that documents the rules, with a list of what was said and a set of what has ended.
    """
    said = [c.id for c in scenario.constraints if c.source == "system"]
    ended: set[str] = set()
    now = STARTS
    binding: dict[str, list[Mapping[str, Any]]] = {}
    for turn in turns:
        now += SPANS[turn.line.advance]
        for name in turn.line.states:
            said = [*(other for other in said if other != name), name]
            ended.discard(name)
        ended |= set(turn.line.lifts) & set(said)
        for name in said:
            end = scenario.constraint(name).expires
            if end is not None and datetime.fromisoformat(end) <= now:
                ended.add(name)
        binding = {}
        for place, name in enumerate(said):
            if alive(scenario, name, ended, turn) and not moot(scenario, name, said, ended, turn):
                later = [other for other in said[place + 1 :] if family(scenario, other) == family(scenario, name)]
                if not any(takes_all(scenario, other, name, ended, turn) for other in later):
                    binding[name] = [part(scenario, o) for o in later if takes_part(scenario, o, name, ended, turn)]
        used = {name for name in binding if scenario.constraint(name).uses}
        ended |= used & turn.exercised
    return binding


def alive(scenario: Scenario, name: str, ended: set[str], turn: Spoken) -> bool:
    return name not in ended and (scenario.constraint(name).when is None or name in turn.holds)


def moot(scenario: Scenario, name: str, said: Sequence[str], ended: set[str], turn: Spoken) -> bool:
    """An approval, where of the rule that it is an exception to no version is in force."""

    def approves(name: str) -> bool:
        return scenario.constraint(name).uses is not None and scenario.constraint(name).supersedes is not None

    rules = [o for o in said if family(scenario, o) == family(scenario, name) and not approves(o)]
    left = [
        rule
        for place, rule in enumerate(rules)
        if alive(scenario, rule, ended, turn)
        and not any(takes_all(scenario, o, rule, ended, turn) for o in rules[place + 1 :])
    ]
    return approves(name) and not left


def part(scenario: Scenario, name: str) -> Mapping[str, Any]:
    old = scenario.constraint(name).supersedes
    return old.args if old is not None else {}


def takes_all(scenario: Scenario, later: str, name: str, ended: set[str], turn: Spoken) -> bool:
    own = scenario.constraint(later)
    if part(scenario, later) not in ({}, part(scenario, name)):
        return False
    passing = own.uses is not None or own.expires is not None or own.when is not None
    return alive(scenario, later, ended, turn) if passing else True


def takes_part(scenario: Scenario, later: str, name: str, ended: set[str], turn: Spoken) -> bool:
    return alive(scenario, later, ended, turn) and part(scenario, later) not in ({}, part(scenario, name))


@settings(max_examples=300, deadline=None)
@given(sessions())
def test_the_ledger_is_what_going_through_the_turns_again_gives(drawn: tuple[Scenario, tuple[Spoken, ...]]) -> None:
    scenario, turns = drawn
    for n, ledger in enumerate(by_engine(scenario, turns), start=1):
        told = {e.constraint.id: list(e.excluding) for e in ledger.entries if e.status == "binding"}
        assert told == in_force(scenario, turns[:n])


@settings(max_examples=60, deadline=None)
@given(sessions())
def test_what_does_not_bind_has_a_reason_and_a_turn(drawn: tuple[Scenario, tuple[Spoken, ...]]) -> None:
    scenario, turns = drawn
    for n, ledger in enumerate(by_engine(scenario, turns), start=1):
        for entry in ledger.entries:
            assert (entry.status in ("binding", "dormant")) == (entry.until is None)
            assert entry.until is None or entry.since <= entry.until <= n
            assert (entry.status == "superseded") == (entry.by is not None)
            assert entry.why()


@settings(max_examples=60, deadline=None)
@given(sessions())
def test_what_has_ended_by_itself_comes_back_only_when_it_is_said_again(
    drawn: tuple[Scenario, tuple[Spoken, ...]],
) -> None:
    scenario, turns = drawn
    ledgers = by_engine(scenario, turns)
    for before, after, turn in zip(ledgers, ledgers[1:], turns[1:], strict=False):
        for entry in before.entries:
            now = after.entry(entry.constraint.id)
            if entry.ending is not None and entry.constraint.id not in turn.line.states:
                assert now is not None
                assert (now.status, now.until) == (entry.status, entry.until)


@settings(max_examples=60, deadline=None)
@given(DRAWN)
def test_the_ledger_of_a_session_that_was_played_is_that_too(variant: Variant) -> None:
    spoken, session = variant.spoken, asyncio.run(BENCH.tree.play(variant.spoken))
    measured = measure(spoken, session, BENCH.registry)
    turns = [
        Spoken(
            line,
            frozenset(c.id for c in spoken.constraints if c.when and "reserve" in str(session.state_before(turn.n))),
            frozenset(check.constraint for check in scores.adherence.exercised),
        )
        for line, turn, scores in zip(spoken.turns, session.turns, measured.scores, strict=True)
    ]
    for n, ledger in enumerate(measured.ledgers, start=1):
        told = {e.constraint.id: list(e.excluding) for e in ledger.entries if e.status == "binding"}
        assert told == in_force(spoken, turns[:n])


@settings(max_examples=60, deadline=None)
@given(DRAWN)
def test_preserve_edits_leave_what_binds_at_each_guarded_turn_as_it_was(variant: Variant) -> None:
    kept = variant.with_edits(edit for edit in variant.edits if preserves(edit))
    script, here = binding(Variant(ROOM)), binding(kept)
    looked = {(turn, id) for id, turns in GUARDED.items() for turn in turns if turn in here}  # the others were dropped
    assert {"order", "chair", "second"} <= {turn for turn, _ in looked}
    assert {(turn, id) for turn, id in looked if id in here[turn]} == {
        (turn, id) for turn, id in looked if id in script[turn]
    }


def binding(variant: Variant) -> dict[str, set[str]]:
    """What binds at each turn, by its id."""
    ledger, found = opening(variant.spoken), {}
    for n, line in enumerate(variant.spoken.turns, start=1):
        ledger = speak(ledger, variant.spoken, line, n)
        found[line.id] = {constraint.id for constraint in ledger.binding}
    return found
