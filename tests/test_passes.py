"""What the reducer reads off a failing session, and what its passes make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import pytest

import kit
from fuzzturn.case import Case, as_case
from fuzzturn.finding import Failure
from fuzzturn.passes import delete, parts, skeleton, tail
from fuzzturn.shrink import Problem, shrink
from fuzzturn.threshold import Threshold
from fuzzturn.trial import Bench, Trial
from fuzzturn.variant import Insert, Pad, Variant, Word, lead_id

SCRIPT = kit.scenario()
KNOWN = Threshold(unit="tokens", low=220, high=240)
LONG = Variant(SCRIPT, (Pad(operator="t", anchor="chat2", tokens=300),))


def bench(threshold: Threshold | None = KNOWN) -> Bench:
    return replace(kit.bench(SCRIPT, judge=kit.Reader(), memory="230"), threshold=threshold)


def case(variant: Variant = LONG, threshold: Threshold | None = KNOWN) -> Case:
    trial = kit.wait(bench(threshold).run(variant))
    found = as_case(trial, trial.failures[0].pinned(), threshold)
    assert found is not None
    return found


def said(variant: Variant) -> list[str]:
    return [line.id for line in variant.spoken.turns]


def test_the_turn_in_which_the_statement_was_lost_is_read_off_the_session() -> None:
    failing = case()
    assert failing.lost_in == "pad@chat2"
    assert failing.compacted_from("hello") == failing.compacted_from("pad@chat2")
    assert failing.compacted_from("pad@chat2") is not None


def test_what_follows_the_loss_is_tried_away_in_one_session_that_takes_one_turn() -> None:
    failing, on = case(), bench()
    kit.wait(on.run(LONG))
    (shorter,) = tail(failing)
    lost = said(LONG).index("pad@chat2")
    assert [line.user for line in shorter.spoken.turns[:-1]] == [line.user for line in LONG.spoken.turns[: lost + 1]]
    assert said(shorter)[-1] == "buy"
    begun = on.tree.meter.agent_turns
    assert kit.wait(on.run(shorter)).failures
    assert on.tree.meter.agent_turns == begun + 1


def test_the_least_is_the_statement_the_failing_turn_and_padding_that_fills_the_context_as_far() -> None:
    bare, padded = skeleton(case())
    assert said(padded) == [*said(bare)[:-1], "pad@buy", "buy"]
    assert kit.wait(bench().run(padded)).failures
    assert not kit.wait(bench().run(bare)).failures


def test_no_guess_at_many_turns_saves_a_single_one() -> None:
    for guess in (*skeleton(case()), *parts(case())):
        assert len(said(guess)) <= len(said(LONG)) - 2


@pytest.mark.parametrize("threshold", [None, Threshold(unit="tokens", low=110, high=480)])
def test_a_threshold_that_is_hardly_known_is_narrowed_by_the_sessions_played(threshold: Threshold | None) -> None:
    start, on = case(threshold=threshold), bench(threshold)
    small, complete = kit.wait(shrink(start, Problem(start.failure.pinned(), on)))
    assert complete
    assert said(small.variant) == ["hello", "cap", "pad@buy", "buy"]
    assert small.threshold is not None
    assert small.threshold.unit == "tokens"
    assert small.threshold.high <= 480


class Watched(Problem):
    """Notes what is tried."""

    tried: ClassVar[list[Variant]] = []

    async def try_all(self, variants: Sequence[Variant]) -> list[Trial]:
        self.tried.extend(variants)
        return await super().try_all(variants)


def shrunk(variant: Variant) -> Variant:
    Watched.tried.clear()
    failing = case(variant)
    small, minimal = kit.wait(shrink(failing, Watched(failing.failure.pinned(), bench())))
    assert minimal
    return small.variant


def test_no_session_is_played_without_the_only_statement_of_what_is_broken() -> None:
    shrunk(LONG)
    assert Watched.tried
    assert all("cap" in said(variant) for variant in Watched.tried)


def test_of_two_statements_one_goes() -> None:
    again = Insert(operator="t", anchor="chat1", name="again", user="{cap}", states=("cap",))
    small = shrunk(Variant(SCRIPT, (again, *LONG.edits)))
    assert sum("cap" in line.states for line in small.spoken.turns) == 1


def test_a_session_that_fails_at_the_first_piece_of_a_statement_is_cut_after_the_second() -> None:
    """The first is said only where the second is, so cutting between them would leave nothing."""
    first = Word(operator="t", anchor="cap", constraint="cap", lead="One figure: 50.", text="More nobody pays.")
    script = SCRIPT.model_copy(update={"turns": SCRIPT.turns[1:-1]})
    variant = Variant(script, (first,))
    lead = said(variant)[0]
    assert (lead, said(variant)[1]) == (lead_id(first), "cap")
    trial = kit.wait(kit.bench(script).run(variant))
    failure = Failure(kind="block_gap", turn=1, turn_id=lead, checker="commitment_missed", detail="said")
    cut = as_case(replace(trial, failures=(failure,)), failure.pinned(), None)
    assert cut is not None
    assert said(cut.variant) == [lead, "cap"]
    assert [said(smaller) for smaller in delete(cut)] == [["cap"]]
