"""The planted faults are what they say: clean as written, hit by some variant, minimal where they say so."""

from __future__ import annotations

import asyncio
import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.compare.ddmin import ddmin
from benchmarks.compare.offers import Offers, offers
from benchmarks.compare.player import Player
from benchmarks.compare.ranks import median, p90, share
from benchmarks.compare.spent import Spent
from benchmarks.compare.uniform import by_ddmin, said
from benchmarks.compare.world import World, carries, wrong
from benchmarks.faults.minimum import Live, is_minimum, order_kept, showing
from benchmarks.faults.planted import Fault
from benchmarks.faults.sets import EVERY, SETS
from fuzzturn.bound import least_turns
from fuzzturn.offers import marked
from fuzzturn.project import find_project
from fuzzturn.tree import Tree
from fuzzturn.variant import Drop, Insert, Move, Pad, Variant, filler
from fuzzturn.vary import draw, variants

KNOWN = {
    "many_messages": ("rule", "hello", "ask", "paint", "chairs", "hold", "floor", "contact", "order"),
    "three_at_once": ("rule", "ask", "hold", "form", "pad900", "order"),
    "two_interruptions": ("ask", "rule", "form", "form", "pad2700", "order"),
    "done_and_gone": ("ask", "chairs", "hold", "pad1800", "order"),
    "wedged": ("ask", "form", "rule", "chairs", "pad1800", "order"),
    "older_version": ("ask", "rule", "pad1800", "lower", "pad1800", "order"),
}
"""Found by `python -m benchmarks.faults.minimum`, which takes half a minute or more for each of these."""
MENUS: dict[object, Offers] = {}
SEARCHED_QUICKLY = [fault for fault in EVERY.values() if fault.name not in KNOWN]
each_fault = pytest.mark.parametrize("fault", EVERY.values(), ids=lambda fault: fault.name)


def world(name: str) -> World:
    return World(EVERY[name], 0)


def spoken(fault: Fault, ids: tuple[str, ...]) -> Variant:
    """The session of the exhaustive search as a variant: scripted turns, interruptions and filler, by their ids."""
    bank = {side.id: side for side in fault.scenario.interruptions}
    script = {line.id: line for line in fault.scenario.turns}
    lines = []
    for n, id in enumerate(ids):
        text = filler(int(id[3:])) if id.startswith("pad") else bank[id].user if id in bank else script[id].user
        line = script.get(id) or fault.scenario.turns[0].model_copy(update={"user": text})
        lines.append(line.model_copy(update={"id": id if id in script else f"{id}@{n}"}))
    return Variant(fault.scenario.model_copy(update={"turns": tuple(lines)}))


def menu(of: World) -> Offers:
    scenario, guarded = of.fault.scenario, asyncio.run(of.guarded())
    key = scenario.model_dump_json(), frozenset(guarded.items())
    if key not in MENUS:  # most faults are of one script
        MENUS[key] = offers(scenario, of.concrete, guarded)
    return MENUS[key]


@pytest.mark.parametrize("name", SETS)
def test_there_are_at_least_twelve_faults_of_twelve_turns_each(name: str) -> None:
    assert len(SETS[name]) >= 12
    assert {len(fault.scenario.turns) for fault in SETS[name]} == {12}


def test_no_two_faults_have_one_name_or_one_sentence() -> None:
    faults = [fault for own in SETS.values() for fault in own]
    assert len(faults) == len(EVERY) == len({fault.says for fault in faults})


@each_fault
def test_the_script_as_written_is_clean_and_nothing_planted_takes_effect_in_it(fault: Fault) -> None:
    trial = asyncio.run(World(fault, 0).bench().run(Variant(fault.scenario)))
    assert trial.failures == ()
    assert trial.measured.goal_reached
    assert any(scores.adherence.exercised for scores in trial.measured.scores)
    live = Live(fault)
    for line in fault.scenario.turns[:-1]:  # the last turn comes after all that is checked
        live.say(line.user)
    assert not live.agent.fired


