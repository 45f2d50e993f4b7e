"""Trying: every piece that a scenario uses, called once before any agent is, on a session in which nothing happened.

A milestone that raises on an empty world would otherwise end the first session, long after its author looked away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fuzzturn.check.arguments import misfits_of
from fuzzturn.check.case import Case
from fuzzturn.check.examples import check_once
from fuzzturn.checkers import CheckResult, SessionState
from fuzzturn.document import Address
from fuzzturn.errors import FuzzturnError, InputError, Problem, blaming
from fuzzturn.ledger import opening
from fuzzturn.registry import Registered
from fuzzturn.session import Commitment, Turn

__all__ = ["faults"]

_NOTHING_HAPPENED = Turn(n=1, id="nothing", user="")


def faults(case: Case) -> Iterator[Problem]:
    """Pieces that raise, or answer in another type than their port says. Nothing where there is no world to show."""
    if case.world is not None:
        yield from _checkers(case)
        yield from _milestones(case)
        yield from _invariants(case)
        yield from _commitment_rules(case)


def _checkers(case: Case) -> Iterator[Problem]:
    """Only those without examples: the others have been executed."""
    for at, constraint, piece in case.constraints():
        examples = (*constraint.examples.passing, *constraint.examples.failing)
        if examples or any(misfits_of(case.document, at, piece, constraint.args, given_by_port=2)):
            continue
        try:
            check_once(case, constraint, ())
        except FuzzturnError as error:
            yield _fault(case, (*at, "checker"), error, "a checker that answers a turn without tool calls")


def _milestones(case: Case) -> Iterator[Problem]:
    state = _state(case)
    for at, milestone, piece in case.milestones():
        if any(misfits_of(case.document, at, piece, milestone.args, given_by_port=1)):
            continue
        try:
            answer = piece.run(state, **milestone.args)
        except FuzzturnError as error:
            yield _fault(case, (*at, "check"), error, "a milestone that answers before anything has happened")
        else:
            if not isinstance(answer, bool):
                yield case.document.problem((*at, "check"), _other(piece, answer), "True or False")


def _invariants(case: Case) -> Iterator[Problem]:
    state = _state(case).environment
    for index, assertion in enumerate(case.scenario.assertions):
        for place, name in enumerate(assertion.state_invariants):
            at = ("assertions", index, "state_invariants", place)
            if (piece := case.piece("invariant", name)) is None:
                continue
            try:
                answer = piece.run(state, state)
            except FuzzturnError as error:
                yield _fault(case, at, error, "an invariant that answers where nothing has changed")
            else:
                if not isinstance(answer, CheckResult):
                    yield case.document.problem(at, _other(piece, answer), "a CheckResult")


def _commitment_rules(case: Case) -> Iterator[Problem]:
    """No scenario names them: the project's rules look at every turn."""
    for piece in case.registry.of_kind("commitment"):
        try:
            with blaming(f"commitment {piece.tag.name!r}"):
                answer = piece.function(_NOTHING_HAPPENED)
                promises = list(answer) if isinstance(answer, Iterable) else None  # a generator runs only now
        except FuzzturnError as error:
            yield Problem(what=str(error), accepted="a rule that answers a turn in which nothing is said")
        else:
            if promises is None or not all(isinstance(promise, Commitment) for promise in promises):
                yield Problem(what=_other(piece, answer), accepted="a list of Commitment")


def _state(case: Case) -> SessionState:
    shown = case.world.state if case.world else {}
    return SessionState(turns=(_NOTHING_HAPPENED,), environment=shown, before=shown, ledger=opening(case.scenario))


def _other(piece: Registered, answer: Any) -> str:
    code = getattr(piece.function, "__code__", None)
    place = f"{piece.file}:{code.co_firstlineno}" if code else piece.file
    return f"{place}: {piece.tag.kind} {piece.tag.name!r} returned {answer!r}"


def _fault(case: Case, at: Address, error: FuzzturnError, accepted: str) -> Problem:
    """An InputError of a piece's is its own word on its arguments."""
    if isinstance(error, InputError):
        return case.document.problem((*at[:-1], "args"), str(error))
    return case.document.problem(at, str(error), accepted)
