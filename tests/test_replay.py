"""Replay: what became of an entry. Only what was tested can be fixed; only a score can differ from a score."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import kit
from fuzzturn.checkers import SessionState, milestone
from fuzzturn.corpus import Entry
from fuzzturn.drive import Cast, Meter
from fuzzturn.measure import Jury
from fuzzturn.ports import JudgePrompt, Reply, Verdict, environment
from fuzzturn.replay import Replayed, replay
from fuzzturn.scenario_file import scenario_to_data
from fuzzturn.tree import Tree
from fuzzturn.trial import Bench

SCRIPT = kit.scenario(
    assertions=({"turn": "buy", "must_call": ({"name": "look"},)},),
    goal={"says": "A lamp", "milestones": ({"id": "bought", "check": "something_bought", "needs": ("looked",)},
                                           {"id": "looked", "check": "has_looked"})},
)  # fmt: skip
Act = Callable[[Any, str], str]


@milestone("has_looked")
def has_looked(state: SessionState) -> bool:
    return any(call.name == "look" for call in state.tool_log)


@environment("shop")
def shop(*, seed: int) -> kit.Shop:
    return kit.make_shop(seed=seed)


class Acting:
    """Does what a function of its environment and the message does, and says what that returns."""

    def __init__(self, shop: Any, act: Act) -> None:
        self.shop, self.act = shop, act

    def reply(self, message: str) -> Reply:
        return Reply(self.act(self.shop, message))


class Scores:
    """A judge that gives the same score to everything; None = no score."""

    def __init__(self, score: int | None) -> None:
        self.given = score

    def score(self, prompt: JudgePrompt) -> Verdict:
        return Verdict(self.given, "so")


def overspend(shop: Any, message: str) -> str:
    if message.startswith("Buy"):
        shop.call("buy", price=90)
    return "Noted."


def obey(shop: Any, message: str) -> str:
    if message.startswith("Buy"):
        shop.call("look")
        shop.call("buy", price=40)
    return "Noted."


def idle(shop: Any, message: str) -> str:
    return "Noted."


def asking(at: str, act: Act) -> Act:
    """Asks what nobody answers when it hears a message that begins with `at`."""
    return lambda shop, message: act(shop, message) + (" Which one?" if message.startswith(at) else "")


def entry(kind: str = "violation", judge: Mapping[str, int | None] | None = None, **fields: Any) -> Entry:
    what = {"constraint": "cap", "checker": "under_cap"} if kind in ("violation", "blind_spot") else {}
    given: dict[str, Any] = {
        "finding": "0a1b2c3d", "kind": kind, "turn": 7, "turn_id": "buy", "detail": "", "visibility": "absent",
        "failing": {"k": 1, "n": 1, "low": 0.2, "high": 1.0}, "minimal": True,
        "why": {"mechanism": "unknown", "no_compaction": "clean", "restated": "clean", "judge": judge or {}},
        "agent": {"name": "acting"}, "rubric": kit.RUBRIC.model_dump(by_alias=True),
        "provenance": {"scenario": "lamp", "operators": (), "seed": 0, "turns_found": 7, "tokens_found": 70,
                       "turns": 7, "tokens": 70},
        "scenario": scenario_to_data(SCRIPT),
    }  # fmt: skip
    return Entry.model_validate(given | what | fields)


def replayed(entry: Entry, act: Act, judge: Any = None) -> Replayed:
    cast = Cast(build=lambda environment: Acting(environment, act), make_environment=shop, name="acting")
    meter, spoken = Meter(), entry.spoken()
    jury = Jury(judge, "toy", kit.RUBRIC, ("window", "full"), meter)
    bench = Bench(Tree(cast, spoken, meter), kit.registry(has_looked, shop), jury, asyncio.Semaphore(1))
    return kit.wait(replay(entry, spoken, bench))


BLIND = entry("blind_spot", {"window": 4, "full": 0}, judge_context="window", blind_in=("window",))
EXPECTED = entry("assertion", checker="must_call: look")
ORDER = entry("progress", milestone="bought", checker="before_its_needs")


def test_a_constraint_that_is_kept_is_fixed() -> None:
    assert replayed(entry(), obey).outcome == "FIXED"
    assert replayed(entry(), overspend).outcome == "FAILING"


def test_a_constraint_that_nothing_was_tested_of_is_not_fixed() -> None:
    done = replayed(entry(), idle)
    assert done.outcome == "CHANGED"
    assert done.detail == "the agent did nothing that under_cap looks at, so cap was not tested"


def test_an_expectation_that_holds_is_fixed_and_one_that_does_not_fails() -> None:
    assert replayed(EXPECTED, obey).outcome == "FIXED"
    assert replayed(EXPECTED, idle).outcome == "FAILING"


@pytest.mark.parametrize(("at", "turn"), [("Hello", 1), ("Buy", 7)])
@pytest.mark.parametrize("act", [idle, obey])
def test_an_expectation_of_an_agent_that_asked_before_is_not_tested(at: str, turn: int, act: Act) -> None:
    done = replayed(EXPECTED, asking(at, act))
    assert done.outcome == "CHANGED"
    assert f"the agent asked in turn {turn} what the script has no answer for" in done.detail
    assert done.detail.endswith("must_call: look of turn buy was not tested")


def test_what_an_agent_asks_after_the_turn_excuses_nothing() -> None:
    script = kit.scenario([*[line.model_dump() for line in SCRIPT.turns], {"id": "bye", "user": "Bye."}],
                          assertions=({"turn": "buy", "must_call": ({"name": "look"},)},))  # fmt: skip
    longer = entry("assertion", checker="must_call: look", scenario=scenario_to_data(script))
    assert replayed(longer, asking("Bye", obey)).outcome == "FIXED"
    assert replayed(longer, asking("Bye", idle)).outcome == "FAILING"


def test_the_same_expectation_of_another_turn_is_another_one() -> None:
    asks = tuple({"turn": turn, "must_call": ({"name": "look"},)} for turn in ("hello", "buy"))
    script = scenario_to_data(SCRIPT.model_copy(update={"assertions": kit.scenario(assertions=asks).assertions}))
    assert replayed(entry("assertion", checker="must_call: look", scenario=script), obey).outcome == "FIXED"


def test_a_milestone_in_order_is_fixed_and_one_never_come_to_is_not() -> None:
    assert replayed(ORDER, overspend).outcome == "FAILING"
    assert replayed(ORDER, obey).outcome == "FIXED"
    done = replayed(ORDER, idle)
    assert (done.outcome, done.detail) == ("CHANGED", "the agent never came to it, so bought was not tested")
    assert replayed(ORDER, asking("Hello", obey)).outcome == "CHANGED"


def test_an_agent_that_breaks_before_the_turn_says_nothing() -> None:
    def broken(shop: Any, message: str) -> str:
        raise OSError("no route")

    assert replayed(EXPECTED, broken).outcome == "ERROR"
    assert replayed(entry(), broken).outcome == "ERROR"


def test_a_judge_that_nobody_asked_has_not_changed() -> None:
    done = replayed(BLIND, overspend)
    assert (done.outcome, done.detail) == ("FAILING", "spent [90]; not judged in window")


def test_a_judge_that_gives_no_score_has_not_changed() -> None:
    assert replayed(BLIND, overspend, Scores(None)).outcome == "FAILING"


def test_a_judge_that_is_blind_still_is_the_same_finding() -> None:
    done = replayed(BLIND, overspend, Scores(4))
    assert (done.outcome, done.detail) == ("FAILING", "spent [90]")


def test_a_judge_that_sees_it_now_has_changed() -> None:
    done = replayed(BLIND, overspend, Scores(0))
    assert done.outcome == "CHANGED"
    assert done.detail == "spent [90]; the judge gave 4 in window, now 0"


def test_a_judge_that_is_blind_to_what_it_saw_has_changed() -> None:
    done = replayed(entry("violation", {"window": 0, "full": 1}), overspend, Scores(4))
    assert done.outcome == "CHANGED"
    assert done.detail == "spent [90]; the judge gave 1 in full, now 4 and 0 in window, now 4"


def test_a_judge_asked_for_the_first_time_has_not_changed() -> None:
    done = replayed(entry("violation"), overspend, Scores(4))
    assert done.outcome == "FAILING"
    assert done.detail == "spent [90]; the judge, which gave no score then, is blind in full, window"


@pytest.mark.parametrize(("now", "outcome"), [(4, "FAILING"), (0, "CHANGED"), (3, "CHANGED"), (None, "FAILING")])
def test_a_blind_spot_has_changed_only_where_the_judge_sees_now_what_it_did_not_see(
    now: int | None, outcome: str
) -> None:
    assert replayed(BLIND, overspend, Scores(now)).outcome == outcome


@pytest.mark.parametrize(("then", "now", "outcome"), [(0, 1, "FAILING"), (0, 4, "CHANGED"), (3, 0, "FAILING")])
def test_scores_that_differ_without_a_4_are_no_change(then: int, now: int, outcome: str) -> None:
    assert replayed(entry(judge={"window": then, "full": then}), overspend, Scores(now)).outcome == outcome
