"""Laws of the ledger, against the shortest description of it that there is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fuzzturn.ledger import Ledger, opening, speak, use
from fuzzturn.scenario import Constraint, Goal, Line, Milestone, Scenario

_NAMES = ("a", "b", "c")
_SCENARIO = Scenario(
    schema=1,
    scenario="s",
    title="t",
    environment="e",
    goal=Goal(says="g", milestones=(Milestone(id="m", check="m"),)),
    constraints=tuple(Constraint(id=name, checker="k", statement=name) for name in _NAMES),
    turns=(Line(id="t", user="words"),),
)
_SOME = st.lists(st.sampled_from(_NAMES), max_size=2, unique=True).map(tuple)
_LINES = st.lists(st.builds(Line, id=st.just("t"), user=st.just("words"), states=_SOME, lifts=_SOME), max_size=6)


def _after(lines: list[Line]) -> Ledger:
    ledger = opening(_SCENARIO)
    for n, line in enumerate(lines, start=1):
        ledger = speak(ledger, _SCENARIO, line, n)
    return ledger


@given(_LINES)
def test_a_constraint_binds_exactly_when_it_was_stated_after_it_was_last_lifted(lines: list[Line]) -> None:
    bound: dict[str, bool] = {}
    for line in lines:
        bound |= dict.fromkeys(line.states, True)
        bound |= {name: False for name in line.lifts if name in bound}
    assert {c.id for c in _after(lines).binding} == {name for name, binds in bound.items() if binds}


@given(_LINES)
def test_every_constraint_stated_so_far_has_exactly_one_entry(lines: list[Line]) -> None:
    stated = {name for line in lines for name in line.states}
    assert sorted(entry.constraint.id for entry in _after(lines).entries) == sorted(stated)


@given(_LINES, _SOME)
def test_lasting_constraints_do_not_wear_out(lines: list[Line], exercised: tuple[str, ...]) -> None:
    ledger = _after(lines)
    assert use(ledger, exercised, len(lines)) is ledger
