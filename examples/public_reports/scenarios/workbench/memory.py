"""Memory: what an agent writes down when it makes its context smaller: once as it should, and in five lossy ways.

A memory is a function from the messages that go to the lines that stay for them. The lossy ones are by rule what the
five reports tell of; each is the faithful one with one defect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from fuzzturn.session import Chat

from .standing import APPROVED, ASK_FIRST, KEEP_OFF, Standing, requests, standing, started, style

__all__ = ["DONE", "MEMORIES", "OPEN", "Memory"]

Memory: TypeAlias = Callable[[Sequence[Chat]], list[str]]
DONE, OPEN = "done: ", "open: "


def faithful(old: Sequence[Chat]) -> list[str]:
    """What stands, in the user's words, and what was done."""
    return [*_orders(standing(old)), *_work(standing(old)), *(DONE + said for said in _asked(old))]


def drops_orders(old: Sequence[Chat]) -> list[str]:
    """What to do is kept, and not what not to do."""
    return [line for line in faithful(old) if line not in (KEEP_OFF, ASK_FIRST)]


def reopens_requests(old: Sequence[Chat]) -> list[str]:
    """A request is kept, and not what came of it."""
    return [OPEN + line.removeprefix(DONE) for line in faithful(old)]


def restores_decisions(old: Sequence[Chat]) -> list[str]:
    """A decision is filed when it is taken first, and the file is read at every compaction."""
    first = next(filter(None, (style(text) for text in _texts(old))), None)
    return [*faithful(old), *([f"indent with {first}"] if first else [])]


def resumes_work(old: Sequence[Chat]) -> list[str]:
    """Work that was begun is work to go on with."""
    begun = [topic for text in _texts(old) if (topic := started(text))]
    return [*faithful(old), *(f"start the work on {topic}" for topic in begun[-1:])]


def keeps_approvals(old: Sequence[Chat]) -> list[str]:
    """An approval is kept, and not that it was used."""
    given = any(APPROVED in text for text in _texts(old))
    return [*(line for line in faithful(old) if line != APPROVED), *([APPROVED] if given else [])]


MEMORIES: Mapping[str, Memory] = {
    memory.__name__: memory
    for memory in (faithful, drops_orders, reopens_requests, restores_decisions, resumes_work, keeps_approvals)
}


def _texts(old: Sequence[Chat]) -> list[str]:
    """What was said to the agent, a summary's lines one by one."""
    said = [str(message["content"]) for message in old if message["role"] in ("user", "system")]
    return [line for text in said for line in text.split("\n")]


def _orders(now: Standing) -> list[str]:
    lines = {KEEP_OFF: now.keep_off, ASK_FIRST: now.ask_first, APPROVED: now.approved}
    return [line for line, stands in lines.items() if stands]


def _work(now: Standing) -> list[str]:
    lines = [f"indent with {now.style}"] if now.style else []
    lines += [f"stop the work on {topic}" for topic in sorted(now.off)]
    return lines + ([f"start the work on {now.topic}"] if now.topic else [])


def _asked(old: Sequence[Chat]) -> list[str]:
    """Requests in the messages that go, and those that an earlier summary already had."""
    lines = [line.removeprefix(DONE).removeprefix(OPEN) for line in _texts(old) if line.startswith((DONE, OPEN))] + [
        f"{verb} {what}" for text in _texts(old) for verb, what in requests(text)
    ]
    return list(dict.fromkeys(lines))
