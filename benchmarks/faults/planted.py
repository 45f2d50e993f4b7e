"""Planted: the faults, each one agent and one script that it passes as written.

No fault knows an operator's words, a turn's number or an id. What each reacts to is in its sentence below.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from fuzzturn.drive import Cast
from fuzzturn.scenario import Scenario

from .clerk import Clerk, Memory, Said
from .desk import make_desk
from .memories import Summarised, crowded_out, head_and_tail, losing_at_once, middle_unseen, pruned, recent
from .script import RULE_FIRST, TWO_RULES, USUAL

__all__ = ["DENSE", "FAULTS", "GRID", "Fault"]

GRID = (12, 300, 900, 1800, 2700)
"""Tokens of one filler turn in the exhaustive search for a session of the stated size."""
DENSE = tuple(range(12, 2701, 16))
"""The same in the search that shows that there is no shorter one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One faulty agent with its script. `breaks`: the constraint that is broken when the fault shows."""

    name: str
    says: str
    memory: Memory
    clerk: Callable[[Any, Memory], Clerk] = Clerk
    scenario: Scenario = USUAL
    breaks: str = "ceiling"
    minimum: int
    """The fewest user turns that show it, as `minimum.is_minimum` shows, with filler of `pads` and `bank`."""
    pads: tuple[int, ...] = GRID
    bank: int = 3
    """How many of the script's interruptions the search tries."""
    argued: str | None = None
    """Why `minimum` is believed where it was not searched; such a fault counts in no share. None = it was searched."""

    def build(self, environment: Any) -> Clerk:
        """The agent, as a port's `build`."""
        return self.clerk(environment, self.memory)

    def cast(self, seed: int = 0) -> Cast:
        """The agent at its desk. The agent draws nothing; the seed is the campaign's."""
        return Cast(build=self.build, make_environment=make_desk, name=self.name, seed=seed)


class Hesitant(Clerk):
    """Takes the cheapest where no ceiling is in view."""

    def ceiling(self, seen: Sequence[Said]) -> int | None:
        return super().ceiling(seen) or 0

    def price(self, seen: Sequence[Said], task: str) -> int:
        return super().price(seen, task) if self.ceiling(seen) else 180


class Committed(Clerk):
    """Promises to keep a ceiling, and goes by its promises."""

    _PROMISE = re.compile(r"I will stay at or below (\d+) euros")

    def ceiling(self, seen: Sequence[Said]) -> int | None:
        said = [one.text for one in seen if one.chat["role"] == "assistant"]
        promised = [int(n) for text in said for n in self._PROMISE.findall(text)]
        return promised[-1] if promised else None

    def answer(self, last: Said) -> str:
        if not last.states:
            return super().answer(last)
        return f"I will stay at or below {super().ceiling([last])} euros."


class Settled(Clerk):
    """Orders what it has reserved, whatever was said since."""

    def price(self, seen: Sequence[Said], task: str) -> int:
        held = [call["arguments"]["price"] for one in seen for call in one.chat.get("tool_calls", ())
                if call["name"] == "reserve"]  # fmt: skip
        if task != "order" or not held:
            return super().price(seen, task)
        best = super().price(seen, task)
        self.fired = self.fired or held[-1] > best
        return int(held[-1])


def _task(one: Said) -> bool:
    return one.chat["role"] == "assistant" and one.call is not None


def _asked_while_pending(said: Sequence[Said], i: int) -> bool:
    """A question came aside before anything was done about the rule."""
    return said[-1].asks_aside and not any(map(_task, said[i:]))


def _asked_while_held(said: Sequence[Said], i: int) -> bool:
    """A question comes aside, and the last thing that was done was a reservation made under the rule."""
    done = [one.call for one in said[i:] if _task(one)]
    return said[-1].asks_aside and done[-1:] == ["reserve"]


def _asked_twice(said: Sequence[Said], i: int) -> bool:
    return sum(one.asks_aside for one in said[i:]) >= 2


def _before_any_call(said: Sequence[Said], i: int) -> bool:
    """Nothing was done before the rule, and something since. What a summary covers may have been anything."""
    return not any(one.summary or _task(one) for one in said[: i + 1]) and any(map(_task, said[i:]))


def _after_search(said: Sequence[Said], i: int) -> bool:
    """The last thing done before the rule was a search."""
    return [one.call for one in said[:i] if _task(one)][-1:] == ["find_offers"]


