"""`fuzz` puts its judge to the self-check where blind spots rest on it: in few questions, and at the rates it names."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import cache
from math import comb
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import judges
from answers import answer
from fuzzturn.cli import run
from fuzzturn.errors import Halted
from fuzzturn.stress.checking import SIZES, Checked, check, checked_json, sizes, twins_of
from fuzzturn.stress.item import Answer, Item, Label
from fuzzturn.stress.selfcheck import ALPHA, BETA, LEAST, Twins, decide
from upstream import Upstream, said

JUDGES = Path(judges.__file__)
Scores = Callable[[int, Label], int | None]


# the rule


def items(pairs: int) -> list[Item]:
    labels: Sequence[Label] = ("violating", "legal")
    return [
        Item(id=f"{n}.{label}", scenario="trip", constraint="cap", polarity="prohibition", label=label, kind="plain",
             pair=f"trip.cap.{n}", distance=1, measured=cast(Any, None))
        for n in range(pairs)
        for label in labels
    ]  # fmt: skip


class Asked:
    """Answers what `scores` says of the pair and the label, at most so often; then no more can be asked."""

    def __init__(self, scores: Scores, most: int = 10**6) -> None:
        self.scores, self.most, self.n = scores, most, 0

    async def __call__(self, wanted: Sequence[Item]) -> list[Answer]:
        self.n += len(wanted)
        if self.n > self.most:
            raise Halted("usd", "0.1 of the 0.1 US dollars allowed are spent")
        return [answer(int(i.pair.split(".")[-1]), i.label, self.scores(int(i.pair.split(".")[-1]), i.label))
                for i in wanted]  # fmt: skip


def checked(pairs: int, scores: Scores, most: int = 10**6) -> tuple[Checked, int]:
    asked = Asked(scores, most)
    return asyncio.run(check(items(pairs), asked)), asked.n // 2


def right(n: int, label: Label) -> int:
    return 4 if label == "legal" else 0


def constant(n: int, label: Label) -> int:
    return 4


@pytest.mark.parametrize("pairs", [11, 30, 31, 200])
def test_a_perfect_and_a_constant_judge_are_decided_at_the_first_look(pairs: int) -> None:
    for scores, decision in ((right, "passes"), (constant, "fails")):
        found, asked = checked(pairs, scores)
        assert (found.check.decision, asked) == (decision, SIZES[0])


@pytest.mark.parametrize(("pairs", "passes", "fails"), [(6, False, False), (7, True, False), (8, True, True)])
def test_few_pairs_are_one_look(pairs: int, passes: bool, fails: bool) -> None:
    assert checked(pairs, right)[0].check.decision == ("passes" if passes else "undecided")
    assert checked(pairs, constant)[0].check.decision == ("fails" if fails else "undecided")


def test_what_would_do_in_one_look_does_not_do_in_the_first_of_three() -> None:
    """Seven right ones of seven: a coin does so in 1 of 128 looks."""
    first = {int(pair[0].pair.split(".")[-1]) for pair in twins_of(items(60))[: SIZES[0]]}
    silent = sorted(first)[:3]
    found, asked = checked(60, lambda n, label: None if n in silent else right(n, label))
    assert (found.check.decision, asked) == ("passes", SIZES[1])
    assert decide(Twins(right=7, wrong=0, tied=0, gap=4.0, asked=10))[0] == "passes"


@given(st.integers(0, 300))
def test_looks_are_known_beforehand_and_end_with_all_there_is(pairs: int) -> None:
    found = sizes(pairs)
    assert list(found) == sorted(set(found))
    assert found[-1] == min(pairs, SIZES[-1])
    assert len(found) <= len(SIZES)


@cache
def decided(right: int, wrong: int, tied: int, looks: int) -> str:
    n = right + wrong + tied
    return decide(Twins(right=right, wrong=wrong, tied=tied, gap=None, asked=n), looks)[0]


def chance(decision: str, n: int, looks: int, right: float, wrong: float) -> float:
    """Of that decision after `n` pairs, summed over all that can occur (but for 1e-5 of it)."""
    total = 0.0
    for r in range(n + 1):
        for w in range(n + 1 - r):
            p = comb(n, r) * comb(n - r, w) * right**r * wrong**w * max(0.0, 1 - right - wrong) ** (n - r - w)
            if p > 1e-9 and decided(r, w, n - r - w, looks) == decision:
                total += p
    return total


@pytest.mark.parametrize("ties", [0.0, 0.2, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("pairs", [8, 20, 60, 200])
def test_a_coin_passes_at_any_look_with_a_chance_of_one_percent_at_most(pairs: int, ties: float) -> None:
    steps = sizes(pairs)
    passes = [chance("passes", n, len(steps), (1 - ties) / 2, (1 - ties) / 2) for n in steps]
    assert sum(passes) <= ALPHA


@pytest.mark.parametrize("ties", [0.0, 0.1, 0.25, 0.4, 0.5])
@pytest.mark.parametrize("pairs", [8, 20, 60, 200])
def test_a_judge_at_the_least_fails_at_any_look_with_a_chance_of_one_percent_at_most(pairs: int, ties: float) -> None:
    steps, wrong = sizes(pairs), (1 - LEAST - ties) / 2
    assert sum(chance("fails", n, len(steps), wrong + LEAST, wrong) for n in steps) <= BETA


def test_at_the_last_look_every_judge_is_decided_and_with_one_pair_less_not() -> None:
    def undecided(n: int) -> bool:
        return any(decided(r, w, n - r - w, len(SIZES)) == "undecided" for r in range(n + 1) for w in range(n + 1 - r))

    assert not undecided(SIZES[-1])
    assert undecided(SIZES[-1] - 1)


def test_pairs_with_one_side_only_are_not_asked_about() -> None:
    assert [len(pair) for pair in twins_of(items(12)[:-1])] == [2] * 11


def test_where_no_model_can_be_asked_any_more_it_is_undecided() -> None:
    def half(n: int, label: Label) -> int:
        return right(n, label) if n % 2 else 4

    found, _ = checked(60, half, most=2 * SIZES[0] + 5)
    assert (found.check.decision, found.stopped, found.check.twins.n) == ("undecided", "usd", SIZES[0])
    found, _ = checked(60, constant, most=5)
    assert (found.check.decision, found.stopped, found.check.twins.n) == ("undecided", "usd", 0)
    assert checked_json(found)["stopped"] == "usd"


def test_a_judge_that_gives_no_scores_at_first_is_asked_on_and_fails_only_at_the_end() -> None:
    assert checked(60, lambda n, label: None)[1] == 60
    found, _ = checked(60, lambda n, label: None, most=100)
    assert (found.check.decision, found.stopped) == ("undecided", "usd")
    found, _ = checked(60, lambda n, label: None)
    assert (found.check.decision, found.check.why) == ("fails", "it gives no scores")


# the command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fuzz(*more: str, sessions: int = 4) -> tuple[int, dict[str, Any]]:
    """Four sessions are found by a blind judge as well as any number, and no cell of 25 is drawn for them."""
    options = ["--seed", "7", "--budget-sessions", str(sessions), "--json", "out.json"]
    return run(["fuzz", "lisbon_offsite", *options, *more]), json.loads(Path("out.json").read_text())


def test_a_judge_that_says_4_to_everything_is_warned_of_and_its_findings_stay_what_they_are(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = fuzz("--judge", f"{JUDGES}:always_4", "--ndjson", "events.ndjson")
    said_so = capsys.readouterr()
    assert (code, {found["kind"] for found in told["findings"]}) == (1, {"blind_spot"})
    found = told["self_check"]
    assert (found["decision"], found["twins"]["tied"], found["judge_calls"]) == ("fails", 8, 16)
    assert "WARNING: the judge judges:always_4 fails its self-check: legal turn higher in 0 of 8 pairs" in said_so.err
    assert f"Its 4s mean nothing, and {len(told['findings'])} blind spot" in said_so.err
    assert f"fuzzturn stress --judge {JUDGES}:always_4" in found["warning"]
    (recorded,) = Path(".fuzzturn/runs").glob("*/run.json")
    assert json.loads(recorded.read_text())["self_check"] == found
    events = [json.loads(line) for line in Path("events.ndjson").read_text().splitlines()]
    assert [e["decision"] for e in events if e["event"] == "self_check"] == ["fails"]


def test_it_costs_no_agent_turn_and_its_questions_are_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, told = fuzz("--judge", f"{JUDGES}:always_4")
    monkeypatch.setattr("fuzzturn.cli.campaigning.self_checked", lambda *_: None)
    _, without = fuzz("--judge", f"{JUDGES}:always_4")
    spent, plain = told["spent"], without["spent"]
    assert spent["judge_calls"] - plain["judge_calls"] == told["self_check"]["judge_calls"] == 16
    assert (spent["agent_turns"], spent["sessions"]) == (plain["agent_turns"], plain["sessions"])
    assert [f["id"] for f in told["findings"]] == [f["id"] for f in without["findings"]]


def test_of_a_judge_that_looks_nothing_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, told = fuzz()
    assert (told["self_check"]["decision"], told["self_check"]["warning"]) == ("passes", None)
    said_so = capsys.readouterr()
    assert "self-check" not in said_so.err + said_so.out


@pytest.mark.parametrize("more", [("--judge", "none"), ("--agent-option", "compaction=none")])
def test_where_nothing_rests_on_the_judge_it_is_not_asked(folder: Path, more: tuple[str, ...]) -> None:
    _, told = fuzz(*more)
    assert told["self_check"] is None


def test_the_answer_is_the_same_for_any_number_of_workers(folder: Path) -> None:
    (one, few), (same, many) = (fuzz("--judge", f"{JUDGES}:coin", "--workers", n) for n in ("1", "7"))
    assert (one, few["self_check"]) == (same, many["self_check"])
    assert few["self_check"]["decision"] in ("undecided", "fails")


def test_a_judge_that_breaks_its_port_on_a_twin_loses_no_finding(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("odd.py").write_text(
        "from fuzzturn import Verdict\n\n\nclass Odd:\n    def score(self, prompt):\n"
        "        return Verdict(4 if 'That is done.' not in prompt.turn else 7)\n"
    )
    code, told = fuzz("--judge", "odd.py:Odd")
    assert (code, told["self_check"]) == (2, None)
    assert told["findings"]
    assert "gave the score 7" in capsys.readouterr().err


def test_of_a_judge_that_fails_at_every_twin_no_more_is_said_than_is_known(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("odd.py").write_text(
        "from fuzzturn import Verdict\n\n\nclass Odd:\n    def score(self, prompt):\n"
        "        return Verdict(None if 'That is done.' in prompt.turn else 4)\n"
    )
    code, told = fuzz("--judge", "odd.py:Odd")
    assert (code, told["self_check"]["why"]) == (1, "it gives no scores")
    said_so = capsys.readouterr().err
    assert "Whether its 4s mean anything is not known" in said_so
    assert "mean nothing" not in said_so


def test_on_github_it_is_a_warning_and_no_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    fuzz("--judge", f"{JUDGES}:always_4")
    marks = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::")]
    assert [line.partition(" ")[0] for line in marks if "self-check" in line] == ["::warning"]


@pytest.mark.usefixtures("litellm_session")
@pytest.mark.parametrize("end", ["money", "offline"])
def test_a_model_that_may_not_be_asked_any_more_is_undecided(
    folder: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    """The record has what the campaign asks, and nothing of the twins."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody's")
    Path("fuzzturn.toml").write_text('price = ["four=1000/1000"]\n')
    options = ("--judge", "litellm/four", "--judge-context", "full")
    with Upstream(lambda body: said(json.dumps({"quotes": [], "reason": "Fine.", "score": 4}))) as upstream:
        at = ("--api-base", upstream.url)
        with monkeypatch.context() as patched:
            patched.setattr("fuzzturn.cli.campaigning.self_checked", lambda *_: None)
            _, before = fuzz(*options, *at)
        asked = len(upstream.requests)
        more = ("--budget-usd", "0.000001") if end == "money" else ("--offline",)
        code, told = fuzz(*options, *at, *more)
        assert len(upstream.requests) - asked <= 1
    found = told["self_check"]
    assert (code, found["decision"], found["warning"]) == (1, "undecided", None)
    assert found["stopped"] == {"money": "usd", "offline": "offline"}[end]
    assert [f["id"] for f in told["findings"]] == [f["id"] for f in before["findings"]]


def test_a_dry_run_says_what_the_self_check_may_cost(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fuzz", "lisbon_offsite", "--judge", "litellm/gpt-4o-mini", "--dry-run"]) == 0
    assert f"its self-check takes {2 * SIZES[0]} calls more, {2 * SIZES[-1]} at the most" in capsys.readouterr().out
