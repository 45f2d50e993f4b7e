"""Judged milestones: what a judge decides moves progress in `run`, what it does not decide is left out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kit
from fuzzturn.cli import run
from fuzzturn.deciding import Decider
from fuzzturn.drive import Meter, drive
from fuzzturn.errors import Halted, PortError
from fuzzturn.measure import Jury, Measured, measure
from fuzzturn.milestones import graph
from fuzzturn.ports import JudgePrompt, Verdict
from fuzzturn.scenario import Goal
from fuzzturn.scores import Progress
from fuzzturn.signals.progress import answered
from upstream import Upstream, said

NICE = "Has the assistant been friendly so far?"
Answers = Callable[[str, JudgePrompt], Any]


class Decides(kit.Reader):
    """A judge whose decisions are scripted."""

    def __init__(self, answers: Answers) -> None:
        super().__init__()
        self.answers = answers
        self.asked: list[tuple[str, JudgePrompt]] = []

    def decide(self, question: str, prompt: JudgePrompt) -> Any:
        self.asked.append((question, prompt))
        return self.answers(question, prompt)


def goal(*milestones: Mapping[str, Any]) -> dict[str, Any]:
    return {"says": "A lamp", "milestones": milestones}


BOUGHT = {"id": "bought", "check": "something_bought"}
JUDGED = {"id": "nice", "judged": NICE}


def played(*milestones: Mapping[str, Any]) -> Measured:
    scenario = kit.scenario(goal=goal(*(milestones or (BOUGHT, JUDGED))))
    return measure(scenario, kit.wait(drive(kit.cast(compaction="none"), scenario)), kit.registry())


def decider(judge: Any, sample: int = 0) -> Decider:
    return Decider(Jury(judge, "toy", kit.RUBRIC, ("agent",), Meter(), sample))


def decided(judge: Any, *milestones: Mapping[str, Any]) -> Measured:
    return kit.wait(decider(judge).decided(played(*milestones)))


def by_turn(*answers: bool | None) -> Answers:
    """Answers by the number of the turn that is shown last; the last of them from there on."""
    return lambda question, prompt: answers[min(json.loads(prompt.turn.splitlines()[0])["turn"], len(answers)) - 1]


def values(measured: Measured) -> list[float | None]:
    return [scores.progress.value for scores in measured.scores]


def test_an_answer_counts_in_the_turn_it_is_given_for() -> None:
    got = decided(Decides(by_turn(False, True, None, False, True)))
    assert values(got) == [0.0, 0.5, 0.0, 0.0, 0.5, 0.5, 1.0]
    assert [scores.progress.trend for scores in got.scores] == [
        "flat", "rising", "flat", "flat", "rising", "flat", "rising"
    ]  # fmt: skip


def test_a_milestone_that_nobody_decides_leaves_the_denominator() -> None:
    undecided = played()
    assert decided(Decides(by_turn(None))) == undecided
    for judge in (kit.Reader(), None):
        assert decided(judge) == undecided


def test_a_judge_is_not_asked_where_code_decides_everything() -> None:
    judge = Decides(by_turn(True))
    assert decided(judge, BOUGHT) == played(BOUGHT)
    assert judge.asked == []


def test_a_latched_milestone_stands_from_its_first_yes_and_is_asked_about_no_more() -> None:
    judge = Decides(by_turn(None, False, True, False))
    got = decided(judge, BOUGHT, JUDGED | {"latched": True})
    assert values(got) == [0.0, 0.0, 0.5, 0.5, 0.5, 0.5, 1.0]
    assert len(judge.asked) == 3


def test_the_judge_is_shown_the_whole_record_up_to_the_turn_and_the_sample_that_is_wanted() -> None:
    judge = Decides(by_turn(True))
    kit.wait(decider(judge, sample=3).decided(played()))
    assert {(question, prompt.context, prompt.sample) for question, prompt in judge.asked} == {(NICE, "full", 3)}
    assert [prompt.history.count('"role": "user"') for _, prompt in judge.asked] == list(range(7))


def test_equal_questions_about_equal_sessions_are_asked_once_and_counted() -> None:
    judge = Decides(by_turn(True))
    asking = decider(judge)
    first, again = kit.wait(asking.decided(played())), kit.wait(asking.decided(played()))
    assert first == again
    assert len(judge.asked) == asking.jury.meter.judge_calls == 7


def test_a_judge_may_take_its_time() -> None:
    async def later(question: str, prompt: JudgePrompt) -> bool:
        return True

    assert values(decided(Decides(later)))[-1] == 1.0


def test_a_judge_that_fails_decides_nothing_and_that_is_told() -> None:
    def fails(question: str, prompt: JudgePrompt) -> bool:
        raise RuntimeError("no")

    def leaves(question: str, prompt: JudgePrompt) -> bool:
        raise SystemExit("no")

    raised = ((fails, "the judge raised RuntimeError: no"), (leaves, "the judge raised SystemExit: no"))
    for answers, why in (*raised, (by_turn(None), "the judge could not tell")):
        asking = decider(Decides(answers))
        assert kit.wait(asking.decided(played())) == played()
        assert asking.unanswered == {why: 7}


@pytest.mark.parametrize("answer", [1, 0, "yes", 4, Verdict(4)], ids=repr)
def test_an_answer_that_is_none_is_refused(answer: Any) -> None:
    with pytest.raises(PortError, match="it decides True, False, or None"):
        decided(Decides(lambda question, prompt: answer))


def test_a_halt_of_the_model_s_goes_through() -> None:
    def halted(question: str, prompt: JudgePrompt) -> bool:
        raise Halted("usd", "no money left")

    with pytest.raises(Halted):
        decided(Decides(halted))


def test_the_session_s_verdict_takes_what_was_decided() -> None:
    assert played().goal_reached
    assert not decided(Decides(by_turn(False))).goal_reached
    good = decided(Decides(by_turn(True)))
    assert (good.goal_reached, good.efficiency.turns_to_completion) == (True, 7)
    only = decided(Decides(by_turn(False, True)), JUDGED)
    assert (only.goal_reached, only.efficiency.turns_to_completion) == (True, 2)
    assert (played(JUDGED).goal_reached, values(played(JUDGED))) == (False, [None] * 7)


def test_a_breach_that_an_answer_brought_to_light_says_so_and_those_of_code_stay_as_they_are() -> None:
    hat = {"id": "hat", "check": "spoke", "args": {"word": "a hat"}}
    needy = BOUGHT | {"needs": ("hat", "nice")}
    got = decided(Decides(by_turn(False)), hat, JUDGED, needy)
    assert [breach.detail for breach in got.scores[-1].progress.breaches] == [
        "bought is satisfied before hat", "bought is satisfied before nice, as the judge decides",
    ]  # fmt: skip
    told = played(hat, JUDGED, needy).scores[-1].progress.breaches
    assert [breach.detail for breach in told] == ["bought is satisfied before hat"]


def test_the_search_asks_nobody() -> None:
    from fuzzturn.variant import Variant

    judge = Decides(by_turn(False))
    scenario = kit.scenario(goal=goal(BOUGHT, JUDGED))
    trial = kit.wait(kit.bench(scenario, judge=judge, ignores="yes").run(Variant(scenario)))
    assert judge.asked == []
    assert judge.prompts, "it was asked for scores"
    assert values(trial.measured)[-1] == 1.0


_GOAL = Goal.model_validate(goal(BOUGHT, JUDGED, JUDGED | {"id": "kept", "latched": True, "needs": ("bought",)}))
_TURNS = st.lists(st.tuples(st.booleans(), *[st.sampled_from([True, False, None])] * 2), max_size=8)


def _told(turns: Sequence[tuple[bool, bool | None, bool | None]]) -> list[Progress]:
    satisfied = [frozenset({"bought"} if bought else ()) for bought, _, _ in turns]
    return [Progress(float(bool(standing)), standing, "flat") for standing in satisfied]


@given(_TURNS)
def test_progress_is_the_share_of_what_is_decided_turn_by_turn(
    turns: list[tuple[bool, bool | None, bool | None]],
) -> None:
    answers = [{"nice": nice, "kept": kept} for _, nice, kept in turns]
    kept_before = False
    for (bought, nice, kept), found in zip(turns, answered(_GOAL, graph(_GOAL), _told(turns), answers), strict=True):
        kept_now = True if kept_before else kept
        decided = [stands for stands in (bought, nice, kept_now) if stands is not None]
        assert found.value == sum(decided) / len(decided)
        assert found.satisfied >= ({"nice"} if nice else set())
        kept_before = kept_before or bool(kept)


@given(_TURNS)
def test_without_answers_progress_is_what_code_decides(turns: list[tuple[bool, bool | None, bool | None]]) -> None:
    got = answered(_GOAL, graph(_GOAL), _told(turns), [{} for _ in turns])
    assert [(p.value, p.satisfied, p.breaches) for p in got] == [
        (p.value, p.satisfied, ()) for p in _told(turns)
    ]  # fmt: skip


# in `run`

LISBON = Path(__file__).parent.parent / "scenarios" / "orbit" / "lisbon_offsite.yaml"
DECIDING = """
from fuzzturn import Verdict
class Judge:
    identity = "always friendly"
    def score(self, prompt):
        return Verdict(3, "Good.")
    def decide(self, question, prompt):
        return None if "weather" in question else "confirm_booking" in prompt.turn
