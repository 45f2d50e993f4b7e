"""Vary: one Hypothesis strategy per scenario that draws its variants from the operators of a project.

The encoding is chosen for what it finds, how it generates and how it shrinks; each point was measured (decision 0014).

- Of two sessions one is *placed*. Per operator one place, as bits of a byte: nowhere, at every turn up to the first
  statement, before the guarded turns, around the statements, at every turn from the first of these to the last of
  those, or here and there. With every operator always on no session ever lacks one, and some failures need that; with
  a coin for every turn no session is ever crowded, and others need that.
- The other is *mixed*: every turn is dropped, plain, or has what one operator offers there. What is shown by a third of
  all sessions is shown by the first few of these.
- A byte for every turn says whether it is dropped, and zero, which bytes shrink to, drops it; the byte that says how
  much is dropped, and whether the session is mixed, only shifts that. Behind a switch, turning it off keeps every turn,
  which looks simpler to Hypothesis.
- One draw for all these bytes: an example costs about as much as its number of choices.
- Nothing is rejected (no `assume`, no `filter`): every draw is a variant, the simplest one the required turns alone.

Under plain `@given` a Pad without a size is spoken at PAD_TOKENS_MIN, for only the search can solve it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import DrawFn, SearchStrategy

from fuzzturn.errors import PortError
from fuzzturn.offers import (
    Called,
    Effect,
    Guarded,
    NotApplicable,
    Offer,
    Offers,
    Place,
    Slot,
    Stage,
    drawn,
    dropped,
    offers,
    operator,
    stage,
)  # fmt: skip
from fuzzturn.registry import Registered
from fuzzturn.scenario import Scenario
from fuzzturn.variant import Edit, Variant

__all__ = [
    "EXAMPLES_PER_RUN", "ON_AT_MOST", "Called", "Effect", "Guarded", "NotApplicable", "draw", "operator", "skipped",
    "variants",
]  # fmt: skip

EXAMPLES_PER_RUN = 9
"""After ten valid examples Hypothesis mostly mutates a few of them. Measured over 225 examples of such an encoding,
runs of nine put variants at 0.67 from their nearest neighbour, one long run at 0.14 (Jaccard, sets of turns)."""
_FREE_EDITS = 2
"""Edits at most per session from one operator that is not asked turn by turn."""

_PLACES: Sequence[Place] = (
    "nowhere", "nowhere", "nowhere", "nowhere", "nowhere", "nowhere", "before", "before", "before", "around",
    "between", "between", "here and there", "here and there", "early", "early",
)  # fmt: skip
ON_AT_MOST = 4
"""Operators that are on in one session: with all of a long list on, no session would be about anything."""
_DROPPED = (128, 256, 1, 256)
"""Below it, a byte drops its turn: half of the optional turns, all, or hardly any; zero always does."""
_MIXED_ON = 4
"""An operator is off in one mixed session of so many."""
_COIN = 3
"""Here and there = at one turn in three."""

_GENERATE = settings(
    max_examples=EXAMPLES_PER_RUN,
    phases=(Phase.generate,),
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=False,  # said although it is the default: a user's profile must not change what a seed means
    backend="hypothesis",
)


def variants(
    scenario: Scenario,
    *,
    operators: Iterable[Registered],
    guarded: Guarded | None = None,
    called: Called | None = None,
    themed: bool = False,
) -> SearchStrategy[Variant]:
    """A strategy of variants of `scenario`; its simplest value speaks the required turns and nothing else.

    Operators that do not apply are left out, see `skipped`; their order does not matter. `themed`: every variant but
    the simplest has one or two of the operators that are seldom, as far as there are any; else every other one has.
    Raises PortError where an operator breaks its port, when it is asked or when it is drawn from.
    """
    offered = offers(scenario, operators, guarded or {}, called or {})
    return _variant(scenario, offered, stage(scenario, guarded or {}), themed)


def skipped(
    scenario: Scenario,
    operators: Iterable[Registered],
    *,
    guarded: Guarded | None = None,
    called: Called | None = None,
) -> Mapping[str, str]:
    """The operators that have nothing to vary in `scenario`, by name, each with the reason. Raises as `variants`."""
    return offers(scenario, operators, guarded or {}, called or {}).skipped


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
        try:
            hypothesis.seed(_seed(seed, scenario, "generate", cell, run))(record)()
        except Unsatisfiable as error:
            raise PortError("an operator's strategy can draw nothing: does a filter in it ever hold?") from error
    return list(found.values())[:n]


def _seed(*parts: object) -> int:
    return int.from_bytes(hashlib.sha256(json.dumps(parts).encode()).digest()[:8])


@st.composite
def _variant(draw: DrawFn, scenario: Scenario, offered: Offers, where: Stage, themed: bool) -> Variant:
    size = len(offered.switched)
    head, *rest = draw(_bytes(1 + size + len(offered.slots)))
    switches, turns = dict(zip(offered.switched, rest, strict=False)), rest[size:]
    if head // len(_DROPPED) % 2:
        on = {name for name in _staying(switches) if switches[name] % _MIXED_ON}
        edits = _mixed(draw, offered, on, turns)
    else:
        place = _places(switches)
        on = {name for name in place if place[name] != "nowhere"}
        edits = _placed(draw, offered, where, place, turns, _DROPPED[head % len(_DROPPED)])
    for offer in offered.free:
        if offer.name in on:
            edits += [edit for _ in range(draw(_index(_FREE_EDITS + 1))) for edit in drawn(draw, offer)]
    for offer in _theme(offered.seldom, draw(_bytes(2)), themed) if offered.seldom else ():
        edits += drawn(draw, offer)
    return Variant(scenario, tuple(edits))


def _mixed(draw: DrawFn, offered: Offers, on: Set[str], turns: Sequence[int]) -> list[Edit]:
    """Every turn dropped, plain, or with what one operator offers there, all alike."""
    menus = [[*slot.drops[:1], None, *(o for o in slot.offers if o.name in on)] for slot in offered.slots]
    picked = {slot.turn: menu[byte % len(menu)] for slot, menu, byte in zip(offered.slots, menus, turns, strict=True)}
    gone = {slot.turn for slot in offered.slots if picked[slot.turn] in slot.drops}
    edits, kept = dropped(draw, offered.slots, gone)
    chosen = [picked[slot.turn] for slot in kept]
    return edits + [edit for offer in chosen if offer is not None for edit in drawn(draw, offer)]


def _placed(
    draw: DrawFn, offered: Offers, where: Stage, place: dict[str, Place], turns: Sequence[int], share: int
) -> list[Edit]:
    """Each operator on at its place; of the turns those dropped whose byte is below `share`."""
    gone = {slot.turn for slot, byte in zip(offered.slots, turns, strict=True) if byte < share}
    edits, kept = dropped(draw, offered.slots, gone)
    pairs = list(zip([None, *(slot.turn for slot in kept)], kept, strict=False))
    for name in offered.switched:  # one that offers nothing at its place is on wherever it does
        if not any(where.holds(place[name], slot.turn, last) and _offers(slot, name) for last, slot in pairs):
            place[name] = place[name] if place[name] in ("nowhere", "here and there") else "everywhere"
    for last, slot in pairs:
        for offer in slot.offers:
            if _spoken(draw, place[offer.name]) or where.holds(place[offer.name], slot.turn, last):
                edits += drawn(draw, offer)
    return edits


def _theme(seldom: Sequence[Offer], drawn_bytes: bytes, themed: bool) -> list[Offer]:
    """The operators that are about something particular and are on: none, one or two."""
    one, two = drawn_bytes
    if one == 0 or (not themed and one % 2):
        return []
    first = one // 2 % len(seldom)
    second = (first + 1 + two // 4) % len(seldom)
    return [seldom[i] for i in sorted({first} if two % 4 else {first, second})]


def _places(switches: Mapping[str, int]) -> dict[str, Place]:
    """The low bits say where each operator is on, the others which ones stay on where it were too many."""
    on = {name: byte for name, byte in switches.items() if _place(byte) != "nowhere"}
    stay = _staying(on)
    return {name: _place(byte) if name in stay else "nowhere" for name, byte in switches.items()}


def _place(byte: int) -> Place:
    return _PLACES[byte % len(_PLACES)]


def _staying(switches: Mapping[str, int]) -> list[str]:
    return sorted(switches, key=lambda name: (switches[name] // len(_PLACES), name))[:ON_AT_MOST]


def _offers(slot: Slot, name: str) -> bool:
    return any(offer.name == name for offer in slot.offers)


def _spoken(draw: DrawFn, place: Place) -> bool:
    """Whether an operator that is on here and there is on here."""
    return place == "here and there" and draw(_index(_COIN)) == _COIN - 1


@cache
def _bytes(length: int) -> SearchStrategy[bytes]:
    return st.binary(min_size=length, max_size=length)


@cache
def _index(length: int) -> SearchStrategy[int]:
    """Built once per length: Hypothesis spends longer on making a strategy than on drawing from it."""
    return st.integers(0, length - 1)
