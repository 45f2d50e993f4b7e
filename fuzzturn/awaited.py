"""Awaited: what a port gives back, awaited where it is to be, since a port may be sync or async; and what it raises."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

from fuzzturn.calls import in_thread
from fuzzturn.ports import Reply
from fuzzturn.replying import as_reply

__all__ = ["RAISED", "cancelled_by_us", "maybe", "replied"]

RAISED = (Exception, SystemExit, asyncio.CancelledError)
"""What the code behind a port may raise without ending the command."""
_DATA = (dict, tuple, list, str, type(None))
"""What ports mostly return; asking `isawaitable` of it takes longer than all else here."""


async def replied(agent: Any, message: str) -> Reply:
    """What the agent, sync or async, replies to one message. Raises what it raises."""
    if inspect.iscoroutinefunction(agent.reply):
        reply = await agent.reply(message)
    else:  # a sync agent may block on the network: keep the loop free for the other sessions
        reply = await maybe(await in_thread(agent.reply, message))
    return as_reply(reply)


async def maybe(value: Any) -> Any:
    """The value, awaited where it is to be awaited."""
    if isinstance(value, _DATA) or not inspect.isawaitable(value):
        return value
    return await value


def cancelled_by_us(error: BaseException) -> bool:
    """Whether this is the task's own end, and nothing that the code behind a port has raised."""
    task = asyncio.current_task() if isinstance(error, asyncio.CancelledError) else None
    return task is not None and bool(task.cancelling())
