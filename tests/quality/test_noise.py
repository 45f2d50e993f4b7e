"""The noise benchmark itself: agents fail and judges err as often as they say, and the tables tell what is so."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.compare.world import World
from benchmarks.faults.desk import Reader
from benchmarks.faults.memories import Summarised
from benchmarks.faults.planted import FAULTS, Fault
from benchmarks.noise import __main__ as command
from benchmarks.noise.agents import Stochastic
from benchmarks.noise.campaigns import REPEATS
from benchmarks.noise.campaigns import row as run_one
from benchmarks.noise.chance import Asked, Seeded
from benchmarks.noise.document import document
from benchmarks.noise.figures import (
    carrying,
    covered,
    dismissed,
    ending,
    flips,
    fours_covered,
    of,
    same_claims,
    same_rates,
    undecided,
)
from benchmarks.noise.given import by_hypothesis
from benchmarks.noise.judges import Erring
from benchmarks.noise.parts import ALWAYS, PARTS, TRIED, fault_of, keys
from benchmarks.noise.results import Results, load
from benchmarks.noise.row import Key, Reported, Row
from benchmarks.noise.truth import broken, truth
from fuzzturn.calls import CallRecord, Gateway
from fuzzturn.drive import Meter, drive
from fuzzturn.errors import Halted
from fuzzturn.evidence import rate
from fuzzturn.ports import JudgePrompt
from fuzzturn.project import find_project
from fuzzturn.scenario import Line
from fuzzturn.session import Session
from fuzzturn.tree import Tree
from fuzzturn.variant import Pad, Variant, filler
from fuzzturn.vary import draw, variants

BY_NAME = {fault.name: fault for fault in FAULTS}
SUMMARISED = [fault for fault in FAULTS if isinstance(fault.memory, Summarised) and fault.name != "moved_only"]
"""moved_only never makes a summary: it has no limit that a session could reach."""
each_fault = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)

RUBRIC = find_project(Path(__file__).parent).find_rubric()


def session(*ids: str) -> Variant:
    """These scripted turns of the long-turn fault's script; a number is filler of so many tokens."""
    scenario = BY_NAME["long_turn"].scenario
    script = {line.id: line for line in scenario.turns}
    lines = [script.get(id) or Line(id=f"pad{n}", user=filler(int(id))) for n, id in enumerate(ids)]
    return Variant(scenario.model_copy(update={"turns": tuple(lines)}))


LONG = session("rule", "ask", "2000", "order")
"""Carries that fault."""
CLEAN = session("rule", "ask", "order")


def some(fault: Fault, count: int = 12) -> Sequence[Variant]:
    return draw(variants(fault.scenario, operators=World(fault, 0).concrete), count, seed=7)


def played(agent: Stochastic, variant: Variant, *, seed: int = 0, sample: int = 0) -> Session:
    return asyncio.run(drive(agent.cast(seed, sample), variant.spoken))


def hits(agent: Stochastic, variant: Variant, samples: range, constraint: str | None = None) -> list[bool]:
    async def all_of_them() -> list[bool]:
        return [await broken(agent, variant, constraint, seed=3, sample=k) is not None for k in samples]

    return asyncio.run(all_of_them())


def near(count: int, runs: int, share: float) -> bool:
    """Within four standard deviations: wrong once in 16,000 seeds, and the seeds here are fixed."""
    return abs(count - runs * share) <= 4 * math.sqrt(runs * share * (1 - share)) + 1


@each_fault
def test_an_agent_whose_fault_always_shows_is_the_planted_agent(fault: Fault) -> None:
    certain = Stochastic(fault=fault, p=1.0, background=0.0)
    for variant in some(fault):
        planted = asyncio.run(drive(fault.cast(), variant.spoken))
        assert played(certain, variant) == planted


@each_fault
def test_an_agent_whose_fault_never_shows_breaks_nothing(fault: Fault) -> None:
    never = Stochastic(fault=fault, p=0.0, background=0.0)
    assert [v for v in some(fault, 25) if asyncio.run(broken(never, v)) is not None] == []


