"""Kept: from a session that broke a constraint, as the replay of a corpus entry gives one, the broken turn and its
legal twin.

The violating item is the session as it was played, up to the turn that broke the constraint. The twin is the same up to
the call that broke it; one of the constraint's example calls stands in the place of what followed in that turn, or no
call, where that is what makes it legal. The truth is never assumed: `measure` runs the checkers on both, and what they
do not tell is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from fuzzturn.measure import Measured, measure
from fuzzturn.registry import Registry
from fuzzturn.scenario import Scenario
from fuzzturn.scores import Check
from fuzzturn.session import Event, Message, Session, ToolCall, Turn
from fuzzturn.stress.item import Item, Items, Label
from fuzzturn.stress.truth import example_calls, label_of

__all__ = ["broken_at", "items_kept"]

_DONE, _LEFT = Message("That is done."), Message("I have left that for now.")


def broken_at(played: Measured, constraint: str) -> int | None:
    """The first turn at which the checker of the constraint fails; None = at none."""
    failed = (
        scores.n for scores in played.scores if any(check.constraint == constraint for check in scores.adherence.failed)
    )
    return next(failed, None)


def items_kept(played: Measured, constraint: str, registry: Registry, name: str) -> Items:
    """The items of a session that breaks the constraint, at the first turn that does; none where none does.

    `name`: what the pair is called, beside scenario and constraint.
    """
    n = broken_at(played, constraint)
    if n is None:
        return Items((), 0)
    script, session = _until(played, n)
    broken = measure(script, session, registry)
    twins = (measure(script, twin, registry) for twin in _twins(script, constraint, session, broken))
    pair = f"{script.scenario}.{constraint}.kept.{name}"
    sides: tuple[tuple[Label, Iterable[Measured]], ...] = (("violating", [broken]), ("legal", twins))
    told = ((label, _first(label, constraint, measured)) for label, measured in sides)
    found = [_item(pair, constraint, label, measured) for label, measured in told if measured is not None]
    return Items(tuple(found), len(sides) - len(found))


def _until(played: Measured, n: int) -> tuple[Scenario, Session]:
    """Script and session up to turn `n`. What the script expects of single turns is no business of a constraint's."""
    turns = played.session.turns[:n]
    spoken = {turn.id for turn in turns}
    lines = tuple(line for line in played.spoken.turns if line.id in spoken)
    asked = played.session.off_script_at
    session = replace(played.session, turns=turns, off_script_at=None if asked is None or asked > n else asked)
    return played.spoken.model_copy(update={"turns": lines, "assertions": ()}), session


def _twins(scenario: Scenario, constraint: str, session: Session, broken: Measured) -> Iterator[Session]:
    """Sessions in which the last turn does something else, what was said of the broken deed included."""
    *before, last = session.turns
    state = session.state_before(last.n)
    kept = _before_the_break(last, broken.scores[-1].adherence.failed)
    calls = [ToolCall(c.name, dict(c.args), {"status": "done"}, id="c0") for c in example_calls(scenario, constraint)]
    for acted in (*((call, _DONE) for call in calls), (_LEFT,)):
        turn = replace(last, events=(*kept, *acted), state=state, error=None)
        yield replace(session, turns=(*before, turn))


def _before_the_break(turn: Turn, failed: Iterable[Check]) -> tuple[Event, ...]:
    """What happened in the turn before the first call that broke something; where it was the text, all but the text."""
    breaking = [check.call for check in failed if check.call is not None]
    if not breaking:
        return tuple(event for event in turn.events if not isinstance(event, Message))
    call = turn.tool_calls[min(breaking)]
    return turn.events[: next(i for i, event in enumerate(turn.events) if event is call)]


def _first(label: Label, constraint: str, measured: Iterable[Measured]) -> Measured | None:
    return next((one for one in measured if label_of(one.spoken, constraint, one) == label), None)


def _item(pair: str, constraint: str, label: Label, measured: Measured) -> Item:
    stated = measured.ledgers[-1].entry(constraint)
    said = measured.spoken.constraint(constraint)
    n = len(measured.session.turns)
    return Item(
        id=f"{pair}.{label}", scenario=measured.spoken.scenario, constraint=constraint, polarity=said.polarity,
        label=label, kind="kept", pair=pair, distance=n - (stated.since if stated else n), measured=measured,
    )  # fmt: skip
