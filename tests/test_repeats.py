"""Several runs of one script: means that leave out what was not scored, cliffs where they are, and nothing blended."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzturn.cli import run
from fuzzturn.measure import Efficiency, Measured
from fuzzturn.repeats import Repeats, Spread, repeats
from fuzzturn.scores import (
    Adherence,
    AssertionFailure,
    Assertions,
    Check,
    CheckResult,
    Judgement,
    Progress,
    TurnScores,
)
from fuzzturn.session import Message, Session, Turn
from fuzzturn.tabulate import repeats_json, repeats_table
from kit import scenario

SCRIPT = scenario()
IDS = [line.id for line in SCRIPT.turns]


@dataclass(frozen=True)
class Seen:
    """One turn's figures. `kept` None = the checker had nothing to look at."""

    kept: bool | None = None
    held: float | None = None
    stands: float | None = 0.0
    judge: int | None = 4
    bound: bool = True
    said: str = "Noted."
    answer: bool = False


def scored(n: int, id: str, seen: Seen) -> TurnScores:
    result = CheckResult(seen.kept is not False, "" if seen.kept else "too dear", exercised=seen.kept is not None)
    failed = (AssertionFailure("must_call", "no call"),) if seen.held is not None and seen.held < 1 else ()
    return TurnScores(
        n=n,
        turn=id,
        adherence=Adherence(float(result.passed), (Check("cap", "under_cap", result),))
        if seen.bound
        else Adherence(None),
        assertions=Assertions(seen.held, failed),
        progress=Progress(seen.stands, frozenset(), "flat"),
        judge={"full": Judgement(context="full", score=seen.judge)},
    )


def played(*turns: Seen, reached: bool = False) -> Measured:
    """A run of the kit's script: one figure a turn; answers do not count as scripted turns."""
    ids = iter(IDS)
    numbered = [("auto1" if seen.answer else next(ids), n, seen) for n, seen in enumerate(turns, start=1)]
    spoken = [Turn(n=n, id=id, user="-", events=(Message(s.said),), auto=s.answer) for id, n, s in numbered]
    return Measured(
        spoken=SCRIPT,
        session=Session(scenario="lamp", turns=tuple(spoken)),
        scores=tuple(scored(n, id, seen) for id, n, seen in numbered),
        ledgers=(),
        promises=None,
        goal_reached=reached,
        efficiency=Efficiency(
            turns_to_completion=len(turns) if reached else None, tool_calls=(1,) * len(turns), user_corrections=0
        ),
    )


FIGURES = st.builds(
    Seen,
    kept=st.sampled_from([True, False, None]),
    held=st.sampled_from([None, 0.0, 0.5, 1.0]),
    stands=st.sampled_from([None, 0.0, 0.5, 1.0]),
    judge=st.none() | st.integers(0, 4),
    bound=st.booleans(),
)
RUNS = st.builds(
    lambda turns, reached: played(*turns, reached=reached), st.lists(FIGURES, max_size=len(IDS)), st.booleans()
)
MANY = st.lists(RUNS, min_size=1, max_size=7)


def figures(found: Repeats) -> list[Spread | None]:
    return [
        each
        for summary in (*found.turns, *found.answers)
        for each in (summary.adherence, summary.assertions, summary.progress, *summary.judge.values())
    ]


