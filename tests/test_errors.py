"""What an error tells its reader."""

from __future__ import annotations

import pytest

from fuzzturn.errors import FuzzturnError, InputError, InternalError, PortError, Problem, UnknownName, closest


def test_a_problem_reads_as_place_what_and_accepted() -> None:
    problem = Problem(file="a.yaml", line=3, column=7, what="'x' is 5", accepted="accepted: a text")
    assert str(problem) == "a.yaml:3:7: 'x' is 5; accepted: a text"


def test_a_problem_without_a_place_says_only_what() -> None:
    assert str(Problem(what="there is no rubric")) == "there is no rubric"


def test_a_problem_of_a_whole_file_names_the_file_alone() -> None:
    assert str(Problem(file="a.yaml", what="the file is empty")) == "a.yaml: the file is empty"


def test_an_input_error_holds_and_says_every_problem() -> None:
    error = InputError([Problem(what="one"), Problem(what="two")])
    assert [problem.what for problem in error.problems] == ["one", "two"]
    assert str(error) == "one\ntwo"


def test_an_input_error_may_be_one_problem_or_one_sentence() -> None:
    assert InputError(Problem(what="one")).problems == InputError("one").problems


def test_an_unknown_name_offers_the_closest_match_first() -> None:
    error = UnknownName("checker", "no_leg_ovr", ["hotel_held", "no_leg_over"])
    assert str(error) == (
        "no checker is called 'no_leg_ovr'; did you mean 'no_leg_over'? (known: hotel_held, no_leg_over)"
    )
    assert isinstance(error, InputError)


def test_a_name_like_no_other_lists_what_is_known() -> None:
    assert closest("zzz", ["b", "a", "b"]) == "known: a, b"


def test_nothing_known_is_said_in_words() -> None:
    assert closest("a", []) == "none is known here"


@pytest.mark.parametrize("error", [InputError("x"), UnknownName("agent", "x", []), PortError("x"), InternalError("x")])
def test_everything_raised_on_purpose_is_a_fuzzturn_error(error: Exception) -> None:
    assert isinstance(error, FuzzturnError)
