"""Vary: one Hypothesis strategy per scenario that draws its variants from the operators of a project.

The encoding is chosen for how it generates and how it shrinks; each point was measured against its alternatives.

- One swarm switch per operator, drawn as bits of a fixed number of bytes: with every operator always on, no session
  ever lacks one, and some failures need that. Integers as a mask lean small and seldom switch the high bits on.
- One small integer per scripted turn, into a menu of the entries that are live there. Drawing fields that a switch
  makes meaningless costs time and gives duplicates.
- Dropping comes first in that menu, where integers shrink to, and obeys no switch: behind one, turning it off keeps
  every turn, which to Hypothesis is the simpler session.
- Nothing is rejected (no `assume`, no `filter`): every draw is a variant, the simplest one the required turns alone.

Under plain `@given` a Pad without a size is spoken at PAD_TOKENS_MIN, for only the search can solve it.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar, get_args

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from fuzzturn.errors import FuzzturnError, InputError, PortError, Problem, closest
from fuzzturn.registry import Registered, tagger
from fuzzturn.scenario import Scenario
from fuzzturn.variant import Drop, Edit, Insert, Move, Pad, Variant

__all__ = ["EXAMPLES_PER_RUN", "Effect", "Guarded", "NotApplicable", "draw", "operator", "skipped", "variants"]

_F = TypeVar("_F", bound=Callable[..., Any])

Effect: TypeAlias = Literal["preserve", "supersede", "relax", "add", "environment"]
"""What an operator's edits do to the ledger. `preserve`: a correct agent acts the same with and without the edit."""
Guarded: TypeAlias = Mapping[str, frozenset[str]]
"""Constraint id -> the scripted turns at which its checker found something to look at in the base run.

A constraint that is not a key was exercised nowhere. The empty mapping = unknown, there was no base run.
"""

EXAMPLES_PER_RUN = 9
"""After ten valid examples Hypothesis mostly mutates a few of them. Measured over 225 examples of such an encoding,
runs of nine put variants at 0.67 from their nearest neighbour, one long run at 0.14 (Jaccard, sets of turns)."""
_FREE_EDITS = 2
"""Edits at most per session from one operator that is not asked turn by turn."""

_GENERATE = settings(
    max_examples=EXAMPLES_PER_RUN,
    phases=(Phase.generate,),
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=False,  # said although it is the default: a user's profile must not change what a seed means
    backend="hypothesis",
)


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


def variants(
    scenario: Scenario, *, operators: Iterable[Registered], guarded: Guarded | None = None
) -> SearchStrategy[Variant]:
    """A strategy of variants of `scenario`; its simplest value speaks the required turns and nothing else.

    Operators that do not apply are left out, see `skipped`; their order does not matter. Raises PortError where one
    breaks its port, when it is asked or when it is drawn from.
    """
    return _variant(scenario, _plan(scenario, operators, guarded or {}))


def skipped(
    scenario: Scenario, operators: Iterable[Registered], *, guarded: Guarded | None = None
) -> Mapping[str, str]:
    """The operators that have nothing to vary in `scenario`, by name, each with the reason. Raises as `variants`."""
    return _plan(scenario, operators, guarded or {}).skipped


