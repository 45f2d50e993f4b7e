"""Case: a session that fails at its last turn, and what the reducer may know of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fuzzturn.finding import Failure, Pinned
from fuzzturn.rewrite import keep
from fuzzturn.session import Message, ToolCall, Turn
from fuzzturn.threshold import Threshold
from fuzzturn.tokens import message_tokens, text_tokens
from fuzzturn.trial import Trial
from fuzzturn.variant import Pad, Variant

__all__ = ["Case", "as_case", "pads_of"]


@dataclass(frozen=True, slots=True)
class Case:
    """A session that fails at its last turn."""

    trial: Trial
    failure: Failure
    threshold: Threshold | None = None

    @property
    def variant(self) -> Variant:
        return self.trial.variant

    @property
    def failing(self) -> str:
        """Id of the scripted or inserted turn that fails."""
        return self.variant.spoken.turns[-1].id

    @property
    def others(self) -> list[str]:
        """Ids of all turns before the failing one, in order."""
        return [line.id for line in self.variant.spoken.turns[:-1]]

    @property
    def compactions(self) -> int:
        """How often the context was compacted up to the failing turn, as far as the agent tells."""
        return sum(len(turn.compactions) for turn in self.trial.measured.session.turns[: self.failure.turn])

    @property
    def by_size(self) -> bool:
        """Whether size in tokens decides when the context is compacted, so that what is deleted has to be made up."""
        return self.compactions > 0 and self.threshold is not None and self.threshold.unit == "tokens"

    def pads(self) -> dict[str, Pad]:
        return pads_of(self.variant)

    def tokens(self, ids: Sequence[str]) -> int:
        """What these turns added to the agent's context, in tokens."""
        return sum(_turn_tokens(turn) for turn in self.trial.measured.session.turns if turn.id in ids)


def as_case(trial: Trial, pinned: Pinned, threshold: Threshold | None) -> Case | None:
    """The trial cut after the first turn that satisfies the predicate; None where no turn does.

    An agent cannot know what will be said later, so the cut costs no run.
    """
    failure = next((failure for failure in trial.failures if pinned.matches(failure)), None)
    if failure is None:
        return None
    spoken = trial.variant.spoken.turns
    said = {turn.id for turn in trial.measured.session.turns[: failure.turn]}
    last = max(i for i, line in enumerate(spoken) if line.id in said)
    if last + 1 == len(spoken):
        return Case(trial, failure, threshold)
    cut = keep(trial.variant, {line.id for line in spoken[: last + 1]})
    return Case(Trial(cut, trial.measured, trial.failures), failure, threshold)


def pads_of(variant: Variant) -> dict[str, Pad]:
    return {id: edit for id, edit in variant.inserted.items() if isinstance(edit, Pad)}


def _turn_tokens(turn: Turn) -> int:
    said = text_tokens(turn.user)
    for event in turn.events:
        if isinstance(event, Message):
            said += text_tokens(event.text)
        elif isinstance(event, ToolCall):
            call: Mapping[str, object] = {"tool_calls": [{"name": event.name, "arguments": event.args}]}
            said += message_tokens(call) + message_tokens({"content": event.result or event.error})
    return said
