"""What each judge context holds, and that no text in it can pass for anything but data."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import kit
from fuzzturn.context import WINDOW_TURNS, Evidence, prompt
from fuzzturn.ledger import Ledger, opening, speak
from fuzzturn.ports import JudgePrompt
from fuzzturn.protected import commitments, protect, record_lines
from fuzzturn.scores import JudgeContext
from fuzzturn.session import Chat, Commitment, Message, ToolCall, Turn

SCRIPT = kit.scenario()


def evidence(turns: list[Turn], seen: list[Chat] | None = None, promises: list[Commitment] | None = None) -> Evidence:
    ledger = opening(SCRIPT)
    lines = {line.id: line for line in SCRIPT.turns}
    for turn in turns:
        ledger = speak(ledger, SCRIPT, lines.get(turn.id), turn.n)
    return Evidence(
        scenario=SCRIPT, rubric=kit.RUBRIC, turns=turns, ledger=ledger, block=protect(ledger, promises or []), seen=seen
    )


def session(length: int, text: str = "Noted.") -> list[Turn]:
    ids = ["cap", *(f"x{n}" for n in range(2, length + 1))]
    said = [kit.CAP, *(f"message {n}" for n in range(2, length + 1))]
    return [
        Turn(n=n, id=id, user=user, events=(Message(text),))
        for n, (id, user) in enumerate(zip(ids, said, strict=True), 1)
    ]


def asked(kind: JudgeContext, given: Evidence) -> JudgePrompt:
    found = prompt(kind, given)
    assert found is not None
    return found


def test_the_window_is_the_judged_turn_and_the_eight_before_it() -> None:
    turns = session(WINDOW_TURNS + 2)
    text = asked("window", evidence(turns)).text
    assert kit.CAP not in text
    assert all(f"message {n}" in text for n in range(2, WINDOW_TURNS + 3))
    assert kit.CAP in asked("window", evidence(turns[:-1])).text


def test_the_block_brings_back_what_the_window_left_out() -> None:
    given = evidence(session(20), promises=[Commitment(3, "I will call you", "r")])
    text = asked("window+block", given).text
    assert kit.CAP in text
    assert "I will call you" in text


def test_the_full_context_holds_every_turn_and_the_binding_constraints() -> None:
    found = asked("full", evidence(session(20)))
    assert all(f"message {n}" in found.text for n in range(2, 21))
    assert [json.loads(line)["constraint"] for line in str(found.block).splitlines()] == ["cap"]


def test_the_agent_context_is_the_rubric_and_what_the_agent_saw() -> None:
    found = asked("agent", evidence(session(3), seen=[{"role": "user", "content": "message 3"}]))
    assert found.goal is None
    assert found.block is None
    assert kit.CAP not in found.text
    assert SCRIPT.goal.says not in found.text.split("# Conversation")[0]
    assert prompt("agent", evidence(session(3))) is None


def test_a_judge_of_one_message_does_not_move_but_this_prompt_does() -> None:
    """The essay's test: vary everything before the violating turn, and the judge's input must vary with it."""
    late = Turn(n=9, id="buy", user="Buy it.", events=(ToolCall("buy", {"price": 90}), Message("Bought.")))
    with_cap, without = [*session(8), late], [*session(8)[1:], late]
    assert asked("full", evidence(with_cap)).turn == asked("full", evidence(without)).turn
    for kind in ("window", "window+block", "full"):
        assert asked(kind, evidence(with_cap)).text != asked(kind, evidence(without)).text


@given(st.text(max_size=200))
def test_no_text_can_close_its_fence_or_start_a_line(text: str) -> None:
    turns = [Turn(n=1, id="cap", user=text, events=(Message(text), ToolCall("t", {"a": text}, text)))]
    found = asked("full", evidence(turns))
    body = found.text.split("# Turn to score: turn 1\n")[1].splitlines()
    assert body[0].startswith("<<<data ")
    assert len(body) == 5  # fence, user, message, call, fence
    assert [json.loads(line)["turn"] for line in body[1:-1]] == [1, 1, 1]
    assert body[0].split()[1] not in "".join(body[1:-1])


@given(st.lists(st.dictionaries(st.text(max_size=8), st.text(max_size=30), max_size=3), max_size=5))
def test_record_lines_are_one_line_each_and_read_back(records: list[dict[str, Any]]) -> None:
    text = record_lines(records)
    assert [json.loads(line) for line in text.splitlines()] == records


statements = st.lists(st.text(min_size=1, max_size=300), min_size=1, max_size=12, unique=True)


def ledger_of(texts: list[str], lifted: int) -> Ledger:
    constraints = [{"id": f"c{i}", "checker": "under_cap", "statement": t} for i, t in enumerate(texts)]
    turns = [{"id": f"t{i}", "user": t, "states": (f"c{i}",)} for i, t in enumerate(texts)]
    turns.append({"id": "lift", "user": "never mind", "lifts": (f"c{lifted % len(texts)}",)})
    script = kit.scenario(turns, constraints=tuple(constraints))
    ledger = opening(script)
    for n, line in enumerate(script.turns, start=1):
        ledger = speak(ledger, script, line, n)
    return ledger


@given(statements, st.integers(0, 20), st.lists(st.text(min_size=1, max_size=80), max_size=9), st.integers(0, 400))
def test_the_block_never_loses_a_constraint(texts: list[str], lifted: int, said: list[str], budget: int) -> None:
    promises = [Commitment(n, text, "r") for n, text in enumerate(said, start=1)]
    block = protect(ledger_of(texts, lifted), promises, budget=budget)
    kept = [line for line in block.lines if "constraint" in line]
    assert sorted(str(line["statement"]) for line in kept) == sorted(texts)
    binding = [line["status"] == "binding" for line in kept]
    assert binding == sorted(binding, reverse=True)
    inside = [line["commitment"] for line in block.lines if "commitment" in line]
    assert [p.text for p in block.left_out] + inside == said  # the oldest go first, and each is listed
    assert (block.overflow is None) == (block.tokens <= budget)
    assert block.overflow is None or not inside
    assert [json.loads(line) for line in record_lines(block.lines).splitlines()] == [dict(line) for line in block.lines]


def test_no_commitment_rule_for_the_language_is_unknown_and_not_none() -> None:
    without_rules, without_promises = protect(Ledger(), None), protect(Ledger(), [])
    assert (without_rules.commitments_known, without_promises.commitments_known) == (False, True)
    assert without_rules.record()["commitments"] == "unknown"
    assert without_promises.record()["commitments"] == "known"


def test_a_block_of_exactly_the_budget_fits() -> None:
    promises = [Commitment(1, "I will call you back", "r")]
    size = protect(Ledger(), promises).tokens
    assert protect(Ledger(), promises, budget=size).left_out == ()
    assert protect(Ledger(), promises, budget=size).overflow is None
    assert protect(Ledger(), promises, budget=size - 1).left_out == tuple(promises)


def test_a_promise_that_two_rules_find_is_one_promise() -> None:
    turn = Turn(n=1, id="t", user="x", events=(Message("I will call. I will write."),))
    (rule,) = kit.registry().of_kind("commitment")
    assert [promise.text for promise in commitments(turn, [rule, rule])] == ["I will call", "I will write"]


def test_an_approval_s_rule_stands_beside_it_in_the_block_and_in_the_full_context() -> None:
    words = "This once 100."
    once = {
        "id": "once",
        "checker": "under_cap",
        "args": {"cap": 100},
        "statement": words,
        "supersedes": "cap",
        "uses": 1,
    }
    turns = [
        {"id": "cap", "user": kit.CAP, "states": ("cap",)},
        {"id": "once", "user": words, "states": ("once",)},
    ]
    script = kit.scenario(turns, constraints=(SCRIPT.constraints[0].model_dump(by_alias=True), once))
    ledger = opening(script)
    said = []
    for n, line in enumerate(script.turns, start=1):
        ledger = speak(ledger, script, line, n)
        said.append(Turn(n=n, id=line.id, user=line.user))
    given = Evidence(
        scenario=script, rubric=kit.RUBRIC, turns=said, ledger=ledger, block=protect(ledger, []), seen=None
    )
    for kind in ("window+block", "full"):
        lines = [json.loads(line) for line in str(asked(kind, given).block).splitlines()]
        assert {line["constraint"]: line["status"] for line in lines} == {"once": "binding", "cap": "superseded"}
        assert [line.get("exception_to") for line in lines if line["constraint"] == "once"] == ["cap"]
