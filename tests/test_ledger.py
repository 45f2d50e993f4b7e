"""Which constraints bind at a turn, and why."""

from __future__ import annotations

from typing import Any

from fuzzturn.clock import time
from fuzzturn.ledger import Ledger, opening, speak, use
from fuzzturn.scenario import Constraint, Goal, Line, Milestone, Replaced, Scenario, When

_GOAL = Goal(says="something", milestones=(Milestone(id="done", check="done"),))


def _constraint(id: str, **more: Any) -> Constraint:
    return Constraint(id=id, checker="checks", statement=f"Mind {id}.", **more)


def _scenario(*constraints: Constraint, turns: tuple[dict[str, Any], ...] = ({},)) -> Scenario:
    lines = tuple(Line(id=f"t{n}", user="words", **more) for n, more in enumerate(turns, start=1))
    return Scenario(
        schema=1, scenario="s", title="t", environment="e", goal=_GOAL, constraints=constraints, turns=lines
    )


def _clocked(scenario: Scenario, *times: str) -> list[Ledger]:
    """The ledger after each turn, the clock showing these times."""
    ledger, found = opening(scenario), []
    for n, (line, now) in enumerate(zip(scenario.turns, times, strict=True), start=1):
        found.append(ledger := speak(ledger, scenario, line, n, now=time(now)))
    return found


def _after(scenario: Scenario, exercised: dict[int, tuple[str, ...]] | None = None) -> Ledger:
    """The ledger after all turns; `exercised` says what the checkers found at which turn."""
    ledger = opening(scenario)
    for n, line in enumerate(scenario.turns, start=1):
        ledger = use(speak(ledger, scenario, line, n), (exercised or {}).get(n, ()), n)
    return ledger


def _binding(ledger: Ledger) -> list[str]:
    return [constraint.id for constraint in ledger.binding]


def _why(ledger: Ledger, id: str) -> str:
    entry = ledger.entry(id)
    assert entry is not None
    return entry.why()


def test_nothing_binds_before_it_is_stated() -> None:
    assert _binding(opening(_scenario(_constraint("ceiling"), turns=({"states": ("ceiling",)},)))) == []


def test_a_stated_constraint_binds_in_its_own_turn_and_in_every_later_one() -> None:
    scenario = _scenario(_constraint("ceiling"), turns=({}, {"states": ("ceiling",)}, {}, {}))
    ledger = opening(scenario)
    seen = []
    for n, line in enumerate(scenario.turns, start=1):
        ledger = speak(ledger, scenario, line, n)
        seen.append(_binding(ledger))
    assert seen == [[], ["ceiling"], ["ceiling"], ["ceiling"]]
    assert _why(ledger, "ceiling") == "bound since turn 2"


def test_what_the_system_prompt_states_binds_from_the_start() -> None:
    ledger = opening(_scenario(_constraint("policy", source="system")))
    assert _binding(ledger) == ["policy"]
    assert _why(ledger, "policy") == "bound since the system prompt"


def test_a_lifted_constraint_no_longer_binds() -> None:
    ledger = _after(_scenario(_constraint("ceiling"), turns=({"states": ("ceiling",)}, {"lifts": ("ceiling",)})))
    assert _binding(ledger) == []
    assert _why(ledger, "ceiling") == "bound since turn 1, lifted at turn 2"


def test_a_lifted_constraint_that_is_stated_again_binds_again() -> None:
    turns = ({"states": ("ceiling",)}, {"lifts": ("ceiling",)}, {"states": ("ceiling",)})
    ledger = _after(_scenario(_constraint("ceiling"), turns=turns))
    assert _binding(ledger) == ["ceiling"]
    assert _why(ledger, "ceiling") == "bound since turn 3"


def test_lifting_what_was_never_stated_does_nothing() -> None:
    assert _after(_scenario(_constraint("ceiling"), turns=({"lifts": ("ceiling",)},))) == Ledger()


def test_a_constraint_ends_what_it_supersedes() -> None:
    constraints = (_constraint("old"), _constraint("new", supersedes="old"))
    ledger = _after(_scenario(*constraints, turns=({"states": ("old",)}, {"states": ("new",)})))
    assert _binding(ledger) == ["new"]
    assert _why(ledger, "old") == "bound since turn 1, superseded by new at turn 2"


def test_what_a_lasting_constraint_superseded_stays_ended_when_that_one_is_lifted() -> None:
    constraints = (_constraint("old"), _constraint("new", supersedes="old"))
    turns = ({"states": ("old",)}, {"states": ("new",)}, {"lifts": ("new",)})
    assert _binding(_after(_scenario(*constraints, turns=turns))) == []


