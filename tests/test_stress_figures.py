"""Figures of judges whose behaviour is known: exact where they are deterministic, inside the interval where not."""

from __future__ import annotations

import random
from collections import Counter
from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from answers import always_4, answer, asked, coin, die, needs_the_block, oracle
from fuzzturn.evidence import rate, wilson
from fuzzturn.stress.blocks import BlockFigure, blocks, blocks_json
from fuzzturn.stress.compared import DISCORDANT_MIN, compare, comparison_json, mcnemar
from fuzzturn.stress.figures import Cell, cell_json, cell_of, figures, kappa, majority
from fuzzturn.stress.item import Answer, Label
from fuzzturn.stress.shares import CLUSTERS_MIN, Share, all_needed, share_json, share_of

DISTANCES = (0, 1, 2, 4, 8, 9, 16)
ARMS = ("default", "block off")
SCORED = st.builds(
    answer,
    st.integers(0, 8),
    st.sampled_from(["violating", "legal"]),
    st.integers(0, 4) | st.none(),
    arm=st.sampled_from(ARMS),
    distance=st.sampled_from(DISTANCES),
    sample=st.integers(0, 2),
    scenario=st.sampled_from("abcd"),
    status=st.sampled_from(["unparsable", "refused"]),
)
ANSWERS = st.lists(SCORED, max_size=40, unique_by=lambda one: (one.arm, one.item, one.sample))


def shares(cell: Cell) -> list[Share]:
    found = (cell.no_score, cell.blind, cell.soft_blind, cell.sensitivity, cell.strict, cell.specificity)
    return [share for share in found if share is not None]


def known(share: Share | None) -> Share:
    assert share is not None
    return share


@settings(max_examples=60)
@given(ANSWERS)
def test_shares_lie_within_their_intervals_and_histograms_add_up(given_: list[Answer]) -> None:
    found = figures(given_)
    for cell in (
        found.overall,
        *found.arms.values(),
        *(c for cells in found.distances.values() for c in cells.values()),
    ):
        for share in shares(cell):
            for low, high in (share.widest, (share.low, share.high)):
                assert 0 <= low <= share.share + 5e-5
                assert share.share - 5e-5 <= high <= 1
        assert sum(map(sum, cell.histogram.values())) == cell.scored
        assert cell.scored + sum(cell.unscored.values()) == cell.answers
        assert cell.kappa is None or -1 <= cell.kappa <= 1
    assert sum(cell.answers for cell in found.arms.values()) == found.overall.answers == len(given_)


@settings(max_examples=40)
@given(ANSWERS, st.data())
def test_the_order_of_answers_changes_no_figure(given_: list[Answer], data: st.DataObject) -> None:
    assert figures(data.draw(st.permutations(given_))) == figures(given_)
    assert compare(data.draw(st.permutations(given_)), *ARMS) == compare(given_, *ARMS)


@settings(max_examples=40)
@given(ANSWERS, st.sampled_from(["violating", "legal"]), st.integers(0, 8))
def test_an_answer_that_is_no_score_changes_nothing_but_the_count_of_those(
    given_: list[Answer], label: Label, n: int
) -> None:
    before, after = cell_json(cell_of(given_)), cell_json(cell_of([*given_, answer(n, label, None, sample=9)]))
    counted = {"answers", "unscored", "no_score", "twins"}
    assert {k: v for k, v in after.items() if k not in counted} == {k: v for k, v in before.items() if k not in counted}
    assert after["no_score"]["k"] == sum(before["unscored"].values()) + 1


