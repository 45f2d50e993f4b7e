"""The self-check: what does not look fails at the number of pairs it names, what looks passes: exact error rates."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from answers import Rule, always_4, answer, asked, coin, die, oracle, refuser, window_only
from fuzzturn.stress.selfcheck import (
    ALPHA,
    BETA,
    LEAST,
    PAIRS,
    PAIRS_CONSTANT,
    PAIRS_PERFECT,
    Twins,
    decide,
    self_check,
    self_check_json,
    twins,
)
from fuzzturn.stress.tails import at_least, at_most

TIES = (0.0, 0.05, 0.2, 0.36, 0.5, 0.8, 0.95, 1.0)


@cache
def decided(right: int, wrong: int, tied: int) -> str:
    """What the product decides of so many pairs."""
    n = right + wrong + tied
    decision, weak = decide(Twins(right=right, wrong=wrong, tied=tied, gap=None, asked=n))
    return f"{decision}{' weak' if weak else ''}"


def chances(n: int, right: float, wrong: float) -> dict[str, float]:
    """The chance of each decision over `n` pairs, summed over all that can occur (but for 1e-5 of it)."""
    found: dict[str, float] = {}
    for r in range(n + 1):
        for w in range(n + 1 - r):
            p = comb(n, r) * comb(n - r, w) * right**r * wrong**w * max(0.0, 1 - right - wrong) ** (n - r - w)
            if p > 1e-8:
                decision = decided(r, w, n - r - w)
                found[decision] = found.get(decision, 0) + p
    return found


@given(
    st.integers(0, 80), st.integers(0, 80), st.sampled_from([Fraction(1, 2), Fraction(3, 4), Fraction(0), Fraction(1)])
)
def test_the_tails_are_scipy_s(k: int, n: int, p: Fraction) -> None:
    assert at_most(k, n, p) == pytest.approx(stats.binom.cdf(k, n, float(p)), rel=1e-9)
    assert at_least(k, n, p) == pytest.approx(stats.binom.sf(k - 1, n, float(p)), rel=1e-9)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("n", [PAIRS, PAIRS + 1, PAIRS + 8])
def test_any_coin_fails_with_a_chance_of_99_percent_at_the_size_named(n: int, ties: float) -> None:
    found = chances(n, (1 - ties) / 2, (1 - ties) / 2)
    assert found.get("fails", 0) >= 0.99
    assert found.get("passes", 0) + found.get("passes weak", 0) <= ALPHA


@pytest.mark.parametrize("n", [3, 7, 12, 30])
@pytest.mark.parametrize("ties", TIES)
def test_a_coin_passes_seldom_however_few_pairs_there_are(n: int, ties: float) -> None:
    found = chances(n, (1 - ties) / 2, (1 - ties) / 2)
    assert found.get("passes", 0) + found.get("passes weak", 0) <= ALPHA


@pytest.mark.parametrize("ties", [0.0, 0.1, 0.25, 0.4, 0.5])
@pytest.mark.parametrize("n", [10, 25, 50, PAIRS])
def test_a_judge_at_the_least_is_failed_seldom_and_passes_at_the_size_named(n: int, ties: float) -> None:
    wrong = (1 - LEAST - ties) / 2
    found = chances(n, wrong + LEAST, wrong)
    assert found.get("fails", 0) <= BETA
    assert found.get("passes weak", 0) <= BETA
    if n >= PAIRS:
        assert found["passes"] + found.get("passes weak", 0) >= 0.99


def test_the_sizes_for_a_constant_and_for_a_perfect_judge_are_the_smallest_ones() -> None:
    assert [decided(0, 0, n) for n in range(PAIRS_CONSTANT, PAIRS_CONSTANT + 100)] == ["fails"] * 100
    assert decided(0, 0, PAIRS_CONSTANT - 1) == "undecided"
    assert [decided(n, 0, 0) for n in range(PAIRS_PERFECT, PAIRS_PERFECT + 100)] == ["passes"] * 100
    assert decided(PAIRS_PERFECT - 1, 0, 0) == "undecided"


@pytest.mark.parametrize("rule", [oracle, window_only])
def test_judges_that_look_pass(rule: Rule) -> None:
    check = self_check(asked(rule, PAIRS, distances=(0, 1, 2, 4, 8, 9, 16)))
    assert (check.decision, check.weak, check.needed) == ("passes", False, None)


@pytest.mark.parametrize("rule", [coin(0.5), coin(0.9), coin(0.1), die])
@pytest.mark.parametrize("samples", [1, 3])
def test_coins_and_dice_fail_at_the_size_named_with_any_number_of_samples(rule: Rule, samples: int) -> None:
    decisions = [self_check(asked(rule, PAIRS, seed=seed, samples=samples)).decision for seed in range(20)]
    assert decisions.count("fails") >= 19


def test_a_judge_that_always_says_4_fails_and_says_why() -> None:
    check = self_check(asked(always_4, PAIRS))
    assert (check.decision, check.p, check.twins.gap) == ("fails", 1.0, 0.0)
    assert check.why.endswith("equal in 92, lower in 0: too seldom higher for a judge that looks")


def test_a_judge_that_is_always_wrong_fails() -> None:
    assert decided(0, 40, 0) == "fails"


def test_a_judge_that_looks_but_sees_little_passes_and_is_called_weak() -> None:
    assert decided(10, 0, 90) == "passes weak"


def test_a_judge_without_scores_fails_and_no_twins_are_undecided() -> None:
    silent = self_check(asked(refuser, 3))
    assert (silent.decision, silent.why, silent.p, silent.unscored) == ("fails", "it gives no scores", None, 6)
    alone = self_check([answer(), answer(1)])
    assert (alone.decision, alone.twins.asked, alone.needed) == ("undecided", 0, PAIRS)


def first_that_does_not_pass(n: int) -> list[str]:
    """For each number of right pairs, what is decided at the fewest wrong ones at which it does not pass.

    With more wrong ones it passes no more, and fails all the more; with more right ones it takes more wrong ones.
    """
    found, wrong = [], 0
    for right in range(n + 1):
        while right + wrong <= n and decided(right, wrong, n - right - wrong).startswith("passes"):
            wrong += 1
        if right + wrong <= n:
            found.append(decided(right, wrong, n - right - wrong))
    return found


def test_from_the_size_named_on_it_is_always_decided() -> None:
    assert "undecided" in first_that_does_not_pass(PAIRS - 1)
    assert {decision for n in range(PAIRS, 200) for decision in first_that_does_not_pass(n)} == {"fails"}


def test_what_is_undecided_names_the_pairs_that_decide_it() -> None:
    check = self_check(asked(oracle, 1))
    assert (check.decision, check.needed) == ("undecided", PAIRS)


def test_samples_are_compared_one_by_one_so_that_no_side_has_more() -> None:
    """A judge that gives 4 in nine of ten would look right where the legal twin has more samples to average."""
    found = twins([answer(score=4), answer(score=None, sample=1), answer(label="legal", score=4),
                   answer(label="legal", score=0, sample=1)])  # fmt: skip
    assert (found.tied, found.n, found.gap) == (1, 1, 0.0)


def test_twins_of_several_arms_are_not_mixed() -> None:
    with pytest.raises(ValueError, match="within one arm"):
        twins([answer(), answer(arm="block off")])


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.data())
def test_the_order_of_answers_and_what_is_unscored_decide_nothing(seed: int, data: st.DataObject) -> None:
    given_ = asked(die, 6, seed=seed, samples=2)
    check = self_check(given_)
    mixed = data.draw(st.permutations(given_))
    more = self_check([*mixed, answer(99, score=None), answer(99, "legal", None)])
    assert (more.decision, more.p, more.twins.n) == (check.decision, check.p, check.twins.n)
    assert more.twins.asked == check.twins.asked + 1


def test_a_judge_of_whom_no_pair_has_two_scores_is_not_said_to_give_none() -> None:
    given = [replace(a, score=None, status="refused") if a.label == "legal" else a for a in asked(oracle, 9)]
    check = self_check(given)
    assert (check.decision, check.why) == ("undecided", "no pair has two scores, 9 answers have one")
    assert check.needed == PAIRS


def test_the_json_names_the_error_rates() -> None:
    check = self_check(asked(oracle, 30))
    data = self_check_json(check)
    assert (data["alpha"], data["beta"], data["least"]) == (ALPHA, BETA, LEAST)
    assert data["twins"] == {"right": 30, "wrong": 0, "tied": 0, "gap": 4.0, "asked": 30, "scored": 60, "n": 30}
