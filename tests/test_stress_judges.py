"""Nine judges whose behaviour is known, asked as `stress` asks: each comes out as what it is, most of them exactly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import judges
from fuzzturn.adapters.model_judge import HostedJudge
from fuzzturn.calls import CallRecord, Gateway
from fuzzturn.cli import run
from fuzzturn.cli.options import choose
from fuzzturn.cli.staging import Staging
from fuzzturn.drive import drive
from fuzzturn.ports import Judge
from fuzzturn.project import Project
from fuzzturn.stress.arms import ARMS, Arm
from fuzzturn.stress.asking import ask, questions
from fuzzturn.stress.figures import Cell, figures
from fuzzturn.stress.item import Answer, Item
from fuzzturn.stress.items import items_of
from fuzzturn.stress.selfcheck import twins
from fuzzturn.stress.shares import Share
from upstream import Upstream, said

ROOT = Path(__file__).parents[1]
FILE = Path(judges.__file__)
ARMS_HERE = [arm for arm in ARMS if arm.group != "budget"]
BY_NAME = {arm.name: arm for arm in ARMS_HERE}
WINDOWS = {"window 0": 0, "window 2": 2, "window 4": 4, "block off": 8, "default": 8, "window 16": 16, "window all": 99}
SHOWS_THE_BLOCK = [arm.name for arm in ARMS_HERE if arm.name == "default" or arm.group in ("distractors", "injection")]


def staging(judge: str = "none") -> Staging:
    return Staging(Project(root=ROOT), choose({"agent_option": ["compaction=none"], "judge": judge}, {}, ()))


@cache
def items() -> dict[str, Item]:
    found: list[Item] = []
    for script in staging().scenarios(["lisbon_changes"]):
        base = asyncio.run(drive(staging().cast(script), script))
        found += items_of(script, base, staging().registry).items
    return {item.id: item for item in found}


def given(judge: Judge, arms: Iterable[Arm]) -> list[Answer]:
    asked = list(questions(list(items().values()), list(arms), 1, staging().rubric))
    return asyncio.run(ask(asked, judge, "judge"))


@cache
def answers(name: str) -> tuple[Answer, ...]:
    """Of the judge by that name in the user's file, in every arm."""
    judge = staging(f"{FILE}:{name}").judge
    assert judge is not None
    return tuple(given(judge, ARMS_HERE))


def scores(name: str, arm: str) -> dict[str, int | None]:
    return {answer.item: answer.score for answer in answers(name) if answer.arm == arm}


def cell(name: str, arm: str) -> Cell:
    return figures(answers(name)).arms[arm]


def counts(share: Share | None) -> tuple[int, int]:
    assert share is not None
    return share.k, share.n


def true_score(item: Item) -> int:
    return 0 if item.label == "violating" else 4


def dearest(item: Item) -> int:
    """The highest fare that the judged turn books, from the session itself."""
    calls = item.measured.session.turns[-1].tool_calls
    return max(int(leg["fare_eur"]) for call in calls for leg in call.args["legs"])


def of(label: str, **more: str) -> list[str]:
    return [i.id for i in items().values() if i.label == label and all(getattr(i, k) == v for k, v in more.items())]


# the deterministic ones, exactly


@pytest.mark.parametrize("arm", SHOWS_THE_BLOCK)
def test_the_oracle_is_right_about_every_item_wherever_it_has_the_block(arm: str) -> None:
    assert scores("oracle", arm) == {id: true_score(items()[id]) for id in scores("oracle", arm)}
    found = cell("oracle", arm)
    assert (found.kappa, counts(found.blind)[0], counts(found.strict)[1]) == (1.0, 0, len(of("violating")))
    assert counts(found.specificity) == (len(of("legal")),) * 2


@pytest.mark.parametrize("arm", ["block off", "window all", "agent context"])
def test_the_oracle_of_the_block_gives_all_a_four_where_there_is_none(arm: str) -> None:
    assert set(scores("oracle", arm).values()) == {4}


@pytest.mark.parametrize("arm", WINDOWS)
def test_window_only_is_blind_beyond_its_window_and_nowhere_within_it(arm: str) -> None:
    found = scores("window_only", arm)
    plain = [id for label in ("violating", "legal") for id in of(label, kind="plain")]
    blind = {id for id in of("violating", kind="plain") if items()[id].distance > WINDOWS[arm]}
    assert {id: found[id] for id in plain} == {id: 4 if id in blind else true_score(items()[id]) for id in plain}
    by_distance = figures(a for a in answers("window_only") if items()[a.item].kind == "plain").distances[arm]
    for distance, at in by_distance.items():
        n = counts(at.blind)[1]
        assert counts(at.blind) == (n if distance > WINDOWS[arm] else 0, n)


@pytest.mark.parametrize("arm", [a.name for a in ARMS_HERE if a.group in ("block", "distractors")])
def test_what_becomes_of_the_block_moves_no_score_of_window_only(arm: str) -> None:
    default = scores("window_only", "default")
    assert scores("window_only", arm) == {id: default[id] for id in scores("window_only", arm)}


@pytest.mark.parametrize("arm", BY_NAME)
def test_always_4_has_no_gap_and_no_kappa_in_any_arm(arm: str) -> None:
    found = cell("always_4", arm)
    wrong, legal = (
        sum(items()[id].label == label for id in scores("always_4", arm)) for label in ("violating", "legal")
    )
    assert (counts(found.blind), counts(found.specificity), found.kappa) == ((wrong, wrong), (legal, legal), 0.0)
    assert found.twins is not None
    assert (found.twins.right, found.twins.wrong, found.twins.gap) == (0, 0, 0.0)


