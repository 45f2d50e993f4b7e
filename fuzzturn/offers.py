"""Offers: the operators' port, and what the operators of a project offer at each turn of a scenario."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from hypothesis.strategies import DrawFn, SearchStrategy

from fuzzturn.errors import FuzzturnError, InputError, PortError, Problem, closest
from fuzzturn.registry import Registered, tagger
from fuzzturn.scenario import Scenario
from fuzzturn.variant import Drop, Edit, Insert, Move, Pad

__all__ = [
    "Effect", "Guarded", "NotApplicable", "Offer", "Offers", "Place", "Slot", "Stage", "dropped", "drawn",
    "offers", "operator", "stage",
]  # fmt: skip

Place: TypeAlias = Literal["nowhere", "before", "around", "between", "here and there", "everywhere"]
"""Where in a session an operator is on: before the guarded turns, around the statements, or between these."""
_F = TypeVar("_F", bound=Callable[..., Any])

Effect: TypeAlias = Literal["preserve", "supersede", "relax", "add", "environment"]
"""What an operator's edits do to the ledger. `preserve`: a correct agent acts the same with and without the edit."""
Guarded: TypeAlias = Mapping[str, frozenset[str]]
"""Constraint id -> the scripted turns at which its checker found something to look at in the base run.

A constraint that is not a key was exercised nowhere. The empty mapping = unknown, there was no base run.
"""


class NotApplicable(FuzzturnError):
    """An operator raises it where it has nothing to vary in the scenario; the message is the reason reported."""


def operator(
    name: str, *, effect: Effect, drops: bool = False, version: int = 1, owner: str | None = None
) -> Callable[[_F], _F]:
    """Tag `f(scenario)` or `f(scenario, anchor)`, either also with `guarded`, as an operator of that name.

    With `anchor` (a scenario.Line) it is asked once per scripted turn and returns a strategy of edits at that turn,
    or None where it does not apply there. Without, its strategy is drawn up to twice a session. `guarded` is passed
    to a function that names it. `drops`: its edits are Drops, offered first and whatever the swarm switches say.
    Raises InputError for an unknown effect.
    """
    if effect not in get_args(Effect):
        what = f"@operator({name!r}) was given the effect {effect!r}"
        raise InputError(Problem(what=what, accepted=closest(str(effect), get_args(Effect))))
    extra = {"effect": effect, **({"drops": "yes"} if drops else {})}
    return tagger("operator", name, version=version, owner=owner, **extra)


@dataclass(frozen=True, slots=True)
class Offer:
    """What one operator offers at one turn, or anywhere."""

    operator: Registered
    edits: SearchStrategy[Edit]

    @property
    def name(self) -> str:
        return self.operator.tag.name


@dataclass(frozen=True, slots=True)
class Slot:
    """One scripted turn: what is offered there, and what goes when it is dropped."""

    turn: str
    dependants: frozenset[str]
    drops: tuple[Offer, ...]
    offers: tuple[Offer, ...]


@dataclass(frozen=True, slots=True)
class Offers:
    """Everything that the operators offer for one scenario. `switched`: the operators that have a swarm switch."""

    slots: tuple[Slot, ...]
    free: tuple[Offer, ...]
    switched: tuple[str, ...]
    skipped: Mapping[str, str]


def offers(scenario: Scenario, operators: Iterable[Registered], guarded: Guarded) -> Offers:
    """Ask every operator, in the order of their names. Raises PortError where one breaks its port."""
    at: dict[str | None, list[Offer]] = {None: []} | {line.id: [] for line in scenario.turns}
    skipped: dict[str, str] = {}
    switched: list[str] = []
    for piece in sorted(operators, key=lambda piece: piece.tag.name):
        try:
            asked = _ask(piece, scenario, guarded)
        except NotApplicable as reason:
            skipped[piece.tag.name] = str(reason)
            continue
        if not asked:
            skipped[piece.tag.name] = "it offers no edit for this scenario"
        elif not _drops(piece):
            switched.append(piece.tag.name)
        for turn, edits in asked.items():
            at[turn].append(Offer(piece, edits))
    slots = tuple(_slot(scenario, line.id, at[line.id]) for line in scenario.turns)
    return Offers(slots, tuple(at[None]), tuple(switched), skipped)


