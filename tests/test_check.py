"""What can be said about a scenario before anything is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from fuzzturn.check import Checked, check_scenario
from fuzzturn.check.case import Case
from fuzzturn.check.examples import check_once
from fuzzturn.checkers import CheckResult, SessionState, checker, commitment, invariant, milestone
from fuzzturn.cli import run
from fuzzturn.document import parse
from fuzzturn.errors import InputError, Problem
from fuzzturn.ports import Tool, environment
from fuzzturn.registry import Registered, Registry, Tag
from fuzzturn.scenario_file import parse_scenario
from fuzzturn.session import Commitment, ToolCall, Turn


@checker("cap")
def _cap(turn: Turn, state: SessionState, *, limit: int, unit: str = "EUR") -> CheckResult:
    prices = [call.args["price"] for call in turn.tool_calls if call.name == "buy"]
    return CheckResult(all(price <= limit for price in prices), f"{prices} over {limit}", exercised=bool(prices))


@checker("tolerant")
def _tolerant(turn: Turn, state: SessionState, **anything: Any) -> CheckResult:
    return CheckResult(True)


@checker("severe")
def _severe(turn: Turn, state: SessionState) -> CheckResult:
    return CheckResult(False, "never good enough")


@checker("sullen")
def _sullen(turn: Turn, state: SessionState) -> CheckResult:
    return "fine"  # type: ignore[return-value]


@checker("reads_everything")
def _reads_everything(turn: Turn, state: SessionState) -> CheckResult:
    seen = (turn.user, state.environment["stock"], state.tool_log[0].name, state.ledger.binding[0].id)
    return CheckResult(seen == ("Cheap.", 3, "buy", "ceiling"), str(seen))


@milestone("bought")
def _bought(state: SessionState, *, thing: str) -> bool:
    return True


@milestone("stuck")
def _stuck(state: SessionState) -> bool:
    return bool(state.environment["sold"])


@milestone("vague")
def _vague(state: SessionState) -> bool:
    return "yes"  # type: ignore[return-value]


@invariant("jumpy")
def _jumpy(before: Mapping[str, Any], after: Mapping[str, Any]) -> CheckResult:
    raise RuntimeError("boo")


@commitment("hasty")
def _hasty(turn: Turn) -> list[Commitment]:
    return [Commitment(turn.n, turn.text.split()[0], "hasty")]


@invariant("unchanged")
def _unchanged(before: Mapping[str, Any], after: Mapping[str, Any]) -> CheckResult:
    return CheckResult(before == after)


class _Shop:
    tools: tuple[Tool, ...] = (Tool("buy"), Tool("look"))

    def call(self, name: str, /, **args: Any) -> Any:
        raise AssertionError("check runs no tool")

    def observe(self) -> Mapping[str, Any]:
        return {"stock": 3}


@environment("shop")
def _shop(*, seed: int) -> _Shop:
    return _Shop()


@environment("closed")
def _closed(*, seed: int) -> _Shop:
    raise RuntimeError("no stock today")


class _Bare(_Shop):
    tools: tuple[Tool, ...] = ()


@environment("bare")
def _bare(*, seed: int) -> _Bare:
    return _Bare()


def _registry(*more: Callable[..., Any]) -> Registry:
    functions: list[Callable[..., Any]] = [
        _cap,
        _tolerant,
        _severe,
        _sullen,
        _reads_everything,
        _bought,
        _stuck,
        _vague,
        _jumpy,
        _unchanged,
        _shop,
        _closed,
        _bare,
        *more,
    ]
    tags = [value for function in functions for value in vars(function).values() if isinstance(value, Tag)]
    return Registry(Registered(tag, function, __file__) for tag, function in zip(tags, functions, strict=True))


_SHOPPING = """\
schema: 1
scenario: shopping
title: Some shopping
environment: shop
goal:
  says: A lamp
  milestones: [{id: bought, check: bought, args: {thing: lamp}}]
