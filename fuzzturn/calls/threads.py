"""Threads: run what blocks in a thread of its own, which nobody waits for when the command ends.

asyncio.to_thread() and every pool are joined at the end, so a call that hangs would hold up Ctrl-C for as long.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, ParamSpec, TypeVar

from fuzzturn.errors import said

__all__ = ["in_thread"]

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """What the function returns, called in a thread of its own with the context of the caller."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    call = partial(contextvars.copy_context().run, function, *args, **kwargs)

    def work() -> None:
        try:
            value = call()
        except (StopIteration, SystemExit) as error:  # no future can carry the one; the other would end the process
            tell(future.set_exception, RuntimeError(said(error)))
        except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to whoever waits
            tell(future.set_exception, error)
        else:
            tell(future.set_result, value)

    def tell(outcome: Callable[[Any], None], value: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(lambda: None if future.done() else outcome(value))

    threading.Thread(target=work, name="fuzzturn-call", daemon=True).start()
    return await future