def _slot(scenario: Scenario, turn: str, offers: Sequence[Offer]) -> Slot:
    drops = tuple(offer for offer in offers if _drops(offer.operator))
    others = tuple(offer for offer in offers if not _drops(offer.operator))
    return Slot(turn, scenario.dependants(turn), drops, others)


def _drops(piece: Registered) -> bool:
    return piece.tag.option("drops") is not None


def _ask(piece: Registered, scenario: Scenario, guarded: Guarded) -> dict[str | None, SearchStrategy[Edit]]:
    """The operator's strategies by turn id; None is the key of the one strategy of an operator without anchor."""
    if piece.tag.kind != "operator":
        raise InputError(Problem(file=piece.file, what=f"{piece.tag.name!r} is a {piece.tag.kind}, not an operator"))
    wants = inspect.signature(piece.function).parameters
    if _drops(piece) and "anchor" not in wants:
        raise PortError(f"{_place(piece)} drops turns, so it must be asked turn by turn: give it a parameter `anchor`")
    options = {"guarded": guarded} if "guarded" in wants else {}
    asked: dict[str | None, SearchStrategy[Edit]] = {}
    for line in scenario.turns if "anchor" in wants else (None,):
        edits = piece.run(scenario, **({} if line is None else {"anchor": line}), **options)
        if edits is not None and not isinstance(edits, SearchStrategy):
            raise PortError(f"{_place(piece)} returned {edits!r}; it returns a Hypothesis strategy of edits, or None")
        if edits is not None and not edits.is_empty:
            asked[None if line is None else line.id] = edits
    return asked


def _place(piece: Registered) -> str:
    return f"{piece.file}: operator {piece.tag.name!r}"


def drawn(draw: DrawFn, offer: Offer) -> Edit:
    """One edit of the offer. Raises PortError where the operator draws what it may not."""
    edit: Edit = draw(offer.edits)
    if not isinstance(edit, Insert | Pad | Drop | Move) or edit.operator != offer.name:
        accepted = f"it draws edits (Insert, Pad, Drop, Move) with operator={offer.name!r}"
        raise PortError(f"{_place(offer.operator)} drew {edit!r}; {accepted}")
    if isinstance(edit, Drop) is not _drops(offer.operator):
        rule = "@operator(…, drops=True) marks operators that draw Drops and nothing else, no other may draw one"
        raise PortError(f"{_place(offer.operator)} drew {edit!r}; {rule}")
    return edit


@dataclass(frozen=True, slots=True)
class Stage:
    """Where in a script things happen: which turns state, which are guarded, and what lies between."""

    stating: frozenset[str]
    guarded: frozenset[str]
    between: frozenset[str]
    """From the first statement to the last guarded turn, both included."""

    def holds(self, place: Place, turn: str, before: str | None) -> bool:
        """Whether what is spoken just before `turn`, and after the turn `before`, is at that place."""
        match place:
            case "before":
                return turn in self.guarded
            case "around":
                return turn in self.stating or before in self.stating
            case "between":
                return turn in self.between
            case "everywhere":
                return True
            case _:
                return False


def stage(scenario: Scenario, guarded: Guarded) -> Stage:
    """The stage; where it is not known which turns are guarded, or none is, the last one counts as such."""
    ids = [line.id for line in scenario.turns]
    stating = frozenset(line.id for line in scenario.turns if line.states)
    late = frozenset[str]().union(*guarded.values()) & frozenset(ids) or frozenset(ids[-1:])
    first = min((ids.index(id) for id in stating), default=0)
    last = max((ids.index(id) for id in late), default=0)
    return Stage(stating, late, frozenset(ids[first : last + 1]))


def dropped(draw: DrawFn, slots: Sequence[Slot], unwanted: Set[str]) -> tuple[list[Edit], list[Slot]]:
    """Drops of the turns that are unwanted and may be dropped, and the slots of those that stay."""
    edits: list[Edit] = []
    kept: list[Slot] = []
    gone: set[str] = set()
    for slot in slots:
        if slot.turn in gone:  # with what it needs: there is nothing left to choose
            continue
        if slot.drops and slot.turn in unwanted:
            edits.append(drawn(draw, slot.drops[0]))
            gone |= slot.dependants
        else:
            kept.append(slot)
    return edits, kept