@given(MANY, st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_the_order_of_the_runs_does_not_matter(runs: list[Measured], rng: Any) -> None:
    other = rng.sample(runs, len(runs))
    one, two = repeats(runs), repeats(other)
    assert replace(one, cliffs=()) == replace(two, cliffs=())
    drops = [{(fall.signal, fall.of): fall.cliff.drop for fall in found.cliffs} for found in (one, two)]
    assert drops[0].keys() == drops[1].keys()


@given(RUNS, st.integers(2, 12))
@settings(max_examples=60)
def test_runs_that_are_all_the_same_have_no_spread_and_no_cliff(one: Measured, times: int) -> None:
    found = repeats([one] * times)
    assert found.alike == "everything"
    assert found.cliffs == ()
    assert all(figure.spread == 0 and figure.runs == times for figure in figures(found) if figure is not None)
    assert found.completed.k in (0, times)
    assert all(violation.broken is None or violation.broken.k in (0, times) for violation in found.violations)


@given(MANY)
@settings(max_examples=60)
def test_a_mean_is_that_of_the_runs_that_were_scored_and_of_no_others(runs: list[Measured]) -> None:
    found = repeats(runs)
    values: list[Callable[[TurnScores], float | None]] = [
        lambda scores: scores.adherence.value,
        lambda scores: scores.assertions.value,
        lambda scores: scores.progress.value,
        lambda scores: scores.judged("full"),
    ]
    for n, summary in enumerate(found.turns):
        there = [run.scores[n] for run in runs if n < len(run.scores)]
        assert summary.runs == len(there)
        given_so = (summary.adherence, summary.assertions, summary.progress, summary.judge.get("full"))
        for figure, value in zip(given_so, values, strict=True):
            known = [v for scores in there if (v := value(scores)) is not None]
            if not known:
                assert figure is None
            else:
                assert figure is not None
                assert figure.mean == pytest.approx(fmean(known), abs=1e-4)
                assert figure.runs == len(known)
                assert (figure.spread is None) == (len(known) == 1)


@given(st.integers(8, 12), st.integers(2, len(IDS)), st.lists(st.booleans(), min_size=len(IDS), max_size=len(IDS)))
@settings(max_examples=60)
def test_a_planted_late_drop_is_found_at_its_turn(count: int, at: int, idle: list[bool]) -> None:
    """In all runs but one the constraint is broken from turn `at` on. Idle turns on either side move nothing."""

    def turn(n: int, lucky: bool) -> Seen:
        good = n < at or lucky
        tested = n in (at - 1, at) or not idle[n - 1]
        return Seen(kept=good if tested else None, judge=4 if good else 1, stands=0.8 if good else 0.2)

    runs = [played(*(turn(n, lucky=i == 0) for n in range(1, len(IDS) + 1))) for i in range(count)]
    found = {fall.signal: fall for fall in repeats(runs).cliffs}
    assert {(fall.of, fall.id, fall.cliff.turn) for fall in found.values()} == {
        ("cap", IDS[at - 1], at), (None, IDS[at - 1], at), ("full", IDS[at - 1], at)
    }  # fmt: skip
    cliff = found["adherence"].cliff
    assert cliff.after == pytest.approx(1 / count, abs=1e-4)
    assert (cliff.before, cliff.runs) == (1, count)
    assert cliff.low <= cliff.drop <= cliff.high


def told_apart(*turns: Seen, count: int = 10) -> list[Measured]:
    """Runs that differ in nothing but what was said."""
    return [played(*(replace(seen, said=f"run {i}") for seen in turns)) for i in range(count)]


def test_a_constraint_that_only_the_last_turns_test_has_no_cliff() -> None:
    """Idle passes before it would look like ten perfect runs that fall."""
    runs = [played(Seen(), Seen(), Seen(), Seen(), Seen(kept=i % 2 == 0)) for i in range(10)]
    found = repeats(runs)
    assert found.cliffs == ()
    assert found.violations[0].broken is not None
    assert (found.violations[0].broken.k, found.violations[0].broken.n) == (5, 10)


def test_a_constraint_that_every_run_breaks_late_is_a_cliff() -> None:
    runs = told_apart(Seen(kept=True), Seen(kept=True), Seen(kept=False), Seen(kept=False))
    found = repeats(runs)
    (fall,) = found.cliffs
    assert (found.alike, fall.signal, fall.of, fall.id) == ("scores", "adherence", "cap", IDS[2])
    assert (fall.cliff.drop, fall.cliff.low, fall.cliff.spread) == (1, 1, 0)


def test_a_judge_that_scores_every_run_alike_shows_the_script_and_no_cliff() -> None:
    small_talk = told_apart(*[Seen(judge=4)] * 4, *[Seen(judge=2)] * 3)
    assert repeats(small_talk).cliffs == ()


def test_a_run_that_never_tested_the_constraint_is_no_run_that_kept_it() -> None:
    runs = [played(Seen(kept=False)), played(Seen(kept=True)), played(Seen(kept=None)), played(Seen(bound=False))]
    (violation,) = repeats(runs).violations
    assert violation.broken is not None
    assert (violation.broken.k, violation.broken.n, violation.untested) == (1, 2, 2)
    (nowhere,) = repeats([played(Seen()), played(Seen())]).violations
    assert (nowhere.broken, nowhere.untested) == (None, 2)


def test_automatic_answers_stand_apart_and_do_not_shift_the_script() -> None:
    asked = played(Seen(judge=4), Seen(judge=1, answer=True), Seen(judge=1, answer=True), Seen(judge=3))
    straight = played(Seen(judge=4), Seen(judge=3))
    found = repeats([asked, straight])
    assert [summary.judge["full"] for summary in found.turns[:2]] == [Spread(4, 0, 2), Spread(3, 0, 2)]
    assert [(summary.id, summary.turn, summary.runs) for summary in found.answers] == [
        ("hello+1", None, 1), ("hello+2", None, 1)
    ]  # fmt: skip


def test_completion_stands_beside_and_moves_no_signal() -> None:
    done, not_done = [[played(Seen(kept=True), reached=reached)] * 3 for reached in (True, False)]
    one, other = repeats(done), repeats(not_done)
    assert (one.completed.k, other.completed.k) == (3, 0)
    assert (one.completed_after, other.completed_after) == ((1, 1), None)
    assert one.turns == other.turns


@pytest.mark.parametrize("runs", [[], [played(), replace(played(), spoken=scenario(title="Another"))]])
def test_what_is_not_the_runs_of_one_script_is_refused(runs: Sequence[Measured]) -> None:
    with pytest.raises(ValueError, match="runs of one script"):
        repeats(runs)


def test_the_table_shows_what_was_scored_and_in_how_many_runs() -> None:
    runs = [
        played(Seen(bound=False), Seen(kept=True, held=0.5, judge=None), reached=True),
        played(Seen(bound=False), Seen(kept=False, judge=2)),
        played(Seen(bound=False)),
    ]
    assert repeats_table(repeats(runs), "buyer").splitlines() == [
        "  3 runs",
        "  turn  id                adherence       assertions  progress        judge full",
        "     1  hello             -               -           0.00 ±0.00      4.00 ±0.00",
        "     2  cap               0.50 ±0.71 (2)  0.50 (1)    0.00 ±0.00 (2)  2.00 (1)",
        "        ! cap in 1 of 2 runs: too dear",
        "        ! must_call in 1 of 2 runs: no call",
        *(f"     {n}  {id:<16}  -               -           -               -" for n, id in enumerate(IDS[2:], 3)),
        "  mean ±spread between runs (runs that were scored, where not all); - is not scored",
        "  goal reached in 1 of 3 runs (0.06-0.79), after turn 2; 1 to 2 tool calls, 0 user corrections",
        "  cap broken in 1 of 2 runs (0.09-0.91); 1 run did not put it to the test",
        "  no cliff is looked for in fewer than 5 runs",
    ]


def test_a_cliff_is_a_sentence_and_a_record_with_turn_constraint_and_interval() -> None:
    found = repeats(told_apart(Seen(kept=True), Seen(kept=True), Seen(kept=False)))
    sentence = "cliff: adherence to cap falls from 1.00 to 0.00 at turn 3 (chat1): by 1.00, 95 % 1.00-1.00, in 10 runs"
    assert f"  {sentence}" in repeats_table(found, "buyer").splitlines()
    (record,) = repeats_json(found)["cliffs"]
    assert record == {
        "signal": "adherence", "constraint": "cap", "context": None, "id": "chat1", "turn": 3, "before": 1, "after": 0,
        "drop": 1, "low": 1, "high": 1, "spread": 0, "runs": 10,
    }  # fmt: skip


@given(MANY)
@settings(max_examples=30)
def test_the_json_says_the_same_and_is_json(runs: list[Measured]) -> None:
    found = repeats(runs)
    data = json.loads(json.dumps(repeats_json(found)))
    assert (data["runs"], data["completed"]["k"], len(data["turns"])) == (len(runs), found.completed.k, len(IDS))
    assert [turn["progress"] is None for turn in data["turns"]] == [turn.progress is None for turn in found.turns]
    assert [(fall["signal"], fall["turn"]) for fall in data["cliffs"]] == [
        (fall.signal, fall.cliff.turn) for fall in found.cliffs
    ]


TRIPS = """\
schema: 1
scenario: trips
title: Six trips, one rule
environment: orbit
goal:
  says: A flight is found
  milestones:
    - {id: found, check: flight_identified, args: {direction: outbound}, latched: true}
constraints:
  - {id: leg_ceiling, checker: no_leg_over, args: {limit: 450, currency: EUR}, statement: at most EUR 450 a leg}
turns:
  - {id: rule, user: "One rule: {leg_ceiling}.", states: [leg_ceiling]}
  - {id: may, user: Hold a flight in May.}
  - {id: june, user: Hold a flight in June.}
  - {id: talk, user: The sea is cold., optional: true}
  - {id: july, user: Hold a flight in July.}
  - {id: august, user: Hold a flight in August.}
"""
FORGETFUL = """\
import random
from fuzzturn.errors import Halted

class Forgetful:
    def __init__(self, environment, dice, sample, halts):
        self.environment, self.dice, self.sample, self.halts, self.turn = environment, dice, sample, halts, 0

    def reply(self, message):
        self.turn += 1
        if self.sample == self.halts and self.turn == 3:
            raise Halted("usd", "no model is left")
        if "flight" not in message:
            return "Noted."
        leg = {"flight": "X1", "direction": "outbound", "fare_eur": 400}
        if self.turn > 4 and self.dice.random() < 0.7:
            leg["fare_eur"] = 610
        try:
            self.environment.call("hold_booking", kind="flights", legs=[leg])
        except Exception:
            pass
        return "Held."

def build(environment, *, seed, sample, halts="-1"):
    return Forgetful(environment, random.Random(f"{seed}-{sample}"), sample, int(halts))
"""


@pytest.fixture
def trips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The words that play the trips with an agent that does not repeat itself."""
    monkeypatch.chdir(tmp_path)
    Path("trips.yaml").write_text(TRIPS)
    Path("forgetful.py").write_text(FORGETFUL)
    return ["run", "trips.yaml", "--agent", "forgetful.py:build", "--json", "r.json"]


def result() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(Path("r.json").read_text())
    return read


def test_repeats_play_as_many_samples_and_print_one_table(trips: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*trips, "--repeats", "10"]) == 1
    out = capsys.readouterr().out
    assert out.count("adherence  ") == 1
    assert "cliff: adherence to leg_ceiling falls from 1.00 to 0." in out
    assert "at turn 5 (july)" in out
    told = result()
    assert [session["sample"] for session in told["sessions"]] == list(range(10))
    assert all(session.keys() >= {"scenario", "turns", "goal_reached", "efficiency"} for session in told["sessions"])
    (summed,) = told["repeats"]
    assert summed.keys() >= {"scenario", "runs", "turns", "cliffs", "completed"}
    broken = [any(turn["adherence"]["failed"] for turn in session["turns"]) for session in told["sessions"]]
    assert summed["violations"][0]["broken"]["k"] == sum(broken)
    assert 0 < sum(turn["adherence"]["mean"] < 1 for turn in summed["turns"]) <= 2


def test_every_sample_is_in_the_run_folder_under_an_id_of_its_own(trips: list[str]) -> None:
    run([*trips, "--repeats", "4"])
    folder = Path(".fuzzturn") / "runs" / result()["run"]
    sessions = [json.loads(line) for line in (folder / "sessions.jsonl").read_text().splitlines()]
    scores = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    assert [session["sample"] for session in sessions] == [0, 1, 2, 3]
    assert {session["id"] for session in sessions} == {record["session"] for record in scores}
    assert len({session["id"] for session in sessions}) == 4


def test_a_sample_is_the_same_however_many_are_played(trips: list[str]) -> None:
    run([*trips, "--repeats", "6"])
    many = result()["sessions"]
    run([*trips, "--repeats", "3"])
    assert result()["sessions"] == many[:3]
    assert any(session["turns"] != many[0]["turns"] for session in many)


def test_one_run_says_what_it_always_said(trips: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    run(trips)
    plain, without = capsys.readouterr().out, result()
    run([*trips, "--repeats", "1"])
    assert capsys.readouterr().out == plain
    assert "±" not in plain
    assert "repeats" not in without
    assert result() | {"run": "", "spent": {}} == without | {"run": "", "spent": {}}
    sessions = Path(".fuzzturn") / "runs" / without["run"] / "sessions.jsonl"
    assert json.loads(sessions.read_text())["id"] == "trips"


def test_what_was_played_before_a_halt_is_kept_and_told(trips: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    run([*trips, "--repeats", "10", "--agent-option", "halts=6"])
    said = capsys.readouterr()
    assert "stopped after 6 of 10 runs" in said.out
    assert "no model is left" in said.err
    told = result()
    assert len(told["sessions"]) == 6
    assert (told["repeats"][0]["runs"], told["repeats"][0]["asked"]) == (6, 10)


def test_an_agent_that_repeats_itself_is_told_of(trips: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("idle.py").write_text("def agent(message):\n    return 'Noted.'\n")
    assert run(["run", "trips.yaml", "--agent", "idle.py:agent", "--repeats", "6"]) == 0
    out = capsys.readouterr().out
    assert "6 runs, all the same: this agent repeats itself" in out
    assert "leg_ceiling was put to the test in no run" in out
    assert "never exercised, so never tested: no_leg_over" in out


def test_an_agent_that_breaks_in_some_runs_is_counted(trips: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("frail.py").write_text(
        "def build(environment, *, sample):\n"
        "    class Frail:\n"
        "        def reply(self, message):\n"
        "            if sample % 2:\n"
        "                raise OSError('no route')\n"
        "            return 'Noted.'\n"
        "    return Frail()\n"
    )
    assert run(["run", "trips.yaml", "--agent", "frail.py:build", "--repeats", "5"]) == 3
    assert "frail.py:build raised OSError: no route (frail.py:5) in 2 of 5 runs" in capsys.readouterr().out


@pytest.mark.parametrize("given_as", ["option", "file"])
def test_repeats_are_at_least_1_and_may_stand_in_the_project_s_file(trips: list[str], given_as: str) -> None:
    def told(count: str) -> list[str]:
        if given_as == "option":
            return ["--repeats", count]
        Path("fuzzturn.toml").write_text(f"repeats = {count}\n")
        return []

    assert run([*trips, *told("0")]) == 2
    assert run([*trips, *told("2")]) in (0, 1)
    assert len(result()["sessions"]) == 2
