"""Where compaction begins, found from what the agent reports, and padding that lands on either side of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kit
from fuzzturn.cli.options import choose
from fuzzturn.cli.staging import Staging
from fuzzturn.drive import Cast, Meter
from fuzzturn.ports import Reply
from fuzzturn.project import Project
from fuzzturn.session import Compaction, Message, ModelCall
from fuzzturn.threshold import PROBE_TOKENS, Gauge, Threshold, narrowed, solve
from fuzzturn.tree import Tree
from fuzzturn.variant import Insert, Pad, Variant

SCRIPT = kit.scenario()


SIZES = st.lists(st.integers(12, 3000), max_size=6)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([150, 230, 700, 2500]), SIZES)
def test_whatever_was_played_the_bracket_holds_the_threshold(memory: int, sizes: list[int]) -> None:
    found = kit.learned(Tree(kit.cast(memory=str(memory)), SCRIPT, Meter()), [*sizes, PROBE_TOKENS])
    assert found is not None
    assert found.unit == "tokens"
    assert found.low <= memory < found.high


def test_the_sessions_of_a_campaign_narrow_the_bracket() -> None:
    wide = kit.learned(Tree(kit.cast(memory="700"), SCRIPT, Meter()), [PROBE_TOKENS])
    narrow = kit.learned(Tree(kit.cast(memory="700"), SCRIPT, Meter()), [PROBE_TOKENS, 500, 600])
    assert wide is not None
    assert narrow is not None
    assert narrow.high - narrow.low < wide.high - wide.low


@settings(max_examples=30, deadline=None)
@given(SIZES, st.randoms(use_true_random=False))
def test_neither_the_order_of_sessions_nor_a_fork_changes_what_is_known(sizes: list[int], chance: Any) -> None:
    tree = Tree(kit.cast(memory="700"), SCRIPT, Meter())
    sessions = [kit.wait(tree.play(Variant(SCRIPT, (pad("buy", size),)).spoken)).turns for size in sizes]
    gauge, other = Gauge(), Gauge()
    for turns in sessions:
        gauge.add(turns)
    chance.shuffle(sessions)
    for turns in sessions:
        other = other.fork()
        other.add(turns)
    assert gauge.threshold == other.threshold
    assert gauge.tells == other.tells == bool(sizes)


def test_a_fork_does_not_change_what_it_came_from() -> None:
    tree = Tree(kit.cast(memory="230"), SCRIPT, Meter())
    gauge = Gauge()
    gauge.fork().add(kit.wait(tree.play(Variant(SCRIPT, (pad("buy", PROBE_TOKENS),)).spoken)).turns)
    assert gauge.threshold is None


def pad(anchor: str, tokens: int) -> Pad:
    return Pad(operator="t", anchor=anchor, tokens=tokens)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 229), st.integers(231, 5000), SIZES)
def test_one_more_session_never_widens_a_bracket(low: int, high: int, sizes: list[int]) -> None:
    tree = Tree(kit.cast(memory="230"), SCRIPT, Meter())
    known = Threshold(unit="tokens", low=low, high=high)
    for size in sizes:
        session = kit.wait(tree.play(Variant(SCRIPT, (pad("buy", size),)).spoken))
        then = narrowed(known, session.turns)
        assert known.low <= then.low <= 230 < then.high <= known.high
        known = then


def test_an_agent_that_never_compacts_has_no_threshold() -> None:
    assert kit.learned(Tree(kit.cast(compaction="none"), SCRIPT, Meter()), [PROBE_TOKENS]) is None


class Counting:
    """Compacts above 20 messages, whatever their size."""

    def __init__(self, environment: Any) -> None:
        self.messages: list[dict[str, Any]] = []

    def reply(self, message: str) -> Reply:
        self.messages.append({"role": "user", "content": message})
        events: list[Any] = []
        if len(self.messages) > 20:
            events.append(Compaction("count"))
            self.messages = self.messages[-4:]
        events += [ModelCall(self.messages), Message("Noted.")]
        self.messages.append({"role": "assistant", "content": "Noted."})
        return Reply(events=events)

    def snapshot(self) -> object:
        return tuple(self.messages)

    def restore(self, saved: Any) -> None:
        self.messages = list(saved)


class Startled(Counting):
    """Compacts whenever somebody shouts, however little was said."""

    def reply(self, message: str) -> Reply:
        self.messages.append({"role": "user", "content": message})
        events: list[Any] = [Compaction("shout")] if "HEY" in message else []
        events += [ModelCall(self.messages), Message("Noted.")]
        self.messages.append({"role": "assistant", "content": "Noted."})
        return Reply(events=events)


def test_an_agent_that_compacts_for_another_reason_than_size_has_no_threshold() -> None:
    tree = Tree(Cast(build=Startled, make_environment=kit.make_shop, name="startled"), SCRIPT, Meter())
    shout = Insert(operator="t", anchor="hello", name="shout", user="HEY!")
    gauge = Gauge()
    gauge.add(kit.wait(tree.play(Variant(SCRIPT, (shout,)).spoken)).turns)
    assert gauge.tells
    assert gauge.threshold is None


def test_an_agent_that_does_not_tell_has_no_threshold() -> None:
    class Silent:
        def __init__(self, environment: Any) -> None: ...

        def reply(self, message: str) -> Reply:
            return Reply("Noted.")

    tree = Tree(Cast(build=Silent, make_environment=kit.make_shop, name="silent"), SCRIPT, Meter())
    gauge = Gauge()
    gauge.add(kit.wait(tree.play(SCRIPT)).turns)
    assert not gauge.tells
    assert gauge.threshold is None


def test_an_agent_that_counts_messages_is_measured_in_messages() -> None:
    tree = Tree(Cast(build=Counting, make_environment=kit.make_shop, name="counting"), SCRIPT, Meter())
    gauge = Gauge()
    for pads in ((), (pad("buy", PROBE_TOKENS),), [pad("buy", 12 + n) for n in range(12)]):
        gauge.add(kit.wait(tree.play(Variant(SCRIPT, tuple(pads)).spoken)).turns)
    found = gauge.threshold
    assert found is not None
    assert found.unit == "messages"
    assert found.low <= 20 < found.high <= found.low + 2


def test_a_script_that_such_an_agent_compacts_by_itself_is_measured_in_messages_too() -> None:
    chats = [{"id": f"chat{i}", "user": f"Nice weather, number {i}."} for i in range(15)]
    long = kit.scenario(turns=tuple(chats))
    found = kit.learned(Tree(Cast(build=Counting, make_environment=kit.make_shop, name="counting"), long, Meter()))
    assert found is not None
    assert found.unit == "messages"
    assert found.low <= 20 < found.high <= found.low + 2


def test_a_compaction_that_does_not_tell_its_size_is_measured_from_what_was_said() -> None:
    class Untold(kit.Buyer):
        async def reply(self, message: str) -> Reply:
            events = (await super().reply(message)).events
            return Reply(events=[Compaction("forget") if isinstance(e, Compaction) else e for e in events])

    cast = Cast(build=lambda shop: Untold(shop, 700, 2, False), make_environment=kit.make_shop, name="untold")
    found = kit.learned(Tree(cast, SCRIPT, Meter()))
    assert found is not None
    assert found.low <= 700 < found.high


def test_padding_for_a_counting_agent_is_turns() -> None:
    tree = Tree(Cast(build=Counting, make_environment=kit.make_shop, name="counting"), SCRIPT, Meter())
    symbolic = Variant(SCRIPT, (Pad(operator="t", anchor="buy", to="before"),))
    solved = kit.wait(solve(tree, symbolic, Threshold(unit="messages", low=20, high=21)))
    session = kit.wait(tree.play(solved.spoken))
    compacted = [turn.id for turn in session.turns if turn.compactions]
    assert compacted
    assert compacted[0].startswith("pad@buy") or compacted[0] == "buy"
    pads = [edit for edit in solved.edits if isinstance(edit, Pad)]
    assert len(pads) > 1
    assert len({id(pad) for pad in pads}) == len(pads)


def orbit() -> Tree:
    root = Path(__file__).parent.parent
    staging = Staging(Project(root=root), choose({}, {}, ("agent",)))
    (script,) = staging.scenarios(["lisbon_offsite"])
    return Tree(staging.cast(script), script, Meter())


@pytest.mark.parametrize("anchor", ["hotel", "traveller", "weather", "book"])
def test_solved_padding_makes_the_agent_compact_on_the_side_asked_for(anchor: str) -> None:
    tree = orbit()
    threshold = kit.learned(tree, range(12, 900, 12))
    assert threshold is not None
    assert threshold.low <= 900 < threshold.high + 1
    for side in ("before", "after"):
        symbolic = Variant(tree.scenario, (Pad(operator="t", anchor=anchor, to=side),))
        solved = kit.wait(solve(tree, symbolic, threshold))
        (pad,) = solved.edits
        assert isinstance(pad, Pad)
        assert (pad.to, pad.tokens is None) == (None, False)
        session = kit.wait(tree.play(solved.spoken))
        first = next(turn.n for turn in session.turns if turn.compactions)
        here = next(turn.n for turn in session.turns if turn.id == anchor)
        assert first <= here if side == "before" else first >= here


def test_solving_costs_no_turn_that_the_session_does_not_need() -> None:
    tree = orbit()
    threshold = kit.learned(tree, range(12, 900, 12))
    spent = tree.meter.agent_turns
    solved = kit.wait(solve(tree, Variant(tree.scenario, (Pad(operator="t", anchor="book", to="before"),)), threshold))
    assert tree.meter.agent_turns == spent  # everything before the pad has been played
    kit.wait(tree.play(solved.spoken))
    assert tree.meter.agent_turns <= spent + 3


def test_without_a_threshold_yet_padding_is_large_where_it_is_to_make_the_agent_compact_and_else_left_out() -> None:
    tree = Tree(kit.cast(), SCRIPT, Meter())
    before, after = (Pad(operator="t", anchor="buy", to=side) for side in ("before", "after"))
    assert kit.wait(solve(tree, Variant(SCRIPT, (before, after)), None)).edits == (pad("buy", PROBE_TOKENS),)
