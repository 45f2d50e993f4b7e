"""Law: however a scenario file is damaged, it is read or refused with places; nothing else ever comes out."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fuzzturn.document import dump, parse
from fuzzturn.errors import InputError, Problem
from fuzzturn.scenario_file import parse_scenario

_DATA: dict[str, Any] = {
    "schema": 1,
    "scenario": "short",
    "title": "t",
    "environment": "e",
    "system": {"text": "Be kind."},
    "goal": {"says": "g", "milestones": [{"id": "m", "check": "m", "args": {"a": 1}, "needs": []}]},
    "constraints": [
        {
            "id": "k",
            "checker": "c",
            "statement": "S.",
            "state_at_turn": 1,
            "supersedes": None,
            "examples": {"pass": []},
        },
        {"id": "j", "checker": "c", "statement": "J.", "source": "system"},
    ],
    "turns": [
        {"id": "one", "user": "{k}", "states": ["k"]},
        {"id": "two", "user": "no", "lifts": ["k"], "after": ["one"]},
    ],
    "answers": [{"asks": ["which"], "user": "that", "max": 2}],
    "assertions": [{"turn": 1, "must_call": ["a", {"name": "b"}], "must_mention_any": ["x"]}],
    "interruptions": [{"id": "i", "user": "u"}],
}
_TEXT = dump(_DATA)
_OTHER = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-1, 3), st.text(max_size=3), st.sampled_from(["k", "one", "{k}", "("])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["id", "args", "user", "x-a", "when"]), inner, max_size=2),
    ),
    max_leaves=3,
)


def _replaced(draw: st.DrawFn, data: Any) -> Any:
    """The data with something else somewhere inside."""
    if not data or not isinstance(data, dict | list) or draw(st.integers(0, 4)) == 0:
        return draw(_OTHER)
    if isinstance(data, list):
        at = draw(st.integers(0, len(data) - 1))
        return [*data[:at], _replaced(draw, data[at]), *data[at + 1 :]]
    key = draw(st.sampled_from(sorted(data)))
    return {**data, key: _replaced(draw, data[key])}


@st.composite
def _damaged(draw: st.DrawFn) -> Any:
    return _replaced(draw, _DATA)


def _refused(text: str) -> tuple[Problem, ...]:
    """What is wrong with the text; nothing where it is read. Anything but an InputError fails the test."""
    try:
        parse_scenario(parse(text, file="a.yaml"))
    except InputError as error:
        return error.problems
    return ()


def _is_well_said(problem: Problem) -> bool:
    return problem.file == "a.yaml" and bool(problem.what) and "Input should" not in str(problem)  # pydantic's phrase


def test_the_undamaged_scenario_is_read() -> None:
    assert parse_scenario(parse(_TEXT)).scenario == "short"


@given(_damaged())
def test_a_scenario_with_another_value_somewhere_is_read_or_refused(data: Any) -> None:
    problems = _refused(dump(data))
    assert all(_is_well_said(problem) and problem.line for problem in problems)


@given(st.integers(0, len(_TEXT)), st.integers(0, 9), st.text("ab1{}[]:,-#&*!|>'\"%@?\n \t\x85", max_size=4))
def test_a_scenario_with_other_characters_somewhere_is_read_or_refused(place: int, gone: int, new: str) -> None:
    assert all(map(_is_well_said, _refused(_TEXT[:place] + new + _TEXT[place + gone :])))
