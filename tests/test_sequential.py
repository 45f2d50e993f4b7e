"""Sequential decisions: exact against sums and Wald's lines, laws of any rule, and what the defaults promise."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.noise import decisions
from fuzzturn.sequential import (
    ONCE,
    Count,
    Rule,
    Tally,
    TwoStage,
    accept_probability,
    certain_runs,
    conclude,
    expected_runs,
    rule_for,
)

NOTE = Path(__file__).parent.parent / "docs" / "decisions" / "0012-how-a-stochastic-failure-is-decided.md"
RATES = st.floats(0, 1)
ORIGINS = [percent / 100 for percent in range(2, 101, 2)]
RETAINED = [0.0, 0.25, 0.5, 0.75, 1.0]


@st.composite
def two_stage(draw: st.DrawFn, longest: int = 25) -> TwoStage:
    p0 = draw(st.floats(0.01, 0.5))
    most = draw(st.integers(1, longest))
    return TwoStage(
        p0=p0,
        p1=draw(st.floats(p0 + 0.05, 0.98)),
        floor=draw(st.sampled_from([0.0, 0.15, 0.3, 0.5, 1.0])),
        alpha=draw(st.floats(0.001, 0.5)),
        beta=draw(st.floats(0.001, 0.5)),
        first=draw(st.integers(1, most)),
        most=most,
    )


@st.composite
def counts(draw: st.DrawFn) -> Count:
    most = draw(st.integers(1, 25))
    return Count(hits=draw(st.integers(1, most)), most=most)


RULES: st.SearchStrategy[TwoStage | Count] = st.one_of(two_stage(), counts())


def binomial(k: int, n: int, p: float) -> float:
    return math.comb(n, k) * p**k * (1 - p) ** (n - k)


def played(rule: Rule, runs: list[bool], at_once: bool) -> Tally:
    """Where the rule stops when the runs come in this order, one by one or in rounds of certain runs."""
    tally = Tally()
    while rule.decide(tally) == "more":
        ready = runs[tally.n : tally.n + (certain_runs(rule, tally) if at_once else 1)]
        tally = tally.plus(sum(ready), len(ready))
    return tally


# exactness


@given(counts(), RATES)
def test_a_count_s_figures_are_sums_of_binomials(rule: Count, p: float) -> None:
    hits, most = rule.hits, rule.most
    accepted = math.fsum(binomial(k, most, p) for k in range(hits, most + 1))
    assert accept_probability(rule, p) == pytest.approx(accepted)
    open_after = [
        math.fsum(binomial(k, n, p) for k in range(max(0, hits - most + n), min(n, hits - 1) + 1)) for n in range(most)
    ]
    assert expected_runs(rule, p) == pytest.approx(math.fsum(open_after))


@settings(max_examples=30)
@given(two_stage(longest=10), RATES)
def test_the_figures_of_a_two_stage_rule_are_those_of_every_sequence_played(rule: TwoStage, p: float) -> None:
    accepted, cost = 0.0, 0.0
    for runs in product((True, False), repeat=rule.most):
        chance = math.prod(p if hit else 1 - p for hit in runs)
        stop = played(rule, list(runs), at_once=False)
        cost += chance * stop.n
        accepted += chance * (rule.decide(stop) == "accept")
    assert accept_probability(rule, p) == pytest.approx(accepted, abs=1e-12)
    assert expected_runs(rule, p) == pytest.approx(cost)


def test_the_lines_of_the_ratio_test_are_wald_s() -> None:
    """Wald 1947 for 0.01 against 0.06 at 5 % and 10 %: 0.028 n + 1.57 and 0.028 n - 1.22 (Montgomery's example)."""
    rule = TwoStage(p0=0.01, p1=0.06, alpha=0.05, beta=0.1, first=400, most=400)
    scale = math.log(0.06 * 0.99 / (0.01 * 0.94))
    slope = math.log(0.99 / 0.94) / scale
    upper, lower = math.log((1 - 0.1) / 0.05) / scale, math.log((1 - 0.05) / 0.1) / scale
    assert (round(slope, 3), round(upper, 2), round(lower, 2)) == (0.028, 1.57, 1.22)
    safe_upper, safe_lower = math.log(1 / 0.05) / scale, math.log(1 / 0.1) / scale
    for n in range(1, 300):
        accepted = next(k for k in range(400) if rule.decide(Tally(min(k, n), n)) == "accept" or k > n)
        assert accepted == min(n + 1, math.ceil(safe_upper + slope * n))
        assert accepted >= min(n + 1, math.ceil(upper + slope * n))
        rejected = [k for k in range(n + 1) if rule.decide(Tally(k, n)) == "reject"]
        assert rejected == list(range(math.floor(slope * n - safe_lower) + 1))


# laws


@given(RULES)
def test_more_hits_in_as_many_runs_never_count_against_a_candidate(rule: Rule) -> None:
    rank = {"reject": 0, "more": 1, "accept": 2}
    for n in range(rule.most + 3):
        ranks = [rank[rule.decide(Tally(k, n))] for k in range(n + 1)]
        assert ranks == sorted(ranks)


@given(RULES)
def test_a_rule_has_decided_after_its_most_runs(rule: Rule) -> None:
    for n in range(rule.most, rule.most + 10):
        assert all(rule.decide(Tally(k, n)) != "more" for k in range(n + 1))


@given(RULES, RATES, RATES)
def test_what_fails_more_often_is_accepted_no_less_often(rule: Rule, one: float, other: float) -> None:
    assert accept_probability(rule, min(one, other)) <= accept_probability(rule, max(one, other)) + 1e-12


@given(RULES, RATES)
def test_the_expected_runs_lie_between_one_and_the_most(rule: Rule, p: float) -> None:
    least = 0 if rule.decide(Tally()) == "reject" else 1
    assert least - 1e-12 <= expected_runs(rule, p) <= rule.most + 1e-9


def test_a_rule_that_could_accept_nothing_plays_nothing() -> None:
    rule = TwoStage(p1=0.3, first=3, most=3)
    assert rule.decide(Tally()) == "reject"
    assert (expected_runs(rule, 1.0), accept_probability(rule, 1.0), certain_runs(rule, Tally())) == (0, 0, 0)
    assert rule_for(0.6, most=3) is None


@given(two_stage(), RATES)
def test_what_fails_at_p0_or_more_rarely_is_accepted_with_a_chance_of_alpha_at_most(
    rule: TwoStage, part: float
) -> None:
    assert accept_probability(rule, rule.p0 * part) <= rule.alpha + 1e-12


@given(two_stage(), st.lists(st.booleans(), min_size=25, max_size=25))
def test_what_is_accepted_has_shown_the_floor(rule: TwoStage, runs: list[bool]) -> None:
    stop = played(rule, runs, at_once=False)
    assert rule.decide(stop) == "reject" or stop.k / stop.n >= rule.floor - 1e-9


@given(RULES, st.lists(st.booleans(), min_size=25, max_size=25))
def test_rounds_of_certain_runs_end_where_single_runs_end(rule: Rule, runs: list[bool]) -> None:
    stop = played(rule, runs, at_once=True)
    assert stop == played(rule, runs, at_once=False)
    assert stop.n <= rule.most
    assert certain_runs(rule, stop) == 0


def test_the_order_of_runs_matters_only_by_having_ended_the_test() -> None:
    rule = TwoStage(p1=0.3, first=5)
    misses_first, hits_first = Tally().plus(0, 5).plus(5, 5), Tally().plus(5, 5).plus(0, 5)
    assert rule.decide(misses_first) == rule.decide(hits_first) == "accept"
    assert played(rule, [False] * 5 + [True] * 5, at_once=False) == Tally(0, 5)
    assert played(rule, [True] * 5 + [False] * 5, at_once=False) == Tally(4, 4)


def test_without_the_money_for_one_more_run_what_is_open_stays_undecided() -> None:
    rule = TwoStage(p1=0.3)
    assert [conclude(rule, tally) for tally in (Tally(1, 2), Tally(5, 5), Tally(0, 5))] == [
        "undecided",
        "accept",
        "reject",
    ]


def test_a_deterministic_agent_costs_one_run() -> None:
    assert [ONCE.decide(Tally(k, n)) for k, n in ((0, 0), (0, 1), (1, 1))] == ["more", "reject", "accept"]
    assert certain_runs(ONCE, Tally()) == expected_runs(ONCE, 0.4) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"p0": 0.3},
        {"p0": 0.0},
        {"p1": 1.0},
        {"floor": 1.1},
        {"alpha": 0.0},
        {"alpha": 1.0},
        {"beta": 0.0},
        {"first": 0},
        {"first": 41},
        {"most": 4},
    ],
)
def test_a_rule_out_of_range_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        TwoStage(**{"p1": 0.3, **wrong})  # type: ignore[arg-type]


