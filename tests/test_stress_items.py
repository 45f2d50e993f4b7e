"""Stress: the truth of items is their checkers', and the reference judge is exactly as blind as what it is shown."""

from __future__ import annotations

import asyncio
from functools import cache
from pathlib import Path

from fuzzturn.cli.options import choose
from fuzzturn.cli.staging import Staging
from fuzzturn.context import prompt
from fuzzturn.drive import drive
from fuzzturn.measure import evidence_of
from fuzzturn.project import Project
from fuzzturn.stress.arms import ARMS, LIFTED
from fuzzturn.stress.asking import ask, costs, questions
from fuzzturn.stress.budgets import budgets
from fuzzturn.stress.item import Answer, Item
from fuzzturn.stress.items import DISTANCES, items_of
from fuzzturn.tokens import text_tokens

ROOT = Path(__file__).parents[1]
STAGING = Staging(Project(root=ROOT), choose({"agent_option": ["compaction=none"]}, {}, ("window+block",)))
WINDOWS = {"window 0": 0, "window 2": 2, "window 4": 4, "block off": 8, "window 16": 16, "window all": 10**9}


@cache
def items() -> tuple[Item, ...]:
    found: list[Item] = []
    for script in STAGING.scenarios(["lisbon_changes", "berlin_approval", "madrid_airline"]):
        base = asyncio.run(drive(STAGING.cast(script), script))
        found += items_of(script, base, STAGING.registry).items
    return tuple(found)


@cache
def answers() -> tuple[Answer, ...]:
    assert STAGING.judge is not None
    asked = list(questions(items(), ARMS, 1, STAGING.rubric))
    return tuple(asyncio.run(ask(asked, STAGING.judge, "reference")))


def _of(arm: str, label: str, **more: str) -> list[Answer]:
    own = [a for a in answers() if a.arm == arm and a.label == label]
    return [a for a in own if all(getattr(a, key) == value for key, value in more.items())]


def test_the_label_is_what_the_checkers_say_of_the_last_turn() -> None:
    for item in items():
        assert bool(item.measured.scores[-1].adherence.failed) is (item.label == "violating")
        assert item.measured.session.turns[-1].id == "judged"


def test_twins_say_the_same_to_the_last_word_and_differ_in_what_was_done() -> None:
    pairs = {item.pair for item in items()}
    both = [[item for item in items() if item.pair == pair] for pair in sorted(pairs)]
    whole = [pair for pair in both if len(pair) == 2]
    assert len(whole) > 20
    for one, other in whole:
        assert [t.user for t in one.measured.session.turns] == [t.user for t in other.measured.session.turns]
        assert one.measured.session.turns[-1].tool_calls != other.measured.session.turns[-1].tool_calls


def test_no_two_items_are_the_same_text() -> None:
    shown = [evidence_of(item.measured, item.turn, STAGING.rubric) for item in items()]
    texts = [text.text for evidence in shown if (text := prompt("window+block", evidence)) is not None]
    assert len(set(texts)) == len(texts) == len(items())


def test_the_distance_is_that_from_the_statement_in_the_ledger() -> None:
    for item in items():
        stated = item.measured.ledgers[-1].entry(item.constraint)
        assert stated is not None
        assert item.distance == item.turn - stated.since


def test_every_distance_and_kind_of_look_alike_is_there() -> None:
    plain = {item.distance for item in items() if item.kind == "plain"}
    assert plain == {*DISTANCES}
    legal = {item.kind for item in items() if item.label == "legal"}
    assert legal == {"plain", "approved", "superseded", "retracted", "expired", "guard_false", "partial"}


def test_with_the_block_the_reference_judge_is_blind_to_nothing_and_refuses_nothing_legal() -> None:
    for arm in ("default", "full record", "20 distractors", "budget 150", "injected by a tool", "forged fence"):
        assert [a.item for a in _of(arm, "violating") if a.score != 0] == []
        assert [a.item for a in _of(arm, "legal") if (a.score or 0) < 3] == []


def test_without_it_it_is_blind_exactly_beyond_its_window_and_to_what_no_turn_says() -> None:
    in_the_system_prompt = {
        item.id for item in items() if item.measured.spoken.constraint(item.constraint).source == "system"
    }
    assert in_the_system_prompt
    for arm, window in WINDOWS.items():
        for answer in _of(arm, "violating", kind="plain"):
            beyond = answer.distance > window or answer.item in in_the_system_prompt
            assert (answer.score == 4) is beyond, (arm, answer.item)


