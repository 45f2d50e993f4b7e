"""Coverage: what is told apart before anything is played, and what is chosen to be played next."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

import kit
from fuzzturn.cells import CELL_SESSIONS, cells
from fuzzturn.coverage import Landmarks, Planner, relations
from fuzzturn.variant import Drop, Edit, Insert, Move, Pad, Variant
from fuzzturn.vary import draw

SCRIPT = kit.scenario()
IDS = [line.id for line in SCRIPT.turns]
KNOWN = Landmarks({"buy": "buy"}, {"cap": frozenset({"buy"})})
EDITS: st.SearchStrategy[Edit] = st.one_of(
    st.builds(Pad, operator=st.just("pad"), anchor=st.sampled_from(IDS), tokens=st.integers(12, 2000)),
    st.builds(Pad, operator=st.just("cut"), anchor=st.sampled_from(IDS), to=st.sampled_from(["before", "after"])),
    st.builds(Drop, operator=st.just("drop"), anchor=st.sampled_from([id for id in IDS if id.startswith("chat")])),
    st.builds(Move, operator=st.just("move"), anchor=st.just("cap"), offset=st.integers(-1, 3)),
    st.builds(
        Insert, operator=st.just("ask"), anchor=st.sampled_from(IDS), name=st.just("side"), user=st.just("The bus?")
    ),
)
POOLS = st.lists(st.lists(EDITS, max_size=4).map(lambda edits: Variant(SCRIPT, tuple(edits))), max_size=12)


def pad(anchor: str, tokens: int = 900) -> Pad:
    return Pad(operator="pad", anchor=anchor, tokens=tokens)


def chosen(pool: Sequence[Variant], n: int = 25) -> list[Variant]:
    return Planner(KNOWN).choose(pool, n, [Variant(SCRIPT)])


def new_turns(session: Sequence[str], played: Sequence[Sequence[str]]) -> int:
    """The reference: turns beyond the longest beginning that another session shares."""

    def shared(other: Sequence[str]) -> int:
        return next((i for i, (a, b) in enumerate(zip(session, other, strict=False)) if a != b),
                    min(len(session), len(other)))  # fmt: skip

    return len(session) - max((shared(other) for other in played), default=0)


def words(variant: Variant) -> list[str]:
    inserted = variant.inserted
    return [
        f"filler {edit.to}" if isinstance(edit := inserted.get(line.id), Pad) and edit.tokens is None else line.user
        for line in variant.spoken.turns
    ]


@settings(max_examples=100, deadline=None)
@given(POOLS, st.integers(0, 12))
def test_every_choice_is_of_the_pool_comes_once_and_costs_a_turn(pool: list[Variant], n: int) -> None:
    found = chosen(pool, n)
    assert len(found) <= n
    played = [words(Variant(SCRIPT))]
    for variant in found:
        assert any(variant is one for one in pool)
        assert new_turns(words(variant), played) > 0
        played.append(words(variant))
    if len(found) < n:
        assert all(new_turns(words(left), played) == 0 for left in pool)


@settings(max_examples=50, deadline=None)
@given(POOLS)
def test_equal_pools_are_chosen_from_alike(pool: list[Variant]) -> None:
    assert [v.edits for v in chosen(pool)] == [v.edits for v in chosen([Variant(SCRIPT, v.edits) for v in pool])]


def test_of_two_that_show_the_same_the_cheaper_comes_first() -> None:
    plain = Variant(SCRIPT, (pad("buy"),))
    talked = Variant(SCRIPT, (pad("hello"), pad("buy")))
    assert chosen([talked, plain])[0] is plain


def test_what_shows_something_new_comes_before_what_shows_the_same_again() -> None:
    again = [Variant(SCRIPT, (pad("buy", 900 + i),)) for i in range(3)]
    other = Variant(SCRIPT, (Insert(operator="ask", anchor="buy", name="side", user="The bus?"),))
    planner = Planner(KNOWN)
    planner.note(again[0])
    assert planner.choose([*again[1:], other], 3, [Variant(SCRIPT)])[0] is other


def test_an_earlier_cell_makes_the_same_less_worth() -> None:
    planner = Planner(KNOWN)
    pads = [Variant(SCRIPT, (pad("buy", 900 + i),)) for i in range(4)]
    asks = [Variant(SCRIPT, (Insert(operator="ask", anchor="buy", name="side", user=f"Bus {i}?"),)) for i in range(2)]
    first = planner.choose([pads[0], asks[0]], 1, [Variant(SCRIPT)])
    second = planner.choose([pads[1], asks[1]], 1, [Variant(SCRIPT)])
    assert {first[0] in pads, second[0] in pads} == {True, False}


def test_a_relation_tells_order_distance_and_where_the_context_is_cut() -> None:
    cut = Pad(operator="cut", anchor="buy", to="before")
    (plain,) = relations(Variant(SCRIPT), KNOWN)
    (near,) = relations(Variant(SCRIPT, (Move(operator="move", anchor="cap", offset=3),)), KNOWN)
    (cut_late,) = relations(Variant(SCRIPT, (cut,)), KNOWN)
    assert ("largest", "+cut before") in cut_late
    assert ("largest", "none") in plain
    assert {f for f in plain if f[0] == "distance"} != {f for f in near if f[0] == "distance"}
    assert ("before", "talk") in plain


def test_a_statement_after_the_call_that_it_guards_has_no_relation_to_it() -> None:
    late = Variant(SCRIPT, (Move(operator="move", anchor="cap", offset=20),))
    ids = [line.id for line in late.spoken.turns]
    assert list(relations(late, KNOWN)) == [] or ids.index("cap") < ids.index("buy")


def test_a_constraint_that_nothing_was_seen_to_check_is_related_to_the_last_turn() -> None:
    (found,) = relations(Variant(SCRIPT), Landmarks({}, {}))
    assert found


def test_after_two_cells_what_is_drawn_is_played() -> None:
    pads = st.lists(st.sampled_from(IDS), max_size=3, unique=True)
    strategy = st.builds(lambda ids, tokens: Variant(SCRIPT, tuple(pad(id, tokens) for id in ids)), pads,
                         st.integers(12, 2000))  # fmt: skip
    planned = asyncio.run(cells([Variant(SCRIPT)], KNOWN, [strategy], 0, 6 * CELL_SESSIONS, None))
    seen = {Variant(SCRIPT).key}
    for number, cell in enumerate(planned[:4]):
        drawn = {v.key for v in draw(strategy, CELL_SESSIONS, 0, scenario=SCRIPT.scenario, cell=number)} - seen
        assert ({variant.key for variant in cell} == drawn) is (number >= 2)
        seen |= {variant.key for variant in cell}
