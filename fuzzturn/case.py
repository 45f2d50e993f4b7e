"""Case: a session that fails at its last turn, and what the reducer may know of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from fuzzturn.finding import Failure, Pinned
from fuzzturn.losing import Seen, culprit
from fuzzturn.rewrite import keep
from fuzzturn.session import Message, ModelCall, ToolCall, Turn
from fuzzturn.threshold import ANSWER_TOKENS, Threshold, fullness, narrowed
from fuzzturn.tokens import message_tokens, text_tokens
from fuzzturn.trial import Trial
from fuzzturn.variant import PAD_TOKENS_MIN, Pad, Variant, Word

__all__ = ["Case", "as_case", "pads_of"]

UNKNOWN = 2**31
"""Tokens or messages that no context has."""
ASSUMED = (Threshold(unit="tokens", low=0, high=UNKNOWN), Threshold(unit="messages", low=0, high=UNKNOWN))


@dataclass(frozen=True)
class Case:
    """A session that fails at its last turn."""

    trial: Trial
    failure: Failure
    threshold: Threshold | None = None
    assumed: tuple[Threshold, ...] = ()
    """Where the threshold was not measured: what the sessions so far are no contradiction to."""

    @property
    def variant(self) -> Variant:
        return self.trial.variant

    @property
    def failing(self) -> str:
        """Id of the scripted or inserted turn that fails."""
        return self.variant.spoken.turns[-1].id

    @cached_property
    def others(self) -> tuple[str, ...]:
        """Ids of all turns before the failing one, in order."""
        return tuple(line.id for line in self.variant.spoken.turns[:-1])

    @property
    def stating(self) -> str | None:
        """Id of the turn that states the constraint; None where no turn does, or where it is about none."""
        return self.variant.spoken.stating(self.failure.constraint) if self.failure.constraint else None

    @cached_property
    def turns(self) -> Sequence[Turn]:
        """What happened, up to the failing turn; the scripted user's automatic answers are turns, too."""
        return self.trial.measured.session.turns[: self.failure.turn]

    @cached_property
    def compactions(self) -> int:
        """How often the context was compacted up to the failing turn, as far as the agent tells."""
        return sum(len(turn.compactions) for turn in self.turns)

    @property
    def by_size(self) -> bool:
        """Whether size in tokens decides when the context is compacted, so that what is deleted has to be made up."""
        return self.compactions > 0 and self.threshold is not None and self.threshold.unit == "tokens"

    @property
    def by_messages(self) -> bool:
        """Whether it is the number of messages that decides."""
        return self.threshold is not None and self.threshold.unit == "messages"

    @cached_property
    def lost_in(self) -> str | None:
        """Id of the turn in which the context was compacted so that the statement was seen no longer.

        Where it is seen to the end, or is not stated by a turn: of the last in which the context was compacted. None
        where none was, as far as the agent tells.
        """
        at = self._culprit()
        return None if at is None else self._spoken_at(at)

    def compacted_from(self, id: str) -> tuple[str, int] | None:
        """The first turn from `id` on in which the context was compacted, and its tokens before; None = it was not."""
        ids = [*self.others, self.failing]
        for place, turn in enumerate(self.turns):
            if turn.compactions and ids.index(self._spoken_at(place)) >= ids.index(id):
                told = turn.compactions[0].before
                return self._spoken_at(place), told or fullness(self.turns[:place], "tokens") + text_tokens(turn.user)
        return None

    def narrowed(self, trial: Trial) -> Case:
        """The case with what one more session tells of where compaction begins."""
        turns = trial.telling
        if not self.assumed:
            return self if self.threshold is None else replace(self, threshold=narrowed(self.threshold, turns))
        left = tuple(narrowed(bracket, turns) for bracket in self.assumed if not _contradicts(turns, bracket))
        return replace(self, assumed=left, threshold=next((one for one in left if one.high < UNKNOWN), None))

    def assuming(self) -> Case:
        """The same; where it is not known what decides when the context is compacted, its tokens or messages may.

        A threshold that this very session contradicts was learned from too few others, and is not known.
        """
        if self.threshold is not None and not _contradicts(self.trial.telling, self.threshold):
            return self
        return replace(self, threshold=None, assumed=ASSUMED)

    @cached_property
    def answer(self) -> int:
        """What the agent's answer to padding adds to its context, in tokens; a guess where nothing was padded."""
        said = [
            self.tokens([id]) - (pad.tokens or PAD_TOKENS_MIN) for id, pad in self.pads().items() if id in self.others
        ]
        return min(said, default=ANSWER_TOKENS)

    @cached_property
    def meanwhile(self) -> int:
        """What tool calls of the failing turn added to the context before its last model call, in tokens."""
        events = self.turns[-1].events
        last = max((n for n, event in enumerate(events) if isinstance(event, ModelCall)), default=0)
        return sum(_call_tokens(event) for event in events[:last] if isinstance(event, ToolCall))

    def gone_without(self, ids: Iterable[str]) -> frozenset[str]:
        """The turns `ids` and what makes no sense without them."""
        return frozenset(other for id in ids for other in self.variant.scenario.dependants(id))

    def calls_tools(self, id: str) -> bool:
        """Whether tools were called in the turn."""
        return any(turn.tool_calls for n, turn in enumerate(self.turns) if self._spoken_at(n) == id)

    def pads(self) -> dict[str, Pad]:
        return pads_of(self.variant)

    def tokens(self, ids: Collection[str]) -> int:
        """What these turns added to the agent's context, in tokens."""
        return sum(_turn_tokens(turn) for n, turn in enumerate(self.turns) if self._spoken_at(n) in ids)

    def _spoken_at(self, place: int) -> str:
        """Id of the spoken turn that the session's turn at this place, from 0, is or belongs to."""
        spoken = sum(not turn.auto for turn in self.turns[: place + 1])
        return self.variant.spoken.turns[max(spoken, 1) - 1].id

    def _culprit(self) -> int | None:
        """Place of the compaction that lost the statement; else of the last one."""
        measured = self.trial.measured
        if self.failure.constraint is not None:
            constraint = measured.spoken.constraint(self.failure.constraint)
            lost = culprit(Seen(constraint, measured.ledgers[self.failure.turn - 1]), self.turns)
            if lost is not None:
                return lost[0] - 1
        return max((place for place, turn in enumerate(self.turns) if turn.compactions), default=None)