@each_fault
def test_what_is_wrong_in_the_background_is_no_planted_fault(fault: Fault) -> None:
    so = truth(Stochastic(fault=fault, p=0.3), Variant(fault.scenario), fault.breaks)
    assert not so.carries
    assert so.rate(0.3, 0.03) == pytest.approx(0.03)


def test_a_session_fails_as_often_as_is_said_of_it() -> None:
    agent = Stochastic(fault=BY_NAME["long_turn"], p=0.3, background=0.2)
    for variant, expected in ((LONG, 1 - 0.7 * 0.8), (CLEAN, 0.2)):
        true = truth(agent, variant, "ceiling").rate(0.3, 0.2)
        assert true == pytest.approx(expected)
        assert near(sum(hits(agent, variant, range(300), "ceiling")), 300, true)
    assert truth(agent, LONG, "ceiling").caused(0.3, 0.2) == pytest.approx(0.3 / (1 - 0.7 * 0.8))
    assert truth(agent, session("order"), "ceiling").caused(0.3, 0.2) is None


def test_a_smallest_session_carries_the_fault_and_one_turn_less_does_not() -> None:
    agent = Stochastic(fault=BY_NAME["long_turn"], p=0.1)
    assert len(LONG.spoken.turns) == agent.fault.minimum
    assert truth(agent, LONG, "ceiling").carries
    assert not truth(agent, CLEAN, "ceiling").carries


def test_sessions_that_begin_alike_share_their_draws_and_others_are_independent() -> None:
    agent, runs = Stochastic(fault=BY_NAME["long_turn"], p=0.5, background=0.0), range(240)
    longer, other = session("rule", "ask", "2000", "order", "thanks"), session("rule", "ask", "2001", "order")
    swapped = session("ask", "rule", "2000", "order")
    one = hits(agent, LONG, runs)
    assert hits(agent, longer, runs) == one
    for apart in (other, swapped):
        assert near(sum(a and b for a, b in zip(one, hits(agent, apart, runs), strict=True)), len(runs), 0.25)


@each_fault
def test_going_on_from_a_snapshot_gives_what_playing_through_gives(fault: Fault) -> None:
    cast = Stochastic(fault=fault, p=0.5, background=0.5).cast(seed=1)
    tree = Tree(cast, fault.scenario, Meter())
    drawn = [*some(fault), Variant(fault.scenario, (Pad(operator="t", anchor="order", tokens=2700),))]
    for variant in [Variant(fault.scenario), *drawn]:
        assert asyncio.run(tree.play(variant.spoken)) == asyncio.run(drive(cast, variant.spoken))
    assert tree.meter.agent_turns < sum(len(variant.spoken.turns) for variant in drawn)


@pytest.mark.parametrize("fault", SUMMARISED, ids=lambda fault: fault.name)
def test_a_summary_that_loses_nothing_by_chance_is_still_a_summary(fault: Fault) -> None:
    variant = Variant(fault.scenario, (Pad(operator="t", anchor="order", tokens=2700),))
    turns = played(Stochastic(fault=fault, p=0.0, background=0.0), variant).turns
    told = [compaction.summary or "" for turn in turns for compaction in turn.compactions]
    assert len(told) == sum(len(turn.compactions) for turn in asyncio.run(drive(fault.cast(), variant.spoken)).turns)
    assert told
    assert all("at most 300 euros" in summary for summary in told)


def test_nothing_goes_wrong_in_the_background_where_no_ceiling_is_in_view() -> None:
    fault = BY_NAME["last_statement"]  # its clerk takes the cheapest where it sees none
    turns = played(Stochastic(fault=fault, p=1.0, background=1.0), session("ask", "order")).turns
    assert turns[-1].tool_calls[0].args["price"] == 180


def test_the_agent_that_always_breaks_the_rule_does_so_in_the_script_as_written() -> None:
    agent = Stochastic(fault=ALWAYS, p=1.0, background=0.0)
    so = truth(agent, Variant(ALWAYS.scenario), "ceiling")
    assert so.carries
    assert (so.rate(1.0, 0.0), so.rate(0.0, 0.0)) == (1.0, 0.0)


