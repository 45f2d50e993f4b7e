"""Coverage: which of many variants to play next: the one that shows most that is new for each turn it costs.

What a constraint goes through until the next call that it guards is told by features: what was put before its
statement, what stands next to it, which tool was called before it, what was put in between and next to what, how far
apart the two are, where the context is cut. Failures are conjunctions of few of these, so it is pairs that count. All
of it is known before anything is played, which keeps a campaign's plan independent of timing, workers and shards.

Source of the features: research on agent coverage (dropped span x distance x tool n-gram); the weights were measured.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, TypeAlias

from fuzzturn.beginnings import Beginnings, words
from fuzzturn.offers import Guarded
from fuzzturn.session import Session
from fuzzturn.variant import InPlace, Pad, Variant

__all__ = ["Landmarks", "Planner", "landmarks"]

Feature: TypeAlias = tuple[str, ...]
SIZES = (100, 500, 1500)
"""Tokens of one filler turn that are told apart."""
TURNS_NEAR = 3
"""Distances are told apart in steps of so many turns, up to five of them."""
ALWAYS_PAID = 2
"""Turns added to what a session costs, so that one turn is not worth twice as much as two."""


@dataclass(frozen=True, slots=True)
class Landmarks:
    """What the unedited script told: what each of its turns did, and where each constraint is checked."""

    does: Mapping[str, str]
    guarded: Guarded


def landmarks(session: Session, guarded: Guarded) -> Landmarks:
    """From the base run. A turn "does" the first tool that it called, else it is talk."""
    does = {turn.id: turn.tool_calls[0].name if turn.tool_calls else "talk" for turn in session.turns}
    return Landmarks(does, guarded)


def relations(variant: Variant, known: Landmarks) -> Iterator[frozenset[Feature]]:
    """For each statement and the next turn that it guards: the features of what lies between."""
    kinds = {line.id: _kind(variant, line.id, known) for line in variant.spoken.turns}
    ids = list(kinds)
    for at, line in enumerate(variant.spoken.turns):
        for constraint in line.states:
            guarded = known.guarded.get(constraint) or frozenset(ids[-1:])
            then = next((i for i in range(at + 1, len(ids)) if ids[i] in guarded), None)
            if then is not None:
                between = _between([kinds[id] for id in ids], at, then)
                yield frozenset([*between, *_in_place(variant, ids, at, then)])


def _in_place(variant: Variant, ids: Sequence[str], at: int, then: int) -> Iterator[Feature]:
    """What was changed about turns that stay where they are, and on which side of statement and guarded call."""
    for edit in variant.edits:
        if isinstance(edit, InPlace) and edit.anchor in ids:
            place = ids.index(edit.anchor)
            sides = ((place < at, "before"), (place in (at, then), "here"), (place < then, "between"), (True, "after"))
            yield "changed", edit.operator, next(side for holds, side in sides if holds)


def _kind(variant: Variant, id: str, known: Landmarks) -> str:
    edit = variant.inserted.get(id)
    if edit is None:
        return "states" if variant.spoken.line(id).states else known.does.get(id, "talk")
    if not isinstance(edit, Pad):
        return f"+{edit.operator}"
    return f"+cut {edit.to}" if edit.tokens is None else f"+pad {sum(edit.tokens > size for size in SIZES)}"


def _between(kinds: Sequence[str], at: int, then: int) -> Iterator[Feature]:
    middle = kinds[at + 1 : then]
    inserted = [kind for kind in middle if kind.startswith("+")]
    tools = [kind for kind in kinds[:at] if not kind.startswith("+") and kind not in ("talk", "states")]
    yield "first", kinds[0]
    yield from _often("often before", kinds[:at])
    yield "before", kinds[at - 1] if at else "nothing"
    yield "after", kinds[at + 1]
    yield "last tool", tools[-1] if tools else "none"
    yield "padded before", str(any(kind.startswith(("+pad", "+cut")) for kind in kinds[:at]))
    yield "distance", str(min((then - at) // TURNS_NEAR, 5))
    yield "largest", max((kind for kind in inserted if kind.startswith(("+pad", "+cut"))), default="none")
    yield from _often("often", middle)
    for here, there in pairwise(kinds[at : then + 1]):
        if here.startswith("+") or there.startswith("+"):
            yield "next to", here.split()[0], there.split()[0]


def _often(name: str, kinds: Sequence[str]) -> Iterator[Feature]:
    """How often each operator put something there."""
    for kind, times in Counter(kind.split()[0] for kind in kinds if kind.startswith("+")).items():
        yield name, kind, str(min(times, 3))


class Planner:
    """Chooses what to play, cell by cell; remembers what the cells before have covered."""

    def __init__(self, known: Landmarks) -> None:
        self._known = known
        self._times: Counter[Any] = Counter()

    def note(self, variant: Variant) -> None:
        """This one is played, whatever it is worth."""
        self._times.update(self._pairs(variant))

    def choose(self, pool: Sequence[Variant], n: int, played: Sequence[Variant]) -> list[Variant]:
        """Up to `n` of the pool in the order to play them; `played`: sessions whose beginnings cost nothing.

        A variant that speaks no turn which is new by then is left out: it would show nothing. Each third of a session
        in which the statement may stand has its share of the pool: less can happen after a late one, so it would never
        be worth most.
        """
        beginnings = Beginnings()
        for variant in played:
            beginnings.add(words(variant))
        pairs = [self._pairs(variant) for variant in pool]
        said = [words(variant) for variant in pool]
        worth = _Worth(pairs, self._times)
        thirds = [_third(variant) for variant in pool]
        shares = _Shares(thirds)
        left = list(range(len(pool)))
        chosen: list[Variant] = []
        while left and len(chosen) < n:
            costs = {i: beginnings.new(said[i]) for i in left}
            left = [i for i in left if costs[i]]
            if not left:
                break
            third = shares.take({thirds[i] for i in left})
            own = [i for i in left if thirds[i] == third]
            best = max(own, key=lambda i: (worth.of[i] / (costs[i] + ALWAYS_PAID), -i))
            left.remove(best)
            worth.cover(best)
            beginnings.add(said[best])
            chosen.append(pool[best])
        return chosen

    def _pairs(self, variant: Variant) -> frozenset[Any]:
        return frozenset(pair for found in relations(variant, self._known) for pair in _pairs_of(found))


def _pairs_of(features: frozenset[Feature]) -> Iterator[Any]:
    yield from features
    yield from combinations(sorted(features), 2)


def _third(variant: Variant) -> int:
    """The third of the session, 0 to 2, in which something is first stated; 0 where nothing is."""
    turns = variant.spoken.turns
    at = next((i for i, line in enumerate(turns) if line.states), 0)
    return at * 3 // max(len(turns), 1)


class _Shares:
    """Whose turn it is, so that of what is taken each kind has the share that it has of all."""

    def __init__(self, kinds: Sequence[int]) -> None:
        self._all, self._taken = Counter(kinds), Counter[int]()

    def take(self, kinds: Set[int]) -> int:
        """The one of these kinds that has the least for its share; the first of equals."""
        n = self._taken.total() + 1
        kind = max(sorted(kinds), key=lambda one: self._all[one] * n - self._taken[one] * self._all.total())
        self._taken[kind] += 1
        return kind


class _Worth:
    """What each candidate is worth: for each of its pairs 1, 1/4, 1/9, … as it was covered never, once, twice, …"""

    def __init__(self, pairs: Sequence[frozenset[Any]], times: Counter[Any]) -> None:
        self._pairs, self._times = pairs, times
        self._who: dict[Any, list[int]] = defaultdict(list)
        for i, own in enumerate(pairs):
            for pair in own:
                self._who[pair].append(i)
        self.of = [sum(_share(times[pair]) for pair in own) for own in pairs]

    def cover(self, i: int) -> None:
        for pair in self._pairs[i]:
            less = _share(self._times[pair]) - _share(self._times[pair] + 1)
            self._times[pair] += 1
            for other in self._who[pair]:
                self.of[other] -= less


def _share(times: int) -> int:
    """Whole numbers: a sum of fractions depends on their order, and the order of a set on the process."""
    return 1_000_000 // (1 + times) ** 2
