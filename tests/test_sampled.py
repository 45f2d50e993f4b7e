"""Sampled: findings of an agent that does not repeat itself are decided by evidence, and their rate measured afresh."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kit
from fuzzturn.campaign import Campaign
from fuzzturn.drive import Cast, Meter
from fuzzturn.offers import marked
from fuzzturn.outcome import Finding, Outcome
from fuzzturn.ports import JudgePrompt, Reply, Verdict
from fuzzturn.project import Project
from fuzzturn.samples import FRESH, SEARCHED, Samples
from fuzzturn.search import search
from fuzzturn.sequential import Count
from fuzzturn.session import Message
from fuzzturn.tree import Tree
from fuzzturn.trial import Allowance
from fuzzturn.variant import Variant

OPERATORS = [
    p
    for p in Project(root=Path(__file__).parent.parent).load_strategies().of_kind("operator")
    if not marked(p, "seldom")
]
SAMPLES: Counter[int] = Counter()
"""How many sessions were begun in each sample."""


class Moody(kit.Buyer):
    """Forgets in a share of the runs only; in the others it keeps what it was told. Slips in a share of all runs."""

    def __init__(self, shop: Any, share: float, slips: float, seed: int, sample: int) -> None:
        super().__init__(shop, 230, 2, False)
        self.share, self.slips, self.seed, self.sample = share, slips, seed, sample
        SAMPLES[sample] += 1

    def _draw(self, what: str) -> float:
        said = "\x1f".join(str(message["content"]) for message in self.messages)
        return random.Random(hashlib.sha256(f"{what} {self.seed} {self.sample} {said}".encode()).hexdigest()).random()

    async def reply(self, message: str) -> Reply:
        self.keep = 2 if self._draw("forget " + message) < self.share else 10**6
        self.ignores = self._draw("slip " + message) < self.slips
        return await super().reply(message)


def moody(share: float, slips: float = 0.0) -> Cast:
    def build(shop: Any, *, seed: int = 0, sample: int = 0) -> Any:
        return Moody(shop, share, slips, seed, sample)

    return Cast(build=build, make_environment=kit.make_shop, name="moody")


class Wavering(kit.Reader):
    """Gives another score in a share of its answers."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def score(self, prompt: JudgePrompt) -> Verdict:
        verdict = super().score(prompt)
        drawn = random.Random(hashlib.sha256(f"{prompt.sample} {prompt.text}".encode()).hexdigest()).random()
        return Verdict(4 - (verdict.score or 0), "wavering") if drawn < self.share else verdict


def campaign(cast: Cast, **changes: Any) -> Campaign:
    plain = Campaign(
        scenario=kit.scenario(),
        cast=cast,
        registry=kit.registry(),
        operators=OPERATORS,
        judge=None,
        judge_name="none",
        rubric=kit.RUBRIC,
        contexts=(),
        sessions=30,
        kinds=("blind_spot", "violation"),
        repeats=20,
    )
    return replace(plain, **changes)


def found_by(plan: Campaign) -> Outcome:
    return asyncio.run(search(plan))


def summary(outcome: Outcome) -> Any:
    found = [(f.id, f.trial.variant.key, f.failing, f.judged, f.flips, f.minimal, f.why) for f in outcome.found]
    return found, outcome.undecided, outcome.dismissed, outcome.spent, outcome.sessions


def the_violation(outcome: Outcome) -> Finding:
    (found,) = outcome.found
    return found


def true_rate(found: Finding, cast: Cast, runs: int = 300) -> float:
    """From runs of samples that no campaign uses."""
    failed = 0
    for sample in range(5_000, 5_000 + runs):
        bench = kit.bench(kit.scenario())
        own = Tree(replace(cast, sample=sample), kit.scenario(), Meter())
        failed += bool(kit.wait(replace(bench, tree=own).run(found.trial.variant)).failures)
    return failed / runs


def test_a_failure_of_some_runs_only_is_found_shrunk_and_told_with_its_rate() -> None:
    cast = moody(0.4)
    found = the_violation(found_by(campaign(cast)))
    assert [line.id for line in found.trial.variant.spoken.turns][-1] == "buy"
    assert len(found.trial.variant.spoken.turns) == 4
    assert found.minimal
    assert found.failing.n == 20
    assert found.failing.low < true_rate(found, cast) < found.failing.high
    assert found.judged is None


def test_the_same_campaign_gives_the_same_with_any_number_of_workers() -> None:
    alone = summary(found_by(campaign(moody(0.6))))
    assert summary(found_by(campaign(moody(0.6), workers=8))) == alone
    assert summary(found_by(campaign(moody(0.6)))) == alone


def test_what_fails_as_rarely_as_unrelated_things_do_is_dismissed() -> None:
    outcome = found_by(campaign(moody(0.0, slips=0.04), sessions=120))
    assert outcome.found == ()
    assert outcome.dismissed == 1
    assert outcome.undecided == 0


def test_a_slip_in_a_short_session_does_not_hide_the_failure_behind_it() -> None:
    found = the_violation(found_by(campaign(moody(0.9, slips=0.03), sessions=60)))
    assert found.failing.k >= 14
    assert any("pad" in line.id for line in found.trial.variant.spoken.turns)


