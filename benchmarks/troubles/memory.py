"""Memory: agents that let go of what was said when something else happens, or take what is done for open."""

from __future__ import annotations

from collections.abc import Sequence

from .steward import Said, Steward
from .store import LASTING

__all__ = ["AtWork", "Copying", "Distracted", "Flooded", "Promising", "Resuming"]

_FLOOD, _LONG = 250, 400
"""Tokens of a tool's answer, and of a user's message, that take all the room there is."""


class Promising(Steward):
    """Goes by its own plan once it has told it, and forgets the plan when it is asked something else."""

    def listen(self) -> None:
        told = [i for i, one in enumerate(self.said) if one.chat["role"] == "assistant" and one.text == self.plan()]
        if told and self.said[-1].asks_aside:
            self.said = self.said[told[-1] + 1 :]


class Distracted(Steward):
    """After two questions aside, one after the other, it begins anew with whatever is not a task."""

    def listen(self) -> None:
        places = [i for i, one in enumerate(self.said) if one.by_user]
        *earlier, last = [self.said[i] for i in places]
        small_talk = not (last.task or last.asks_aside or last.lays_down)
        if small_talk and len(earlier) >= 2 and all(one.asks_aside for one in earlier[-2:]):
            self.said = self.said[places[-3] :]


class AtWork(Steward):
    """Keeps what its tools have told when it compacts in the middle of its work, and nothing else."""

    def carries(self, old: Sequence[Said]) -> tuple[Said, ...]:
        return () if self.said[-1].call is not None else super().carries(old)


class Copying(Steward):
    """What it has carried over once in a turn it does not carry over again."""

    def carries(self, old: Sequence[Said]) -> tuple[Said, ...]:
        return super().carries(old) if self.cuts_in_turn == 0 else ()


class Resuming(Steward):
    """A long message makes it lose what came of the last request, which it then takes for open."""

    def listen(self) -> None:
        places = [i for i, one in enumerate(self.said) if one.by_user]
        last = self.said[-1]
        before = self.said[places[-2]] if len(places) > 1 else last
        if last.task or last.tokens < _LONG or before.task not in LASTING:
            return
        done = [
            one.chat["tool_calls"][0] for one in self.said if one.chat.get("tool_calls") and one.call == before.task
        ]
        for call in done[-1:]:
            self.use(call["name"], call["arguments"])


class Flooded(Steward):
    """A long answer of a tool's leaves room for the request that it belongs to, and for nothing before."""

    def after_answer(self, name: str, answer: Said) -> None:  # noqa: ARG002 - of whichever tool
        if answer.tokens >= _FLOOD:
            self.said = (self.asked(), *self.said[-2:])
