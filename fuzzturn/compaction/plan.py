"""Plan: what a policy is about to do to a message list, and what came of it.

A policy works in two pure steps, so that a model that has to be waited for can summarise between them:

    plan = policy.plan(messages)                          # None: it does not fire
    summary = await model(plan.reads) if plan.reads else None
    compacted = plan.finish(summary)

`policy(messages)` does both with the policy's own summariser.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from fuzzturn.compaction.notes import NO_SUMMARY, SUMMARY_HEADING, TOO_LONG, Summariser, by_rule
from fuzzturn.errors import PortError
from fuzzturn.session import Chat, Compaction
from fuzzturn.tokens import messages_tokens

__all__ = ["Compacted", "Decide", "Plan", "Policy", "Role", "untouched"]

Role: TypeAlias = Literal["user", "system", "assistant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """What a policy made of a message list. `before` and `after` are tokens; nothing dropped = it did not fire."""

    policy: str
    messages: tuple[Chat, ...]
    dropped: tuple[Chat, ...] = ()
    """What left the list, in its order; a tool result that was cleared is here as it was."""
    summary: str | None = None
    """The text in the place of what was dropped; None = nothing stands there."""
    summariser_input: tuple[Chat, ...] = ()
    """What the summariser read; () = it was not called."""
    before: int
    after: int

    def event(self) -> Compaction | None:
        """The same as an event of a reply; None where the policy did not fire."""
        if not self.dropped:
            return None
        return Compaction(self.policy, self.before, self.after, self.dropped, self.summary, self.summariser_input)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What goes, and what the summariser is to read before `finish` carries it out."""

    policy: str
    messages: tuple[Chat, ...]
    """The list as it is now."""
    before: int
    """Its tokens."""
    gone: Mapping[int, tuple[Chat, ...]]
    """By index: a message that goes, and what stands in its own place, () for nothing."""
    at: int = 0
    """The summary stands before what was, or stands in the place of, the message with this index."""
    reads: tuple[Chat, ...] = ()
    """What the summariser is to read; () = none is called: there is no summary, or nothing left that it may read."""
    summary_role: Role | None = None
    """The role of the summary message; None = the policy puts none there."""

    @property
    def dropped(self) -> tuple[Chat, ...]:
        return tuple(self.messages[i] for i in sorted(self.gone))

    def finish(self, summary: str | None) -> Compacted:
        """Carry it out with the summariser's text; None where `reads` is (), and only there (PortError).

        A result that is not smaller is not used: then nothing was dropped. A blank text is replaced by NO_SUMMARY;
        where a summary is due and there is nothing to read, TOO_LONG stands in its place.
        """
        told = self._told(summary)
        kept = tuple(self._kept(told))
        after = messages_tokens(kept)
        if after >= self.before:
            return untouched(self.policy, self.messages, self.before)
        return Compacted(
            policy=self.policy, messages=kept, dropped=self.dropped, summary=told,
            summariser_input=self.reads, before=self.before, after=after,
        )  # fmt: skip

    def _told(self, summary: str | None) -> str | None:
        if not self.reads:
            if summary is not None:
                raise PortError(f"{self.policy} has nothing to summarise, and was given a summary; None is accepted")
            return None if self.summary_role is None else TOO_LONG
        if not isinstance(summary, str):
            raise PortError(f"{self.policy} was given the summary {summary!r}; a summary is a text")
        return summary if summary.strip() else NO_SUMMARY

    def _kept(self, told: str | None) -> Iterator[Chat]:
        for i in range(len(self.messages) + 1):
            if i == self.at and told is not None:
                yield {"role": self.summary_role, "content": f"{SUMMARY_HEADING}\n{told}"}
            if i < len(self.messages):
                yield from self.gone.get(i, (self.messages[i],))


Decide: TypeAlias = Callable[[Sequence[Chat], int], Plan | None]
"""From a message list and its tokens to what is to be done; None = nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A compaction policy: the same messages always give the same result, and the input is left as it was."""

    name: str
    decide: Decide
    summarise: Summariser = by_rule
    settings: Mapping[str, object] = field(default_factory=dict)
    """The settings in force that are not neutral, by option name; the same settings make the same policy."""
    decide_anyhow: Decide | None = None
    """What it decides where it is to fire below its threshold too; None = the same, it has none."""

    @property
    def identity(self) -> str:
        """Name and settings in one line, as it goes into an agent's identity."""
        return ", ".join([self.name, *(f"{option}={_text(value)}" for option, value in self.settings.items())])

    @property
    def forced(self) -> Policy:
        """The same policy, firing whatever its threshold says; where there is nothing to give, it does not fire."""
        return replace(self, decide=self.decide_anyhow or self.decide)

    def plan(self, messages: Sequence[Chat]) -> Plan | None:
        """What is to be done to the list; None = the policy does not fire."""
        return self.decide(messages, messages_tokens(messages))

    def __call__(self, messages: Sequence[Chat], /) -> Compacted:
        """Plan and finish with the policy's own summariser."""
        tokens = messages_tokens(messages)
        plan = self.decide(messages, tokens)
        if plan is None:
            return untouched(self.name, messages, tokens)
        return plan.finish(self.summarise(plan.reads) if plan.reads else None)


def untouched(policy: str, messages: Sequence[Chat], tokens: int) -> Compacted:
    """What a policy that does not fire leaves: all of it."""
    return Compacted(policy=policy, messages=tuple(messages), before=tokens, after=tokens)


def _text(value: object) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)
