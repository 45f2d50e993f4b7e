"""Threshold: where the agent's compaction begins, measured once per agent, and the padding that crosses it.

Nothing is known of the agent but what it reports: how large the context of each model call was, and when it
compacted. Some policies count tokens, some count messages; filler turns of growing size show which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from fuzzturn.rewrite import OPERATOR
from fuzzturn.scenario import Scenario
from fuzzturn.session import Chat, Compaction, ModelCall, ToolCall, Turn
from fuzzturn.tokens import message_tokens, messages_tokens, text_tokens
from fuzzturn.tree import Tree
from fuzzturn.variant import PAD_TOKENS_MIN, Edit, Pad, Variant, with_tokens

__all__ = ["ANSWER_TOKENS", "Threshold", "calibrate", "fullness", "solve"]

PROBE_TOKENS = (250, 500, 1000, 2000, 4000)
PROBE_TURNS_MAX = 24
BRACKET_TOKENS = 24
"""Narrow enough: the padding found from it is checked by a run anyhow."""
PROBES_MAX = 10
ANSWER_TOKENS = 16
"""What an agent's answer to small talk is expected to add."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A context of `low` was left alone, one of `high` was compacted; in `unit`."""

    unit: Literal["tokens", "messages"]
    low: int
    high: int


async def calibrate(tree: Tree, scenario: Scenario) -> Threshold | None:
    """The bracket for this agent: from the unedited script, then from filler spoken late in it.

    Late, because a policy may leave a context alone that holds too little to drop; and since the script up to there
    has been played already, a probe costs two turns. None where the agent does not tell its contexts, or where
    nothing up to PROBE_TOKENS tokens in one turn and PROBE_TURNS_MAX small turns makes it compact.
    """
    base = (await tree.play(scenario)).turns
    seen = _Points(_sizes(base, "tokens"))
    if not seen.points or len(scenario.turns) < 2:
        return None
    probe = _Probe(tree, scenario, base)
    for tokens in PROBE_TOKENS:
        if seen.high is None:
            seen.add(_sizes(await probe.play([tokens]), "tokens"))
    if seen.high is not None and await probe.compacts_beyond(seen.high):
        await _narrow(probe, seen)
        return Threshold(unit="tokens", low=seen.low, high=seen.high)
    counted = _Points(_sizes(await probe.play([PAD_TOKENS_MIN] * PROBE_TURNS_MAX), "messages"))
    return None if counted.high is None else Threshold(unit="messages", low=counted.low, high=counted.high)


class _Probe:
    """Filler before the last scripted turn that the unedited script reaches without compaction."""

    def __init__(self, tree: Tree, scenario: Scenario, base: Sequence[Turn]) -> None:
        self._tree, self._scenario = tree, scenario
        compacted = next((i for i, turn in enumerate(base) if turn.compactions), len(base))
        # Automatic answers are turns, too: count scripted ones only.
        reached = sum(not turn.auto for turn in base[: compacted + 1])
        self._at = max(min(reached, len(scenario.turns)) - 1, 1)

    async def play(self, pads: Sequence[int]) -> tuple[Turn, ...]:
        """The script up to there, filler of these sizes, and one turn more."""
        anchor = self._scenario.turns[self._at].id
        edits = tuple(Pad(operator=OPERATOR, anchor=anchor, tokens=tokens) for tokens in pads)
        spoken = Variant(self._scenario, edits).spoken
        return (await self._tree.play(_first(spoken, self._at + len(pads) + 1))).turns

    async def compacts_beyond(self, tokens: int) -> bool:
        """Whether one turn of filler that fills the context beyond `tokens` is compacted at once.

        The script alone cannot tell, since tokens and messages grow together in it. Spoken a turn earlier, where there
        are still fewer messages than were compacted, the filler is left alone by a policy that counts messages.
        """
        at = max(self._at - 1, 1)
        full = fullness((await self._tree.play(_first(self._scenario, at))).turns, "tokens")
        filler = Pad(operator=OPERATOR, anchor=self._scenario.turns[at].id, tokens=tokens + BRACKET_TOKENS - full)
        spoken = Variant(self._scenario, (filler,)).spoken
        return bool((await self._tree.play(_first(spoken, at + 1))).turns[-1].compactions)

    async def full(self) -> int:
        """Tokens of the context just before the filler."""
        return fullness((await self._tree.play(_first(self._scenario, self._at))).turns, "tokens")


def _first(scenario: Scenario, turns: int) -> Scenario:
    return scenario.model_copy(update={"turns": scenario.turns[:turns]})


class _Points:
    """Context sizes at which compaction was possible, and whether it happened; together they bracket the threshold."""

    def __init__(self, points: Iterable[tuple[int, bool]]) -> None:
        self.points = list(points)

    def add(self, points: Iterable[tuple[int, bool]]) -> None:
        self.points += points

    @property
    def high(self) -> int | None:
        """The smallest size that was compacted; None = none was."""
        return min((size for size, compacted in self.points if compacted), default=None)

    @property
    def low(self) -> int:
        """The largest size below that which was left alone. (What compaction cannot shrink may stay larger.)"""
        ceiling = self.high or 2**31
        return max((size for size, compacted in self.points if not compacted and size < ceiling), default=0)


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
    turns = (await tree.play(_first(variant.spoken, at))).turns if at else ()
    full = fullness(turns, threshold.unit)
    if threshold.unit == "messages":
        missing = threshold.high - 1 - full - (2 if symbol.to == "after" else 0)  # 1: the anchor's own message
        count = min(max(-(-missing // 2), 1), PROBE_TURNS_MAX)
        return [with_tokens(symbol, PAD_TOKENS_MIN) for _ in range(count)]
    if symbol.to == "after":
        anchor = next(line for line in lines[at:] if line.id == symbol.anchor)
        return [with_tokens(symbol, threshold.low - full - ANSWER_TOKENS - text_tokens(anchor.user))]
    return [with_tokens(symbol, threshold.high - full)]


async def _narrow(probe: _Probe, seen: _Points) -> None:
    """Halve the bracket by filler that fills the context to its middle."""
    full = await probe.full()
    for _ in range(PROBES_MAX):
        high = seen.high or 0
        if high - seen.low <= BRACKET_TOKENS:
            break
        seen.add(_sizes(await probe.play([(seen.low + high) // 2 - full]), "tokens"))


def _sizes(turns: Iterable[Turn], unit: Literal["tokens", "messages"]) -> list[tuple[int, bool]]:
    """The context's size at every point where compaction was possible, and whether it happened there."""
    return list(_points(turns, unit))


def _points(turns: Iterable[Turn], unit: Literal["tokens", "messages"]) -> Iterator[tuple[int, bool]]:
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


def _size(context: Sequence[Chat], unit: Literal["tokens", "messages"]) -> int:
    counted = [message for message in context if message.get("role") != "system"]
    return messages_tokens(counted) if unit == "tokens" else len(counted)


def fullness(turns: Sequence[Turn], unit: Literal["tokens", "messages"]) -> int:
    """The context's size after the last turn: its last model call and what was said since."""
    for turn in reversed(turns):
        contexts = [call.context for call in turn.model_calls if call.context is not None]
        if contexts:
            return _size(contexts[-1], unit) + (text_tokens(turn.text) if unit == "tokens" else 1)
    return 0
