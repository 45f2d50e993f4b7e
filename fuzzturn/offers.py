"""Offers: the operators' port, and what the operators of a project offer at each turn of a scenario."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from hypothesis.strategies import DrawFn, SearchStrategy

from fuzzturn.errors import FuzzturnError, InputError, PortError, Problem, closest
from fuzzturn.registry import Registered, tagger
from fuzzturn.scenario import Scenario
from fuzzturn.variant import Disturb, Drop, Edit, disturbs_the_world, preserves

__all__ = [
    "Called", "Effect", "Guarded", "NotApplicable", "Offer", "Offers", "Place", "Slot", "Stage", "dropped", "drawn",
    "marked", "offers", "operator", "stage",
]  # fmt: skip

Place: TypeAlias = Literal["nowhere", "early", "before", "around", "between", "here and there", "everywhere"]
"""Where in a session an operator is on: up to the first statement, before the guarded turns, around the statements, or
between these."""
_F = TypeVar("_F", bound=Callable[..., Any])

Effect: TypeAlias = Literal["preserve", "supersede", "relax", "add", "environment"]
"""What an operator's edits do to the ledger. `preserve`: a correct agent acts the same with and without the edit."""
Guarded: TypeAlias = Mapping[str, frozenset[str]]
"""Constraint id -> the scripted turns at which its checker found something to look at in the base run.

A constraint that is not a key was exercised nowhere. The empty mapping = unknown, there was no base run.
"""


Called: TypeAlias = Mapping[str, frozenset[str]]
"""Scripted turn -> the tools that were called in it in the base run. The empty mapping = unknown, as with Guarded."""


class NotApplicable(FuzzturnError):
    """An operator raises it where it has nothing to vary in the scenario; the message is the reason reported."""


def operator(  # noqa: PLR0913 - the keywords of a decorator are read one by one
    name: str,
    *,
    effect: Effect,
    drops: bool = False,
    seldom: bool = False,
    disturbs: bool = False,
    version: int = 1,
    owner: str | None = None,
) -> Callable[[_F], _F]:
    """Tag `f(scenario)` or `f(scenario, anchor)` as an operator of that name.

    With `anchor` (a scenario.Line) it is asked once per scripted turn and returns a strategy of edits at that turn,
    or None where it does not apply there. Without, its strategy is drawn up to twice a session. A strategy draws one
    edit or a tuple of edits, each of which makes sense without the others. `guarded` and `called`, see the types of
    these names, are passed to a function that names them.

    `drops`: its edits are Drops, offered first and whatever the swarm switches say. `seldom`: it is about one
    particular kind of trouble, so a session has one or two such operators, each drawn once; it takes no `anchor`.
    `disturbs`: its edits need an agent that offers `disturb`. Raises InputError for an unknown effect.
    """
    if effect not in get_args(Effect):
        what = f"@operator({name!r}) was given the effect {effect!r}"
        raise InputError(Problem(what=what, accepted=closest(str(effect), get_args(Effect))))
    marks = {"drops": drops, "seldom": seldom, "disturbs": disturbs}
    extra = {"effect": effect, **{mark: "yes" for mark, given in marks.items() if given}}
    return tagger("operator", name, version=version, owner=owner, **extra)


@dataclass(frozen=True, slots=True)
class Offer:
    """What one operator offers at one turn, or anywhere."""

    operator: Registered
    edits: SearchStrategy[Any]

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
    seldom: tuple[Offer, ...]
    skipped: Mapping[str, str]


def marked(piece: Registered, mark: Literal["drops", "seldom", "disturbs"]) -> bool:
    """Whether the operator was tagged so."""
    return piece.tag.option(mark) is not None


def offers(
    scenario: Scenario, operators: Iterable[Registered], guarded: Guarded, called: Called = MappingProxyType({})
) -> Offers:
    """Ask every operator, in the order of their names. Raises PortError where one breaks its port."""
    at: dict[str | None, list[Offer]] = {None: []} | {line.id: [] for line in scenario.turns}
    skipped: dict[str, str] = {}
    switched: list[str] = []
    for piece in sorted(operators, key=lambda piece: piece.tag.name):
        try:
            asked = _ask(piece, scenario, guarded, called)
        except NotApplicable as reason:
            skipped[piece.tag.name] = str(reason)
            continue
        if not asked:
            skipped[piece.tag.name] = "it offers no edit for this scenario"
        elif not marked(piece, "drops") and not marked(piece, "seldom"):
            switched.append(piece.tag.name)
        for turn, edits in asked.items():
            at[turn].append(Offer(piece, edits))
    slots = tuple(_slot(scenario, line.id, at[line.id]) for line in scenario.turns)
    seldom = tuple(offer for offer in at[None] if marked(offer.operator, "seldom"))
    return Offers(slots, tuple(o for o in at[None] if o not in seldom), tuple(switched), seldom, skipped)


