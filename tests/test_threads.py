"""Threads: what blocks is called aside, with its context, and the end of a command waits for none of it."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

import pytest

from fuzzturn.calls import in_thread


def test_what_a_call_gives_and_raises_comes_back() -> None:
    def halved(number: int, *, by: int = 2) -> float:
        return number / by

    assert asyncio.run(in_thread(halved, 3)) == 1.5
    with pytest.raises(ZeroDivisionError):
        asyncio.run(in_thread(halved, 3, by=0))


@pytest.mark.parametrize("raised", [StopIteration("no"), SystemExit("no")])
def test_what_no_future_can_carry_is_told_in_words(raised: BaseException) -> None:
    def raises() -> None:
        raise raised

    with pytest.raises(RuntimeError, match=f"{type(raised).__name__}: no"):
        asyncio.run(in_thread(raises))


def test_the_callers_context_is_seen() -> None:
    var: ContextVar[str] = ContextVar("var")

    async def asked() -> str:
        var.set("here")
        return await in_thread(var.get)

    assert asyncio.run(asked()) == "here"


def test_a_call_that_hangs_does_not_hold_up_the_end() -> None:
    begun, never = threading.Event(), threading.Event()

    def hangs() -> None:
        begun.set()
        never.wait()

    async def left() -> None:
        task = asyncio.ensure_future(in_thread(hangs))
        while not begun.is_set():
            await asyncio.sleep(0)
        task.cancel()

    asyncio.run(left())  # it ends, though the call has not
    assert not never.is_set()
    never.set()
