"""Shrinking: the result fails in the same way, is no larger, is 1-minimal, and shrinks to itself."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import kit
from fuzzturn.case import Case, as_case
from fuzzturn.finding import finding_order
from fuzzturn.rewrite import grow_pad, without, without_edit
from fuzzturn.shrink import Problem, shrink
from fuzzturn.threshold import Threshold
from fuzzturn.trial import Bench
from fuzzturn.variant import Drop, Edit, Insert, Move, Pad, Variant

SCRIPT = kit.scenario()
IDS = [line.id for line in SCRIPT.turns]

edits: st.SearchStrategy[Edit] = st.one_of(
    st.builds(Pad, operator=st.just("t"), anchor=st.sampled_from(IDS), tokens=st.integers(12, 400)),
    st.builds(Drop, operator=st.just("t"), anchor=st.sampled_from([id for id in IDS if id.startswith("chat")])),
    st.builds(Move, operator=st.just("t"), anchor=st.just("cap"), offset=st.integers(-1, 3)),
    st.builds(
        Insert, operator=st.just("t"), anchor=st.sampled_from(IDS), name=st.just("side"), user=st.just("And the bus?")
    ),
)
variants = st.lists(edits, max_size=6).map(lambda drawn: Variant(SCRIPT, tuple(drawn)))


@cache
def threshold() -> Threshold | None:
    return kit.learned(kit.bench(SCRIPT, memory="230").tree)


def bench() -> Bench:
    return replace(kit.bench(SCRIPT, judge=kit.Reader(), memory="230"), threshold=threshold())


def failing(variant: Variant, on: Bench) -> Case | None:
    trial = kit.wait(on.run(variant))
    return None if not trial.failures else as_case(trial, trial.failures[0].pinned(), on.threshold)


def one_smaller(case: Case) -> list[Variant]:
    """Every session with one turn and its dependants removed, with or without its tokens elsewhere; or one edit."""
    smaller = [without_edit(case.variant, edit) for edit in case.variant.edits if isinstance(edit, Move)]
    for id in case.others:
        shorter = without(case.variant, [id])
        smaller.append(shorter)
        for pad, edit in shorter.inserted.items():
            if isinstance(edit, Pad):
                smaller.append(grow_pad(shorter, pad, case.tokens([id])))
    return smaller


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(variants)
def test_the_result_fails_alike_is_no_larger_minimal_and_stable(variant: Variant) -> None:
    on = bench()
    case = failing(variant, on)
    assume(case is not None)
    assert case is not None
    pinned = case.failure.pinned()
    small, complete = kit.wait(shrink(case, Problem(pinned, on)))
    assert complete
    afresh = bench()
    again = as_case(kit.wait(afresh.run(small.variant)), pinned, afresh.threshold)
    assert again is not None
    assert finding_order(small.variant) <= finding_order(case.variant)
    for smaller in one_smaller(again):
        if finding_order(smaller) < finding_order(again.variant):
            assert as_case(kit.wait(afresh.run(smaller)), pinned, afresh.threshold) is None
    assert kit.wait(shrink(again, Problem(pinned, afresh)))[0].variant.key == small.variant.key


@settings(max_examples=60, deadline=None)
@given(st.lists(variants, min_size=2, max_size=5))
def test_finding_order_is_total_and_equal_only_for_equal_sessions(drawn: list[Variant]) -> None:
    ordered = sorted(drawn, key=finding_order)
    for one, other in pairwise(ordered):
        assert finding_order(one) <= finding_order(other)
        if finding_order(one) == finding_order(other):
            assert one.key == other.key


@settings(max_examples=25, deadline=None)
@given(variants)
def test_cutting_after_the_failing_turn_needs_no_run(variant: Variant) -> None:
    on = bench()
    case = failing(variant, on)
    assume(case is not None)
    assert case is not None
    spent = on.tree.meter.agent_turns
    cut = as_case(kit.wait(on.run(case.variant)), case.failure.pinned(), on.threshold)
    assert cut is not None
    assert cut.variant.key == case.variant.key
    assert on.tree.meter.agent_turns == spent


@pytest.mark.parametrize("batch", [1, 3, 8])
def test_the_batch_size_changes_cost_but_not_that_the_result_is_minimal(batch: int) -> None:
    on = bench()
    case = failing(Variant(SCRIPT, (Pad(operator="t", anchor="chat3", tokens=300),)), on)
    assert case is not None
    small, _ = kit.wait(shrink(case, Problem(case.failure.pinned(), on, batch)))
    assert [line.id for line in small.variant.spoken.turns] == ["hello", "cap", "pad@buy", "buy"]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(variants, st.integers(2, 9))
def test_the_batch_decides_what_is_tried_and_never_what_is_found(variant: Variant, batch: int) -> None:
    on = bench()
    case = failing(variant, on)
    assume(case is not None)
    assert case is not None
    pinned = case.failure.pinned()
    results = [kit.wait(shrink(case, Problem(pinned, on, size)))[0].variant.key for size in (1, batch)]
    assert results[0] == results[1]
