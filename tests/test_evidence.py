"""Evidence: intervals against scipy and the literature; a cliff is found where it is, and not where there is noise."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from fuzzturn.evidence import CLIFF_RUNS_MIN, Cliff, cliff, difference, rate, runs_for

RATES = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(RATES)
def test_wilson_is_scipy_s_wilson(counts: tuple[int, int]) -> None:
    k, n = counts
    expected = stats.binomtest(k, n).proportion_ci(confidence_level=0.95, method="wilson")
    found = rate(k, n)
    assert (found.k, found.n) == counts
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=6e-5)
    assert found.low <= found.share + 5e-5
    assert found.share <= found.high + 5e-5


@pytest.mark.parametrize("k, n", [(1, 0), (0, 0), (-1, 5), (6, 5)])
def test_what_is_no_rate_is_refused(k: int, n: int) -> None:
    with pytest.raises(ValueError, match="is no rate"):
        rate(k, n)


@given(st.floats(0.02, 1.0), st.floats(0.0, 1.0))
def test_runs_for_gives_the_fewest_runs_of_that_width(width: float, share: float) -> None:
    def wide(n: int) -> float:
        """Wilson's width at exactly that share, which whole hits may miss, before anything is clipped."""
        z2 = stats.norm.ppf(0.975) ** 2
        return float(2 * (z2 * (share * (1 - share) / n + z2 / (4 * n * n))) ** 0.5 / (1 + z2 / n))

    runs = runs_for(width, share)
    assert wide(runs) <= width + 1e-6
    assert runs == 1 or wide(runs - 1) > width - 1e-6
    assert runs <= runs_for(width)


@pytest.mark.parametrize("width, share", [(0, 0.5), (1.1, 0.5), (0.3, -0.1), (0.3, 1.1)])
def test_a_width_or_rate_off_the_scale_is_refused(width: float, share: float) -> None:
    with pytest.raises(ValueError, match="no number of runs"):
        runs_for(width, share)


@pytest.mark.parametrize(
    "first, second, low, high",
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_a_difference_is_that_of_newcombe_s_table(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    found = difference(rate(*first), rate(*second))
    assert (found.low, found.high) == (low, high)


@given(RATES, RATES)
def test_a_difference_turned_round_is_the_same_difference(one: tuple[int, int], other: tuple[int, int]) -> None:
    there, back = difference(rate(*one), rate(*other)), difference(rate(*other), rate(*one))
    assert (there.value, there.low, there.high) == pytest.approx((-back.value, -back.high, -back.low))
    assert -1 <= there.low <= there.value + 5e-5
    assert there.value - 5e-5 <= there.high <= 1


@pytest.mark.parametrize("runs", [5, 6, 9, 20, 41])
def test_the_interval_of_a_drop_is_student_s_with_bonferroni_s_correction(runs: int) -> None:
    """Two turns, one split: the interval is the paired t-test's. Four: each of three at a third of 5 %."""
    rng = random.Random(runs)
    drops = [rng.gauss(10, 1) for _ in range(runs)]
    expected = stats.ttest_1samp(drops, 0).confidence_interval(0.95)
    found = cliff([drops, [0.0] * runs])
    assert found is not None
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-4)
    expected = stats.ttest_1samp(drops, 0).confidence_interval(1 - 0.05 / 3)
    four = cliff([drops, drops, [0.0] * runs, [0.0] * runs])
    assert four is not None
    assert four.turn == 3
    assert (four.low, four.high) == pytest.approx((expected.low, expected.high), abs=1e-4)


def campaign(level: Callable[[int], float], turns: int, runs: int, rng: random.Random) -> list[list[float | None]]:
    """A 0/1 signal: at turn t each run keeps to the rule with chance `level(t)`."""
    return [[float(rng.random() < level(turn)) for _ in range(runs)] for turn in range(1, turns + 1)]


@pytest.mark.parametrize("level, runs", [(0.9, 10), (0.97, 20), (0.5, 5)])
def test_noise_without_a_cliff_is_taken_for_one_in_fewer_than_5_percent(level: float, runs: int) -> None:
    rng = random.Random(7)
    found = [cliff(campaign(lambda _: level, 12, runs, rng)) for _ in range(60)]
    assert sum(one is not None and one.shown for one in found) <= 3


def test_a_late_fall_of_half_the_runs_is_shown_and_its_turn_is_near() -> None:
    rng = random.Random(3)
    found = [cliff(campaign(lambda turn: 0.98 if turn < 9 else 0.4, 12, 10, rng)) for _ in range(30)]
    shown = [one for one in found if one is not None and one.shown]
    assert len(shown) >= 27
    assert sum(abs(one.turn - 9) <= 1 for one in shown) >= 27
    assert sum(one.low <= 0.58 <= one.high for one in shown) >= 27


def test_a_fall_in_every_run_is_exact() -> None:
    assert cliff([[5.0] * 6] * 7 + [[2.0] * 6] * 3) == Cliff(
        turn=8, before=5, after=2, drop=3, low=3, high=3, spread=0, runs=6
    )


def test_a_first_turn_without_a_fault_by_luck_is_no_cliff() -> None:
    """All ten runs agree on turn 1, and agree closely on the mean of what follows."""
    later = [[float((run + turn) % 10 != 0) for run in range(10)] for turn in range(9)]
    found = cliff([[1.0] * 10, *later])
    assert found is not None
    assert not found.shown


def test_a_drop_smaller_than_the_spread_is_not_shown_however_many_runs_there_are() -> None:
    drops = [3.0 if run % 2 else -1.0 for run in range(400)]
    found = cliff([drops, [0.0] * 400])
    assert found is not None
    assert found.low > 0
    assert found.drop < found.spread
    assert not found.shown


def test_a_rise_is_no_cliff() -> None:
    found = cliff([[1.0] * 6] * 3 + [[4.0] * 6] * 3)
    assert found is not None
    assert not found.shown


@pytest.mark.parametrize("values", [[], [[1.0] * 9], [[1.0] * 4, [0.0] * 4], [[1.0] * 9, [0.0] * 4 + [None] * 5]])
def test_too_few_runs_or_turns_are_not_known(values: Sequence[Sequence[float | None]]) -> None:
    assert cliff(values) is None


def test_a_run_that_ended_counts_where_it_was_still_there() -> None:
    found = cliff([[1.0] * 7, [1.0] * 7, [0.0] * 6 + [None], [0.0] * 5 + [None] * 2])
    assert found is not None
    assert (found.turn, found.runs, found.shown) == (3, 6, True)


def test_turns_with_different_numbers_of_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="one value for each run"):
        cliff([[1.0, 1.0], [1.0]])


@given(
    st.lists(st.lists(st.integers(0, 5), min_size=6, max_size=6), min_size=2, max_size=8),
    st.integers(-3, 3),
    st.permutations(range(6)),
)
def test_neither_the_order_of_runs_nor_the_zero_of_the_scale_makes_a_cliff(
    turns: list[list[int]], more: int, order: list[int]
) -> None:
    given_so, other = cliff(turns), cliff([[turn[run] + more for run in order] for turn in turns])
    assert given_so is not None
    assert other is not None
    assert other.low == pytest.approx(given_so.low, abs=2e-4)
    assume(other.turn == given_so.turn)  # rounded bounds of two turns may tie
    assert (other.drop, other.spread) == pytest.approx((given_so.drop, given_so.spread), abs=2e-4)
    assert other.runs == 6 >= CLIFF_RUNS_MIN