@pytest.mark.parametrize("turns", [150, 300, 600])
def test_a_cap_in_the_middle_of_a_decision_is_undecided_and_no_finding(turns: int) -> None:
    allowance = Allowance(Meter(), turns=turns)
    outcome = asyncio.run(search(campaign(moody(0.6)), allowance=allowance))
    assert allowance.stopped in ("turns", None)
    for found in outcome.found:  # what was decided before the cap is kept, and its rate measured
        assert found.failing.n == 20
    assert len(outcome.found) + outcome.undecided + outcome.dismissed == 1
    if turns == 150:
        assert outcome.undecided == 1


def test_fresh_runs_use_samples_that_nothing_was_decided_by() -> None:
    SAMPLES.clear()
    found_by(campaign(moody(0.6)))
    fresh = {sample for sample in SAMPLES if sample >= FRESH}
    assert len(fresh) >= 20
    assert all(SAMPLES[sample] == 1 for sample in list(fresh)[:1])
    assert max(sample for sample in SAMPLES if sample < SEARCHED) <= 40


def test_a_bench_is_made_once_for_a_sample_and_shares_what_was_played() -> None:
    bench = kit.bench(kit.scenario(), memory="230")
    samples = Samples(bench)
    assert samples.of(3) is samples.of(3)
    kit.wait(samples.of(3).run(Variant(kit.scenario())))
    spent = bench.tree.meter.agent_turns
    kit.wait(samples.of(3).run(Variant(kit.scenario())))
    assert bench.tree.meter.agent_turns == spent
    kit.wait(samples.afresh(3).run(Variant(kit.scenario())))
    assert bench.tree.meter.agent_turns > spent


def test_a_judge_that_is_blind_in_few_answers_makes_no_blind_spot_of_a_violation() -> None:
    cast = Cast(build=kit.build, make_environment=kit.make_shop, name="toy", options={"ignores": "yes"})
    outcome = found_by(campaign(cast, judge=Wavering(0.03), judge_name="wavering", contexts=("full",), sessions=60))
    assert [found.failure.kind for found in outcome.found] == ["violation"]
    assert outcome.found[0].failing.k == 20


def test_a_judge_that_wavers_changes_no_finding_and_is_told_apart_from_the_agent() -> None:
    plan = campaign(moody(0.9), judge=Wavering(0.14), judge_name="wavering", contexts=("agent",), sessions=40)
    outcome = found_by(plan)
    (blind,) = [found for found in outcome.found if found.failure.kind == "blind_spot"]
    assert blind.failing.low < 0.9 < blind.failing.high
    assert blind.judged is not None
    assert blind.judged.low < 0.86 < blind.judged.high
    assert blind.flips is not None
    assert blind.flips.low < 0.14 < blind.flips.high


def test_an_agent_that_repeats_itself_is_shrunk_to_the_same_by_evidence() -> None:
    cast = Cast(build=kit.build, make_environment=kit.make_shop, name="toy", options={"memory": "230"})
    once = found_by(campaign(cast, repeats=1))
    often = found_by(campaign(cast, repeats=5))
    sizes = [[len(found.trial.variant.spoken.turns) for found in outcome.found] for outcome in (once, often)]
    assert sizes[0] == sizes[1]
    assert [found.failing.k for found in often.found] == [5] * len(often.found)


def test_a_rule_of_one_s_own_decides_instead() -> None:
    SAMPLES.clear()
    found_by(campaign(moody(0.6), rule=Count(hits=1, most=5)))
    assert max(sample for sample in SAMPLES if sample < SEARCHED) <= 5


def test_snapshots_of_an_agent_that_says_something_else_each_time_are_used_all_the_same() -> None:
    words = iter(range(10**9))

    class Chatty(kit.Buyer):
        async def reply(self, message: str) -> Reply:
            events = (await super().reply(message)).events
            return Reply(events=[*events[:-1], Message(f"Noted, for the time number {next(words)}.")])

    cast = Cast(build=lambda shop: Chatty(shop, 10**9, 2, False), make_environment=kit.make_shop, name="chatty")
    once, often = (found_by(campaign(cast, repeats=repeats, sessions=12)) for repeats in (1, 20))
    assert "snapshots are not used" in once.notes[0]
    assert often.notes == ()
    assert often.spent.agent_turns < once.spent.agent_turns


@pytest.mark.parametrize("seed", [0, 2, 3, 4, 5])  # with seed 1 all eight draws of the search are lucky: 1 in 256
def test_an_agent_that_draws_once_from_its_seed_is_found_whatever_the_seed(seed: int) -> None:
    class Fated(kit.Buyer):
        def __init__(self, shop: Any, drawn: int) -> None:
            super().__init__(shop, 230, 2 if random.Random(drawn).random() < 0.5 else 10**6, False)

    def build(shop: Any, *, seed: int) -> Any:
        return Fated(shop, seed)

    cast = Cast(build=build, make_environment=kit.make_shop, name="fated", seed=seed)
    found = the_violation(found_by(campaign(cast, sessions=12)))
    assert found.failing.low < 0.5 < found.failing.high


def test_a_wavering_judge_makes_no_second_finding_of_what_it_is_mostly_blind_to() -> None:
    for seed in range(3):
        cast = replace(moody(0.95), seed=seed)
        plan = campaign(cast, judge=Wavering(0.25), judge_name="wavering", contexts=("agent",), sessions=40)
        assert [found.failure.kind for found in found_by(plan).found] == ["blind_spot"]