@each_fault
def test_a_session_shows_the_fault_by_the_planted_mechanism(fault: Fault) -> None:
    ids = KNOWN.get(fault.name) or next(showing(fault, fault.minimum, fault.pads))
    assert len(ids) == fault.minimum
    variant = spoken(fault, ids)
    failure = wrong(asyncio.run(World(fault, 0).bench().run(variant)))
    assert failure is not None
    assert (failure.constraint, failure.turn) == (fault.breaks, fault.minimum)
    assert asyncio.run(carries(World(fault, 0), variant, failure.pinned()))


@pytest.mark.parametrize("fault", SEARCHED_QUICKLY, ids=lambda fault: fault.name)
def test_no_session_with_fewer_turns_shows_it_and_one_of_the_stated_size_does(fault: Fault) -> None:
    assert is_minimum(fault)


def test_the_conjunction_of_three_shows_in_under_one_uniform_variant_of_a_hundred() -> None:
    of = world("three_at_once")
    player, chance, offered = Player(of, asyncio.Runner()), random.Random(1), menu(of)
    with player.runner:
        hits = [player.play(offered.drawn(chance)) for _ in range(300)]
    assert 0 < sum(hit is not None for hit in hits) < 3


@pytest.mark.parametrize("name", ["page_end", "resent"])
def test_a_rare_one_shows_in_under_one_uniform_variant_of_a_hundred(name: str) -> None:
    of = world(name)
    player, chance, offered = Player(of, asyncio.Runner()), random.Random(1), menu(of)
    with player.runner:
        hits = [player.play(offered.drawn(chance)) for _ in range(500)]
    assert sum(hit is not None for hit in hits) < 5


def test_what_only_a_moved_statement_shows_no_variant_without_a_move_shows() -> None:
    for name in ("moved_only", "before_first_call"):
        of = world(name)
        offered = menu(of)
        still = Offers(
            of.fault.scenario,
            {
                id: [values for values in choices if not isinstance(values[0], Move)]
                for id, choices in offered.at.items()
            },
        )
        player, chance = Player(of, asyncio.Runner()), random.Random(2)
        with player.runner:
            assert not any(player.play(still.drawn(chance)) for _ in range(100))


def test_no_fault_knows_an_operators_words_or_a_turns_name() -> None:
    folder = Path(__file__).resolve().parents[2] / "benchmarks/faults"
    # The script itself has ids, and the exhaustive search speaks filler; neither is code of a fault.
    own = ("clerk.py", "memories.py", "planted.py", "unseen.py", "desk.py")
    code = "\n".join((folder / name).read_text() for name in own)
    sentences = {part for part in re.split(r"[.,] ", filler(2000)) if len(part) > 12}
    sentences |= {side.user for fault in EVERY.values() for side in fault.scenario.interruptions}
    assert len(sentences) > 10
    assert [sentence for sentence in sentences if sentence in code] == []
    assert not re.search(r"filler\(|fuzzturn\.(variant|vary|rewrite|shrink|search)|\bpad@|Insert|Drop\b|Move\b", code)


@each_fault
def test_an_agent_restored_from_a_snapshot_goes_on_as_if_nothing_had_happened(fault: Fault) -> None:
    of = World(fault, 0)
    bench = of.bench()
    variant = Variant(fault.scenario, (Pad(operator="t", anchor="order", tokens=2700),))
    asyncio.run(bench.run(variant))
    assert asyncio.run(bench.tree.distrust(variant.spoken)) is None


def test_uniform_sessions_are_drawn_from_exactly_what_the_operators_offer() -> None:
    of = world("last_statement")  # two statements: the rules for moving them are at their hardest
    offered = menu(of)
    guarded = asyncio.run(of.guarded())
    drawn = draw(variants(of.fault.scenario, operators=of.concrete, guarded=guarded), 150, seed=3)
    by_engine = {e for variant in drawn for e in variant.edits if not isinstance(e, Pad)}
    listed = {e for choices in offered.at.values() for values in choices for e in values if not isinstance(e, Pad)}
    assert by_engine <= listed
    assert {type(edit) for edit in by_engine} == {Drop, Insert, Move}
    sizes = {e.tokens for k in range(60) for e in offered.drawn(random.Random(k)).edits if isinstance(e, Pad)}
    assert min(filter(None, sizes)) < 200
    assert max(filter(None, sizes)) > 1800