def draw(strategy: SearchStrategy[Variant], n: int, seed: int, *, scenario: str = "", cell: int = 0) -> list[Variant]:
    """Up to `n` variants that speak different words, in the order drawn; fewer where no more turn up.

    Gives up after 8 + n/2 runs of EXAMPLES_PER_RUN examples. Equal arguments give equal lists in one process that
    has loaded all its modules: Hypothesis also draws constants that it finds in them, so record what was drawn.
    """
    found: dict[str, Variant] = {}

    @_GENERATE
    @given(strategy)
    def record(variant: Variant) -> None:
        found.setdefault(variant.key, variant)

    for run in range(8 + n // 2):
        if len(found) >= n:
            break
        hypothesis.seed(_seed(seed, scenario, "generate", cell, run))(record)()
    return list(found.values())[:n]


def _seed(*parts: object) -> int:
    return int.from_bytes(hashlib.sha256(json.dumps(parts).encode()).digest()[:8])


@dataclass(frozen=True, slots=True)
class _Offer:
    """What one operator offers at one turn, or anywhere."""

    operator: Registered
    edits: SearchStrategy[Edit]

    @property
    def name(self) -> str:
        return self.operator.tag.name


@dataclass(frozen=True, slots=True)
class _Slot:
    """One scripted turn: what is offered there, and what goes when it is dropped."""

    turn: str
    dependants: frozenset[str]
    drops: tuple[_Offer, ...]
    offers: tuple[_Offer, ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    """Everything that the operators offer for one scenario. `switched`: the operators that have a swarm switch."""

    slots: tuple[_Slot, ...]
    free: tuple[_Offer, ...]
    switched: tuple[str, ...]
    skipped: Mapping[str, str]


def _plan(scenario: Scenario, operators: Iterable[Registered], guarded: Guarded) -> _Plan:
    offered: dict[str | None, list[_Offer]] = {None: []} | {line.id: [] for line in scenario.turns}
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
            offered[turn].append(_Offer(piece, edits))
    slots = tuple(_slot(scenario, line.id, offered[line.id]) for line in scenario.turns)
    return _Plan(slots, tuple(offered[None]), tuple(switched), skipped)


def _slot(scenario: Scenario, turn: str, offers: Sequence[_Offer]) -> _Slot:
    drops = tuple(offer for offer in offers if _drops(offer.operator))
    others = tuple(offer for offer in offers if not _drops(offer.operator))
    return _Slot(turn, scenario.dependants(turn), drops, others)


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
        edits = piece.function(scenario, **({} if line is None else {"anchor": line}), **options)
        if edits is not None and not isinstance(edits, SearchStrategy):
            raise PortError(f"{_place(piece)} returned {edits!r}; it returns a Hypothesis strategy of edits, or None")
        if edits is not None:
            asked[None if line is None else line.id] = edits
    return asked


def _place(piece: Registered) -> str:
    return f"{piece.file}: operator {piece.tag.name!r}"


@st.composite
def _variant(draw: DrawFn, scenario: Scenario, plan: _Plan) -> Variant:
    on = _switched_on(draw, plan)
    edits: list[Edit] = []
    gone: set[str] = set()
    for slot in plan.slots:
        if slot.turn in gone:  # with what it needs: there is nothing left to choose
            continue
        live = [offer for offer in slot.offers if offer.name in on]
        if (first := _first(draw, slot, live)) is not None:
            edits.append(_drawn(draw, first))
            if _drops(first.operator):
                gone |= slot.dependants
                continue
        if (second := _second(draw, live, first)) is not None:
            edits.append(_drawn(draw, second))
    for offer in plan.free:
        if offer.name in on:
            edits += [_drawn(draw, offer) for _ in range(draw(_index(_FREE_EDITS + 1)))]
    return Variant(scenario, tuple(edits))


def _switched_on(draw: DrawFn, plan: _Plan) -> frozenset[str]:
    size = -(-len(plan.switched) // 8)
    mask = int.from_bytes(draw(st.binary(min_size=size, max_size=size))) if size else 0
    return frozenset(name for bit, name in enumerate(plan.switched) if mask >> bit & 1)


def _first(draw: DrawFn, slot: _Slot, live: Sequence[_Offer]) -> _Offer | None:
    """Drop it, speak it plainly or edit it: about one in three each, however many operators a project has."""
    share = len(live) + 1
    return _choose(draw, [*(slot.drops or (None,)) * share, *[None] * share, *live])


def _second(draw: DrawFn, live: Sequence[_Offer], first: _Offer | None) -> _Offer | None:
    """Another edit of a kept turn in one case of three, never by the same operator: pad by pad is only a longer pad.

    Asked at plain turns too. There it is no more than a second way to say the same, but a kept turn must cost
    Hypothesis more choices than a dropped one, else it sees no gain in dropping.
    """
    return _choose(draw, [*[None] * (2 * len(live) + 2), *(offer for offer in live if offer is not first)])


def _choose(draw: DrawFn, menu: Sequence[_Offer | None]) -> _Offer | None:
    """The entry at one small integer; None where the menu has nothing else, without asking."""
    return menu[draw(_index(len(menu)))] if any(menu) else None


@cache
def _index(length: int) -> SearchStrategy[int]:
    """Built once per length: Hypothesis spends longer on making a strategy than on drawing from it."""
    return st.integers(0, length - 1)


def _drawn(draw: DrawFn, offer: _Offer) -> Edit:
    edit: Edit = draw(offer.edits)
    if not isinstance(edit, Insert | Pad | Drop | Move) or edit.operator != offer.name:
        accepted = f"it draws edits (Insert, Pad, Drop, Move) with operator={offer.name!r}"
        raise PortError(f"{_place(offer.operator)} drew {edit!r}; {accepted}")
    if isinstance(edit, Drop) is not _drops(offer.operator):
        rule = "@operator(…, drops=True) marks operators that draw Drops and nothing else, no other may draw one"
        raise PortError(f"{_place(offer.operator)} drew {edit!r}; {rule}")
    return edit
