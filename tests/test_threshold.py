"""Where compaction begins, found from what the agent reports, and padding that lands on either side of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kit
from fuzzturn.cli.options import choose
from fuzzturn.cli.staging import Staging
from fuzzturn.drive import Cast, Meter
from fuzzturn.ports import Reply
from fuzzturn.project import Project
from fuzzturn.session import Compaction, Message, ModelCall
from fuzzturn.threshold import BRACKET_TOKENS, Threshold, calibrate, solve
from fuzzturn.tree import Tree
from fuzzturn.variant import Pad, Variant

SCRIPT = kit.scenario()


def measured(tree: Tree) -> Threshold | None:
    return kit.wait(calibrate(tree, tree.scenario))


@pytest.mark.parametrize("memory", [150, 230, 700, 2500])
def test_the_bracket_holds_the_threshold_and_is_narrow(memory: int) -> None:
    found = measured(Tree(kit.cast(memory=str(memory)), SCRIPT, Meter()))
    assert found is not None
    assert found.unit == "tokens"
    assert found.low <= memory < found.high
    assert found.high - found.low <= BRACKET_TOKENS


def test_measuring_costs_few_turns_beyond_the_script() -> None:
    meter = Meter()
    assert measured(Tree(kit.cast(memory="700"), SCRIPT, meter)) is not None
    assert meter.agent_turns <= len(SCRIPT.turns) + 20


def test_an_agent_that_never_compacts_has_no_threshold() -> None:
    assert measured(Tree(kit.cast(compaction="none"), SCRIPT, Meter())) is None


def test_an_agent_that_does_not_tell_has_no_threshold() -> None:
    class Silent:
        def __init__(self, environment: Any) -> None: ...

        def reply(self, message: str) -> Reply:
            return Reply("Noted.")

    meter = Meter()
    assert measured(Tree(Cast(build=Silent, make_environment=kit.make_shop, name="silent"), SCRIPT, meter)) is None
    assert meter.agent_turns == len(SCRIPT.turns)


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


def test_an_agent_that_counts_messages_is_measured_in_messages() -> None:
    found = measured(Tree(Cast(build=Counting, make_environment=kit.make_shop, name="counting"), SCRIPT, Meter()))
    assert found is not None
    assert found.unit == "messages"
    assert found.low <= 20 < found.high <= found.low + 2


def test_a_script_that_such_an_agent_compacts_by_itself_is_measured_in_messages_too() -> None:
    chats = [{"id": f"chat{i}", "user": f"Nice weather, number {i}."} for i in range(15)]
    long = kit.scenario(turns=tuple(chats))
    found = measured(Tree(Cast(build=Counting, make_environment=kit.make_shop, name="counting"), long, Meter()))
    assert found is not None
    assert found.unit == "messages"
    assert found.low <= 20 < found.high <= found.low + 2


def test_a_compaction_that_does_not_tell_its_size_is_measured_from_what_was_said() -> None:
    class Untold(kit.Buyer):
        async def reply(self, message: str) -> Reply:
            events = (await super().reply(message)).events
            return Reply(events=[Compaction("forget") if isinstance(e, Compaction) else e for e in events])

    cast = Cast(build=lambda shop: Untold(shop, 700, 2, False), make_environment=kit.make_shop, name="untold")
    found = measured(Tree(cast, SCRIPT, Meter()))
    assert found is not None
    assert found.low <= 700 < found.high


def test_padding_for_a_counting_agent_is_turns() -> None:
    tree = Tree(Cast(build=Counting, make_environment=kit.make_shop, name="counting"), SCRIPT, Meter())
    symbolic = Variant(SCRIPT, (Pad(operator="t", anchor="buy", to="before"),))
    solved = kit.wait(solve(tree, symbolic, measured(tree)))
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
    threshold = measured(tree)
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
    threshold = measured(tree)
    spent = tree.meter.agent_turns
    solved = kit.wait(solve(tree, Variant(tree.scenario, (Pad(operator="t", anchor="book", to="before"),)), threshold))
    assert tree.meter.agent_turns == spent  # everything before the pad has been played
    kit.wait(tree.play(solved.spoken))
    assert tree.meter.agent_turns <= spent + 3


def test_without_a_threshold_symbolic_padding_is_left_out() -> None:
    tree = Tree(kit.cast(), SCRIPT, Meter())
    symbolic = Variant(SCRIPT, (Pad(operator="t", anchor="buy", to="before"),))
    assert kit.wait(solve(tree, symbolic, None)).edits == ()
