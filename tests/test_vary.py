"""Vary: the operators' port, what a scenario's variants are, and what each shipped operator offers."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from fuzzturn.errors import InputError, PortError
from fuzzturn.openings import openings
from fuzzturn.project import Project
from fuzzturn.registry import Registered, tagger
from fuzzturn.scenario import Line, Scenario
from fuzzturn.variant import PAD_TOKENS_MIN, Drop, Edit, Insert, Move, Pad, Variant
from fuzzturn.vary import ON_AT_MOST, Guarded, NotApplicable, draw, operator, skipped, variants

SHIPPED = ("drop_optional", "interrupt", "move_statement", "pad_to_threshold", "pad_turns")


def _shipped(*names: str) -> list[Registered]:
    registry = Project(root=Path(__file__).parents[1]).load_strategies()
    return [registry.get("operator", name) for name in names or SHIPPED]


def _of(function: Callable[..., Any]) -> Registered:
    """The operator as a project would collect it, had it stood in a file of its own."""
    return Registered(function.__fuzzturn_tag__, function, "somewhere/shout.py")  # type: ignore[attr-defined]


def _turn(id: str, **more: object) -> dict[str, object]:
    return {"id": id, "user": f"say {id}", **more}


def _scenario(turns: Sequence[dict[str, object]], **more: object) -> Scenario:
    head = {"schema": 1, "scenario": "trip", "title": "A trip", "environment": "none", "turns": turns}
    goal = {"says": "a trip", "milestones": [{"id": "booked", "check": "booked"}]}
    limits = [
        {"id": "limit", "checker": "limit", "statement": "at most 450"},
        {"id": "raised", "checker": "limit", "statement": "at most 500", "supersedes": "limit"},
        {"id": "rails", "checker": "rails", "statement": "no trains"},
    ]
    return Scenario.model_validate({**head, "goal": goal, "constraints": limits, **more}, strict=False)


TRIP = _scenario(
    [
        _turn("ask"),
        _turn("limit", states=["limit"]),
        _turn("chat", optional=True),
        _turn("aside", optional=True),
        _turn("reply", optional=True, after=["aside"]),
        _turn("hint", optional=True),
        _turn("book", after=["ask", "hint"]),
        _turn("bye", optional=True),
    ],
    interruptions=[{"id": "wifi", "user": "Wifi?", "must_mention_any": ["wifi"]}, {"id": "gate", "user": "Gate?"}],
)
KNOWN: Guarded = {"limit": frozenset({"book"})}


def _drawn(*operators: Registered, scenario: Scenario = TRIP, guarded: Guarded | None = None) -> list[Variant]:
    return draw(variants(scenario, operators=operators, guarded=guarded), 60, seed=1)


def _edits(found: Iterable[Variant]) -> list[Edit]:
    return [edit for variant in found for edit in variant.edits]


def _ids(variant: Variant) -> list[str]:
    return [line.id for line in variant.spoken.turns]


def _generated(strategy: SearchStrategy[Variant], seed: int) -> list[Variant]:
    """What one short run under plain @given draws, twice drawn or not."""
    seen: list[Variant] = []

    @settings(max_examples=9, database=None, phases=(Phase.generate,))
    @hypothesis.seed(seed)
    @given(strategy)
    def collect_them(variant: Variant) -> None:
        seen.append(variant)

    collect_them()
    return seen


# The port


def test_an_operator_of_an_unknown_effect_is_refused() -> None:
    with pytest.raises(InputError, match=r"'shout'.*'perserve'; did you mean 'preserve'\?"):
        operator("shout", effect="perserve")  # type: ignore[arg-type]


def test_the_effect_stands_in_the_tag() -> None:
    assert {piece.tag.name: piece.tag.option("effect") for piece in _shipped()} == dict.fromkeys(SHIPPED, "preserve")


def test_an_operator_with_an_anchor_is_asked_once_per_scripted_turn() -> None:
    asked: list[str] = []

    @operator("shout", effect="preserve")
    def shout(scenario: Scenario, anchor: Line) -> SearchStrategy[Edit] | None:
        asked.append(anchor.id)
        pad = Pad(operator="shout", anchor=anchor.id, tokens=20)
        return st.just(pad) if anchor.id == "book" else None

    assert {edit.anchor for edit in _edits(_drawn(_of(shout)))} == {"book"}
    assert asked == [line.id for line in TRIP.turns]


def test_an_operator_without_an_anchor_is_asked_once_and_drawn_up_to_twice_a_session() -> None:
    asked: list[Scenario] = []

    @operator("shout", effect="preserve")
    def shout(scenario: Scenario) -> SearchStrategy[Edit]:
        asked.append(scenario)
        return st.sampled_from([Pad(operator="shout", anchor=line.id, tokens=20) for line in scenario.turns])

    assert {len(variant.edits) for variant in _drawn(_of(shout))} == {0, 1, 2}
    assert asked == [TRIP]


def test_guarded_is_passed_to_the_operators_that_name_it() -> None:
    told: list[object] = []

    @operator("shout", effect="preserve")
    def shout(scenario: Scenario, *, guarded: Guarded) -> SearchStrategy[Edit]:
        told.append(guarded)
        return st.just(Pad(operator="shout", anchor="ask", tokens=20))

    variants(TRIP, operators=[_of(shout)], guarded=KNOWN)
    variants(TRIP, operators=[_of(shout)])
    assert told == [KNOWN, {}]


def test_an_operator_that_does_not_apply_is_skipped_with_its_reason_and_the_others_are_drawn() -> None:
    quiet = TRIP.model_copy(update={"interruptions": ()})
    assert skipped(TRIP, _shipped(), guarded=KNOWN) == {}
    assert skipped(quiet, _shipped(), guarded=KNOWN) == {"interrupt": "the scenario has no interruptions"}
    assert any(isinstance(edit, Pad) for edit in _edits(_drawn(*_shipped(), scenario=quiet)))


def test_an_operator_that_offers_nothing_anywhere_is_skipped() -> None:
    fixed = _scenario([_turn("limit", states=["limit"]), _turn("book")])
    reason = "it offers no edit for this scenario"
    assert skipped(fixed, _shipped("move_statement"), guarded=KNOWN) == {"move_statement": reason}


def test_every_shipped_operator_names_what_the_scenario_lacks() -> None:
    bare = _scenario([_turn("book")])
    assert skipped(bare, _shipped()) == {
        "drop_optional": "the scenario marks no turn as optional",
        "interrupt": "the scenario has no interruptions",
        "move_statement": "no turn of the scenario states a constraint",
    }


def test_what_is_no_operator_is_refused() -> None:
    @tagger("checker", "limit")
    def limit(scenario: Scenario) -> None:
        return None

    with pytest.raises(InputError, match=r"somewhere/shout\.py: 'limit' is a checker, not an operator"):
        variants(TRIP, operators=[_of(limit)])


def test_an_operator_that_returns_no_strategy_is_told_what_it_returns() -> None:
    @operator("shout", effect="preserve")
    def shout(scenario: Scenario) -> list[Edit]:
        return [Pad(operator="shout", anchor="ask")]

    with pytest.raises(
        PortError, match=r"somewhere/shout\.py: operator 'shout' returned \[Pad.* a Hypothesis strategy"
    ):
        variants(TRIP, operators=[_of(shout)])


def test_an_operator_that_raises_or_can_draw_nothing_is_told_so() -> None:
    @operator("shout", effect="preserve")
    def raising(scenario: Scenario) -> SearchStrategy[Edit]:
        raise KeyError("voice")

    @operator("shout", effect="preserve")
    def filtered(scenario: Scenario, anchor: Line) -> SearchStrategy[Edit]:
        return st.just(Pad(operator="shout", anchor=anchor.id, tokens=20)).filter(lambda edit: False)

    @operator("shout", effect="preserve")
    def empty(scenario: Scenario) -> SearchStrategy[Edit]:
        return st.nothing()

    with pytest.raises(PortError, match="operator 'shout' raised KeyError: 'voice'"):
        variants(TRIP, operators=[_of(raising)])
    with pytest.raises(PortError, match="can draw nothing"):
        openings(TRIP, operators=[_of(filtered)], guarded=KNOWN)
    assert skipped(TRIP, [_of(empty)]) == {"shout": "it offers no edit for this scenario"}


@pytest.mark.parametrize(
    "edit, told",
    [
        ("a pad", "it draws edits"),
        (Pad(operator="whisper", anchor="ask"), "with operator='shout'"),
        (Drop(operator="shout", anchor="chat"), "drops=True"),
    ],
)
def test_an_operator_that_draws_anything_but_its_own_edits_is_told_so(edit: Any, told: str) -> None:
    @operator("shout", effect="preserve")
    def shout(scenario: Scenario) -> SearchStrategy[Edit]:
        return st.just(edit)

    with pytest.raises(PortError, match=told):
        _drawn(_of(shout))


def test_an_operator_that_drops_must_be_asked_turn_by_turn() -> None:
    @operator("hush", effect="preserve", drops=True)
    def hush(scenario: Scenario) -> SearchStrategy[Edit]:
        raise NotApplicable("never reached")

    with pytest.raises(PortError, match="give it a parameter `anchor`"):
        variants(TRIP, operators=[_of(hush)])


def test_an_operator_that_drops_draws_nothing_but_drops() -> None:
    @operator("hush", effect="preserve", drops=True)
    def hush(scenario: Scenario, anchor: Line) -> SearchStrategy[Edit]:
        return st.just(Pad(operator="hush", anchor=anchor.id, tokens=20))

    with pytest.raises(PortError, match="draw Drops and nothing else"):
        _drawn(_of(hush))


# The variants of a scenario


def test_the_simplest_variant_speaks_the_required_turns_and_nothing_else() -> None:
    quick = settings(database=None, phases=(Phase.generate, Phase.shrink))
    simplest = find(variants(TRIP, operators=_shipped(), guarded=KNOWN), lambda variant: True, settings=quick)
    assert _ids(simplest) == ["ask", "limit", "hint", "book"]
    assert all(isinstance(edit, Drop) for edit in simplest.edits)


def test_an_optional_turn_that_a_required_one_needs_is_never_dropped() -> None:
    assert {edit.anchor for edit in _edits(_drawn(*_shipped("drop_optional")))} == {"chat", "aside", "reply", "bye"}


def test_of_a_script_that_is_optional_throughout_the_first_turn_stays() -> None:
    free = _scenario([_turn("one", optional=True), _turn("two", optional=True)])
    assert sorted(map(_ids, _drawn(*_shipped("drop_optional"), scenario=free))) == [["one"], ["one", "two"]]


def test_without_operators_there_is_the_script_alone() -> None:
    assert [variant.edits for variant in _drawn()] == [()]


def test_the_order_in_which_operators_are_given_does_not_matter() -> None:
    assert _drawn(*_shipped()) == _drawn(*reversed(_shipped()))


def test_sessions_of_every_mixture_of_operators_are_drawn() -> None:
    mixtures = {frozenset(type(edit) for edit in variant.edits) - {Drop} for variant in _drawn(*_shipped())}
    assert mixtures >= {frozenset(), frozenset({Pad}), frozenset({Insert}), frozenset({Pad, Insert})}
    assert frozenset[type[Edit]]().union(*mixtures) == {Pad, Insert, Move}


def test_an_operator_is_missing_from_a_good_part_of_the_sessions() -> None:
    @operator("free", effect="preserve")
    def free(scenario: Scenario) -> SearchStrategy[Edit]:
        return st.integers(20, 2000).map(lambda tokens: Pad(operator="free", anchor="ask", tokens=tokens))

    found: list[Variant] = []
    for seed in range(20):
        found += _generated(variants(TRIP, operators=[_of(free), *_shipped("interrupt", "pad_turns")]), seed)
    for name in ("free", "interrupt", "pad_turns"):
        without = [variant for variant in found if name not in {edit.operator for edit in variant.edits}]
        assert 0.25 < len(without) / len(found) < 0.85


def test_no_operator_is_chosen_twice_at_one_turn() -> None:
    for variant in _drawn(*_shipped("interrupt", "pad_turns")):
        chosen = [(edit.anchor, edit.operator) for edit in variant.edits]
        assert len(set(chosen)) == len(chosen)


def test_variants_work_under_plain_given() -> None:
    found = _generated(variants(TRIP, operators=_shipped(), guarded=KNOWN), seed=0)
    assert len({variant.key for variant in found}) > 4


def _noisy(n: int, *, anywhere: bool = False) -> list[Registered]:
    """Operators of which each offers its own edit at every turn, or without being asked turn by turn."""

    def noisy(name: str) -> Registered:
        @operator(name, effect="preserve")
        def at_each(scenario: Scenario, anchor: Line) -> SearchStrategy[Edit]:
            return st.just(Pad(operator=name, anchor=anchor.id, tokens=20))

        @operator(name, effect="preserve")
        def free(scenario: Scenario) -> SearchStrategy[Edit]:
            return st.just(Pad(operator=name, anchor=scenario.turns[-1].id, tokens=20))

        return _of(free if anywhere else at_each)

    return [noisy(f"noise{i}") for i in range(n)]


def test_in_a_good_part_of_the_sessions_each_turn_has_what_one_of_several_operators_offers() -> None:
    found = _drawn(*_noisy(3))
    mixed = [
        variant
        for variant in found
        if len({edit.operator for edit in variant.edits if isinstance(edit, Pad)}) == 3
        and len({edit.anchor for edit in variant.edits}) == len(variant.edits)
    ]
    assert 0.1 < len(mixed) / len(found) < 0.5


@pytest.mark.parametrize("anywhere", [False, True])
def test_of_many_operators_few_are_on_in_one_session(anywhere: bool) -> None:
    found = _drawn(*_noisy(12, anywhere=anywhere))
    on = [len({edit.operator for edit in variant.edits}) for variant in found]
    assert max(on) == ON_AT_MOST
    assert len({edit.operator for edit in _edits(found)}) > 9


# Drawing


def test_drawing_gives_as_many_distinct_variants_as_asked_for() -> None:
    strategy = variants(TRIP, operators=_shipped())
    for n in (0, 1, 25):
        found = draw(strategy, n, seed=0)
        assert len({variant.key for variant in found}) == len(found) == n


def test_drawing_gives_what_there_is_where_there_is_less() -> None:
    found = draw(variants(TRIP, operators=_shipped("drop_optional")), 40, seed=0)
    assert 10 <= len(found) == len({variant.key for variant in found}) <= 2 * 3 * 2


def test_equal_arguments_draw_equal_variants_and_each_argument_counts() -> None:
    strategy = variants(TRIP, operators=_shipped())
    base = draw(strategy, 25, seed=0, scenario="trip", cell=0)
    assert draw(strategy, 25, seed=0, scenario="trip", cell=0) == base
    assert draw(strategy, 25, seed=1, scenario="trip", cell=0) != base
    assert draw(strategy, 25, seed=0, scenario="walk", cell=0) != base
    assert draw(strategy, 25, seed=0, scenario="trip", cell=1) != base
    assert draw(strategy, 10, seed=0, scenario="trip", cell=0) == base[:10]


def test_drawing_inside_a_property_test_is_possible() -> None:
    @settings(max_examples=3, database=None, suppress_health_check=[HealthCheck.nested_given])
    @given(st.integers(0, 3))
    def nested(seed: int) -> None:
        assert len(draw(variants(TRIP, operators=_shipped()), 3, seed)) == 3

    nested()


# The shipped operators


def test_interruptions_come_from_the_scenario_with_what_they_must_mention() -> None:
    inserts = {edit for edit in _edits(_drawn(*_shipped("interrupt"))) if isinstance(edit, Insert)}
    assert {(edit.name, edit.user, edit.mentions) for edit in inserts} == {
        ("wifi", "Wifi?", ("wifi",)),
        ("gate", "Gate?", ()),
    }
    assert {edit.anchor for edit in inserts} == {line.id for line in TRIP.turns}


def test_pads_are_between_the_shortest_filler_and_2000_tokens() -> None:
    sizes = [edit.tokens for edit in _edits(_drawn(*_shipped("pad_turns"))) if isinstance(edit, Pad)]
    assert all(size is not None and PAD_TOKENS_MIN <= size <= 2000 for size in sizes)
    assert len(set(sizes)) > 50


def test_pads_to_the_threshold_have_a_side_and_no_size() -> None:
    pads = [edit for edit in _edits(_drawn(*_shipped("pad_to_threshold"))) if isinstance(edit, Pad)]
    assert {(edit.tokens, edit.to) for edit in pads} == {(None, "before"), (None, "after")}


def _offsets(scenario: Scenario, turn: str, guarded: Guarded | None) -> list[int]:
    """Every offset that is offered: Hypothesis goes through so small a choice to its end."""
    (piece,) = _shipped("move_statement")
    offered = piece.function(scenario, scenario.line(turn), guarded or {})
    found: set[int] = set()
    if offered is not None:

        @settings(database=None, phases=(Phase.generate,))
        @given(offered)
        def collect_them(move: Move) -> None:
            assert move.anchor == turn
            found.add(move.offset)

        collect_them()
    return sorted(found)


def test_a_statement_moves_up_to_the_turn_at_which_its_checker_looks() -> None:
    assert _offsets(TRIP, "limit", KNOWN) == [-1, 1, 2, 3, 4]


def test_a_statement_only_moves_earlier_where_nothing_is_known_of_its_checker() -> None:
    assert _offsets(TRIP, "limit", None) == [-1]


def test_a_statement_passes_every_turn_where_its_checker_is_known_to_look_nowhere() -> None:
    assert _offsets(TRIP, "limit", {"rails": frozenset({"chat"})}) == [-1, 1, 2, 3, 4, 5, 6]


def test_only_turns_that_state_a_constraint_are_moved() -> None:
    moved = {edit.anchor for edit in _edits(_drawn(*_shipped("move_statement"), guarded=KNOWN))}
    assert moved == {"limit"}


TALK = [_turn(f"t{i}") for i in range(4)]
ELSEWHERE: Guarded = {"rails": frozenset({"unknown"})}


def test_a_statement_and_the_one_that_supersedes_it_share_the_way_between_them() -> None:
    script = _scenario([_turn("old", states=["limit"]), *TALK, _turn("new", states=["raised"])])
    assert _offsets(script, "old", ELSEWHERE) == [1, 2]
    assert _offsets(script, "new", ELSEWHERE) == [-2, -1]


def test_a_statement_passes_no_turn_that_lifts_it() -> None:
    script = _scenario([_turn("old", states=["limit"]), *TALK, _turn("lift", lifts=["limit"]), _turn("bye")])
    assert _offsets(script, "old", ELSEWHERE) == [1, 2, 3, 4]


def test_a_statement_of_another_constraint_is_passed() -> None:
    script = _scenario([_turn("old", states=["limit"]), _turn("other", states=["rails"])])
    assert _offsets(script, "old", ELSEWHERE) == [1]


def test_a_turn_that_both_states_and_is_checked_passes_no_statement_of_what_it_is_checked_for() -> None:
    script = _scenario([_turn("old", states=["limit"]), *TALK, _turn("book", states=["rails"])])
    assert _offsets(script, "book", {"limit": frozenset({"book"})}) == [-2, -1]


def test_a_turn_that_states_and_lifts_passes_no_check_of_what_it_lifts() -> None:
    script = _scenario([_turn("old", states=["limit"]), *TALK, _turn("swap", states=["rails"], lifts=["limit"])])
    assert _offsets(script, "swap", {"limit": frozenset({"t2"})}) == [-1]


def test_a_statement_that_supersedes_passes_no_check_of_what_it_supersedes() -> None:
    script = _scenario([_turn("old", states=["limit"]), *TALK, _turn("new", states=["raised"])])
    assert _offsets(script, "new", {"limit": frozenset({"t3"})}) == []


def test_a_statement_moves_only_as_far_as_after_allows() -> None:
    script = _scenario([_turn("ask"), _turn("chat"), _turn("old", states=["limit"], after=["ask"]), *TALK])
    assert _offsets(script, "old", None) == [-1]
