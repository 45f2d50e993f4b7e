"""Which constraints bind at a turn, and why."""

from __future__ import annotations

from typing import Any

from fuzzturn.ledger import Ledger, opening, speak, use
from fuzzturn.scenario import Constraint, Goal, Line, Milestone, Scenario

_GOAL = Goal(says="something", milestones=(Milestone(id="done", check="done"),))


def _constraint(id: str, **more: Any) -> Constraint:
    return Constraint(id=id, checker="checks", statement=f"Mind {id}.", **more)


def _scenario(*constraints: Constraint, turns: tuple[dict[str, Any], ...] = ({},)) -> Scenario:
    lines = tuple(Line(id=f"t{n}", user="words", **more) for n, more in enumerate(turns, start=1))
    return Scenario(
        schema=1, scenario="s", title="t", environment="e", goal=_GOAL, constraints=constraints, turns=lines
    )


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