@given(st.integers(1, 150).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_one_answer_an_item_gets_the_interval_of_independent_runs(counts: tuple[int, int]) -> None:
    k, n = counts
    found = known(cell_of([answer(i, score=4 if i < k else 0) for i in range(n)]).blind)
    plain = rate(k, n)
    assert (found.k, found.n, found.low, found.high) == (k, n, plain.low, plain.high)


def test_repeats_of_the_same_answer_make_nothing_surer() -> None:
    once = known(cell_of([answer(i, score=4 if i < 5 else 0) for i in range(20)]).blind)
    often = known(cell_of([answer(i, score=4 if i < 5 else 0, sample=s) for i in range(20) for s in range(9)]).blind)
    assert (often.low, often.high, often.items) == (once.low, once.high, 20)
    assert (often.k, often.n) == (45, 180)


def test_what_each_figure_counts() -> None:
    scores = {"violating": (0, 0, 0, 1, 2, 3, 4, 4, None), "legal": (4, 4, 3, 2, 0, None)}
    cell = cell_of([answer(n, label, s) for label, given_ in scores.items() for n, s in enumerate(given_)])  # type: ignore[arg-type] # the keys are labels
    counts = [(share.k, share.n) for share in shares(cell)]
    assert counts == [(2, 15), (2, 8), (3, 8), (4, 8), (3, 8), (3, 5)]
    assert cell.histogram == {"violating": (3, 1, 1, 1, 2), "legal": (1, 0, 1, 1, 2)}
    assert cell.unscored == {"unparsable": 2}
    assert cell.twins is not None
    assert (cell.twins.right, cell.twins.wrong, cell.twins.tied, cell.twins.asked) == (4, 1, 0, 6)


@pytest.mark.parametrize("scenarios", ["ab", "abcdef"])
def test_intervals_hold_the_truth_of_random_judges_in_93_percent_of_cells(scenarios: str) -> None:
    held: list[bool] = []
    for seed in range(20):
        for rule, blind, legal in ((coin(0.5), 0.5, 0.5), (coin(0.2), 0.2, 0.2), (die, 0.2, 0.4)):
            found = figures(asked(rule, 84, seed=seed, distances=DISTANCES, scenarios=scenarios))
            for cell in (found.overall, *found.distances["default"].values()):
                for share, truth in ((known(cell.blind), blind), (known(cell.specificity), legal)):
                    held.append(share.widest[0] <= truth <= share.widest[1])
    assert len(held) == 20 * 3 * 8 * 2
    assert sum(held) / len(held) >= 0.93


@pytest.mark.parametrize("groups", [4, 6, 12])
def test_where_scenarios_differ_the_interval_over_them_holds_and_that_of_items_does_not(groups: int) -> None:
    """Each scenario has a rate of its own, 0.05 to 0.75; the truth is the mean over all scenarios there could be."""
    over, within = 0, 0
    for seed in range(300):
        chance = random.Random(seed)
        rates = [chance.uniform(0.05, 0.75) for _ in range(groups)]
        found = known(
            share_of(
                (answer(n, score=4 if chance.random() < r else 0, scenario=f"s{g}") for g, r in enumerate(rates)
                 for n in range(25)),
                lambda one: one.score == 4,
            )
        )  # fmt: skip
        assert found.over_scenarios is not None
        over += found.over_scenarios[0] <= 0.4 <= found.over_scenarios[1]
        within += found.low <= 0.4 <= found.high
    assert over / 300 >= 0.93
    assert within / 300 < 0.8


def test_fewer_scenarios_than_three_give_no_interval_over_scenarios() -> None:
    def over(n: int) -> object:
        return known(
            cell_of([answer(i, score=4 * (i % 2), scenario=f"s{i % n}") for i in range(12)]).blind
        ).over_scenarios

    assert over(CLUSTERS_MIN - 1) is None
    assert over(CLUSTERS_MIN) is not None


@pytest.mark.parametrize("score", [0, 4])
def test_where_all_are_alike_nothing_is_said_of_other_scenarios(score: int) -> None:
    assert (
        known(cell_of([answer(i, score=score, scenario=f"s{i % 6}") for i in range(60)]).blind).over_scenarios is None
    )


@pytest.mark.parametrize("df", [2, 5, 10, 11, 20, 60])
def test_student_s_quantile_is_scipy_s(df: int) -> None:
    """Seen where scenarios are all alike: the design effect is 1, and the interval is Wilson's with t for z."""
    n = (df + 1) * 4
    found = known(cell_of([answer(i, score=4 * (i % 2), scenario=f"s{i // 4}") for i in range(n)]).blind)
    t = stats.t.ppf(0.975, df)
    half = t * sqrt(0.25 / n + t * t / (4 * n * n)) / (1 + t * t / n)
    assert found.over_scenarios == pytest.approx((0.5 - half, 0.5 + half), abs=6e-5)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=60))
def test_kappa_is_agreement_beyond_chance(pairs: list[tuple[int, int]]) -> None:
    n = len(pairs)
    seen = sum(a == b for a, b in pairs) / n
    first, second = sum(a for a, _ in pairs) / n, sum(b for _, b in pairs) / n
    chance = first * second + (1 - first) * (1 - second)
    found = kappa(Counter(pairs))
    if found is None:
        assert chance == 1
    else:
        assert found == pytest.approx((seen - chance) / (1 - chance), abs=6e-5)


def test_kappa_of_the_literature() -> None:
    """Cohen 1960's layout: 20 and 15 of 50 agreed, 0.4."""
    assert kappa({(1, 1): 20, (1, 0): 5, (0, 1): 10, (0, 0): 15}) == 0.4
    assert kappa({}) is None


@given(st.integers(0, 80), st.integers(0, 80))
def test_mcnemar_is_scipy_s_exact_binomial_test(first: int, second: int) -> None:
    if first + second:
        assert mcnemar(first, second) == pytest.approx(stats.binomtest(first, first + second).pvalue, rel=1e-9)


def test_mcnemar_needs_six_to_one_side() -> None:
    assert mcnemar(0, DISCORDANT_MIN) < 0.05 < mcnemar(0, DISCORDANT_MIN - 1)


def test_a_block_that_helps_is_shown_to_and_one_that_does_not_is_not() -> None:
    helped = compare(asked(needs_the_block, 42, arms=ARMS, distances=DISTANCES), *ARMS)
    assert (helped.n, helped.first_only, helped.second_only, helped.both) == (42, 0, 12, 0)
    assert (helped.shown, helped.needed) == (True, None)
    same = compare(asked(always_4, 42, arms=ARMS, distances=DISTANCES), *ARMS)
    assert (same.p, same.both, same.shown) == (None, 42, False)
    assert comparison_json(same)["shown"] is False


