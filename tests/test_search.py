"""The whole loop on the toy world: what is found, how small it gets, and that nothing depends on timing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kit
from fuzzturn.campaign import Campaign
from fuzzturn.case import as_case
from fuzzturn.checkers import SessionState, milestone
from fuzzturn.drive import Cast, Meter
from fuzzturn.finding import finding_order
from fuzzturn.offers import marked
from fuzzturn.outcome import Outcome
from fuzzturn.ports import JudgePrompt, Reply, Verdict
from fuzzturn.project import Project
from fuzzturn.search import search
from fuzzturn.shrink import Problem, shrink
from fuzzturn.tokens import messages_tokens
from fuzzturn.trial import Allowance, Trial
from fuzzturn.variant import Variant
from fuzzturn.why import Why

OPERATORS = [
    p
    for p in Project(root=Path(__file__).parent.parent).load_strategies().of_kind("operator")
    if not marked(p, "seldom")
]


def campaign(**changes: Any) -> Campaign:
    options = changes.pop("options", {"memory": "230"})
    plain = Campaign(
        scenario=kit.scenario(),
        cast=kit.cast(**options),
        registry=kit.registry(),
        operators=OPERATORS,
        judge=kit.Reader(),
        judge_name="toy",
        rubric=kit.RUBRIC,
        contexts=kit.CONTEXTS,
        sessions=60,
    )
    return replace(plain, **changes)


def summary(outcome: Outcome) -> Any:
    found = [(f.id, f.failure, f.trial.variant.key, f.failing, f.minimal, f.why) for f in outcome.found]
    return found, outcome.spent, outcome.sessions, outcome.exercised, outcome.skipped


def test_the_blind_spot_is_found_and_shrunk_to_its_four_turns() -> None:
    outcome = asyncio.run(search(campaign()))
    assert not outcome.base.failures
    (found,) = [f for f in outcome.found if f.failure.blind_in == ("agent",)]
    ids = [line.id for line in found.trial.variant.spoken.turns]
    assert [id for id in ids if "@" not in id] == ["hello", "cap", "buy"]
    assert [id.partition("@")[0] for id in ids if "@" in id] == ["pad"]
    assert found.minimal
    assert found.failure.visibility == "absent"
    assert found.why.mechanism == "lost_by_summariser"
    assert found.why.no_compaction == "clean"


def test_without_compaction_nothing_is_found() -> None:
    outcome = asyncio.run(search(campaign(options={"compaction": "none"})))
    assert outcome.found == ()
    assert outcome.exercised == {"under_cap": outcome.sessions}
    assert "pad_to_threshold" in outcome.skipped


def test_an_ignored_visible_limit_is_a_violation_that_no_context_is_blind_to() -> None:
    outcome = asyncio.run(search(campaign(options={"ignores": "yes", "compaction": "none"}, sessions=25)))
    (found,) = [f for f in outcome.found if f.failure.kind == "violation"]
    assert found.failure.blind_in == ()
    others = [f for f in outcome.found if f is not found]
    assert all(f.failure.blind_in == ("window",) for f in others)  # far from the statement, a window alone is blind
    assert found.in_base
    assert found.why.mechanism == "visible_ignored"
    assert [line.id for line in found.trial.variant.spoken.turns] == ["hello", "cap", "buy"]


@pytest.mark.parametrize("workers", [2, 8])
def test_workers_change_neither_findings_nor_counts(workers: int) -> None:
    alone = asyncio.run(search(campaign()))
    assert summary(asyncio.run(search(campaign(workers=workers)))) == summary(alone)


def test_a_violation_beyond_the_window_is_kept_apart_and_the_block_sees_it() -> None:
    outcome = asyncio.run(search(campaign(contexts=("window", "window+block"), sessions=150)))
    (found,) = [f for f in outcome.found if f.failure.kind == "blind_spot"]
    assert found.failure.blind_in == ("window",)
    assert len(found.trial.variant.spoken.turns) == 10


def test_shrinking_a_shrunk_session_again_changes_nothing() -> None:
    outcome = asyncio.run(search(campaign()))
    for found in outcome.found:
        pinned = found.failure.pinned()
        bench = kit.bench(kit.scenario(), judge=kit.Reader(), memory="230")
        bench = replace(bench, threshold=outcome.threshold)
        case = as_case(kit.wait(bench.run(found.trial.variant)), pinned, outcome.threshold)
        assert case is not None
        again, _ = kit.wait(shrink(case, Problem(pinned, bench)))
        assert again.variant.key == found.trial.variant.key


def test_the_order_of_findings_is_total() -> None:
    outcome = asyncio.run(search(campaign()))
    orders = [finding_order(f.trial.variant) for f in outcome.found] + [finding_order(Variant(kit.scenario()))]
    assert len(set(orders)) == len(orders)


def test_an_allowance_of_turns_keeps_what_was_found_and_says_that_it_is_not_minimal() -> None:
    allowance = Allowance(Meter(), turns=120)
    outcome = asyncio.run(search(campaign(), allowance=allowance))
    assert allowance.stopped == "turns"
    assert 1 < outcome.sessions < 61
    assert outcome.found
    assert not any(found.minimal for found in outcome.found)
    assert all(found.failing.k == 1 for found in outcome.found)
    again = asyncio.run(search(campaign(workers=4), allowance=Allowance(Meter(), turns=120)))
    assert summary(again) == summary(outcome)


def test_an_interrupt_between_batches_keeps_what_was_found() -> None:
    allowance = Allowance(Meter())
    heard: list[Trial] = []

    def hear(trial: Trial) -> None:
        heard.append(trial)
        if len(heard) == 20:
            allowance.interrupt()

    outcome = asyncio.run(search(campaign(), hear, allowance))
    assert len(heard) == outcome.sessions < 61
    assert [found.minimal for found in outcome.found] == [False] * len(outcome.found)


def test_time_is_asked_between_batches() -> None:
    ticks = iter(range(1000))
    allowance = Allowance(Meter(), seconds=3, clock=lambda: float(next(ticks)))
    outcome = asyncio.run(search(campaign(), allowance=allowance))
    assert allowance.stopped == "minutes"
    assert outcome.sessions < 61


def test_a_snapshot_that_changes_afterwards_is_noticed_and_not_used() -> None:
    class Aliased(kit.Buyer):
        def snapshot(self) -> object:
            return self.messages

        def restore(self, saved: Any) -> None:
            self.messages = saved

    cast = Cast(build=lambda shop: Aliased(shop, 230, 2, False), make_environment=kit.make_shop, name="aliased")
    outcome = asyncio.run(search(campaign(cast=cast, sessions=30)))
    sound = asyncio.run(search(campaign(sessions=30)))
    assert "snapshots are not used" in outcome.notes[0]
    assert [f.trial.variant.key for f in outcome.found] == [f.trial.variant.key for f in sound.found]
    assert outcome.spent.agent_turns > sound.spent.agent_turns


def test_shrinking_never_carries_a_statement_past_the_one_that_it_replaces() -> None:
    """Else the user would have raised the limit himself, and the session blamed for it."""
    old = {"id": "old", "checker": "under_cap", "args": {"cap": 80}, "statement": "At most 80 coins."}
    cap = {"id": "cap", "checker": "under_cap", "args": {"cap": 50}, "statement": kit.CAP, "supersedes": "old"}
    chats: list[dict[str, Any]] = [
        {"id": f"chat{i}", "user": f"Nice weather, number {i}.", "optional": True} for i in range(4)
    ]
    turns: list[dict[str, Any]] = [
        {"id": "old", "user": "At most 80 coins.", "states": ("old",)}, *chats[:2],
        {"id": "cap", "user": kit.CAP, "states": ("cap",)}, *chats[2:], {"id": "buy", "user": "Buy the best."},
    ]  # fmt: skip
    script = kit.scenario(turns, constraints=(old, cap))
    outcome = asyncio.run(search(campaign(scenario=script, options={"memory": "200"}, sessions=40)))
    found = [f for f in outcome.found if f.failure.constraint == "cap"]
    assert found
    for each in found:
        ids = [line.id for line in each.trial.variant.spoken.turns]
        assert "old" not in ids or ids.index("old") < ids.index("cap")


def test_what_a_goal_expects_is_only_missed_where_the_script_has_asked_for_it() -> None:
    goal = {
        "says": "x",
        "milestones": (
            {"id": "asked", "check": "spoke", "args": {"word": "permission"}},
            {"id": "bought", "check": "something_bought", "needs": ("asked",)},
        ),
    }
    chats: list[dict[str, Any]] = [
        {"id": f"chat{i}", "user": f"Nice weather, number {i}.", "optional": True} for i in range(3)
    ]
    turns = [*chats, {"id": "early", "user": "Buy it at once."}, {"id": "ask", "user": "Get permission first, please."}]
    outcome = asyncio.run(search(campaign(scenario=kit.scenario(turns, goal=goal, constraints=()), sessions=20)))
    (found,) = outcome.found
    assert found.failure.kind == "progress"
    assert found.in_base
    assert [line.id for line in found.trial.variant.spoken.turns] == ["early"]  # cut there: nothing later was said yet


def test_what_does_not_show_again_in_a_fresh_run_is_undecided_and_no_finding() -> None:
    judged = 0

    class Tired(kit.Reader):
        def score(self, prompt: JudgePrompt) -> Verdict:
            nonlocal judged
            judged += 1
            return Verdict(4 if judged < 12 else 0, "tired")

    options = {"ignores": "yes", "compaction": "none"}
    outcome = asyncio.run(search(campaign(judge=Tired(), options=options, sessions=20, kinds=("blind_spot",))))
    assert outcome.found == ()
    assert outcome.undecided > 0


@milestone("looked")
def looked(state: SessionState) -> bool:
    return any(call.name == "look" for call in state.tool_log)


class Slipping(kit.Buyer):
    """Looks when it is told to, unless much was said before."""

    async def reply(self, message: str) -> Reply:
        if message.startswith("Look") and messages_tokens(self.messages) < 120:
            self.shop.call("look")
        return await super().reply(message)


def test_a_milestone_out_of_order_is_shown_by_a_session_that_asked_for_what_it_takes() -> None:
    needs_look = {"id": "bought", "check": "something_bought", "needs": ("looked",)}
    goal = {"says": "x", "milestones": ({"id": "looked", "check": "looked"}, needs_look)}
    chats: list[dict[str, Any]] = [{"id": f"chat{i}", "user": f"Nice, {i}.", "optional": True} for i in range(3)]
    turns = [*chats, {"id": "look", "user": "Look first."}, {"id": "buy", "user": "Buy the best one."}]
    script = kit.scenario(turns, goal=goal, constraints=())
    cast = Cast(build=lambda shop: Slipping(shop, 10**9, 2, True), make_environment=kit.make_shop, name="slipping")
    outcome = asyncio.run(search(campaign(scenario=script, cast=cast, registry=kit.registry(looked), sessions=40)))
    (found,) = [f for f in outcome.found if f.failure.kind == "progress"]
    assert not found.in_base
    assert {f.failure.kind for f in outcome.found} == {"progress", "metamorphic"}  # "looked" is reached in the script
    ids = [line.id for line in found.trial.variant.spoken.turns]
    assert ids[-2:] == ["look", "buy"]  # never the buying alone: nobody would have asked it to look
    assert len(ids) == 3


def counterfactual(build: Any) -> Why:
    cast = Cast(build=build, make_environment=kit.make_shop, name="counterfactual")
    outcome = asyncio.run(search(campaign(cast=cast, sessions=40, kinds=("blind_spot", "violation"))))
    (found,) = [f for f in outcome.found if f.failure.blind_in in ((), ("agent",))]
    return found.why


def test_without_compaction_is_only_claimed_where_it_was_played_to_the_end() -> None:
    def takes_no_none(shop: Any, *, compaction: str = "230") -> Any:
        return kit.Buyer(shop, int(compaction), 2, False)

    class Overflowing(kit.Buyer):
        async def reply(self, message: str) -> Reply:
            if messages_tokens(self.messages) > 200:
                raise RuntimeError("context_length_exceeded")
            return await super().reply(message)

    def overflows(shop: Any, *, compaction: str = "on") -> Any:
        return Overflowing(shop, 10**9, 2, False) if compaction == "none" else kit.Buyer(shop, 230, 2, False)

    def ignores_it(shop: Any, *, compaction: str = "on") -> Any:
        return kit.Buyer(shop, 230, 2, False)

    def has_no_such_option(shop: Any) -> Any:
        return kit.Buyer(shop, 230, 2, False)

    told = [counterfactual(build).no_compaction for build in (takes_no_none, overflows, ignores_it, has_no_such_option)]
    assert told == ["not available", "not available", "still fails", "not available"]
    assert counterfactual(kit.build).no_compaction in ("clean",)


def test_another_thing_going_wrong_is_not_the_same_thing_still_failing() -> None:
    """Without compaction the cap is kept; that the script's assertion fails all the same is another matter."""
    asserted = kit.scenario(assertions=({"turn": "buy", "must_mention_any": ("never said",)},))
    outcome = asyncio.run(search(campaign(scenario=asserted, sessions=40, kinds=("blind_spot",))))
    (found,) = [f for f in outcome.found if f.failure.blind_in == ("agent",)]
    assert found.why.no_compaction == "clean"
