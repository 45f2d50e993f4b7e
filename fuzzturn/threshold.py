"""Threshold: where the agent's compaction begins, learned from the sessions played, and the padding that crosses it.

Nothing is known of the agent but what it reports: how large the context of each model call was, and when it
compacted. Some policies count tokens, some count messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from fuzzturn.scenario import Scenario
from fuzzturn.session import Chat, Compaction, ModelCall, ToolCall, Turn
from fuzzturn.tokens import message_tokens, messages_tokens, text_tokens
from fuzzturn.tree import Tree
from fuzzturn.variant import PAD_TOKENS_MIN, Edit, Pad, Variant, with_tokens

__all__ = ["ANSWER_TOKENS", "Gauge", "Threshold", "fullness", "narrowed", "solve"]

Unit: TypeAlias = Literal["tokens", "messages"]
UNITS: tuple[Unit, ...] = get_args(Unit)
PROBE_TOKENS = 4000
"""Padding to the threshold of an agent that was not seen to compact yet."""
TURNS_MAX = 24
"""Filler turns at most, for an agent that counts messages."""
ANSWER_TOKENS = 16
"""What an agent's answer to small talk is expected to add."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A context of `low` was left alone, one of `high` was compacted; in `unit`."""

    unit: Unit
    low: int
    high: int


def narrowed(threshold: Threshold, turns: Sequence[Turn]) -> Threshold:
    """The bracket after one more session: what it left alone or compacted tells for nothing.

    A point that contradicts the bracket (a size left alone above `high`, or compacted below `low`) is not believed:
    some policies look at more than size.
    """
    inside = [(s, c) for s, c in _points(turns, threshold.unit) if threshold.low < s < threshold.high]
    high = min((size for size, compacted in inside if compacted), default=threshold.high)
    low = max((size for size, compacted in inside if not compacted and size < high), default=threshold.low)
    return Threshold(unit=threshold.unit, low=low, high=high)


class Gauge:
    """Where an agent's compaction begins, as far as the sessions played so far tell. Each narrows it for nothing.

    Tokens and messages grow together in a script. The unit is the one that fewer sessions contradict, by leaving alone
    a larger context than one that was compacted; tokens where neither is.
    """

    def __init__(self) -> None:
        self._left_alone: dict[Unit, Counter[int]] = {unit: Counter() for unit in UNITS}
        self._compacted: dict[Unit, Counter[int]] = {unit: Counter() for unit in UNITS}

    def fork(self) -> Gauge:
        """A gauge that knows the same and goes on by itself."""
        other = Gauge()
        for unit in UNITS:
            other._left_alone[unit].update(self._left_alone[unit])
            other._compacted[unit].update(self._compacted[unit])
        return other

    def add(self, turns: Sequence[Turn]) -> None:
        """What one session tells."""
        for unit in UNITS:
            for size, compacted in _points(turns, unit):
                (self._compacted if compacted else self._left_alone)[unit][size] += 1

    @property
    def tells(self) -> bool:
        """Whether the agent told any context at all."""
        return any(self._left_alone.values()) or any(self._compacted.values())

    @property
    def threshold(self) -> Threshold | None:
        """The bracket; None = nothing was compacted yet, or it hangs on something else than size.

        That is so where more contexts of that size and above were left alone than there were compactions.
        """
        compactions = self._compacted["tokens"].total()
        unit = min(UNITS, key=self._contradicted)
        if not compactions or self._contradicted(unit) > compactions:
            return None
        high = min(self._compacted[unit])
        return Threshold(unit=unit, low=max((s for s in self._left_alone[unit] if s < high), default=0), high=high)

    def _contradicted(self, unit: Unit) -> int:
        high = min(self._compacted[unit], default=0)
        return sum(times for size, times in self._left_alone[unit].items() if size >= high)


async def solve(tree: Tree, variant: Variant, threshold: Threshold | None) -> Variant:
    """The variant with a concrete size for every symbolic pad.

    Where no threshold is known yet, padding that is to bring the compaction on is PROBE_TOKENS, the other is left out.
    Plays the turns before each pad, which the session itself goes through anyhow, to learn how full the context is.
    """
    while (symbol := next((e for e in variant.edits if isinstance(e, Pad) and e.tokens is None), None)) is not None:
        if threshold is None:
            solved: list[Edit] = [with_tokens(symbol, PROBE_TOKENS)] if symbol.to == "before" else []
        else:
            solved = await _sized(tree, variant, symbol, threshold)
        edits = [new for edit in variant.edits for new in (solved if edit is symbol else [edit])]
        variant = variant.with_edits(edits)
    return variant


async def _sized(tree: Tree, variant: Variant, symbol: Pad, threshold: Threshold) -> list[Edit]:
    place = next((id for id, edit in variant.inserted.items() if edit is symbol), None)
    if place is None:  # its anchor was dropped
        return []
    lines = variant.spoken.turns
    at = [line.id for line in lines].index(place)
    turns = (await tree.play(_first(variant.spoken, at))).turns if at else ()
    full = fullness(turns, threshold.unit)
    if threshold.unit == "messages":
        missing = threshold.high - 1 - full - (2 if symbol.to == "after" else 0)  # 1: the anchor's own message
        count = min(max(-(-missing // 2), 1), TURNS_MAX)
        return [with_tokens(symbol, PAD_TOKENS_MIN) for _ in range(count)]
    if symbol.to == "after":
        anchor = next(line for line in lines[at:] if line.id == symbol.anchor)
        return [with_tokens(symbol, threshold.low - full - ANSWER_TOKENS - text_tokens(anchor.user))]
    return [with_tokens(symbol, threshold.high - full)]


def _first(scenario: Scenario, turns: int) -> Scenario:
    return scenario.model_copy(update={"turns": scenario.turns[:turns]})


def _points(turns: Iterable[Turn], unit: Unit) -> Iterator[tuple[int, bool]]:
    full = 0  # the context now, as far as what was reported tells
    fresh = False  # just compacted: what the next call sees was not left alone
    for turn in turns:
        full += text_tokens(turn.user) if unit == "tokens" else 1
        for event in turn.events:
            if isinstance(event, Compaction):
                told = event.before if unit == "tokens" else None
                yield (full if told is None else told), True
                fresh = True
            elif isinstance(event, ModelCall):
                if event.context is not None:
                    full = _size(event.context, unit)
                    if not fresh:
                        yield full, False
                fresh = False
                full += 0 if unit == "tokens" else 1  # its answer, whose tokens come with its text or tool calls
            elif isinstance(event, ToolCall):
                full += message_tokens({"content": event.result or event.error}) if unit == "tokens" else 1
            else:
                full += text_tokens(event.text) if unit == "tokens" else 0


def _size(context: Sequence[Chat], unit: Unit) -> int:
    counted = [message for message in context if message.get("role") != "system"]
    return messages_tokens(counted) if unit == "tokens" else len(counted)


def fullness(turns: Sequence[Turn], unit: Unit) -> int:
    """The context's size after the last turn: its last model call and what was said since."""
    for turn in reversed(turns):
        contexts = [call.context for call in turn.model_calls if call.context is not None]
        if contexts:
            return _size(contexts[-1], unit) + (text_tokens(turn.text) if unit == "tokens" else 1)
    return 0