def as_case(trial: Trial, pinned: Pinned, threshold: Threshold | None) -> Case | None:
    """The trial cut after the first turn that satisfies the predicate; None where no turn does.

    An agent cannot know what will be said later, so the cut costs no run. The first piece of a statement is said only
    where the second one is: where it fails there, the turn after it stays.
    """
    failure = pinned.among(trial.failures)
    if failure is None:
        return None
    spoken = trial.variant.spoken.turns
    said = {turn.id for turn in trial.measured.session.turns[: failure.turn]}
    last = max(i for i, line in enumerate(spoken) if line.id in said)
    if last + 1 == len(spoken):
        return Case(trial, failure, threshold)
    said = {line.id for line in spoken[: last + 1]}
    cut = keep(trial.variant, said | _second_pieces(trial.variant, said))
    return Case(Trial(cut, trial.measured, trial.failures), failure, threshold)


def _second_pieces(variant: Variant, ids: Iterable[str]) -> set[str]:
    return {edit.anchor for id in ids if isinstance(edit := variant.inserted.get(id), Word)}


def _contradicts(turns: Sequence[Turn], bracket: Threshold) -> bool:
    """Whether a larger context than one that was compacted was left alone, or the other way round."""
    larger = narrowed(replace(bracket, low=bracket.high, high=UNKNOWN), turns)
    smaller = narrowed(replace(bracket, low=0, high=bracket.low + 1), turns)
    return larger.low > bracket.high or smaller.high <= bracket.low


def pads_of(variant: Variant) -> dict[str, Pad]:
    return {id: edit for id, edit in variant.inserted.items() if isinstance(edit, Pad)}


def _turn_tokens(turn: Turn) -> int:
    said = text_tokens(turn.user)
    for event in turn.events:
        if isinstance(event, Message):
            said += text_tokens(event.text)
        elif isinstance(event, ToolCall):
            said += _call_tokens(event)
    return said


def _call_tokens(event: ToolCall) -> int:
    call: Mapping[str, object] = {"tool_calls": [{"name": event.name, "arguments": event.args}]}
    return message_tokens(call) + message_tokens({"content": event.result or event.error})