def _slot(scenario: Scenario, turn: str, offers: Sequence[Offer]) -> Slot:
    drops = tuple(offer for offer in offers if marked(offer.operator, "drops"))
    others = tuple(offer for offer in offers if not marked(offer.operator, "drops"))
    return Slot(turn, scenario.dependants(turn), drops, others)


def _ask(
    piece: Registered, scenario: Scenario, guarded: Guarded, called: Called
) -> dict[str | None, SearchStrategy[Any]]:
    """The operator's strategies by turn id; None is the key of the one strategy of an operator without anchor."""
    if piece.tag.kind != "operator":
        raise InputError(Problem(file=piece.file, what=f"{piece.tag.name!r} is a {piece.tag.kind}, not an operator"))
    wants = inspect.signature(piece.function).parameters
    if marked(piece, "seldom") and "anchor" in wants:
        raise PortError(f"{_place(piece)} is drawn once a session, so it is not asked turn by turn: no `anchor`")
    if marked(piece, "drops") and "anchor" not in wants:
        raise PortError(f"{_place(piece)} drops turns, so it must be asked turn by turn: give it a parameter `anchor`")
    options = {name: value for name, value in (("guarded", guarded), ("called", called)) if name in wants}
    asked: dict[str | None, SearchStrategy[Any]] = {}
    for line in scenario.turns if "anchor" in wants else (None,):
        edits = piece.run(scenario, **({} if line is None else {"anchor": line}), **options)
        if edits is not None and not isinstance(edits, SearchStrategy):
            raise PortError(f"{_place(piece)} returned {edits!r}; it returns a Hypothesis strategy of edits, or None")
        if edits is not None and not edits.is_empty:
            asked[None if line is None else line.id] = edits
    return asked


def _place(piece: Registered) -> str:
    return f"{piece.file}: operator {piece.tag.name!r}"


def drawn(draw: DrawFn, offer: Offer) -> tuple[Edit, ...]:
    """What the offer draws, one edit or several. Raises PortError where the operator draws what it may not."""
    given = draw(offer.edits)
    edits: tuple[Edit, ...] = given if isinstance(given, tuple) else (given,)
    for edit in edits:
        if (rule := _broken_rule(edit, offer)) is not None:
            raise PortError(f"{_place(offer.operator)} drew {edit!r}; {rule}")
    return edits


def _broken_rule(edit: Edit, offer: Offer) -> str | None:
    piece = offer.operator
    if not isinstance(edit, Edit) or edit.operator != offer.name:
        names = ", ".join(kind.__name__ for kind in get_args(Edit))
        return f"it draws edits ({names}) with operator={offer.name!r}"
    if isinstance(edit, Drop) is not marked(piece, "drops"):
        return "@operator(…, drops=True) marks operators that draw Drops and nothing else, no other may draw one"
    if isinstance(edit, Disturb) and not marked(piece, "disturbs"):
        return "@operator(…, disturbs=True) marks operators that draw a Disturb"
    effect = piece.tag.option("effect")
    if effect == "preserve" and not preserves(edit):
        return "its effect is preserve, and that edit changes what binds or what the world does"
    if effect != "environment" and disturbs_the_world(edit):
        return "its effect is not environment, and that edit changes what the world does"
    return None


@dataclass(frozen=True, slots=True)
class Stage:
    """Where in a script things happen: which turns state, which are guarded, and what lies between."""

    stating: frozenset[str]
    guarded: frozenset[str]
    between: frozenset[str]
    """From the first statement to the last guarded turn, both included."""
    early: frozenset[str]
    """Up to the first statement, which is included."""

    def holds(self, place: Place, turn: str, before: str | None) -> bool:
        """Whether what is spoken just before `turn`, and after the turn `before`, is at that place."""
        match place:
            case "before":
                return turn in self.guarded
            case "around":
                return turn in self.stating or before in self.stating
            case "between":
                return turn in self.between
            case "early":
                return turn in self.early
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
    return Stage(stating, late, frozenset(ids[first : last + 1]), frozenset(ids[: first + 1]))


def dropped(draw: DrawFn, slots: Sequence[Slot], unwanted: Set[str]) -> tuple[list[Edit], list[Slot]]:
    """Drops of the turns that are unwanted and may be dropped, and the slots of those that stay."""
    edits: list[Edit] = []
    kept: list[Slot] = []
    gone: set[str] = set()
    for slot in slots:
        if slot.turn in gone:  # with what it needs: there is nothing left to choose
            continue
        if slot.drops and slot.turn in unwanted:
            edits += drawn(draw, slot.drops[0])
            gone |= slot.dependants
        else:
            kept.append(slot)
    return edits, kept
