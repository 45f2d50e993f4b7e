"""Gaps of the protected block: each class is shown by a session, shrunk, or shown to be none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzturn.campaign import Campaign, campaign_bench
from fuzzturn.cli import run
from fuzzturn.cli.options import choose
from fuzzturn.cli.staging import Staging
from fuzzturn.context import prompt
from fuzzturn.corpus import load_entry, save_entry
from fuzzturn.gaps import gaps, gaps_of
from fuzzturn.keep import as_entry
from fuzzturn.ledger import Entry, Ledger
from fuzzturn.measure import evidence_of, measure
from fuzzturn.outcome import Finding
from fuzzturn.project import Project
from fuzzturn.protected import Block, protect, record_lines
from fuzzturn.registry import Registered
from fuzzturn.replay import replay
from fuzzturn.scenario import Constraint
from fuzzturn.search import search
from fuzzturn.session import Commitment, Message, Session, Turn
from fuzzturn.stress.burdens import BURDENS, FENCES
from fuzzturn.trial import Trial

ROOT = Path(__file__).parents[1]
STAGING = Staging(Project(root=ROOT), choose({}, {}, ("window+block",)))


VOUCHING = """
from fuzzturn import Reply


class Voucher:
    def __init__(self, says):
        self.says = says

    def reply(self, message):
        return Reply(self.says)


def build(environment, *, says="You have my word that the room stays yours."):
    return Voucher(says)
"""
KNOWN = "I will keep the room for you."
ENDING = ("retract", "supersede", "supersede_partial", "one_shot_approval", "expire", "conditional", "oscillate")
"""Operators by which constraints end."""
FAULTS = {"constraint_missing", "ended_as_binding"}
"""Gaps that would be faults of the block's, and no limits of it."""


def of(operators: Sequence[Registered]) -> Campaign:
    (script,) = STAGING.scenarios(["lisbon_changes"])
    return Campaign(
        scenario=script, cast=STAGING.cast(script), registry=STAGING.registry, operators=operators, judge=None,
        judge_name="none", rubric=STAGING.rubric, contexts=(), sessions=60, kinds=("block_gap",),
    )  # fmt: skip


def searched(operators: Sequence[Registered]) -> tuple[list[Trial], set[str]]:
    """Every session that the search played, and the gaps that it found."""
    heard: list[Trial] = []
    outcome = asyncio.run(search(of(operators), heard.append))
    return heard, {one.failure.checker for one in outcome.found}


def ending() -> list[Registered]:
    known = STAGING.project.load_strategies().of_kind("operator")
    return [operator for operator in known if operator.tag.name in ENDING]


@cache
def campaign() -> Campaign:
    return of(BURDENS)


@cache
def found() -> dict[str, Finding]:
    outcome = asyncio.run(search(campaign()))
    assert {one.failure.kind for one in outcome.found} == {"block_gap"}
    return {one.failure.checker: one for one in outcome.found}


@pytest.mark.parametrize("gap", ["overflow", "commitment_left_out", "confusable", "long_statement"])
def test_a_gap_is_found_shrunk_kept_and_shown_again(gap: str, tmp_path: Path) -> None:
    one = found()[gap]
    assert one.minimal
    entry = load_entry(save_entry(as_entry(one, campaign().cast, None, STAGING.rubric, STAGING.registry), tmp_path))
    spoken = entry.spoken()
    again = asyncio.run(replay(entry, spoken, campaign_bench(campaign())))
    assert (entry.kind, again.outcome) == ("block_gap", "FAILING")