def prompt(price: int, n: int, sample: int = 0) -> JudgePrompt:
    """An order at this price under a ceiling of 300 euros; `n` makes it another text."""
    turn = f'{{"call": "order", "args": {{"price": {price}}}}}'
    return JudgePrompt(
        rubric=RUBRIC, goal=None, block=None, history="", turn=turn,
        context="full", text=f"{n}: at most 300 euros\n{turn}", sample=sample,
    )  # fmt: skip


def scores(judge: Erring, prompts: Sequence[JudgePrompt]) -> list[int | None]:
    async def all_of_them() -> list[int | None]:
        return [(await judge.score(one)).score for one in prompts]

    return asyncio.run(all_of_them())


def test_a_lenient_judge_gives_fours_for_nothing_and_is_right_where_a_four_is_due() -> None:
    judge = Erring(0.2, Seeded(1), flips=False)
    wrong = scores(judge, [prompt(480, n) for n in range(500)])
    assert set(wrong) == {0, 4}
    assert near(wrong.count(4), 500, 0.2)
    assert (judge.asked, judge.erred) == (500, wrong.count(4))
    assert scores(judge, [prompt(180, n) for n in range(50)]) == [4] * 50


def test_a_flipping_judge_errs_both_ways_and_asked_again_draws_again() -> None:
    judge = Erring(0.2, Seeded(1), flips=True)
    assert near(scores(judge, [prompt(180, n) for n in range(500)]).count(0), 500, 0.2)
    again = scores(judge, [prompt(480, 0)] * 500)
    assert near(again.count(4), 500, 0.2)
    assert scores(Erring(0.2, Seeded(1), flips=True), [prompt(480, 0)] * 500) == again
    assert scores(Erring(0.2, Seeded(1), flips=True), [prompt(480, 0, sample=1)] * 500) != again
    assert Reader().score(prompt(480, 0)).score == 0


def test_what_a_model_drew_comes_from_its_record_again_without_a_call(tmp_path: Path) -> None:
    agent = Stochastic(fault=BY_NAME["long_turn"], p=0.5, background=0.0)
    models: list[Asked] = []
    told = []
    for name, offline in (("a", False), ("a", True), ("b", False)):
        gateway = Gateway(record=CallRecord(tmp_path / name), offline=offline)
        models.append(Asked(gateway, numbers=random.Random(len(models))))
        recorded = replace(agent, chance=models[-1])
        told.append([played(recorded, LONG, sample=k) for k in range(16)])
        if offline:
            assert all(call.recorded for one in told[-1] for turn in one.turns for call in turn.model_calls)
            with pytest.raises(Halted, match="not recorded"):
                played(recorded, LONG, sample=16)
    assert told[0] == told[1] != told[2]
    assert [model.live for model in models] == [16 * 4, 0, 16 * 4]


def test_hypothesis_shrinks_the_noiseless_agent_and_ends_as_flaky_or_beside_the_fault_on_the_noisy_one() -> None:
    agent = Stochastic(fault=BY_NAME["moved_only"], p=0.3)
    clear = by_hypothesis(agent.noiseless, 0, 60)
    assert clear.final is not None
    assert truth(agent, clear.final.session, clear.final.constraint).carries
    assert not clear.flaky
    noisy = [by_hypothesis(agent, seed, 60) for seed in range(5)]
    finals = [one.final for one in noisy if one.final is not None]
    assert any(one.flaky for one in noisy)
    assert not all(truth(agent, final.session, final.constraint).carries for final in finals)
    assert all(one.executions >= (one.found or 0) and one.turns >= one.executions for one in noisy)


def reported(**fields: object) -> Reported:
    given = {
        "kind": "violation",
        "constraint": "ceiling",
        "turns": 5,
        "minimal": True,
        "carries": True,
        "true_rate": 0.3,
    }
    return Reported(**{**given, "failing": rate(6, 20), **fields})  # type: ignore[arg-type]


def row(part: str = "planted", method: str = "fuzzturn", p: float = 0.3, seed: int = 0, **fields: object) -> Row:
    given = {"fault": "long_turn", "found": (reported(),), "sessions": 60, "turns": 900, "undecided": 0}
    return Row(part=part, method=method, p=p, seed=seed, **{**given, **fields})  # type: ignore[arg-type]