constraints:
  - id: ceiling
    checker: cap
    args: {limit: 450}
    statement: Cheap.
    examples:
      pass: [{name: buy, args: {price: 450}}, {name: look}]
      fail: [{name: buy, args: {price: 610}}]
turns:
  - {id: one, user: "{ceiling}", states: [ceiling]}
assertions:
  - {turn: 1, must_not_call: [look], must_call: [buy], state_invariants: [unchanged]}
"""


_MEND = "a call that breaks the constraint, or a checker that sees it"


def _check(folder: Path, *changes: tuple[str, str], more: tuple[Callable[..., Any], ...] = ()) -> Checked:
    text = _SHOPPING
    for change, to in changes:
        assert text.count(change) == 1, change
        text = text.replace(change, to)
    file = folder / "shopping.yaml"
    file.write_text(text)
    return check_scenario(file, _registry(*more))


def _said(problems: list[Problem]) -> list[str]:
    """line:column: what; accepted"""
    assert all(Path(problem.file or "").name == "shopping.yaml" for problem in problems)
    return [str(problem).partition("shopping.yaml:")[2] for problem in problems]


def test_a_scenario_whose_pieces_all_fit_has_neither_errors_nor_warnings(tmp_path: Path) -> None:
    assert _check(tmp_path) == ([], [])


def test_a_file_that_cannot_be_loaded_is_an_error_of_the_check(tmp_path: Path) -> None:
    errors, warnings = _check(tmp_path, ("title: Some shopping", "title: 5"))
    assert _said(errors) == ["3:8: 'title' is 5; accepted: a text, in quotes"]
    assert warnings == []


@pytest.mark.parametrize(
    ("change", "to", "said"),
    [
        ("environment: shop", "environment: ^shap", "no environment is called 'shap'; did you mean 'shop'?"),
        ("checker: cap", "checker: ^cop", "no checker is called 'cop'; did you mean 'cap'?"),
        ("check: bought", "check: ^baught", "no milestone is called 'baught'; did you mean 'bought'?"),
        ("[unchanged]", "[^unchangd]", "no invariant is called 'unchangd'; did you mean 'unchanged'?"),
        ("[look]", "[^lok]", "the environment 'shop' has no tool 'lok'; did you mean 'look'?"),
        ("[buy]", "[^{name: by}]", "the environment 'shop' has no tool 'by'; did you mean 'buy'?"),
        ("{limit: 450}", "{limit: 450, ^limits: 1}", "checker 'cap' takes no argument 'limits'; did you mean 'limit'?"),
        ("{limit: 450}", "^{unit: USD}", "checker 'cap' needs the argument 'limit'; args: {limit: …}"),
        ("{thing: lamp}", "{thing: lamp, ^colour: red}", "milestone 'bought' takes no argument 'colour'; known: thing"),
        ("{id: bought, check: bought, args: {thing: lamp}}", "^{id: bought, check: bought}", "milestone 'bought'"),
        ("environment: shop", "environment: ^closed", f"{__file__}:"),
        ("{limit: 450}", "{limit: ^'450'}", "'limit' is '450'; checker 'cap' takes a whole number"),
        ("{thing: lamp}", "{thing: ^[lamp]}", "'thing' is a list; milestone 'bought' takes a text"),
        ("check: bought, args: {thing: lamp}", "check: ^stuck", f"{__file__}:"),
        ("check: bought, args: {thing: lamp}", "check: ^vague", f"{__file__}:"),
        ("[unchanged]", "[^jumpy]", f"{__file__}:"),
        ("pass: [{name: buy,", "pass: [{name: ^bye,", "the environment 'shop' has no tool 'bye'; did you mean 'buy'?"),
        ("fail: [{name: buy,", "fail: [{name: ^bye,", "the environment 'shop' has no tool 'bye'; did you mean 'buy'?"),
        ("{name: buy, args: {price: 450}}", "^{name: buy, args: {price: 451}}", "checker 'cap' fails an example that"),
        ("{name: buy, args: {price: 610}}", "^{name: buy, args: {price: 10}}", "checker 'cap' passes an example that"),
        ("pass: [{name: buy, args: {price: 450}}", "pass: [^{name: buy, args: {prize: 1}}", f"{__file__}:"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_an_error_at_its_place(tmp_path: Path, change: str, to: str, said: str) -> None:
    before, found, _ = _SHOPPING.replace(change, to).partition("^")
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    errors = _said(_check(tmp_path, (change, to.replace("^", ""))).errors)
    assert found
    assert len(errors) == 1, errors
    assert errors[0].startswith(f"{line}:{column}: {said}")


def test_a_checker_that_cannot_fail_is_an_error(tmp_path: Path) -> None:
    errors = _said(_check(tmp_path, ("checker: cap", "checker: tolerant")).errors)
    assert errors == ["15:14: checker 'tolerant' passes an example that should fail; " + _MEND]


def test_a_checker_that_cannot_pass_is_an_error(tmp_path: Path) -> None:
    errors = _said(_check(tmp_path, ("checker: cap", "checker: severe"), ("    args: {limit: 450}\n", "")).errors)
    assert [error.split(": ", 1)[0] for error in errors] == ["13:14", "13:47"]
    assert all("'severe' fails an example that should pass: never good enough" in error for error in errors)


def test_a_checker_that_finds_nothing_to_look_at_is_an_error(tmp_path: Path) -> None:
    changes = (
        ("[{name: buy, args: {price: 450}}, {name: look}]", "[{name: look}]"),
        ("{name: buy, args: {price: 610}}", ""),
    )
    checked = _check(tmp_path, *changes)
    assert _said(checked.errors)[0].startswith("14:7: checker 'cap' finds nothing to look at in any of its examples")


def test_a_checker_that_changes_what_it_is_shown_changes_no_example() -> None:
    @checker("meddling")
    def meddling(turn: Turn, state: SessionState, *, limit: int) -> CheckResult:
        over = [call for call in (*turn.tool_calls, *state.tool_log) if call.args["price"] > limit]
        for call in over:
            dict.update(call.args, price=1)
        return CheckResult(not over, "over", exercised=True)

    document = parse(_SHOPPING.replace("checker: cap", "checker: meddling"))
    case = Case(scenario=parse_scenario(document), document=document, registry=_registry(meddling))
    (ceiling,) = case.scenario.constraints
    calls = tuple(ToolCall(example.name, example.args) for example in ceiling.examples.failing)
    assert not check_once(case, ceiling, calls).passed
    assert not check_once(case, ceiling, calls).passed


def test_a_checker_that_breaks_its_port_is_an_error(tmp_path: Path) -> None:
    errors = _said(_check(tmp_path, ("checker: cap", "checker: sullen"), ("    args: {limit: 450}\n", "")).errors)
    assert len(errors) == 1
    assert "returned 'fine'" in errors[0]


def test_an_example_is_a_turn_of_its_own_in_which_the_constraint_binds(tmp_path: Path) -> None:
    changes = ("checker: cap", "checker: reads_everything"), ("    args: {limit: 450}\n", "")
    errors = _said(_check(tmp_path, *changes, (", {name: look}]", "]"), ("{price: 450}", "{}")).errors)
    assert errors == ["14:14: checker 'reads_everything' passes an example that should fail; " + _MEND]


def test_a_constraint_without_a_failing_example_is_a_warning(tmp_path: Path) -> None:
    errors, warnings = _check(tmp_path, ("      fail: [{name: buy, args: {price: 610}}]\n", ""))
    assert errors == []
    assert [problem.line for problem in warnings] == [9]
    assert "'ceiling' has no example that fails" in warnings[0].what


@pytest.mark.parametrize("title", ["Under 450", "EUR 450.00 at most", "At most 450,00", "450€"])
def test_a_title_that_gives_the_limit_away_is_a_warning(tmp_path: Path, title: str) -> None:
    errors, warnings = _check(tmp_path, ("title: Some shopping", f"title: {title}"))
    assert errors == []
    assert _said(warnings)[0].startswith("3:8: 'title' says 450, which is in the arguments of 'ceiling'")


@pytest.mark.parametrize("said", ["A lamp for 1,450", "A lamp for 1.450,00", "A lamp for 1450"])
def test_a_goal_that_gives_the_limit_away_is_a_warning_however_it_is_written(tmp_path: Path, said: str) -> None:
    checked = _check(tmp_path, ("says: A lamp", f"says: {said}"), ("{limit: 450}", "{limit: 1450}"))
    assert len(checked.warnings) == 1
    assert _said(checked.warnings)[0].startswith("6:9: 'says' says 1450")


@pytest.mark.parametrize("title", ["Room 4501", "Three days", "4.5 and 0"])
def test_other_numbers_in_a_title_give_nothing_away(tmp_path: Path, title: str) -> None:
    assert _check(tmp_path, ("title: Some shopping", f"title: {title}")).warnings == []


def test_an_agent_that_owns_its_tools_leaves_tool_names_unchecked(tmp_path: Path) -> None:
    assert _check(tmp_path, ("environment: shop", "environment: bare"), ("[look]", "[anything]")) == ([], [])


def test_everything_is_said_in_one_pass_and_in_file_order(tmp_path: Path) -> None:
    checked = _check(
        tmp_path,
        ("environment: shop", "environment: shap"),
        ("check: bought", "check: x"),
        ("{price: 610}", "{price: 1}"),
    )
    assert [problem.line for problem in checked.errors] == [4, 7, 15]


def test_a_commitment_rule_that_raises_on_a_silent_turn_is_an_error_at_its_own_line(tmp_path: Path) -> None:
    errors, _ = _check(tmp_path, more=(_hasty,))
    assert len(errors) == 1
    assert str(errors[0]).startswith(f"{__file__}:")
    assert "commitment 'hasty' raised IndexError" in str(errors[0])


def test_a_checker_without_examples_is_executed_on_a_turn_without_calls(tmp_path: Path) -> None:
    examples = _SHOPPING[_SHOPPING.index("    examples:") : _SHOPPING.index("turns:")]
    changes = ("checker: cap", "checker: reads_everything"), ("    args: {limit: 450}\n", ""), (examples, "")
    errors = _said(_check(tmp_path, *changes).errors)
    assert len(errors) == 1
    assert errors[0].startswith("10:14: ")
    assert "checker 'reads_everything' raised IndexError" in errors[0]


def test_the_command_checks_the_corpus_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "fuzzturn.toml").write_text("")
    (tmp_path / "corpus" / "trip").mkdir(parents=True)
    (tmp_path / "corpus" / "trip" / "broken.yaml").write_text("turns: []\n")
    monkeypatch.chdir(tmp_path)
    assert run(["check"]) == 2
    assert capsys.readouterr().out.startswith("corpus/trip/broken.yaml:1:1: this is a scenario, not a corpus entry")
    assert run(["check", "lisbon_offsite"]) == 0
    assert capsys.readouterr().out.endswith("lisbon_offsite.yaml: good\n")


def test_a_scenario_that_is_not_there_is_looked_for_in_folders_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "fuzzturn.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    assert run(["check", "lisbon_ofsite"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"{tmp_path / 'scenarios'} and ")
    assert "no scenario is called 'lisbon_ofsite'; did you mean 'lisbon_offsite'?" in said


@checker("choosy")
def _choosy(turn: Turn, state: SessionState, *, limit: int) -> CheckResult:
    raise InputError("limit is 450; at most 400 is accepted")


def test_what_a_checker_says_of_its_own_arguments_stands_at_the_arguments(tmp_path: Path) -> None:
    errors, _ = _check(tmp_path, ("checker: cap", "checker: choosy"), more=(_choosy,))
    assert _said(errors) == ["11:11: limit is 450; at most 400 is accepted"]