def test_what_would_show_a_difference_is_named() -> None:
    few = [answer(n, score=4 if n < 2 and arm == "block off" else 0, arm=arm) for arm in ARMS for n in range(20)]
    found = compare(few, *ARMS)
    assert (found.p, found.needed) == (0.5, 60)
    assert compare([], *ARMS).needed is None
    assert compare(asked(oracle, 84, arms=ARMS), *ARMS).needed == 138


def test_a_split_that_is_not_yet_significant_is_so_at_about_the_size_named() -> None:
    def split(times: int) -> list[Answer]:
        """Of 40 items, 9 differ to one side and 4 to the other."""
        sides = [(4, 0)] * 9 + [(0, 4)] * 4 + [(0, 0)] * 27
        return [answer(n, score=s, arm=arm) for n, side in enumerate(sides * times)
                for arm, s in zip(ARMS, side, strict=True)]  # fmt: skip

    needed = compare(split(1), *ARMS).needed
    assert needed == 80
    assert not compare(split(2), *ARMS).shown
    assert compare(split(3), *ARMS).shown
    even = [answer(n, score=4 * (n % 2 == (arm == "default")), arm=arm) for arm in ARMS for n in range(8)]
    assert compare(even, *ARMS).needed is None


def test_an_item_without_a_majority_is_compared_nowhere() -> None:
    split = [answer(score=s, sample=i, arm=arm) for arm in ARMS for i, s in enumerate((4, 0))]
    silent = [answer(1, score=s, arm=arm) for arm, s in zip(ARMS, (4, None), strict=True)]
    found = compare([*split, *silent], *ARMS)
    assert (found.n, found.left_out, found.p) == (0, 2, None)


def test_a_false_alarm_is_compared_on_legal_turns() -> None:
    given_ = [answer(n, "legal", 0 if arm == "default" else 4, arm=arm) for arm in ARMS for n in range(8)]
    found = compare(given_, *ARMS, outcome="false_alarm")
    assert (found.n, found.first_only, found.shown) == (8, 8, True)


def test_flips_are_items_with_more_than_one_score() -> None:
    scores = {0: (4, 4, 4), 1: (4, 4, 0), 2: (0, 1, 2), 3: (3, None, None)}
    flips = cell_of([answer(n, score=s, sample=i) for n, given_ in scores.items() for i, s in enumerate(given_)]).flips
    assert flips is not None
    assert (flips.items, flips.flipped, flips.no_majority) == (3, 2, 1)
    assert flips.agreement == pytest.approx((1 + 2 / 3 + 1 / 3) / 3, abs=5e-5)
    assert cell_of(asked(oracle, 5)).flips is None


def test_a_majority_is_more_than_half() -> None:
    assert [majority(scores) for scores in ((4, 4, 0), (4, 0), (), (1,))] == [4, None, None, 1]


@pytest.mark.parametrize("bound", [0.5, 0.84, 0.9, 0.98])
def test_the_items_needed_are_the_fewest(bound: float) -> None:
    n = all_needed(bound)
    assert wilson(1, n)[0] >= bound > wilson(1, n - 1)[0]


def test_a_bound_of_one_is_never_shown() -> None:
    with pytest.raises(ValueError, match="no number of items"):
        all_needed(1.0)


def test_json_says_null_where_nothing_is_known() -> None:
    data = cell_json(cell_of([answer(score=None)]))
    assert (data["blind"], data["kappa"], data["flips"]) == (None, None, None)
    assert data["unscored"] == {"unparsable": 1}
    assert share_json(None) is None


def block(
    item: str, present: tuple[str, ...], *, commitments: tuple[int, int] | None = (2, 3), size: int = 90
) -> BlockFigure:
    return BlockFigure(
        item=item, constraints_expected=("cap", "hold"), constraints_present=present,
        commitments_expected=commitments and commitments[1], commitments_present=commitments and commitments[0],
        commitments_left_out=1, tokens=size, overflow=size > 300,
    )  # fmt: skip


def test_blocks_are_counted_apart_from_judges() -> None:
    found = blocks(
        [
            block("c", ("cap", "hold"), size=400),
            block("a", ("cap",)),
            block("b", ("cap", "hold", "old"), commitments=None),
        ]
    )
    assert (found.constraints.present, found.constraints.expected) == (5, 6)
    assert (found.missing, found.strange, found.overflow) == ((("a", "hold"),), (("b", "old"),), ("c",))
    assert (found.commitments.present, found.commitments.expected, found.unknown, found.left_out) == (4, 6, 1, 3)
    assert found.tokens == (90, 90, 400)
    data = blocks_json(found)
    assert data["missing"] == [{"item": "a", "constraint": "hold"}]
    assert data["constraints"]["share"] == pytest.approx(5 / 6)
    assert blocks([]).constraints.share is None