def test_an_approval_is_used_up_by_the_first_turn_that_its_checker_looks_at() -> None:
    approval = _constraint("once", uses=1)
    scenario = _scenario(approval, turns=({"states": ("once",)}, {}, {}))
    assert _binding(_after(scenario)) == ["once"]
    used = _after(scenario, {2: ("once",)})
    assert _binding(used) == []
    assert _why(used, "once") == "bound since turn 1, used up at turn 2"


def test_what_a_used_approval_had_superseded_binds_again() -> None:
    constraints = (_constraint("ceiling"), _constraint("once", supersedes="ceiling", uses=1))
    scenario = _scenario(*constraints, turns=({"states": ("ceiling",)}, {"states": ("once",)}, {}))
    assert _binding(_after(scenario)) == ["once"]
    assert _binding(_after(scenario, {3: ("once",)})) == ["ceiling"]


def test_what_was_lifted_meanwhile_does_not_come_back_with_a_used_approval() -> None:
    constraints = (_constraint("ceiling"), _constraint("once", supersedes="ceiling", uses=1))
    turns = ({"states": ("ceiling",)}, {"states": ("once",)}, {"lifts": ("ceiling",)})
    assert _binding(_after(_scenario(*constraints, turns=turns), {3: ("once",)})) == []


def test_an_approval_limits_nothing_where_no_rule_is_left_that_it_is_an_exception_to() -> None:
    rule, once = _constraint("rule"), _constraint("once", supersedes="rule", uses=1)
    stated = ({"states": ("rule",)}, {"states": ("once",)}, {"lifts": ("rule",)})
    for turns in (stated, (stated[0], stated[2], stated[1]), (stated[1],)):
        ledger = _after(_scenario(rule, once, turns=turns))
        assert _binding(ledger) == []
        assert _why(ledger, "once").endswith("does not apply now: no rule is in force that it is an exception to")
    said_again = _after(_scenario(rule, once, turns=(*stated, {"states": ("rule",)})))
    assert _binding(said_again) == ["rule"]


def test_a_lasting_constraint_is_not_used_up() -> None:
    scenario = _scenario(_constraint("ceiling"), turns=({"states": ("ceiling",)},))
    assert _binding(_after(scenario, {1: ("ceiling",)})) == ["ceiling"]


def test_an_unscripted_message_leaves_the_ledger_alone() -> None:
    scenario = _scenario(_constraint("ceiling"), turns=({"states": ("ceiling",)},))
    ledger = _after(scenario)
    assert speak(ledger, scenario, None, 2) is ledger


def test_entries_stand_in_order_of_statement() -> None:
    b, a = {"states": ("b",)}, {"states": ("a",)}
    ledger = _after(_scenario(_constraint("a"), _constraint("b"), turns=(b, a, b)))
    assert [entry.constraint.id for entry in ledger.entries] == ["a", "b"]


def test_a_used_approval_does_not_revive_what_a_lasting_constraint_superseded() -> None:
    old, new = _constraint("old"), _constraint("new", supersedes="old")
    once = _constraint("once", supersedes="old", uses=1)
    turns = ({"states": ("old",)}, {"states": ("new",)}, {"states": ("once",)})
    for order in (turns, (turns[0], turns[2], turns[1])):
        used_at = 1 + [turn["states"] for turn in order].index(("once",))
        assert _binding(_after(_scenario(old, new, once, turns=order), {used_at: ("once",)})) == ["new"]


def test_what_later_supersedes_a_used_approval_leaves_it_used() -> None:
    once, other = _constraint("once", uses=1), _constraint("other", supersedes="once")
    ledger = _after(_scenario(once, other, turns=({"states": ("once",)}, {"states": ("other",)})), {1: ("once",)})
    entry = ledger.entry("once")
    assert entry is not None
    assert (entry.status, entry.by) == ("used", None)


def test_withdrawing_an_unused_approval_brings_back_what_it_superseded() -> None:
    ceiling, once = _constraint("ceiling"), _constraint("once", supersedes="ceiling", uses=1)
    turns = ({"states": ("ceiling",)}, {"states": ("once",)}, {"lifts": ("once",)})
    assert _binding(_after(_scenario(ceiling, once, turns=turns))) == ["ceiling"]


def test_an_ended_entry_keeps_its_end_and_a_superseded_one_the_first_that_superseded_it() -> None:
    old, new = _constraint("old"), _constraint("new", supersedes="old")
    newer = _constraint("newer", supersedes="old")
    turns = (
        {"states": ("old",)},
        {"states": ("new",)},
        {"states": ("newer",)},
        {"lifts": ("old",)},
        {"lifts": ("old",)},
    )
    ledger = _after(_scenario(old, new, newer, turns=turns[:3]))
    assert _why(ledger, "old") == "bound since turn 1, superseded by new at turn 2"
    assert _why(_after(_scenario(old, new, newer, turns=turns)), "old") == "bound since turn 1, lifted at turn 4"