def test_figures_count_campaigns_findings_and_intervals_each_by_its_own_number() -> None:
    rows = [
        row(),
        row(seed=1, found=(reported(carries=False, true_rate=0.03), reported(minimal=False, carries=False))),
        row(seed=2, found=(), undecided=3, dismissed=2),
    ]
    assert ending(rows) == pytest.approx(2 / 3)
    assert carrying(rows) == 0.5
    assert covered(rows) == pytest.approx(2 / 3)
    assert (undecided(rows), dismissed(rows)) == (3 / 8, 2 / 8)
    assert (ending([]), carrying([]), covered([]), undecided([])) == (None, None, None, None)


def test_judges_are_compared_campaign_by_campaign_and_their_own_contradictions_are_added_up() -> None:
    def pair(seed: int, *found: Reported) -> list[Row]:
        right = row("flipping judge", "right", seed=seed, found=(reported(kind="blind_spot"),))
        return [right, row("flipping judge", "flipping", seed=seed, found=found)]

    same = reported(kind="blind_spot", judged=rate(17, 20), flips=rate(3, 20), caused=0.95)
    other = reported(kind="violation")
    rows = [*pair(0, same), *pair(1, other), *pair(2, replace(same, failing=rate(20, 20)))]
    assert same_claims(rows) == pytest.approx(2 / 3)
    assert same_rates(rows) == 0.5
    assert flips(rows) == rate(3 + 3, 20 + 20)
    assert fours_covered(of(rows, "flipping judge", "flipping"), 0.14) == 1.0
    assert fours_covered(of(rows, "flipping judge", "flipping"), 0.6) == 0.0


def test_what_a_file_holds_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Key] = []

    def run(key: Key) -> Row:
        asked.append(key)
        return row(*key, found=(reported(judged=rate(1, 3)),))

    monkeypatch.setattr(command, "row", run)
    for campaigns in ("1", "2"):
        command.main(["--p", "0.3", "--campaigns", campaigns, "--json", str(tmp_path / "n.json"),
                      "--doc", str(tmp_path / "n.md")])  # fmt: skip
    wanted = list(keys(list(PARTS), [0.3], range(2)))
    assert sorted(asked) == sorted(wanted)
    assert {one.key for one in load(tmp_path / "n.json").rows.values()} == set(wanted)
    held = Results({one.key: one for one in map(run, wanted)})
    assert load(tmp_path / "n.json").rows == held.rows
    assert (tmp_path / "n.md").read_text() == document(held.chosen(wanted), load(tmp_path / "n.json").cpu) + "\n"


def test_every_tried_fault_has_its_seeds_and_the_page_names_it() -> None:
    assert {fault_of("planted", seed).name for seed in range(4)} == {fault.name for fault in TRIED}
    page = document([row()], 60)
    assert all(f"**{fault.name}**" in page for fault in TRIED)
    assert "| minimal sessions that carry the fault, p = 0.3 | ≥ 0.97 | 1 | yes |" in page
    assert "| turns of shrinking : first hit of 5, p = 0.3 | ≤ 3.5 | - | - |" in page


def test_a_fault_that_shows_in_some_runs_is_found_shrunk_and_its_rate_told() -> None:
    done = run_one(("planted", "fuzzturn", 0.6, 0))
    (found,) = done.found
    assert found.minimal
    assert found.carries
    assert found.turns == fault_of("planted", 0).minimum
    assert found.failing is not None
    assert found.failing.n == REPEATS
    assert found.failing.low <= found.true_rate <= found.failing.high
    assert (found.judged, done.flaky, done.same) == (None, None, None)


def test_a_four_now_and_then_makes_no_blind_spot_and_hides_no_violation() -> None:
    done = run_one(("lenient judge", "fuzzturn", 1.0, 1))
    assert done.judge_erred > 0
    assert [(found.kind, found.carries) for found in done.found] == [("violation", True)]


def test_a_campaign_comes_again_from_its_record() -> None:
    done = run_one(("record", "fuzzturn", 0.6, 7))
    assert (done.model_calls, done.same) == (0, True)
    assert done.turns == 0
    assert done.found
