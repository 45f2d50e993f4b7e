"""The metamorphic relation: with and without what should make no difference, a correct agent does the same."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kit
from fuzzturn.campaign import Campaign, campaign_bench
from fuzzturn.corpus import load_entry, save_entry
from fuzzturn.drive import Cast
from fuzzturn.keep import as_entry
from fuzzturn.measure import Measured, measure
from fuzzturn.ports import Reply, environment
from fuzzturn.project import Project
from fuzzturn.relation import differences, twin_of
from fuzzturn.replay import replay
from fuzzturn.search import search
from fuzzturn.session import Message
from fuzzturn.tokens import messages_tokens
from fuzzturn.variant import Drop, Insert, Pad, Tamper, Variant

OPERATORS = Project(root=Path(__file__).parent.parent).load_strategies().of_kind("operator")
SCRIPT = kit.scenario()
PAD = Pad(operator="t", anchor="buy", tokens=300)


class Forgetful(kit.Buyer):
    """Keeps every limit; but once its context was large it no longer does what it is asked."""

    async def reply(self, message: str) -> Reply:
        if messages_tokens(self.messages) > 230:
            return Reply(events=[Message("Noted.")])
        return await super().reply(message)


def forgetful(shop: Any) -> Any:
    return Forgetful(shop, 10**9, 2, False)


def campaign(build: Any) -> Campaign:
    return Campaign(
        scenario=SCRIPT,
        cast=Cast(build=build, make_environment=kit.make_shop, name="forgetful"),
        registry=kit.registry(),
        operators=OPERATORS,
        judge=kit.Reader(),
        judge_name="toy",
        rubric=kit.RUBRIC,
        contexts=kit.CONTEXTS,
        sessions=60,
    )


def _measured(variant: Variant, **options: Any) -> Measured:
    session = kit.wait(kit.bench(SCRIPT, **options).tree.play(variant.spoken))
    return measure(variant.spoken, session, kit.registry())


def test_the_twin_lacks_what_preserves_and_keeps_what_was_dropped() -> None:
    chat = Drop(operator="t", anchor="chat1")
    twin = twin_of(Variant(SCRIPT, (PAD, chat)))
    assert twin is not None
    assert twin.edits == (chat,)
    assert twin_of(Variant(SCRIPT, (chat,))) is None
    assert twin_of(Variant(SCRIPT, (PAD, Tamper(operator="t", anchor="buy", fault="error")))) is None
    lifted = Insert(operator="t", anchor="buy", name="free", user="Forget it.", lifts=("cap",))
    assert twin_of(Variant(SCRIPT, (PAD, lifted))) is None


def test_a_milestone_that_only_one_of_the_two_reaches_is_a_difference() -> None:
    padded = _measured(Variant(SCRIPT, (PAD,)))
    last = replace(padded.scores[-1], progress=replace(padded.scores[-1].progress, satisfied=frozenset()))
    idle = replace(padded, scores=(*padded.scores[:-1], last))
    (found,) = differences(idle, _measured(Variant(SCRIPT)))
    assert (found.kind, found.milestone, found.checker) == ("metamorphic", "bought", "same_milestones")


def test_equal_sessions_have_no_difference_and_another_choice_alone_is_none() -> None:
    plain, padded = _measured(Variant(SCRIPT)), _measured(Variant(SCRIPT, (PAD,)))
    assert list(differences(plain, plain)) == []
    forgot = _measured(Variant(SCRIPT, (PAD,)), memory="100")
    assert [check.result.passed for check in forgot.scores[-1].adherence.checks] == [False]
    assert list(differences(forgot, padded)) == []  # it bought something else: that is the checker's business


def test_the_same_call_that_is_right_in_one_and_wrong_in_the_other_is_a_difference() -> None:
    bad, good = _measured(Variant(SCRIPT, (PAD,)), memory="100"), _measured(Variant(SCRIPT), ignores="yes")
    scores = [replace(s, adherence=replace(s.adherence, checks=())) for s in good.scores]
    judged = [replace(c, result=replace(c.result, passed=True)) for c in good.scores[-1].adherence.checks]
    scores[-1] = replace(scores[-1], adherence=replace(scores[-1].adherence, checks=tuple(judged)))
    (found,) = [f for f in differences(bad, replace(good, scores=tuple(scores))) if f.checker == "same_verdict"]
    assert (found.constraint, found.call) == ("cap", "buy")


def test_a_session_that_broke_is_held_against_nothing() -> None:
    plain = _measured(Variant(SCRIPT))
    last = replace(plain.session.turns[-1], error="RuntimeError: down")
    broken = replace(plain, session=replace(plain.session, turns=(*plain.session.turns[:-1], last)))
    assert list(differences(broken, plain)) == list(differences(plain, broken)) == []


SCRIPTED = {line.id for line in SCRIPT.turns}


def test_an_agent_that_stops_working_in_a_long_session_is_found_without_a_checker_and_shrunk() -> None:
    outcome = asyncio.run(search(campaign(forgetful)))
    (found,) = [f for f in outcome.found if f.failure.kind == "metamorphic"]
    assert found.failure.milestone == "bought"
    assert found.trial.twin is not None
    ids = [line.id.partition("@")[0] for line in found.trial.variant.spoken.turns]
    assert (len(ids), ids[-1], found.minimal) == (3, "buy", True)
    twin = [line.id for line in found.trial.twin.spoken.turns]
    assert twin == [id for id in ids if id in SCRIPTED]  # which operator is first depends on the modules loaded


def padded() -> Campaign:
    """A campaign with one way to make a context large, so that the minimal sessions differ in the pad's place alone."""
    return replace(campaign(forgetful), operators=[piece for piece in OPERATORS if piece.tag.name == "pad_turns"])


def test_the_twin_of_a_padded_session_is_the_script_without_what_was_dropped() -> None:
    (found,) = [f for f in asyncio.run(search(padded())).found if f.failure.kind == "metamorphic"]
    spoken = [line.id.partition("@")[0] for line in found.trial.variant.spoken.turns]
    assert [id for id in spoken if id != "pad"] == ["hello", "buy"]
    assert spoken.count("pad") == 1
    assert found.trial.twin is not None
    assert [line.id for line in found.trial.twin.spoken.turns] == ["hello", "buy"]


def test_a_metamorphic_finding_is_kept_with_its_twin_and_replays(tmp_path: Path) -> None:
    (found,) = [f for f in asyncio.run(search(padded())).found if f.failure.kind == "metamorphic"]
    registry = kit.registry(environment("shop")(lambda *, seed: kit.Shop()))
    entry = as_entry(found, campaign(forgetful).cast, None, kit.RUBRIC, registry)
    kept = load_entry(save_entry(entry, tmp_path))
    assert kept.twin is not None
    assert [line["id"] for line in kept.twin["turns"]] == ["hello", "buy"]
    told = {}
    for name, build in (("broken", forgetful), ("mended", kit.build)):
        bench = campaign_bench(replace(campaign(build), scenario=kept.spoken(), registry=registry))
        told[name] = asyncio.run(replay(kept, kept.spoken(), bench)).outcome
    assert told == {"broken": "FAILING", "mended": "FIXED"}


@pytest.mark.parametrize("memory", ["230", "400"])
def test_forgetting_a_limit_alone_is_no_metamorphic_finding(memory: str) -> None:
    def build(shop: Any) -> Any:
        return kit.build(shop, memory=memory)

    outcome = asyncio.run(search(replace(campaign(build), sessions=40)))
    assert {f.failure.kind for f in outcome.found} <= {"blind_spot", "violation"}
