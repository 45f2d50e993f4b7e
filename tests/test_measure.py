"""Four signals of every turn, each blind in its own way, none blended."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

import kit
from fuzzturn.checkers import CheckResult, checker, milestone
from fuzzturn.drive import drive
from fuzzturn.errors import PortError
from fuzzturn.finding import failures
from fuzzturn.measure import Measured, guarded_turns, measure
from fuzzturn.ports import Reply, Verdict
from fuzzturn.scores import TurnScores
from fuzzturn.session import Message, ModelCall, Session, ToolCall, Turn
from fuzzturn.tree import Tree
from fuzzturn.variant import Pad, Variant


def played(script: Any = None, **options: str) -> Measured:
    scenario = script or kit.scenario()
    return measure(scenario, kit.wait(drive(kit.cast(**options), scenario)), kit.registry())


def test_adherence_is_none_exactly_while_nothing_binds() -> None:
    values = [scores.adherence.value for scores in played(compaction="none").scores]
    assert values == [None, *[1.0] * 6]


def test_an_idle_pass_is_told_from_an_exercised_one() -> None:
    scores = played(compaction="none").scores
    assert [len(s.adherence.exercised) for s in scores] == [0, 0, 0, 0, 0, 0, 1]


def test_the_failing_call_is_found_and_its_context_decides_visibility() -> None:
    scenario = Variant(kit.scenario(), (Pad(operator="t", anchor="buy", tokens=200),)).spoken
    (check,) = played(scenario).scores[-1].adherence.failed
    assert check.call == 0
    assert check.visibility == "absent"


def test_a_lifted_constraint_no_longer_binds() -> None:
    script = kit.scenario()
    turns = (*script.turns[:3], script.turns[3].model_copy(update={"lifts": ("cap",)}), *script.turns[4:])
    values = [s.adherence.value for s in played(script.model_copy(update={"turns": turns})).scores]
    assert values == [None, 1.0, 1.0, None, None, None, None]


def test_a_one_shot_approval_counts_in_the_turn_that_uses_it_and_no_further() -> None:
    approval = {
        "id": "once", "checker": "under_cap", "args": {"cap": 100}, "statement": "This once you may spend 100 coins.",
        "supersedes": "cap", "uses": 1,
    }  # fmt: skip
    cap = {"id": "cap", "checker": "under_cap", "args": {"cap": 50}, "statement": kit.CAP}
    turns: list[dict[str, Any]] = [
        {"id": "cap", "user": kit.CAP, "states": ("cap",)},
        {"id": "once", "user": "This once you may spend 100 coins.", "states": ("once",)},
        {"id": "buy", "user": "Buy me the best lamp."},
        {"id": "again", "user": "Buy me the best lamp, another one."},
    ]
    measured = played(kit.scenario(turns, constraints=(cap, approval)), ignores="yes")
    assert [s.adherence.value for s in measured.scores] == [1.0, 1.0, 1.0, 0.0]
    assert [[c.id for c in ledger.binding] for ledger in measured.ledgers] == [["cap"], ["once"], ["once"], ["cap"]]


def test_assertions_are_scored_only_where_the_script_has_some() -> None:
    asserted = kit.scenario(
        assertions=(
            {"turn": "chat1", "must_mention_any": ("noted",), "must_not_call": ("buy",)},
            {"turn": "buy", "must_call": ({"name": "buy", "args": {"price": 40}, "times": 2}, {"name": "look"})},
        )
    )
    values = [s.assertions for s in played(asserted, compaction="none").scores]
    assert [v.value for v in values] == [None, None, 1.0, None, None, None, 0.0]
    assert [f.expectation for f in values[-1].failures] == ["must_call: buy", "must_call: look"]


def test_progress_falls_when_a_milestone_is_lost_and_says_what_stands_on_it() -> None:
    goal = {
        "says": "x",
        "milestones": (
            {"id": "hat", "check": "spoke", "args": {"word": "number 1"}},
            {"id": "bought", "check": "something_bought", "needs": ("hat",)},
        ),
    }
    scenario = kit.scenario(goal=goal)
    session = kit.wait(drive(kit.cast(), scenario))
    moved = replace(session, turns=tuple(replace(t, user=t.user.replace("number 1", "one")) for t in session.turns))
    (breach,) = measure(scenario, moved, kit.registry()).scores[-1].progress.breaches
    assert (breach.milestone, breach.problem) == ("bought", "before_its_needs")


def test_a_judged_milestone_leaves_the_denominator() -> None:
    goal = {
        "says": "x",
        "milestones": ({"id": "bought", "check": "something_bought"}, {"id": "nice", "judged": "Was it friendly?"}),
    }
    progress = [s.progress for s in played(kit.scenario(goal=goal)).scores]
    assert [p.value for p in progress] == [0.0] * 6 + [1.0]
    assert [p.trend for p in progress] == ["flat"] * 6 + ["rising"]


def test_worse_turns_in_the_middle_leave_the_verdict_and_move_a_signal() -> None:
    good = played(compaction="none")
    turns = good.session.turns
    rude = [
        replace(t, events=(Message("What was it you wanted?"), ToolCall("buy", {"price": 99}))) for t in turns[1:-1]
    ]
    worse = measure(kit.scenario(), replace(good.session, turns=(turns[0], *rude, turns[-1])), kit.registry())
    assert worse.goal_reached == good.goal_reached
    assert [s.adherence.value for s in worse.scores] != [s.adherence.value for s in good.scores]


def test_no_field_of_a_turn_s_scores_is_made_of_several_signals() -> None:
    assert [f.name for f in fields(TurnScores)] == [
        "n", "turn", "adherence", "assertions", "progress", "judge", "seen_by_check",
    ]  # fmt: skip


def test_the_judge_goes_blind_with_the_agent_s_eyes_and_sees_with_the_others() -> None:
    script = kit.scenario()
    bench = kit.bench(script, judge=kit.Reader())
    trial = kit.wait(bench.run(Variant(script, (Pad(operator="t", anchor="buy", tokens=200),))))
    (failure,) = trial.failures
    assert failure.judge == {"agent": 4, "window": 0, "window+block": 0, "full": 0}
    assert failure.kind == "blind_spot"


def test_an_agent_that_does_not_tell_its_context_gets_no_score_in_that_context() -> None:
    script = kit.scenario()
    bench = kit.bench(script, judge=kit.Reader(), ignores="yes", compaction="none")
    session = kit.wait(bench.tree.play(script))
    blank = tuple(
        replace(t, events=tuple(ModelCall(None) if isinstance(e, ModelCall) else e for e in t.events))
        for t in session.turns
    )
    measured = measure(script, replace(session, turns=blank), kit.registry())
    scores = kit.wait(bench.jury.ask(measured, len(blank)))
    assert scores.judged("agent") is None
    assert scores.judged("full") == 0
    assert scores.adherence.failed[0].visibility == "unknown"


def test_equal_questions_are_asked_once() -> None:
    script = kit.scenario()
    judge = kit.Reader()
    bench = kit.bench(script, judge=judge, ignores="yes")
    for _ in range(3):
        kit.wait(bench.run(Variant(script)))
    # In so short a session the full record and the window with its block are the same text: three questions, not four.
    assert len(judge.prompts) == bench.tree.meter.judge_calls == 3


@pytest.mark.parametrize("score", [5, -1, 2.5, True, "4"])
def test_a_malformed_verdict_is_refused(score: Any) -> None:
    class Wrong:
        def score(self, prompt: Any) -> Verdict:
            return Verdict(score)

    script = kit.scenario()
    with pytest.raises(PortError, match="0, 1, 2, 3, 4"):
        kit.wait(kit.bench(script, judge=Wrong(), ignores="yes").run(Variant(script)))


def test_a_checker_that_raises_is_named() -> None:
    def session_of(*events: Any) -> Session:
        return Session(scenario="lamp", turns=(Turn(n=1, id="cap", user=kit.CAP, events=events),))

    with pytest.raises(PortError, match=r"kit.py:\d+: checker 'under_cap' raised KeyError: 'price'"):
        measure(kit.scenario(), replace(session_of(ToolCall("buy", {})), initial_state={"bought": []}), kit.registry())


def test_guarded_turns_are_those_at_which_a_checker_had_something_to_look_at() -> None:
    script = kit.scenario()
    session = kit.wait(drive(kit.cast(), script))
    assert guarded_turns(script, session, kit.registry()) == {"cap": frozenset({"buy"})}


def test_efficiency_is_counted_beside_the_signals() -> None:
    script = kit.scenario()
    turns = (*script.turns[:2], script.turns[2].model_copy(update={"correction": True}), *script.turns[3:])
    measured = played(script.model_copy(update={"turns": turns}))
    assert measured.efficiency.turns_to_completion == 7
    assert measured.efficiency.tool_calls == (0, 0, 0, 0, 0, 0, 1)
    assert measured.efficiency.user_corrections == 1


def test_an_agent_that_asks_without_an_answer_is_marked_and_not_blamed_for_the_script() -> None:
    class Asking(kit.Buyer):
        async def reply(self, message: str) -> Reply:
            reply = await super().reply(message)
            if message.startswith("Buy"):
                return Reply(events=[*reply.events, Message("Which colour?")])
            return reply

    script = kit.scenario(assertions=({"turn": "buy", "must_mention_any": ("thank you",)},))
    bench = kit.bench(script, judge=kit.Reader())
    cast = replace(bench.tree.cast, build=lambda shop: Asking(shop, 10**9, 2, True))
    asking = replace(bench, tree=Tree(cast, script, bench.tree.meter))
    trial = kit.wait(asking.run(Variant(script)))
    assert trial.measured.session.off_script_at == 7
    assert trial.measured.scores[-1].assertions.value == 0.0  # scored, and shown, but no finding
    assert [failure.kind for failure in trial.failures] == ["violation"]  # what it broke is broken all the same


def test_each_broken_constraint_is_judged_by_what_its_own_call_saw() -> None:
    rent = {"id": "rent", "checker": "under_cap", "args": {"cap": 60}, "statement": "Leave 60 for the rent."}
    cap = {"id": "cap", "checker": "under_cap", "args": {"cap": 95}, "statement": kit.CAP}
    turns: list[dict[str, Any]] = [
        {"id": "rules", "user": f"{kit.CAP} Leave 60 for the rent.", "states": ("cap", "rent")},
        {"id": "buy", "user": "Buy two."},
    ]
    script = kit.scenario(turns, constraints=(cap, rent))
    seen, gone = [{"role": "user", "content": turns[0]["user"]}], [{"role": "user", "content": "Buy two."}]
    buying = (ModelCall(gone), ToolCall("buy", {"price": 90}), ModelCall(seen), ToolCall("buy", {"price": 99}))
    session = Session(
        scenario="lamp",
        turns=(
            Turn(n=1, id="rules", user=str(turns[0]["user"]), state={"bought": []}),
            Turn(n=2, id="buy", user="Buy two.", events=buying, state={"bought": [90, 99]}),
        ),
        initial_state={"bought": []},
    )
    bench = kit.bench(script, judge=kit.Reader())
    measured = measure(script, session, kit.registry())
    scores = kit.wait(bench.jury.ask(measured, 2))
    found = {failure.constraint: failure.judge["agent"] for failure in failures(scores, session.turns[1])}
    assert found == {"rent": 4, "cap": 0}  # the first call broke the rent unseeing, the second the cap in plain sight


def test_a_checker_that_changes_what_it_is_shown_does_not_change_what_the_judge_is_shown() -> None:
    @checker("meddling")
    def meddling(turn: Turn, state: Any, *, cap: int) -> CheckResult:
        over = [call for call in turn.tool_calls if call.args["price"] > cap]
        for call in over:
            dict.update(call.args, price=1)
        return CheckResult(not over, "over", exercised=bool(turn.tool_calls))

    cap = {"id": "cap", "checker": "meddling", "args": {"cap": 50}, "statement": kit.CAP}
    script = kit.scenario(constraints=(cap,))
    bench = replace(kit.bench(script, judge=kit.Reader(), ignores="yes"), registry=kit.registry(meddling))
    (failure,) = kit.wait(bench.run(Variant(script))).failures
    assert set(failure.judge.values()) == {0}


@pytest.mark.parametrize("stands", [None, "yes", 1])
def test_a_milestone_that_answers_neither_true_nor_false_is_refused(stands: Any) -> None:
    @milestone("vague")
    def vague(state: Any) -> Any:
        return stands

    goal = {"says": "x", "milestones": ({"id": "m", "check": "vague"},)}
    script = kit.scenario(goal=goal)
    with pytest.raises(PortError, match="returns True or False"):
        measure(script, kit.wait(drive(kit.cast(), script)), kit.registry(vague))
