"""Law: a scenario written as a file and parsed again is the same, as a script and as the turns of a variant."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzturn.document import dump, parse
from fuzzturn.scenario import (
    Answer,
    Assertion,
    Constraint,
    Disturbance,
    ExampleCall,
    Examples,
    ExpectedCall,
    Goal,
    Interruption,
    Line,
    Milestone,
    Replaced,
    Scenario,
    System,
    ToolFault,
    When,
    Wordings,
)
from fuzzturn.scenario_file import parse_scenario, scenario_to_data
from fuzzturn.scenario_file.placeholders import escaped, names, spoken
from fuzzturn.variant import END, Drop, Edit, Insert, Move, Pad, Variant

_BRACES = st.lists(st.sampled_from(["{", "}", "{{", "}}", "k0", "{k0}", "{{k0}}", "x", " "]), max_size=8).map("".join)
_TEXT = st.one_of(st.sampled_from(["no", "1e3", "{}", "a: b", "{name}"]), _BRACES, st.text(max_size=20)).filter(bool)
_ID = st.from_regex(r"[A-Za-z][A-Za-z0-9_.:@#-]{0,5}", fullmatch=True)
_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=4,
)
_ARGS = st.dictionaries(st.text(max_size=5), _JSON, max_size=2)
_TEXTS = st.lists(_TEXT, max_size=2).map(tuple)
_CALLS = st.lists(st.builds(ExampleCall, name=_ID, args=_ARGS), max_size=2).map(tuple)


# One draw each: what is new about them is their shape, and long inputs are slow to make.
_WORDINGS = st.sampled_from(
    [
        Wordings(),
        Wordings(soft=("a {k0}",), flipped=("no",), split=(("1e3", "a: b"),), retraction="{}"),
    ]
)
_WHEN = st.sampled_from([None, When(check="c"), When(check="c", args={"a": [1]}, **{"is": False})])
_TOOL_FAULTS = st.sampled_from([(), (ToolFault(kind="error", tool="t", text="no"), ToolFault(kind="pad", tokens=9))])
_DISTURBANCES = st.sampled_from([(), (Disturbance(kind="compact"), Disturbance(kind="drop", text="{k0}"))])


def _replaced(found: list[Constraint]) -> st.SearchStrategy[Replaced]:
    return st.builds(Replaced, id=st.sampled_from([other.id for other in found]), args=_ARGS)


def _subset(draw: st.DrawFn, options: list[str]) -> tuple[str, ...]:
    return tuple(draw(st.lists(st.sampled_from(options), max_size=2, unique=True))) if options else ()


def _constraints(draw: st.DrawFn) -> list[Constraint]:
    found: list[Constraint] = []
    for id in (f"k{n}" for n in range(draw(st.integers(0, 3)))):
        found.append(
            Constraint(
                id=id,
                source=draw(st.sampled_from(["user", "system", "tool"])),
                checker=draw(_ID),
                args=draw(_ARGS),
                statement=draw(_TEXT),
                paraphrases=draw(_TEXTS),
                polarity=draw(st.sampled_from(["prohibition", "requirement"])),
                supersedes=draw(st.none() | _replaced(found)) if found else None,
                when=draw(_WHEN),
                expires=draw(st.sampled_from([None, "2026-05-12T09:00:00Z", "2027-01-01T00:00+02:00"])),
                spare=False,
                wordings=draw(_WORDINGS),
                uses=draw(st.sampled_from([None, 1])),
                examples=Examples.model_validate({"pass": draw(_CALLS), "fail": draw(_CALLS)}),
            )
        )
    return found


def _turns(draw: st.DrawFn, constraints: list[Constraint]) -> list[Line]:
    """Every constraint is said in a turn at least once, and lifted after that at most."""
    places = {c.id: draw(st.integers(0, 3)) for c in constraints if c.source != "system"}
    lines: list[Line] = []
    for n in range(draw(st.integers(1, 5)) if not places else 5):
        stated = [c for c in constraints if places.get(c.id) == n]
        before = [c.id for c in constraints if places.get(c.id, -1) < n]
        said = draw(_TEXT) + "".join(c.statement for c in stated)
        lines.append(
            Line(
                id=f"t{n}",
                user=said,
                states=tuple(c.id for c in stated),
                lifts=_subset(draw, before),
                after=_subset(draw, [line.id for line in lines]),
                optional=draw(st.booleans()),
                correction=draw(st.booleans()),
                advance=draw(st.sampled_from([None, "PT2H", "P1DT30M"])),
                tool_faults=draw(_TOOL_FAULTS),
                disturbances=draw(_DISTURBANCES),
            )
        )
    return lines


def _goal(draw: st.DrawFn) -> Goal:
    milestones: list[Milestone] = []
    for n in range(draw(st.integers(1, 3))):
        how: dict[str, Any] = draw(st.one_of(st.builds(dict, check=_ID, args=_ARGS), st.builds(dict, judged=_TEXT)))
        needs = _subset(draw, [milestone.id for milestone in milestones])
        milestones.append(Milestone(id=f"m{n}", needs=needs, latched=draw(st.booleans()), **how))
    return Goal(says=draw(_TEXT), milestones=tuple(milestones))


@st.composite
def _scenarios(draw: st.DrawFn) -> Scenario:
    constraints = _constraints(draw)
    turns = _turns(draw, constraints)
    calls = st.lists(st.builds(ExpectedCall, name=_ID, args=_ARGS, times=st.sampled_from([None, 1, 3])), max_size=2)
    assertions = st.builds(
        Assertion,
        turn=st.sampled_from([line.id for line in turns]),
        state_invariants=st.lists(_ID, max_size=1).map(tuple),
        must_mention_any=_TEXTS,
        must_not_call=st.lists(_ID, min_size=1, max_size=2).map(tuple),  # a file refuses one that asks for nothing
        must_call=calls.map(tuple),
    )
    asks = st.lists(_TEXT.map(re.escape), min_size=1, max_size=2).map(tuple)
    aside = st.builds(Interruption, id=_ID, user=_TEXT, must_mention_any=_TEXTS)
    return Scenario(
        schema=1,
        scenario=draw(_ID),
        title=draw(_TEXT),
        environment=draw(_ID),
        system=draw(st.none() | st.builds(System, text=_TEXT)),
        starts="2026-05-12T09:00:00Z",
        goal=_goal(draw),
        constraints=tuple(constraints),
        turns=tuple(turns),
        answers=draw(st.lists(st.builds(Answer, asks=asks, user=_TEXT, max=st.integers(1, 3)), max_size=2).map(tuple)),
        assertions=draw(st.lists(assertions, max_size=2).map(tuple)),
        interruptions=draw(st.lists(aside, max_size=2, unique_by=lambda i: i.id).map(tuple)),
    )


_ANCHOR = st.sampled_from([*(f"t{n}" for n in range(5)), END])
_OPERATOR = st.just("some_operator")
_NAME = st.from_regex(r"[A-Za-z][A-Za-z0-9_.:#-]{0,5}", fullmatch=True)  # no @: it begins the id of an inserted turn
_EDITS: st.SearchStrategy[list[Edit]] = st.lists(
    st.one_of(
        st.builds(Drop, operator=_OPERATOR, anchor=_ANCHOR),
        st.builds(Move, operator=_OPERATOR, anchor=_ANCHOR, offset=st.integers(-3, 3)),
        st.builds(Pad, operator=_OPERATOR, anchor=_ANCHOR, tokens=st.integers(1, 60)),
        st.builds(Insert, operator=_OPERATOR, anchor=_ANCHOR, name=_NAME, user=_TEXT, mentions=_TEXTS),
    ),
    max_size=4,
)


@settings(max_examples=50)
@given(_scenarios())
def test_a_scenario_written_and_parsed_again_is_equal(scenario: Scenario) -> None:
    text = dump(scenario_to_data(scenario))
    again = parse_scenario(parse(text))
    assert again == scenario
    assert dump(scenario_to_data(again)) == text


@settings(max_examples=50)
@given(_scenarios(), _EDITS)
def test_the_turns_of_a_variant_written_and_parsed_again_are_equal(scenario: Scenario, edits: list[Edit]) -> None:
    said = Variant(scenario, tuple(edits)).spoken
    if said.turns:
        assert parse_scenario(parse(dump(scenario_to_data(said))), spoken_turns=True) == said


@given(st.one_of(_BRACES, st.text()), st.dictionaries(st.sampled_from(["k0", "x"]), st.text(), max_size=2))
def test_an_escaped_text_is_spoken_as_it_was(text: str, statements: dict[str, str]) -> None:
    assert names(escaped(text)) == ()
    assert spoken(escaped(text), statements) == text