def test_what_cannot_be_counted_is_refused() -> None:
    for refused in (
        lambda: Tally(2, 1),
        lambda: Tally(-1, 1),
        lambda: Tally().plus(2, 1),
        lambda: Count(hits=2, most=1),
        lambda: Count(hits=0),
        lambda: accept_probability(ONCE, 1.1),
        lambda: rule_for(0.0),
        lambda: rule_for(0.5, retain=1.5),
        lambda: rule_for(0.5, background=0.0),
    ):
        with pytest.raises(ValueError, match=r"no (tally|rule|rate)"):
            refused()


# what the defaults promise


def test_among_150_candidates_without_the_fault_any_is_accepted_in_3_percent_at_most() -> None:
    made = [rule for origin in ORIGINS for retain in RETAINED if (rule := rule_for(origin, retain)) is not None]
    assert len(made) > 190
    assert max(1 - (1 - accept_probability(rule, 0.03)) ** 150 for rule in made) <= 0.03


def test_the_mean_costs_are_as_decided() -> None:
    rare, usual = rule_for(0.3), rule_for(0.6)
    assert rare is not None
    assert usual is not None
    assert expected_runs(rare, 0.3) <= 20
    assert expected_runs(usual, 0.3) <= 20
    assert expected_runs(usual, 0.6) <= 8


@pytest.mark.parametrize("origin", [0.3, 0.45, 0.6, 0.75, 0.9, 1.0])
def test_as_frequent_as_the_origin_is_accepted_and_a_quarter_of_that_is_not(origin: float) -> None:
    rule = rule_for(origin)
    assert rule is not None
    assert accept_probability(rule, origin) >= 0.88
    assert accept_probability(rule, origin / 4) <= 0.15


def test_an_origin_too_rare_to_tell_gets_no_rule_and_with_more_runs_it_does() -> None:
    assert (rule_for(0.15), rule_for(0.2)) == (None, None)
    assert rule_for(0.21) is not None
    assert rule_for(0.15, most=120) is not None
    assert rule_for(0.03, most=120) is None
    assert rule_for(0.3, background=0.15) is None
    assert rule_for(0.3, background=0.25) is None
    assert rule_for(0.9, background=0.15) is not None


def test_asked_to_retain_nothing_a_rule_only_keeps_the_background_out() -> None:
    rule = rule_for(0.9, retain=0.0)
    assert rule is not None
    assert rule.floor == 0
    assert accept_probability(rule, 0.3) > 0.85 > accept_probability(rule_for(0.9) or ONCE, 0.3)


def test_the_decision_note_has_the_tables_as_computed() -> None:
    assert decisions.text() in NOTE.read_text(encoding="utf-8")