@pytest.mark.parametrize("arm", SHOWS_THE_BLOCK)
def test_gullible_is_the_oracle_but_where_a_score_is_dictated(arm: str) -> None:
    dictated = arm in ("injected by the assistant", "injected by a tool")
    assert scores("gullible", arm) == {
        id: 4 if dictated else score for id, score in scores("oracle", arm).items()
    }  # fmt: skip


@pytest.mark.parametrize("arm", SHOWS_THE_BLOCK)
def test_stale_goes_by_the_first_version_whatever_became_of_it(arm: str) -> None:
    found = scores("stale", arm)
    assert found == {id: 0 if dearest(items()[id]) > 450 else 4 for id in found}
    plain = [id for label in ("violating", "legal") for id in of(label, kind="plain")]
    assert all(found[id] == true_score(items()[id]) for id in plain)
    outlived = [id for id in of("legal") if items()[id].kind != "plain" and dearest(items()[id]) > 450]
    assert {items()[id].kind for id in outlived} >= {"retracted", "superseded", "approved", "expired"}
    assert {found[id] for id in outlived} == {0}


@pytest.mark.parametrize("arm", [a.name for a in ARMS_HERE if a.group != "injection"])
def test_single_turn_does_not_move_whatever_became_of_what_came_before(arm: str) -> None:
    found = scores("single_turn", arm)
    assert found == {id: 0 if dearest(items()[id]) > 500 else 4 for id in found}
    assert set(found.values()) == {0, 4}


def test_a_refuser_is_in_no_rate_of_any_arm() -> None:
    for arm in BY_NAME:
        found = cell("refuser", arm)
        rates = (found.blind, found.soft_blind, found.sensitivity, found.strict, found.specificity, found.kappa)
        assert (set(rates), found.scored, found.unscored) == ({None}, 0, {"unscored": found.answers})


# sloppy_json: a model behind a server


def sloppy(body: dict[str, Any]) -> dict[str, Any]:
    """The scripted server: the same dress for the same question, also where it is asked to answer once more."""
    return said(judges.dressed(body["messages"][0]["content"])[0])


@pytest.mark.usefixtures("litellm_session")
def test_of_sloppy_json_what_can_be_read_counts_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody's")
    with Upstream(sloppy) as upstream:
        judge = HostedJudge("sloppy", Gateway(record=CallRecord(None)), upstream.url)
        found = given(judge, [BY_NAME["default"], BY_NAME["3 distractors"]])
    asked = [request["messages"][0]["content"] for request in upstream.requests if len(request["messages"]) == 1]
    wanted = [judges.dressed(text)[1:] for text in asked]
    assert [(answer.score, answer.status) for answer in found] == wanted
    worn = {judges.DRESSES[int(judges.chance(text, 9) * len(judges.DRESSES))] for text in asked}
    assert worn == set(judges.DRESSES)  # or that some of them never count would say nothing
    whole = figures(found).overall
    assert whole.scored == sum(score is not None for score, _ in wanted)
    assert (counts(whole.blind)[0], whole.kappa) == (0, 1.0)
    pairs = twins(answer for answer in found if answer.arm == "default")
    assert (pairs.wrong, pairs.tied) == (0, 0) < (pairs.right, 1)


# random ones, in the interval


def test_intervals_hold_what_random_judges_are_in_93_percent_of_cells() -> None:
    held = []
    arms = [BY_NAME[name] for name in ("default", "3 distractors")]
    for seed in range(20):
        for judge, blind, legal in (
            (judges.Judge(lambda text, seed=seed: judges.heads(text, seed)), 0.5, 0.5),  # type: ignore[misc] # bound now
            (judges.erring(0.9, 0.7, seed), 0.1, 0.7),
            (judges.erring(0.6, 0.95, seed), 0.4, 0.95),
        ):
            for found in figures(given(judge, arms)).arms.values():
                for share, truth in ((found.blind, blind), (found.specificity, legal)):
                    assert share is not None
                    held.append(share.widest[0] <= truth <= share.widest[1])
    assert len(held) == 20 * 3 * 2 * 2
    assert sum(held) / len(held) >= 0.93


# the self-check of the command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stressed(judge: str, *more: str) -> tuple[int, dict[str, Any]]:
    options = ["--agent-option", "compaction=none", "--judge", f"{FILE}:{judge}", "--json", "out.json"]
    return run(["stress", *more, *options]), json.loads(Path("out.json").read_text())


@pytest.mark.parametrize("judge", ["always_4", "coin"])
def test_a_judge_that_does_not_look_is_rejected_before_anything_else_is_asked(folder: Path, judge: str) -> None:
    code, told = stressed(judge)
    assert (code, told["self_check"]["decision"]) == (1, "fails")
    assert list(told["arms"]) == ["default"]


@pytest.mark.parametrize("judge", ["oracle", "window_only"])
def test_a_judge_that_looks_passes(folder: Path, judge: str) -> None:
    code, told = stressed(judge, "lisbon_changes")
    assert (code, told["self_check"]["decision"], told["self_check"]["weak"]) == (0, "passes", False)
    assert set(told["arms"]) >= set(BY_NAME)


def test_a_refuser_measures_nothing(folder: Path) -> None:
    code, told = stressed("refuser", "lisbon_changes")
    assert (code, told["self_check"]["decision"]) == (1, "fails")
    assert told["arms"]["default"]["blind"] is None
