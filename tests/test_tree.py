"""Prefix reuse: equal to playing afresh, and paid once."""

from __future__ import annotations

import asyncio
import sys
import time

import pytest

import kit
from fuzzturn.drive import Meter, drive
from fuzzturn.ports import Reply
from fuzzturn.session import ModelCall, Session
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


def odd(change: str) -> tuple[Session, str | None]:
    """What an agent does that raises in one way or another at its third turn; and whether the harness survived."""

    class Odd(kit.Buyer):
        async def reply(self, message: str) -> Reply:
            if "number 1" in message:
                match change:
                    case "exit":
                        raise SystemExit(0)
                    case "cancel":
                        raise asyncio.CancelledError
                    case "stop":
                        next(iter(()))
            return await super().reply(message)

    class OddSync:
        def __init__(self, shop: object) -> None: ...

        def reply(self, message: str) -> Reply:
            if "number 1" in message:
                return next(iter(())) if change == "stop" else sys.exit(0)
            return Reply("ok")

    build = (lambda shop: Odd(shop, 200, 2, False)) if change in ("exit", "cancel") else OddSync
    cast = type(kit.cast())(build=build, make_environment=kit.make_shop, name="odd")
    session = kit.wait(Tree(cast, SCRIPT, Meter()).play(SCRIPT))
    return session, session.error


@pytest.mark.parametrize("change", ["exit", "cancel", "stop", "exit sync"])
def test_whatever_an_agent_raises_is_its_error_and_neither_ends_nor_hangs_the_harness(change: str) -> None:
    session, error = odd(change)
    assert error is not None
    assert len(session.turns) == 3


def test_two_sessions_never_share_a_session_id() -> None:
    ids: list[str] = []

    def build(shop: object, *, session_id: str) -> object:
        ids.append(session_id)
        return kit.build(shop)

    cast = type(kit.cast())(build=build, make_environment=kit.make_shop, name="remembering")  # type: ignore[arg-type]
    tree = Tree(cast, SCRIPT, Meter())
    for variant in variants():
        kit.wait(tree.play(variant.spoken))
    assert len(set(ids)) == len(ids) > 1


def test_usage_and_call_ids_that_differ_do_not_make_a_snapshot_untrue() -> None:
    class Telling(kit.Buyer):
        async def reply(self, message: str) -> Reply:
            events = [
                ModelCall(e.context, {"seconds": time.perf_counter()}) if isinstance(e, ModelCall) else e
                for e in (await super().reply(message)).events
            ]
            return Reply(events=events)

    cast = type(kit.cast())(
        build=lambda shop: Telling(shop, 200, 2, False), make_environment=kit.make_shop, name="telling"
    )
    tree = Tree(cast, SCRIPT, Meter())
    kit.wait(tree.play(SCRIPT))
    assert kit.wait(tree.distrust(SCRIPT)) is None


def test_one_passing_failure_is_not_carried_into_other_sessions() -> None:
    calls = 0

    class Hiccup(kit.Buyer):
        async def reply(self, message: str) -> Reply:
            nonlocal calls
            calls += 1
            if calls == 2:
                raise OSError("503 once")
            return await super().reply(message)

    cast = type(kit.cast())(
        build=lambda shop: Hiccup(shop, 200, 2, False), make_environment=kit.make_shop, name="hiccup"
    )
    tree = Tree(cast, SCRIPT, Meter())
    assert kit.wait(tree.play(SCRIPT)).error is not None
    assert kit.wait(tree.fork().play(SCRIPT)).error is None


def test_a_script_longer_than_the_stack_can_be_forked() -> None:
    long = kit.scenario([{"id": f"chat{i}", "user": f"Nice weather, number {i}."} for i in range(1500)])
    tree = Tree(kit.cast(), long, Meter())
    kit.wait(tree.play(long))
    spent = tree.meter.agent_turns
    kit.wait(tree.fork().play(long))
    assert tree.meter.agent_turns == spent


def test_an_environment_whose_snapshot_is_untrue_is_noticed_by_its_state() -> None:
    class Leaky(kit.Shop):
        def restore(self, saved: object) -> None:
            self.bought = [1]

    cast = type(kit.cast())(build=kit.build, make_environment=lambda *, seed: Leaky(), name="leaky")
    tree = Tree(cast, SCRIPT, Meter())
    kit.wait(tree.play(SCRIPT))
    assert "snapshots are not used" in str(kit.wait(tree.distrust(SCRIPT)))
    assert tree.reuse is False
