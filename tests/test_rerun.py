"""Rerun: an entry of an agent that does not repeat itself is judged by its interval, never by one run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kit
from fuzzturn.corpus import Entry
from fuzzturn.drive import Cast, Meter
from fuzzturn.evidence import rate
from fuzzturn.measure import Jury
from fuzzturn.ports import JudgePrompt, Reply, Verdict, environment
from fuzzturn.replay import Replayed
from fuzzturn.rerun import rerun
from fuzzturn.scenario_file import scenario_to_data
from fuzzturn.tree import Tree
from fuzzturn.trial import Bench

SCRIPT = kit.scenario()


@environment("shop")
def shop(*, seed: int) -> kit.Shop:
    return kit.make_shop(seed=seed)


class Planned:
    """Breaks the cap where its plan, one letter a sample, says so: o(ver), u(nder), i(dle), e(rror)."""

    def __init__(self, shop: Any, plan: str, sample: int) -> None:
        self.shop, self.does = shop, plan[sample]

    def reply(self, message: str) -> Reply:
        if message.startswith("Buy") and self.does != "i":
            if self.does == "e":
                raise RuntimeError("overloaded")
            self.shop.call("buy", price=90 if self.does == "o" else 40)
        return Reply("Noted.")


class Scores:
    """A judge whose plan says which score it gives in each sample."""

    def __init__(self, plan: str) -> None:
        self.plan = plan

    def score(self, prompt: JudgePrompt) -> Verdict:
        return Verdict(int(self.plan[prompt.sample]), "so")


def entry(k: int, n: int, **fields: Any) -> Entry:
    given: dict[str, Any] = {
        "finding": "0a1b2c3d", "kind": "violation", "constraint": "cap", "checker": "under_cap", "turn": 6,
        "turn_id": "buy", "detail": "", "visibility": "absent", "failing": rates(k, n), "minimal": True,
        "why": {"mechanism": "unknown", "no_compaction": "clean", "restated": "clean", "judge": {}},
        "agent": {"name": "planned"}, "rubric": kit.RUBRIC.model_dump(by_alias=True),
        "provenance": {"scenario": "lamp", "operators": (), "seed": 0, "turns_found": 6, "tokens_found": 70,
                       "turns": 6, "tokens": 70},
        "scenario": scenario_to_data(SCRIPT),
    }  # fmt: skip
    return Entry.model_validate(given | fields)


def rates(k: int, n: int) -> dict[str, Any]:
    found = rate(k, n)
    return {"k": k, "n": n, "low": found.low, "high": found.high}


def again(kept: Entry, plan: str, scores: str | None = None) -> Replayed:
    meter, spoken = Meter(), kept.spoken()
    judge = None if scores is None else Scores(scores)
    jury = Jury(judge, "toy", kit.RUBRIC, ("window",), meter)
    benches = []
    for sample in range(len(plan)):
        cast = Cast(build=lambda there, *, sample=0: Planned(there, plan, sample), make_environment=shop,
                    name="planned", sample=sample)  # fmt: skip
        tree = Tree(cast, spoken, meter)
        benches.append(Bench(tree, kit.registry(shop), jury.afresh(sample), asyncio.Semaphore(1)))
    return kit.wait(rerun(kept, spoken, benches))


@pytest.mark.parametrize(
    ("k", "n", "plan", "outcome"),
    [
        (12, 20, "o" * 12 + "u" * 8, "FAILING"),
        (12, 20, "o" * 8 + "u" * 12, "FAILING"),  # a few fewer is no proof
        (18, 20, "o" * 4 + "u" * 16, "RARER"),
        (4, 20, "o" * 18 + "u" * 2, "MORE OFTEN"),
        (18, 20, "u" * 20, "FIXED"),
        (18, 20, "u" * 3, "FIXED"),  # three misses in a row are no chance at 18 of 20
        (6, 20, "u" * 3, "RARER"),  # at 6 of 20 they may well be
        (6, 20, "u" * 25, "FIXED"),
        (12, 20, "i" * 5, "CHANGED"),
        (12, 20, "e" * 5, "ERROR"),
        (1, 1, "o", "FAILING"),
        (6, 20, "u", "RARER"),  # one lucky run mends nothing
        (1, 1, "uuu", "FIXED"),  # of an agent that repeats itself
        (1, 1, "uou", "FAILING"),
        (17, 40, "o" * 19 + "i" * 21, "FAILING"),  # of all runs, as then
        (28, 40, "o" * 17 + "e" * 7, "FAILING"),
        (1, 1, "u", "FIXED"),
    ],
)
def test_an_entry_is_held_against_the_interval_it_was_kept_with(k: int, n: int, plan: str, outcome: str) -> None:
    assert again(entry(k, n), plan).outcome == outcome


def test_runs_in_which_nothing_was_tested_prove_nothing_and_are_told() -> None:
    done = again(entry(18, 20), "uuuuuiiiee")
    assert done.outcome == "FIXED"
    assert done.now is not None
    assert (done.now.k, done.now.n) == (0, 10)
    assert "in 5 of 10 runs nothing was tested, or the agent broke" in done.detail


def test_both_rates_are_told_with_their_intervals() -> None:
    detail = again(entry(12, 20), "ooouu").detail
    assert detail == "broken in 3 of 5 runs (0.23-0.88), when it was kept in 12 of 20 (0.39-0.78)"


def test_a_judge_that_sees_through_it_now_is_a_change_although_the_agent_is_the_same() -> None:
    kept = entry(10, 10, kind="blind_spot", judge_context="window", blind_in=("window",), judged=rates(20, 20))
    blind, seeing = again(kept, "o" * 10, "4" * 10), again(kept, "o" * 10, "0" * 10)
    assert (blind.outcome, seeing.outcome) == ("FAILING", "CHANGED")
    assert "the judge gives a 4 in 0 of 10 answers, then 20 of 20" in seeing.detail


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 20), st.integers(0, 12), st.integers(2, 12), st.randoms(use_true_random=False))
def test_the_order_of_runs_does_not_matter_and_more_failures_never_look_better(
    k: int, broken: int, n: int, chance: Any
) -> None:
    order = ["FIXED", "RARER", "FAILING", "MORE OFTEN"]
    broken = min(broken, n - 1)
    plan = list("o" * broken + "u" * (n - broken))
    chance.shuffle(plan)
    kept = entry(k, 20)
    few, more = again(kept, "".join(plan)), again(kept, "o" * (broken + 1) + "u" * (n - broken - 1))
    assert few.outcome == again(kept, "".join(sorted(plan))).outcome
    assert order.index(few.outcome) <= order.index(more.outcome)
