"""Scenario files: the shorthand, the rules, and problems with their places."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzturn.document import dump, parse
from fuzzturn.errors import InputError
from fuzzturn.scenario import Scenario
from fuzzturn.scenario_file import load_scenario, parse_scenario, scenario_to_data

_LISBON = """\
# yaml-language-server: $schema=whatever
schema: 1
x-note: nobody reads this
scenario: lisbon
title: Three days in Lisbon
environment: orbit
system: {file: policy.md}
goal:
  says: A confirmed return trip
  milestones:
    - {id: outbound, check: flight_identified, args: {direction: outbound}, latched: true}
    - {id: confirmed, check: trip_confirmed, needs: [outbound], x-why: it is the end}
    - {id: polite, judged: Was the traveller's name asked for?}
constraints:
  - id: leg_ceiling
    source: user
    checker: no_leg_over
    args: {limit: 450, currency: EUR, legs: [out, {back: [1, 2]}]}
    state_at_turn: 2
    statement: No leg may cost more than EUR 450.
    paraphrases: [Nothing over 450]
    polarity: prohibition
    supersedes: null
    uses: null
    when: null
    expires: null
    examples: {pass: [{name: hold, args: {legs: []}}], fail: [{name: hold}]}
  - {id: no_names, source: system, checker: no_names, statement: Never repeat names.}
turns:
  - {id: ask, user: Please find me a flight}
  - {id: ceiling, user: "Before I forget. {leg_ceiling} Thanks."}
  - {id: book, user: Book it, after: [ask]}
  - {id: lift, user: Forget the ceiling, lifts: [leg_ceiling], correction: true}
  - {id: chat, user: "Call me {{name}}", optional: true}
answers:
  - {asks: ["which date", "when .* travel"], user: On Monday, max: 2}
assertions:
  - {turn: 3, must_not_call: [search], must_call: [hold, {name: pay, args: {ids: [1]}, times: 2}]}
  - {turn: chat, must_mention_any: [CX-402], state_invariants: [unchanged]}
interruptions: [{id: code, user: What is the code?, must_mention_any: [CX-402]}]
"""

_SHORT = """\
schema: 1
scenario: short
title: t
environment: e
goal: {says: g, milestones: [{id: m, check: m}]}
constraints:
  - {id: k, checker: c, statement: Keep it short.}
turns:
  - {id: one, user: hello}
  - {id: two, user: "{k}", states: [k]}
"""


def _lisbon(folder: Path) -> Scenario:
    (folder / "policy.md").write_text("Be kind.\n")
    (folder / "lisbon.yaml").write_text(_LISBON)
    return load_scenario(folder / "lisbon.yaml")


def _problems(text: str, **options: bool) -> list[str]:
    with pytest.raises(InputError) as caught:
        parse_scenario(parse(text, file="short.yaml"), **options)
    return [str(problem) for problem in caught.value.problems]


def _expect(change: str, to: str, said: str) -> None:
    """In the short scenario with `to` for `change`, one problem stands where `to` has a ^, and it says that."""
    assert _SHORT.count(change) == 1
    text = _SHORT.replace(change, to)
    before, found, after = text.partition("^")
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    problems = _problems(before + after)
    assert found
    assert len(problems) == 1, problems
    assert problems[0].startswith(f"short.yaml:{line}:{column}: {said}")


def test_a_scenario_file_is_read_into_the_model(tmp_path: Path) -> None:
    scenario = _lisbon(tmp_path)
    assert scenario.scenario == "lisbon"
    assert [line.id for line in scenario.turns] == ["ask", "ceiling", "book", "lift", "chat"]
    assert scenario.goal.milestones[1].needs == ("outbound",)
    assert scenario.answers[0].max == 2


def test_a_system_file_is_read_from_the_scenarios_folder(tmp_path: Path) -> None:
    system = _lisbon(tmp_path).system
    assert system is not None
    assert system.text == "Be kind.\n"


def test_a_turn_number_becomes_a_statement_of_that_turn(tmp_path: Path) -> None:
    assert _lisbon(tmp_path).line("ceiling").states == ("leg_ceiling",)


def test_a_placeholder_is_spoken_as_the_statement(tmp_path: Path) -> None:
    assert _lisbon(tmp_path).line("ceiling").user == "Before I forget. No leg may cost more than EUR 450. Thanks."


def test_doubled_braces_are_spoken_as_single_ones(tmp_path: Path) -> None:
    assert _lisbon(tmp_path).line("chat").user == "Call me {name}"


def test_an_assertion_names_its_turn_by_number_or_by_id(tmp_path: Path) -> None:
    assert [assertion.turn for assertion in _lisbon(tmp_path).assertions] == ["book", "chat"]


def test_an_expected_call_is_a_name_or_a_mapping(tmp_path: Path) -> None:
    plain, full = _lisbon(tmp_path).assertions[0].must_call
    assert (plain.name, plain.args, plain.times) == ("hold", {}, None)
    assert (full.name, full.times) == ("pay", 2)


def test_args_hold_lists_as_tool_calls_do(tmp_path: Path) -> None:
    scenario = _lisbon(tmp_path)
    assert scenario.constraints[0].args["legs"] == ["out", {"back": [1, 2]}]
    assert scenario.assertions[0].must_call[1].args == {"ids": [1]}
    assert scenario.constraints[0].examples.passing[0].args == {"legs": []}


def test_a_loaded_scenario_written_and_parsed_again_is_equal(tmp_path: Path) -> None:
    scenario = _lisbon(tmp_path)
    assert parse_scenario(parse(dump(scenario_to_data(scenario)))) == scenario


def test_written_data_keeps_the_formats_order_and_leaves_defaults_out() -> None:
    data = scenario_to_data(parse_scenario(parse(_SHORT)))
    assert list(data) == ["schema", "scenario", "title", "environment", "goal", "constraints", "turns"]
    assert data["constraints"] == [{"id": "k", "checker": "c", "statement": "Keep it short."}]
    assert data["turns"][1] == {"id": "two", "user": "Keep it short.", "states": ["k"]}


def test_the_statement_word_for_word_is_as_good_as_its_placeholder() -> None:
    said = parse_scenario(parse(_SHORT.replace('"{k}"', "I say. Keep it short. Please")))
    assert said.line("two").user == "I say. Keep it short. Please"


def test_a_scenario_is_called_like_its_file(tmp_path: Path) -> None:
    (tmp_path / "long.yaml").write_text(_SHORT)
    with pytest.raises(InputError, match=r"long\.yaml:2:11: the scenario 'short' stands in long\.yaml"):
        load_scenario(tmp_path / "long.yaml")


def test_a_file_that_holds_no_mapping_says_what_a_scenario_is() -> None:
    assert _problems("- 1\n") == [
        "short.yaml:1:1: a scenario is a mapping; schema: 1, scenario: …, title: …, and so on"
    ]


_TURN, _CHECKER, _MILESTONE, _TURNS = "user: hello", "checker: c,", "{id: m, check: m}", "turns:"


@pytest.mark.parametrize(
    ("change", "to", "said"),
    [
        ("title: t", "^titel: t\ntitle: t", "the key 'titel' is not known here; did you mean 'title'? (known: answers"),
        ("schema: 1", "schema: ^2", "'schema' is 2; accepted: 1"),
        ("schema: 1\n", "^", "'schema' is missing; it takes 1"),
        ("title: t", "title: ^''", "'title' is empty; accepted: a text"),
        ("environment: e", "environment: ^a b", "'environment' is 'a b'; accepted: a name of letters, digits and"),
        (f"[{_MILESTONE}]", "^[]", "'milestones' is empty; accepted: a list with at least one entry"),
        (_CHECKER, "checker: c, polarity: ^maybe,", "'polarity' is 'maybe'; accepted: prohibition or requirement"),
        (_CHECKER, "checker: c, uses: ^2,", "'uses' is 2; accepted: 1"),
        (_CHECKER, "checker: c, args: ^[],", "'args' is a list; accepted: a mapping"),
        (_TURN, "user: hello, optional: ^1", "'optional' is 1; accepted: true or false"),
        ("{id: one, user: hello}", "^{id: one}", "'user' is missing; it takes a text"),
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_shape_is_said_in_our_words(change: str, to: str, said: str) -> None:
    _expect(change, to, said)


@pytest.mark.parametrize(
    ("change", "to", "said"),
    [
        ("id: two", "id: ^one", "a second turn is called 'one'; the first stands on line 9"),
        (_MILESTONE, f"{_MILESTONE}, {{id: ^m, check: m}}", "a second milestone is called 'm'; the first stands on"),
        (_TURNS, "interruptions: [{id: i, user: u}, {id: ^i, user: u}]\nturns:", "a second interruption is called 'i'"),
        (_MILESTONE, "{id: m, check: m, needs: [^mm]}", "no milestone is called 'mm'; did you mean 'm'?"),
        (_MILESTONE, "^{id: m}", "the milestone 'm' has neither check nor judged; one of the two"),
        (_MILESTONE, "^{id: m, check: a, judged: b}", "the milestone 'm' has both check and judged"),
        (_MILESTONE, "{id: m, check: a, needs: ^[m]}", "needs goes round in a circle: m -> m"),
        (_CHECKER, "checker: c, supersedes: ^k,", "supersedes goes round in a circle: k -> k"),
        (_CHECKER, "checker: c, supersedes: ^kk,", "no constraint is called 'kk'; did you mean 'k'?"),
        (_TURN, "user: hello, after: [^two]", "turn 'one' comes after 'two', which is not spoken before it"),
        (_TURN, "user: hello, after: [^one]", "turn 'one' comes after 'one', which is not spoken before it"),
        (_TURN, "user: hello, after: [^onee]", "no turn is called 'onee'; did you mean 'one'?"),
        (_TURN, "user: hello, lifts: [^k]", "turn 'one' lifts 'k', which nothing has stated before it"),
        (_TURN, "user: hello, lifts: [^kk]", "no constraint is called 'kk'; did you mean 'k'?"),
        ("states: [k]", "states: [k], lifts: [^k]", "turn 'two' both states and lifts 'k'; one of the two"),
        ("{id: k,", "^{id: k, source: system,", "turn 2 states 'k', whose source is the system prompt"),
        (_CHECKER, "checker: c, state_at_turn: ^1,", "'k' is stated at turn 1 here, but turn 2 states it first"),
        (_CHECKER, "checker: c, state_at_turn: ^0,", "there is no turn 0; accepted: 1 to 2"),
        (_CHECKER, "checker: c, state_at_turn: ^two,", "'state_at_turn' is not a number; the number of a turn"),
        (_TURN, 'user: ^"hello {k}"', "{k} is said by a turn that does not state it; states: [k]"),
        (_TURN, 'user: ^"hello {kk}"', "{kk} names no constraint; did you mean 'k'? (known: k); or {{kk}} to say {kk}"),
        ('"{k}"', "^something else", "turn 'two' states 'k' but does not say it; {k}, or the statement word for word"),
        (_TURN, "user: ^[hello]", "a message of several parts is reserved: not yet; one text"),
        (_TURN, "user: hello, speaker: ^bob", "'speaker' is reserved: not yet; leave it out"),
        (_TURN, "user: hello, only_if: ^x", "'only_if' is reserved: not yet"),
        (_TURN, "user: hello, language: ^pt", "'language' is reserved: not yet"),
        (_TURN, "user: hello, advance: ^PT2H", "'advance' is about the session's clock, and the scenario has none"),
        ("title: t", "title: t\nstarts: ^soon", "'starts' is 'soon'; accepted: a time such as 2026-05-12T09:00:00Z"),
        (_CHECKER, "checker: c, when: ^x,", "'when' is 'x'; accepted: a mapping with check, args, is"),
        (_CHECKER, "checker: c, supersedes: {id: ^x},", "no constraint is called 'x'"),
        (_CHECKER, "checker: c, spare: ^true,", "'k' is spare, and turn 2 states it"),
        ("title: t", "title: t\nlanguage: ^pt", "'language' is reserved: not yet"),
        (_TURNS, 'answers: [{asks: [^"("], user: u}]\nturns:', "'(' is not a regular expression: missing )"),
        (_TURNS, 'answers: [{asks: [a], user: ^"{k}"}]\nturns:', "{k} is said outside the turns"),
        (_TURNS, "assertions: [{turn: ^3, must_call: [a]}]\nturns:", "there is no turn 3; accepted: 1 to 2"),
        (_TURNS, "assertions: [^{turn: 1}]\nturns:", "this assertion asks for nothing; one of state_inv"),
        (_TURNS, "assertions: [{turn: ^tow, must_call: [a]}]\nturns:", "no turn is called 'tow'; did you mean 'two'?"),
    ],
)  # fmt: skip
def test_a_rule_between_parts_is_checked_and_says_where(change: str, to: str, said: str) -> None:
    _expect(change, to, said)


def test_a_constraint_that_no_turn_states_is_an_error() -> None:
    said = _problems(_SHORT.replace('user: "{k}", states: [k]', "user: hello"))
    assert [problem.split(";")[0] for problem in said] == ["short.yaml:7:5: no turn states 'k'"]


def test_a_constraint_told_by_a_tool_is_not_in_the_users_words() -> None:
    told = _SHORT.replace("checker: c,", "checker: c, source: tool,").replace('"{k}"', "what does it say?")
    assert parse_scenario(parse(told)).stating("k") == "two"


def test_a_constraint_may_be_stated_again() -> None:
    again = parse_scenario(parse(_SHORT + '  - {id: three, user: "As I said. {k}", states: [k]}\n'))
    assert [line.states for line in again.turns] == [(), ("k",), ("k",)]


def test_a_system_constraint_may_be_lifted() -> None:
    text = _SHORT.replace("checker: c,", "checker: c, source: system,").replace('"{k}", states: [k]', "x, lifts: [k]")
    assert parse_scenario(parse(text)).line("two").lifts == ("k",)


def test_the_statement_is_not_searched_for_placeholders() -> None:
    braces = _SHORT.replace("statement: Keep it short.", 'statement: "Write {name} for the name."')
    assert parse_scenario(parse(braces)).line("two").user == "Write {name} for the name."


def test_problems_of_shape_and_of_rules_come_in_one_pass_and_in_file_order() -> None:
    text = (
        _SHORT.replace("title: t", "titel: t").replace("checker: c,", "").replace("user: hello", "user: 5, after: [x]")
    )
    assert [problem.split("; ")[0] for problem in _problems(text)] == [
        "short.yaml:1:1: 'title' is missing",
        "short.yaml:3:1: the key 'titel' is not known here",
        "short.yaml:7:5: 'checker' is missing",
        "short.yaml:9:21: 'user' is 5",
        "short.yaml:9:32: no turn is called 'x'",
    ]


def test_broken_parts_do_not_hide_problems_elsewhere() -> None:
    said = _problems(
        _SHORT.replace("constraints:\n  - {id: k, checker: c, statement: Keep it short.}", "constraints: 5")
    )
    assert "short.yaml:6:14: 'constraints' is 5; accepted: a list" in said
    assert any("no constraint is called 'k'" in problem for problem in said)


@pytest.mark.parametrize(
    "system", ["5", "{}", "{text: a, file: b}", "{file: missing.md}", "{file: ../secret.md}", "{file: 5}", "{text: 5}"]
)
def test_a_system_prompt_is_one_text_or_one_file_inside_the_folder(tmp_path: Path, system: str) -> None:
    (tmp_path / "secret.md").write_text("a secret")
    (tmp_path / "inner").mkdir()
    file = tmp_path / "inner" / "short.yaml"
    file.write_text(_SHORT + f"system: {system}\n")
    with pytest.raises(InputError) as caught:
        load_scenario(file)
    assert [problem.line for problem in caught.value.problems] == [11]
    assert "a secret" not in str(caught.value)


def test_a_link_does_not_lead_out_of_the_scenarios_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("a secret")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "policy.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "inner" / "short.yaml").write_text(_SHORT + "system: {file: policy.md}\n")
    with pytest.raises(InputError, match="not a path inside the scenario's folder"):
        load_scenario(tmp_path / "inner" / "short.yaml")


def test_an_embedded_scenario_is_parsed_with_the_places_of_its_file() -> None:
    entry = "kind: violation\nscenario:\n" + "".join(f"  {line}\n" for line in _SHORT.splitlines())
    document = parse(entry.replace("user: hello", "user: 5"), file="entry.yaml").part("scenario")
    with pytest.raises(InputError, match=r"^entry\.yaml:11:23: 'user' is 5; accepted: a text, in quotes$"):
        parse_scenario(document)


def test_spoken_turns_may_leave_out_what_a_script_must_have() -> None:
    left_out = _SHORT.replace('user: "{k}", states: [k]', "user: hello, lifts: [k]")
    assert _problems(left_out) != []
    assert parse_scenario(parse(left_out), spoken_turns=True).stating("k") is None
    assert _problems(left_out.replace("lifts: [k]", "lifts: [kk]"), spoken_turns=True) != []