def test_a_missed_promise_is_found_shrunk_kept_and_shown_again_until_a_rule_knows_the_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "vouching.py").write_text(VOUCHING, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert run(["stress", "lisbon_offsite", "--search", "--agent", "vouching.py:build", "--out", "."]) == 1
    entries = {entry.checker: (path, entry) for path in Path("corpus").rglob("*.yaml") for entry in [load_entry(path)]}
    path, entry = entries["commitment_missed"]
    assert (entry.kind, entry.minimal, len(entry.spoken().turns)) == ("block_gap", True, 1)
    capsys.readouterr()
    for words, outcome in ((), "FAILING"), (("--agent-option", f"says={KNOWN}"), "FIXED"):
        run(["replay", str(path), "--agent", "vouching.py:build", *words])
        assert capsys.readouterr().out.startswith(outcome)


def test_no_session_in_which_constraints_end_lists_one_as_binding_that_has_ended() -> None:
    sessions, found = searched(ending())
    ledgers = [ledger for one in sessions for ledger in one.measured.ledgers]
    ended = {entry.status for ledger in ledgers for entry in ledger.entries}
    assert ended == {"binding", "dormant", "superseded", "lifted", "used", "expired"}
    assert found & FAULTS == set()


def test_a_block_that_kept_what_ended_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the test before would say nothing."""

    def stale(ledger: Ledger, promises: Sequence[Commitment] | None) -> Block:
        return protect(Ledger(tuple([replace(entry, status="binding") for entry in ledger.entries])), promises)

    monkeypatch.setattr("fuzzturn.measure.protect", stale)
    assert "ended_as_binding" in searched(ending())[1]


FORGING = [burden for burden in BURDENS if burden.tag.name == "forge"]


def test_no_statement_that_imitates_the_fence_makes_a_gap_or_stands_outside_of_it() -> None:
    sessions, found = searched(FORGING)
    forged = [one for one in sessions if any(c.statement.endswith(FENCES) for c in one.measured.spoken.constraints)]
    assert {
        text for one in forged for text in FENCES if text in str(one.measured.ledgers[-1].binding[0].statement)
    } == {*FENCES}
    assert found & FAULTS == set()
    for one in forged:
        n = len(one.measured.session.turns)
        asked = prompt("window+block", evidence_of(one.measured, n, STAGING.rubric))
        assert asked is not None
        section = asked.text.split("# Constraints and commitments\n", 1)[1].split("\n\n# ", 1)[0].splitlines()
        assert [json.loads(line) for line in section[1:-1]] == list(one.measured.block(n).lines)
        assert section[0].removeprefix("<<<data ") == section[-1].removesuffix(" data>>>")


def test_a_block_that_did_not_quote_what_it_holds_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def unquoted(records: Iterable[Mapping[str, object]]) -> str:
        return record_lines(records).replace("\\n", "\n").replace('\\"', '"')

    monkeypatch.setattr("fuzzturn.gaps.record_lines", unquoted)
    assert "constraint_missing" in searched(FORGING)[1]


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4), st.lists(st.text(), max_size=4))
def test_whatever_is_said_the_block_reads_back_as_it_was_told(statements: list[str], promised: list[str]) -> None:
    rules = [Constraint(id=f"c{n}", checker="k", statement=text) for n, text in enumerate(statements)]
    ledger = Ledger(
        tuple(Entry(rule, since=1, status="lifted" if n % 2 else "binding") for n, rule in enumerate(rules))
    )
    block = protect(ledger, [Commitment(1, text, "r") for text in promised])
    assert {gap for gap, _, _ in gaps_of(block, ledger)} & FAULTS == set()


def test_a_block_that_lacks_a_binding_constraint_or_lists_an_ended_one_is_a_gap() -> None:
    rule = Constraint(id="c", checker="k", statement="keep it")
    binding, ended = Ledger((Entry(rule, since=1),)), Ledger((Entry(rule, since=1, status="lifted", until=2),))
    assert [gap for gap, _, _ in gaps_of(protect(ended, ()), binding)] == ["constraint_missing"]
    assert [gap for gap, _, _ in gaps_of(protect(binding, ()), ended)] == ["ended_as_binding"]


@pytest.mark.parametrize(
    ("said", "missed"),
    [
        ("You have my word that nothing is charged.", True),
        ("Rest assured, it stays.", True),
        ("The hotel has a garden.", False),
        ("Shall I book it, or will you?", False),
    ],
)
def test_a_promise_that_no_rule_knows_is_a_gap(said: str, missed: bool) -> None:
    (script,) = STAGING.scenarios(["lisbon_offsite"])
    turn = Turn(n=1, id="ask", user="Hello.", events=(Message(said),))
    measured = measure(script, Session(scenario="s", turns=(turn,)), STAGING.registry)
    assert ("commitment_missed" in [gap.checker for gap in gaps(measured)]) is missed