def build():
    return Judge()
"""


@pytest.fixture
def friendly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lisbon, with three milestones that no code decides."""
    judged = (
        "    - {id: booked, judged: Is the trip booked?, latched: true}\n"
        "    - {id: booking, judged: Is a trip being booked?}\n"
        "    - {id: weather, judged: Was the weather fine?}\nconstraints:\n"
    )
    text = LISBON.read_text().replace("scenario: lisbon_offsite", "scenario: friendly")
    (tmp_path / "friendly.yaml").write_text(text.replace("constraints:\n", judged, 1))
    (tmp_path / "judge.py").write_text(DECIDING)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody's")
    return tmp_path


def session(*arguments: str) -> dict[str, Any]:
    assert run(["run", "friendly.yaml", "--json", "out.json", *arguments]) == 0
    found: dict[str, Any] = json.loads(Path("out.json").read_text())["sessions"][0]
    return found


def last(found: Mapping[str, Any]) -> Any:
    return found["turns"][-1]["progress"]


def test_run_hands_the_judge_s_answers_to_progress(friendly: Path, capsys: pytest.CaptureFixture[str]) -> None:
    without = last(session("--judge", "none"))
    assert (without["value"], len(without["satisfied"])) == (1.0, 5)
    turns = session("--judge", "judge.py:build")["turns"]
    told = {turn["id"]: (turn["progress"]["value"], turn["progress"]["trend"]) for turn in turns}
    assert (told["weather"], told["book"], told["thanks"]) == ((4 / 7, "flat"), (1.0, "rising"), (6 / 7, "falling"))
    captured = capsys.readouterr()
    assert "goal not reached" in captured.out.splitlines()[-1]
    assert "friendly: a judged milestone was left undecided 12 times: the judge could not tell" in captured.err