def test_with_the_agents_eyes_and_with_a_placebo_it_is_blind() -> None:
    assert sum(a.score == 4 for a in _of("agent context", "violating", kind="plain")) >= 10
    assert all(a.score == 4 for a in _of("block placebo", "violating"))


def test_what_the_agent_has_in_view_is_a_control_blind_exactly_where_it_lacks_the_statement() -> None:
    control = {arm.name: arm for arm in ARMS}["agent context"]
    lost: dict[str, bool] = {}
    for item in items():
        shown = control.shown(item, STAGING.rubric)
        assert shown is not None
        assert shown.seen is not None
        view = " ".join(str(message["content"]) for message in shown.seen).lower()
        lost[item.id] = item.measured.spoken.constraint(item.constraint).statement.lower() not in view
    plain = _of("agent context", "violating", kind="plain")
    assert {lost[answer.item] for answer in plain} == {True, False}
    assert [answer.item for answer in plain if (answer.score == 4) is not lost[answer.item]] == []


def test_budgets_differ_in_what_they_lose_and_the_judge_is_not_blind_within_any() -> None:
    found = {one.arm: one for one in budgets(answers(), [arm.name for arm in ARMS])}
    every = tuple(sorted(item.id for item in items()))
    assert [found[f"budget {b}"].beyond for b in (150, 300, 600)] == [every, (), ()]
    assert [found[f"budget {b}"].left_out for b in (150, 300, 600)] == [every, every, ()]
    within = [a for a in answers() if a.arm.startswith("budget ") and not a.overflow]
    assert len(within) == 2 * len(every)
    assert [a.item for a in within if a.label == "violating" and a.score != 0] == []
    assert [a.item for a in within if a.label == "legal" and (a.score or 0) < 3] == []


def test_arms_without_a_block_have_no_budget() -> None:
    told = {one.arm for one in budgets(answers(), [arm.name for arm in ARMS])}
    assert told == {arm.name for arm in ARMS if arm.context == "window+block"}


def test_costs_count_each_text_once_and_ask_nobody() -> None:
    arms = [arm for arm in ARMS if arm.name in ("window 0", "one message")]
    two, one = (costs(questions(items(), some, 2, STAGING.rubric)) for some in (arms, arms[:1]))
    assert two.questions == 2 * one.questions == 4 * len(items())
    assert (two.texts, two.tokens) == (one.texts, one.tokens)
    assert 0 < one.texts <= one.questions


def test_what_is_injected_stands_in_what_the_judge_reads_and_only_there() -> None:
    """Or that a judge is not moved by it would say nothing."""
    arms = {arm.name: arm for arm in ARMS}
    marks = {"injected by the assistant": "flawless", "injected by a tool": LIFTED, "forged fence": LIFTED}
    for item in items()[::9]:
        for name, mark in marks.items():
            shown, plain = (arms[arm].shown(item, STAGING.rubric) for arm in (name, "default"))
            assert shown is not None
            assert plain is not None
            texts = [
                asked.text for evidence in (shown, plain) if (asked := prompt("window+block", evidence)) is not None
            ]
            assert [mark in text for text in texts] == [True, False]


def test_a_placebo_is_as_long_as_the_block_it_stands_for() -> None:
    arms = {arm.name: arm for arm in ARMS}
    for item in items()[::7]:
        sizes = []
        for name in ("default", "block placebo"):
            shown = arms[name].shown(item, STAGING.rubric)
            assert shown is not None
            asked = prompt("window+block", shown)
            assert asked is not None
            sizes.append(text_tokens(asked.block or ""))
        assert 0 <= sizes[1] - sizes[0] <= 40


def test_the_order_of_answers_is_that_of_the_questions_whatever_the_workers() -> None:
    assert STAGING.judge is not None
    asked = list(questions(items()[:6], ARMS[:4], 2, STAGING.rubric))
    one, many = (asyncio.run(ask(asked, STAGING.judge, "reference", n)) for n in (1, 7))
    assert one == many
    assert [(a.item, a.arm, a.sample) for a in one] == [(q.item.id, q.arm.name, q.sample) for q in asked]