def test_of_two_versions_of_one_rule_the_one_stated_last_wins_in_any_order() -> None:
    old, new, newer = (
        _constraint("old"), _constraint("new", supersedes="old"), _constraint("newer", supersedes="old"),
    )  # fmt: skip
    said = {name: {"states": (name,)} for name in ("old", "new", "newer")}
    for order in (("old", "new", "newer"), ("old", "newer", "new"), ("new", "old"), ("old", "new", "old")):
        ledger = _after(_scenario(old, new, newer, turns=tuple(said[name] for name in order)))
        assert _binding(ledger) == [order[-1]]


def test_there_and_back_the_first_version_is_in_force_and_the_other_is_not() -> None:
    constraints = (_constraint("old", args={"limit": 450}), _constraint("new", args={"limit": 520}, supersedes="old"))
    turns = ({"states": ("old",)}, {"states": ("new",)}, {"states": ("old",)})
    ledger = _after(_scenario(*constraints, turns=turns))
    assert _binding(ledger) == ["old"]
    assert _why(ledger, "new") == "bound since turn 2, lowered to 450 by old at turn 3"


def test_a_change_of_a_single_figure_is_told_as_such() -> None:
    constraints = (_constraint("old", args={"limit": 450}), _constraint("new", args={"limit": 500}, supersedes="old"))
    ledger = _after(_scenario(*constraints, turns=({"states": ("old",)}, {"states": ("new",)})))
    assert _why(ledger, "old") == "bound since turn 1, raised to 500 by new at turn 2"


def test_a_part_that_changed_hands_is_no_longer_looked_at_by_the_whole() -> None:
    part = _constraint("part", supersedes=Replaced(id="whole", args={"leg": "return"}))
    turns = ({"states": ("whole",)}, {"states": ("part",)}, {"lifts": ("part",)})
    scenario = _scenario(_constraint("whole"), part, turns=turns[:2])
    ledger = _after(scenario)
    assert _binding(ledger) == ["whole", "part"]
    entry = ledger.entry("whole")
    assert entry is not None
    assert entry.excluding == [{"leg": "return"}]
    assert entry.why() == "bound since turn 1, but for leg return (part)"
    given_back = _after(_scenario(_constraint("whole"), part, turns=turns)).entry("whole")
    assert given_back is not None
    assert given_back.excluding == []


def test_the_whole_stated_again_takes_every_part_back() -> None:
    part = _constraint("part", supersedes=Replaced(id="whole", args={"leg": "return"}))
    turns = ({"states": ("whole",)}, {"states": ("part",)}, {"states": ("whole",)})
    ledger = _after(_scenario(_constraint("whole"), part, turns=turns))
    assert _binding(ledger) == ["whole"]


def test_what_expires_binds_until_its_time_and_what_it_superseded_after() -> None:
    until = _constraint("until", supersedes="old", expires="2026-05-12T18:00:00Z")
    scenario = _scenario(_constraint("old"), until, turns=({"states": ("old",)}, {"states": ("until",)}, {}, {}))
    times = ("2026-05-12T09:00:00Z",) * 2 + ("2026-05-12T17:59:59Z", "2026-05-12T20:00:00+02:00")
    ledgers = _clocked(scenario, *times)
    assert [_binding(ledger) for ledger in ledgers] == [["old"], ["until"], ["until"], ["old"]]
    assert _why(ledgers[-1], "until") == "bound since turn 2, expired at turn 4"


def test_without_a_clock_nothing_expires() -> None:
    until = _constraint("until", expires="2026-05-12T18:00:00Z")
    assert _binding(_after(_scenario(until, turns=({"states": ("until",)}, {})))) == ["until"]


def test_a_condition_is_held_against_every_turn_and_wakes_and_sleeps() -> None:
    only = _constraint("only", supersedes="old", when=When(check="direct"))
    scenario = _scenario(_constraint("old"), only, turns=({"states": ("old",)}, {"states": ("only",)}, {}, {}))
    ledger, seen = opening(scenario), []
    for n, direct in enumerate((True, True, False, True), start=1):
        ledger = speak(ledger, scenario, scenario.turns[n - 1], n, holds=lambda _: direct)  # noqa: B023 - called at once
        seen.append(_binding(ledger))
    assert seen == [["old"], ["only"], ["old"], ["only"]]


def test_a_dormant_constraint_tells_what_it_waits_for() -> None:
    only = _constraint("only", when=When(check="held", args={"kind": "hotel"}))
    scenario = _scenario(only, turns=({"states": ("only",)},))
    ledger = speak(opening(scenario), scenario, scenario.turns[0], 1, holds=lambda _: False)
    assert _binding(ledger) == []
    assert _why(ledger, "only") == "stated in turn 1, does not apply now: held (kind hotel) is false"