def test_run_records_the_progress_that_was_decided(friendly: Path) -> None:
    assert run(["run", "friendly.yaml", "--judge", "judge.py:build", "--repeats", "2"]) == 0
    (folder,) = (friendly / ".fuzzturn" / "runs").iterdir()
    records = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    ends = [record for record in records if record["signal"] == "progress"]
    booked = [record["turn_id"] for record in ends if "booked" in record["detail"]["satisfied"]]
    assert booked == ["book", "thanks"] * 2
    assert {record["identity"] for record in records if record["signal"] == "judge"} == {"always friendly"}


@pytest.mark.usefixtures("litellm_session")
def test_a_model_decides_in_run(friendly: Path) -> None:
    def judge(body: dict[str, Any]) -> dict[str, Any]:
        question = body["messages"][0]["content"]
        if "# How to answer" in question:
            return said(json.dumps({"quotes": [], "reason": "Good.", "score": 3}))
        return said(
            json.dumps({"quotes": [], "reason": "So it was.", "answer": "no" if "weather" in question else "yes"})
        )

    with Upstream(judge) as upstream:
        found = session("--judge", "litellm/judge", "--api-base", upstream.url)
        asked = len(upstream.requests)
        again = session("--judge", "litellm/judge", "--offline")
        assert len(upstream.requests) == asked
    assert found == again
    assert last(found)["value"] == 7 / 8
    assert "weather" not in last(found)["satisfied"]