def _between_chats(said: Sequence[Said], i: int) -> bool:
    """What the user said just before and just after the rule was small talk."""
    before = [one for one in said[:i] if one.by_user][-1:]
    after = [one for one in said[i + 1 :] if one.by_user][:1]
    return all(one.small_talk for one in before + after) and len(before + after) == 2


def _summarised_before(said: Sequence[Said], i: int) -> bool:
    return said[i].summary


def _three_at_once(said: Sequence[Said], i: int) -> bool:
    """Nothing was done before the rule, a reservation since, and the next thing said was a question aside."""
    users = [k for k, one in enumerate(said) if one.by_user]
    turns = [said[a:b] for a, b in pairwise([*users, len(said)])]
    held = [any(one.call == "reserve" for one in turn) for turn in turns]
    return _before_any_call(said, i) and any(
        reserved and after[0].asks_aside for reserved, after in zip(held, turns[1:], strict=False)
    )


def _never(said: Sequence[Said], i: int) -> bool:  # noqa: ARG001 - the shape of a loss
    return False


FAULTS: tuple[Fault, ...] = (
    Fault(
        name="long_turn",
        says="the statement is lost when one message of 1,500 tokens or more comes after it",
        memory=crowded_out(1500),
        minimum=4,
    ),
    Fault(
        name="interruption",
        says="the statement is lost when a question comes aside before anything was done about it",
        memory=losing_at_once(_asked_while_pending),
        minimum=4,
    ),
    Fault(
        name="last_statement",
        says="the middle is cut out beyond 2,400 tokens; the ceiling that is still in view is taken for the last one",
        memory=head_and_tail(2400, head=6, tail=4),
        clerk=Hesitant,
        scenario=TWO_RULES,
        breaks="lower",
        minimum=5,
    ),
    Fault(
        name="two_interruptions",
        says="a summary beyond 2,400 tokens loses the statement if two questions came aside since",
        memory=Summarised(2400, keep=4, loses=_asked_twice),
        minimum=6,
    ),
    Fault(
        name="before_first_call",
        says="a summary beyond 900 tokens loses a statement that stands before the first tool call",
        memory=Summarised(900, keep=4, loses=_before_any_call),
        minimum=4,
    ),
    Fault(
        name="own_commitment",
        says="the agent goes by its own promise, which is pruned beyond 2,000 tokens once eight messages have followed",
        memory=pruned(2000, keep=8),
        clerk=Committed,
        minimum=5,
    ),
    Fault(
        name="after_search",
        says="a summary beyond 1,800 tokens, of all but eight messages, loses a statement made just after a search",
        memory=Summarised(1800, keep=8, loses=_after_search),
        scenario=RULE_FIRST,
        minimum=5,
    ),
    Fault(
        name="after_hold",
        says="the statement is lost when a question comes aside just after a reservation made under it",
        memory=losing_at_once(_asked_while_held),
        minimum=5,
    ),
    Fault(
        name="between_chats",
        says="a summary beyond 900 tokens loses a statement that stands between two turns of small talk",
        memory=Summarised(900, keep=4, loses=_between_chats),
        minimum=5,
        pads=(12, *range(780, 921, 20)),
    ),
    Fault(
        name="two_compactions",
        says="a summary of a summary, each made beyond 1,600 tokens, loses the statement",
        memory=Summarised(1600, keep=2, loses=_summarised_before, least=200),
        minimum=5,
    ),
    Fault(
        name="three_at_once",
        says="a summary beyond 900 tokens loses a statement made before any tool call, if a reservation and right "
        "then a question aside came after it",
        memory=Summarised(900, keep=4, loses=_three_at_once),
        minimum=6,
    ),
    Fault(
        name="moved_only",
        says="what was reserved is ordered even if a ceiling was stated since; only a moved statement can be so late",
        memory=Summarised(10**9, keep=4, loses=_never),
        clerk=Settled,
        minimum=4,
    ),
    Fault(
        name="middle",
        says="of more than 2,000 tokens only the first 300 and the last 1,700 are seen",
        memory=middle_unseen(2000, head=300),
        minimum=5,
    ),
    Fault(
        name="many_messages",
        says="only the last 24 messages are kept",
        memory=recent(24),
        minimum=9,
        pads=(12,),
        bank=1,
    ),
)  # fmt: skip
