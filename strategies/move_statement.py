"""Move: a constraint is stated earlier or later than in the script, in the same turn and the same words.

Effect on the ledger: preserve, at every turn that matters. The statement passes no turn at which one of its
constraints' checkers had something to look at, and no turn that states, lifts or supersedes the same constraint. So
wherever a call is checked the same limits bind as in the script. Where no base run has told which turns those are,
it only moves earlier: a limit may be known too early, never too late.

Evidence: how far back a prohibition lies decides whether it is kept (73 % at turn 5, 33 % at turn 16; requirements
stay at 100 %: arXiv 2604.20911); which turns outlive the cut depends on their place (last paragraph cut off with its
message: NetMindAI-Open/NarraNexus#73).
"""

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from fuzzturn.scenario import Line, Scenario
from fuzzturn.variant import Edit, Move
from fuzzturn.vary import Guarded, NotApplicable, operator


@operator("move_statement", effect="preserve")
def move_statement(scenario: Scenario, anchor: Line, guarded: Guarded) -> SearchStrategy[Edit] | None:
    """Move `anchor`, where it states a constraint, by one of the legal offsets, shrinking to the nearest."""
    if not any(line.states for line in scenario.turns):
        raise NotApplicable("no turn of the scenario states a constraint")
    if not anchor.states:
        return None
    before, after = _room(scenario, anchor, guarded)
    offsets = sorted([*range(-before, 0), *range(1, after + 1)], key=abs)
    if not offsets:
        return None
    return st.sampled_from([Move(operator="move_statement", anchor=anchor.id, offset=offset) for offset in offsets])


def _room(scenario: Scenario, anchor: Line, guarded: Guarded) -> tuple[int, int]:
    """How many places `anchor` may go earlier, and later."""
    place = scenario.turns.index(anchor)
    stops = [_stops(scenario, anchor, other, guarded) for other in scenario.turns]
    before = _free(scenario.turns[:place][::-1], stops[:place][::-1])
    after = _free(scenario.turns[place + 1 :], stops[place + 1 :]) if guarded else 0
    return before, after


def _free(towards: tuple[Line, ...], stops: list[bool]) -> int:
    """Turns before the nearest stop; only half the way to a stop that may itself be moved this way."""
    rooms = [room // 2 if line.states else room for room, line in enumerate(towards) if stops[room]]
    return min(rooms, default=len(towards))


def _stops(scenario: Scenario, anchor: Line, other: Line, guarded: Guarded) -> bool:
    if other.id in anchor.after or anchor.id in other.after:
        return True
    ours, theirs = scenario.rules_of(anchor), scenario.rules_of(other)
    checked = _checked(scenario, other, guarded), _checked(scenario, anchor, guarded)
    return bool(ours & theirs or ours & checked[0] or theirs & checked[1])


def _checked(scenario: Scenario, line: Line, guarded: Guarded) -> frozenset[str]:
    """The rules of which some version's checker found something to look at in the turn."""
    return frozenset(scenario.root(constraint) for constraint, turns in guarded.items() if line.id in turns)
