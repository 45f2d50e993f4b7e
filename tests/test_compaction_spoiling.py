"""Policies made to fire below their threshold, and summaries spoilt in known ways."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzturn.compaction import cuts, policy, policy_names, spoil, spoils
from fuzzturn.scenario import Disturbance
from fuzzturn.tokens import messages_tokens, text_tokens
from histories import conversations

SUMMARY = "Asked: Find flights at no more than EUR 450 a leg.\nDone: search -> 3 found\nAsked: Hold them."


def fault(kind: str, **more: str) -> Disturbance:
    return Disturbance.model_validate({"kind": kind, **more})


def spoilt(kind: str, **more: str) -> str:
    return spoil(SUMMARY, [fault(kind, **more)])


def test_drop_takes_out_the_lines_that_say_it_whatever_their_case_and_spacing() -> None:
    assert spoilt("drop", text="no more  than eur 450") == "Done: search -> 3 found\nAsked: Hold them."
    assert spoilt("drop", text="EUR 45") == SUMMARY
    assert spoilt("drop", text="") == SUMMARY


def test_weaken_and_swap_value_put_other_words_in_the_place_and_leave_longer_numbers_alone() -> None:
    assert "at most a little a leg" in spoilt("weaken", text="no more than EUR 450", instead="most a little")
    assert "EUR 675 a leg" in spoilt("swap_value", text="450", instead="675")
    assert spoil("EUR 1450 and 450.50 and 4500", [fault("swap_value", text="450", instead="675")]) == (
        "EUR 1450 and 450.50 and 4500"
    )
    assert spoilt("swap_value", text="450", instead=r"\1") == SUMMARY.replace("450", r"\1")


def test_the_others_add_to_the_whole_or_replace_it() -> None:
    assert spoilt("invent", text="All is approved.") == f"{SUMMARY}\nAll is approved."
    assert spoil("", [fault("invent", text="All is approved.")]) == "All is approved."
    assert spoilt("empty") == ""
    assert spoilt("error_text", text="Error 529") == "Error 529"
    assert spoilt("error_text").startswith("Error")
    assert spoilt("grow").startswith(SUMMARY)
    assert text_tokens(spoilt("grow")) > text_tokens(SUMMARY)


def test_faults_befall_a_summary_one_after_another_and_cuts_leave_it_as_it_is() -> None:
    both = [fault("compact"), fault("empty"), fault("invent", text="All is approved.")]
    assert spoil(SUMMARY, both) == "All is approved."
    assert spoils(both) == (both[1], both[2])
    assert spoil(SUMMARY, [fault("compact"), fault("compact_twice"), fault("compact_mid_tool_loop")]) == SUMMARY


@pytest.mark.parametrize(
    ("kind", "before", "within"),
    [("compact", True, False), ("compact_mid_tool_loop", False, True), ("compact_twice", True, True),
     ("drop", False, False)],
)  # fmt: skip
def test_a_cut_is_due_before_the_turn_or_within_it(kind: str, before: bool, within: bool) -> None:
    asked = [fault("empty"), fault(kind)]
    assert (cuts(asked, within=False), cuts(asked, within=True)) == (before, within)
    assert not cuts([], within=False)


FIRING = [name for name in policy_names() if name != "none"]


@pytest.mark.parametrize("name", FIRING)
@given(conversations())
def test_a_forced_policy_never_gives_less_than_one_that_fires_by_itself(name: str, history: Any) -> None:
    compact = policy(name)
    by_itself = compact(history)
    forced = compact.forced(history)
    assert forced.after <= forced.before == messages_tokens(history)
    if by_itself.dropped:
        assert forced.dropped
    assert compact.forced.identity == compact.identity


def test_a_forced_policy_fires_below_its_threshold_where_there_is_something_to_give() -> None:
    talk: list[dict[str, str]] = []
    for _ in range(6):
        talk += [{"role": "user", "content": "Look again. " * 20}, {"role": "assistant", "content": "Done. " * 20}]
    for name in ("summary_keep_recent", "head_tail", "fraction_split", "user_only"):
        compact = policy(name)
        assert compact(talk).dropped == ()
        assert compact.forced(talk).dropped != ()
        assert compact.forced(talk[:1]).dropped == ()
    inner = policy("pinned", inner="summary_keep_recent")
    assert inner(talk).dropped == ()
    assert inner.forced(talk).dropped != ()
    assert policy("none").forced(talk).dropped == ()


@given(conversations(), st.sampled_from([name for name in FIRING if name not in ("last_messages", "last_tokens")]))
def test_a_summary_that_grows_is_taken_by_no_policy(history: Any, name: str) -> None:
    plan = policy(name).forced.plan(history)
    if plan is not None and plan.reads == plan.dropped:
        assert plan.finish(spoil("", [fault("grow")], plan.reads)).dropped == ()
