"""Threshold: where the agent's compaction begins, measured once per agent, and the padding that crosses it.

Nothing is known of the agent but what it reports: how large the context of each model call was, and when it
compacted. Some policies count tokens, some count messages; filler turns of growing size show which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fuzzturn.rewrite import OPERATOR
from fuzzturn.scenario import Scenario
from fuzzturn.session import Chat, Compaction, ModelCall, Turn
from fuzzturn.tokens import messages_tokens, text_tokens
from fuzzturn.tree import Tree
from fuzzturn.variant import PAD_TOKENS_MIN, Edit, Pad, Variant, with_tokens

__all__ = ["Threshold", "calibrate", "solve"]

PROBE_TOKENS = (250, 500, 1000, 2000, 4000)
PROBE_TURNS_MAX = 24
BRACKET_TOKENS = 24
"""Narrow enough: the padding found from it is checked by a run anyhow."""
ANSWER_TOKENS = 16
"""What an agent's answer to small talk is expected to add."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A context of `low` was left alone, one of `high` was compacted; in `unit`."""

    unit: Literal["tokens", "messages"]
    low: int
    high: int


async def calibrate(tree: Tree, scenario: Scenario) -> Threshold | None:
    """The bracket for this agent, from filler spoken before the second scripted turn.

    None where the agent does not tell its contexts, or where nothing up to PROBE_TOKENS tokens in one turn and
    PROBE_TURNS_MAX small turns makes it compact.
    """
    if len(scenario.turns) < 2:
        return None
    for tokens in PROBE_TOKENS:
        turns = await _probe(tree, scenario, [tokens])
        sizes = _sizes(turns, "tokens")
        if not sizes:
            return None
        if any(compacted for _, compacted in sizes):
            return await _narrow(tree, scenario, tokens, _bracket(turns, "tokens"))
    turns = await _probe(tree, scenario, [PAD_TOKENS_MIN] * PROBE_TURNS_MAX)
    return _bracket(turns, "messages") if any(turn.compactions for turn in turns) else None


async def solve(tree: Tree, variant: Variant, threshold: Threshold | None) -> Variant:
    """The variant with a concrete size for every symbolic pad; without a threshold such pads are left out.

    Plays the turns before each pad, which the session itself goes through anyhow, to learn how full the context is.
    """
    while (symbol := next((e for e in variant.edits if isinstance(e, Pad) and e.tokens is None), None)) is not None:
        solved = [] if threshold is None else await _sized(tree, variant, symbol, threshold)
        edits = [new for edit in variant.edits for new in (solved if edit is symbol else [edit])]
        variant = variant.with_edits(edits)
    return variant


async def _sized(tree: Tree, variant: Variant, symbol: Pad, threshold: Threshold) -> list[Edit]:
    place = next((id for id, edit in variant.inserted.items() if edit is symbol), None)
    if place is None:  # its anchor was dropped
        return []
    lines = variant.spoken.turns
    at = [line.id for line in lines].index(place)
    before = variant.spoken.model_copy(update={"turns": lines[:at]})
    turns = (await tree.play(before)).turns if at else ()
    full = _fullness(turns, threshold.unit)
    if threshold.unit == "messages":
        missing = threshold.high - full - (2 if symbol.to == "after" else 0)
        count = min(max(-(-missing // 2), 1), PROBE_TURNS_MAX)
        return [with_tokens(symbol, PAD_TOKENS_MIN) for _ in range(count)]
    if symbol.to == "after":
        anchor = next(line for line in lines[at:] if line.id == symbol.anchor)
        return [with_tokens(symbol, threshold.low - full - ANSWER_TOKENS - text_tokens(anchor.user))]
    return [with_tokens(symbol, threshold.high - full)]


async def _probe(tree: Tree, scenario: Scenario, pads: Sequence[int]) -> tuple[Turn, ...]:
    anchor = scenario.turns[1].id
    probe = Variant(scenario, tuple(Pad(operator=OPERATOR, anchor=anchor, tokens=tokens) for tokens in pads)).spoken
    return (await tree.play(probe.model_copy(update={"turns": probe.turns[: len(pads) + 1]}))).turns


async def _narrow(tree: Tree, scenario: Scenario, tokens: int, bracket: Threshold) -> Threshold:
    low_pad, high_pad = PAD_TOKENS_MIN, tokens
    while bracket.high - bracket.low > BRACKET_TOKENS and high_pad - low_pad > 1:
        middle = (low_pad + high_pad) // 2
        seen = _bracket(turns := await _probe(tree, scenario, [middle]), "tokens")
        if any(turn.compactions for turn in turns):
            high_pad, bracket = middle, replace(bracket, high=min(bracket.high, seen.high))
        else:
            low_pad = middle
        bracket = replace(bracket, low=max(bracket.low, min(seen.low, bracket.high - 1)))
    return bracket


def _bracket(turns: Iterable[Turn], unit: Literal["tokens", "messages"]) -> Threshold:
    """The largest context left alone before the first compaction, and the size at that compaction."""
    sizes = _sizes(turns, unit)
    first = next((i for i, (_, compacted) in enumerate(sizes) if compacted), len(sizes))
    low = max((size for size, _ in sizes[:first]), default=0)
    high = sizes[first][0] if first < len(sizes) else 2**31
    return Threshold(unit=unit, low=low, high=max(high, low + 1))


def _sizes(turns: Iterable[Turn], unit: Literal["tokens", "messages"]) -> list[tuple[int, bool]]:
    """The context's size at every point where compaction was possible, and whether it happened there."""
    return list(_points([event for turn in turns for event in turn.events], unit))


def _points(events: Sequence[object], unit: Literal["tokens", "messages"]) -> Iterator[tuple[int, bool]]:
    last: int | None = None
    for event in events:
        if isinstance(event, Compaction):
            if unit == "tokens" and event.before is not None:
                yield event.before, True
            else:  # not told: at least one message more than the call before it
                yield (0 if last is None else last) + 1, True
        elif isinstance(event, ModelCall) and event.context is not None:
            last = _size(event.context, unit)
            yield last, False


def _size(context: Sequence[Chat], unit: Literal["tokens", "messages"]) -> int:
    counted = [message for message in context if message.get("role") != "system"]
    return messages_tokens(counted) if unit == "tokens" else len(counted)


def _fullness(turns: Sequence[Turn], unit: Literal["tokens", "messages"]) -> int:
    """The context's size after the last turn: its last model call and what was said since."""
    for turn in reversed(turns):
        contexts = [call.context for call in turn.model_calls if call.context is not None]
        if contexts:
            return _size(contexts[-1], unit) + (text_tokens(turn.text) if unit == "tokens" else 1)
    return 0
