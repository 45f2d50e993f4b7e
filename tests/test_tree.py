"""Prefix reuse: equal to playing afresh, and paid once."""

from __future__ import annotations

import asyncio

import kit
from fuzzturn.drive import Meter, drive
from fuzzturn.ports import Reply
from fuzzturn.tree import Tree
from fuzzturn.variant import Drop, Pad, Variant

SCRIPT = kit.scenario()


def variants() -> list[Variant]:
    pads = [Variant(SCRIPT, (Pad(operator="t", anchor=a, tokens=n),)) for a in ("chat2", "buy") for n in (20, 90, 300)]
    drops = [Variant(SCRIPT, (Drop(operator="t", anchor=f"chat{i}"),)) for i in (1, 3)]
    return [Variant(SCRIPT), *pads, *drops]


def test_a_session_resumed_from_a_snapshot_equals_a_fresh_one() -> None:
    tree = Tree(kit.cast(), SCRIPT, Meter())
    for variant in variants():
        assert kit.wait(tree.play(variant.spoken)) == kit.wait(drive(kit.cast(), variant.spoken))


def test_playing_the_same_turns_again_costs_nothing() -> None:
    meter = Meter()
    tree = Tree(kit.cast(), SCRIPT, meter)
    first = kit.wait(tree.play(SCRIPT))
    spent = meter.agent_turns
    assert spent == len(SCRIPT.turns)
    assert kit.wait(tree.play(SCRIPT)) == first
    assert meter.agent_turns == spent


def test_only_the_turns_behind_the_common_prefix_are_executed() -> None:
    meter = Meter()
    tree = Tree(kit.cast(), SCRIPT, meter)
    kit.wait(tree.play(SCRIPT))
    kit.wait(tree.play(Variant(SCRIPT, (Pad(operator="t", anchor="buy", tokens=90),)).spoken))
    assert meter.agent_turns == len(SCRIPT.turns) + 2  # the pad and the booking behind it


def test_sessions_that_run_at_once_share_a_prefix_that_is_still_in_flight() -> None:
    async def play_all(meter: Meter) -> list[object]:
        tree = Tree(kit.cast(), SCRIPT, meter)
        return list(await asyncio.gather(*(tree.play(v.spoken) for v in variants())))

    async def play_in_turn(meter: Meter) -> list[object]:
        tree = Tree(kit.cast(), SCRIPT, meter)
        return [await tree.play(v.spoken) for v in variants()]

    together, apart = Meter(), Meter()
    assert kit.wait(play_all(together)) == kit.wait(play_in_turn(apart))
    assert together.agent_turns == apart.agent_turns


def test_a_fork_knows_what_was_played_and_does_not_change_its_trunk() -> None:
    meter = Meter()
    trunk = Tree(kit.cast(), SCRIPT, meter)
    kit.wait(trunk.play(SCRIPT))
    padded = Variant(SCRIPT, (Pad(operator="t", anchor="buy", tokens=90),)).spoken
    kit.wait(trunk.fork().play(padded))
    spent = meter.agent_turns
    kit.wait(trunk.fork().play(SCRIPT))
    assert meter.agent_turns == spent
    kit.wait(trunk.fork().play(padded))
    assert meter.agent_turns == spent + 2


def test_an_agent_without_snapshots_is_spoken_to_from_the_start() -> None:
    class Plain:
        def __init__(self, inner: kit.Buyer) -> None:
            self.inner = inner

        async def reply(self, message: str) -> Reply:
            return await self.inner.reply(message)

    cast = kit.cast()
    plain = type(cast)(
        build=lambda environment: Plain(kit.build(environment)), make_environment=kit.make_shop, name="plain"
    )
    meter = Meter()
    tree = Tree(plain, SCRIPT, meter)
    padded = Variant(SCRIPT, (Pad(operator="t", anchor="buy", tokens=90),)).spoken
    for spoken in (SCRIPT, padded):
        assert kit.wait(tree.play(spoken)) == kit.wait(drive(kit.cast(), spoken))
    assert meter.agent_turns == len(SCRIPT.turns) + len(padded.turns)


def test_an_agent_that_raises_ends_its_session_and_no_other() -> None:
    class Fragile(kit.Buyer):
        async def reply(self, message: str) -> Reply:
            if "number 2" in message:
                raise RuntimeError("out of lamps")
            return await super().reply(message)

    cast = type(kit.cast())(
        build=lambda environment: Fragile(environment, 200, 2, False), make_environment=kit.make_shop, name="fragile"
    )
    tree = Tree(cast, SCRIPT, Meter())
    broken = kit.wait(tree.play(SCRIPT))
    assert str(broken.error).startswith("RuntimeError: out of lamps (test_tree.py:")
    assert broken.turns[-1].id == "chat2"
    whole = kit.wait(tree.play(Variant(SCRIPT, (Drop(operator="t", anchor="chat2"),)).spoken))
    assert whole.error is None
    assert whole.turns[-1].id == "buy"