@each_fault
def test_the_exhaustive_search_allows_every_order_that_moves_can_reach(fault: Fault) -> None:
    offered, chance, earlier = menu(World(fault, 0)), random.Random(4), order_kept(fault)
    for _ in range(20):
        ids = [line.id for line in offered.drawn(chance).spoken.turns if line.id in earlier]
        assert not any(later in earlier[id] for k, id in enumerate(ids) for later in ids[k + 1 :])


def test_turns_counted_from_the_messages_are_the_replies_that_the_engine_started() -> None:
    of = world("two_compactions")
    spent, bench, chance, offered = Spent(), of.bench(), random.Random(5), menu(of)
    drawn = [offered.drawn(chance) for _ in range(10)]
    for variant in [*drawn, *drawn[:3]]:
        asyncio.run(bench.run(variant))
        spent.add(said(variant))
    assert spent.cached == bench.tree.meter.agent_turns
    assert spent.plain == sum(len(variant.spoken.turns) for variant in [*drawn, *drawn[:3]])


def test_the_starting_runs_beginnings_are_free_and_a_longer_session_pays_for_the_rest() -> None:
    spent = Spent(("a", "b", "c"))
    spent.add(("a", "b", "x"))
    spent.add(("a", "b", "x", "y"))
    spent.add(("a", "b", "x", "y", "z"), already=4)
    assert (spent.sessions, spent.plain, spent.after_start, spent.cached) == (2, 3 + 4 + 1, 1 + 2 + 1, 1 + 1 + 1)


@settings(max_examples=60, deadline=None)
@given(st.sets(st.integers(0, 15), min_size=1))
def test_ddmin_finds_exactly_the_turns_that_a_monotone_failure_needs(needed: set[int]) -> None:
    tried: list[tuple[int, ...]] = []

    def fails(part: object) -> bool:
        assert isinstance(part, list)
        tried.append(tuple(part))
        return needed <= set(part)

    assert ddmin(range(16), fails) == sorted(needed)
    assert tuple(range(16)) not in tried


def test_ddmin_over_turns_ends_in_a_session_that_carries_its_fault_and_no_single_turn_can_go() -> None:
    of = world("after_hold")
    chance, offered = random.Random(6), menu(of)
    with asyncio.Runner() as runner:
        player = Player(of, runner)
        start = next(hit for _ in range(200) if (hit := player.play(offered.drawn(chance))) is not None)
        pinned = start.failure.pinned()
        tried = by_ddmin(of, runner, start.variant, pinned)
        assert runner.run(carries(of, tried.variant, pinned))
        assert tried.player.spent.cached <= tried.player.spent.after_start <= tried.player.spent.plain
        again = by_ddmin(of, runner, tried.variant, pinned)
        assert again.variant.key == tried.variant.key


def test_the_bound_is_the_final_session_and_each_deletion_with_beginnings_reused() -> None:
    of = world("interruption")
    variant = spoken(of.fault, ("ask", "rule", "form", "order"))
    # 4 turns once; without `form` order again (1); without `rule` form and order (2); without `ask` order goes, too.
    assert least_turns(variant) == 4 + 1 + 2
    tree = Tree(of.fault.cast(), of.fault.scenario, of.bench().tree.meter)
    asyncio.run(tree.play(variant.spoken))
    assert tree.meter.agent_turns == 4


def test_percentiles_are_of_what_is_known() -> None:
    assert (median([3, None, 1]), p90([*range(1, 11), None]), share([True, None, False])) == (2.0, 9.0, 0.5)
    assert (median([None]), p90([]), share([])) == (None, None, None)


def test_the_operators_are_the_shipped_ones() -> None:
    """Those that are in every session: the others are about what these faults are not."""
    shipped = find_project(Path(__file__).parent).load_strategies().of_kind("operator")
    names = {piece.tag.name for piece in shipped if not marked(piece, "seldom")}
    of = world("long_turn")
    assert {piece.tag.name for piece in of.operators} == names
    assert {piece.tag.name for piece in of.concrete} == names - {"pad_to_threshold"}
