"""Options: one flat vocabulary for all policies, and how each option is read from the text of a command line.

A policy takes some of them (`policy_options`), with defaults of its own; what stands here is what an option is where
nobody says anything: not in force. Tokens are those of `tokens`, counted over the list that the policy is handed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from fuzzturn.compaction.plan import Role
from fuzzturn.errors import Problem

__all__ = ["OPTION_NAMES", "Anyhow", "Options", "PairRule", "read"]

PairRule: TypeAlias = Literal["move_back", "move_forward", "drop_orphans", "synthesize"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Every option of every policy. None = not in force."""

    threshold: int | None = None
    """Compact above so many tokens; from 1."""
    threshold_messages: int | None = None
    """Compact above so many messages; from 1."""
    threshold_fraction: float | None = None
    """Compact above this share of `window`; above 0, at most 1."""
    window: int | None = None
    """The model's context window in tokens, which `threshold_fraction` is a share of; from 1."""
    trigger: Literal["any", "all"] = "any"
    """Whether any threshold that is given has to be passed, or all of them."""
    keep: int | None = None
    """The newest messages that stay (clear_tool_results: tool results); from 1."""
    keep_tokens: int | None = None
    """The same in tokens, in place of `keep`: as many of the newest messages as fit; from 1."""
    keep_first: int = 0
    """The oldest messages that stay; from 0."""
    preserve: float = 1.0
    """The newest share of the list's tokens that stays; above 0, at most 1."""
    budget: int = 0
    """Tokens of older user messages that stay, the newest first; from 0."""
    interval: int = 1
    """Compact whenever so many user turns have gathered beyond `overlap`; from 1."""
    overlap: int = 0
    """User turns that are summarised and stay all the same, to be read by the next summary too; from 0."""
    pair_rule: PairRule = "move_back"
    """What becomes of a tool call and its results where the cut comes between them."""
    summary_input_limit: int | None = None
    """Tokens that the summariser reads at most, the newest, from a user message on; None = all; from 1."""
    summary_role: Role = "user"
    """The role of the message that the summary stands in."""
    placeholder: str = ""
    """What stands for the content of a cleared tool result; any text but a blank one."""
    exclude_tools: tuple[str, ...] = ()
    """Names of tools whose results are never cleared; on a command line separated by commas."""
    inner: str = ""
    """The policy that is wrapped."""

    @property
    def turns_to_gather(self) -> int:
        """How many finished user turns there have to be beyond `overlap`."""
        return self.interval

    def reached(self, messages: int, tokens: int) -> bool:
        """Whether a list of that size is above the threshold."""
        share = None if self.threshold_fraction is None else self.threshold_fraction * (self.window or 0)
        limits = ((self.threshold, tokens), (self.threshold_messages, messages), (share, tokens))
        passed = [size > limit for limit, size in limits if limit is not None]
        return all(passed) if self.trigger == "all" else any(passed)


class Anyhow(Options):
    """The same options for a policy that is to fire below its threshold too."""

    __slots__ = ()

    @property
    def turns_to_gather(self) -> int:
        return 1

    def reached(self, messages: int, tokens: int) -> bool:  # noqa: ARG002 - every list is
        return True


OPTION_NAMES = tuple(field.name for field in fields(Options))


def read(option: str, value: object) -> Any:
    """The value of a known option, given as it is or as text. Returns a Problem that says what is accepted."""
    kind = _KINDS[option]
    text = (",".join(value) if isinstance(value, tuple) else str(value)).strip()
    if kind.optional and text.lower() == "none":
        return None
    try:
        return kind.read(text)
    except ValueError:
        accepted = f"{kind.accepted} is accepted" + (", or none" if kind.optional else "")
        return Problem(what=f"{option} is {value!r}", accepted=accepted)


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a text is read, by a function that raises ValueError, and what it accepts in words."""

    read: Callable[[str], Any]
    accepted: str
    optional: bool = False


def _whole(least: int, *, optional: bool = False) -> _Kind:
    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise ValueError(text)
        return int(text)

    return _Kind(parse, f"a whole number from {least} up", optional)


def _share(*, optional: bool = False) -> _Kind:
    def parse(text: str) -> float:
        if not 0 < float(text) <= 1:
            raise ValueError(text)
        return float(text)

    return _Kind(parse, "a number above 0 and at most 1", optional)


def _one_of(*names: str) -> _Kind:
    def parse(text: str) -> str:
        if text not in names:
            raise ValueError(text)
        return text

    return _Kind(parse, "one of " + ", ".join(names))


def _said(text: str) -> str:
    if not text:
        raise ValueError(text)
    return text


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for part in text.split(",") if (name := part.strip()))


_KINDS: Mapping[str, _Kind] = {
    "threshold": _whole(1, optional=True),
    "threshold_messages": _whole(1, optional=True),
    "threshold_fraction": _share(optional=True),
    "window": _whole(1, optional=True),
    "trigger": _one_of("any", "all"),
    "keep": _whole(1),
    "keep_tokens": _whole(1),
    "keep_first": _whole(0),
    "preserve": _share(),
    "budget": _whole(0),
    "interval": _whole(1),
    "overlap": _whole(0),
    "pair_rule": _one_of("move_back", "move_forward", "drop_orphans", "synthesize"),
    "summary_input_limit": _whole(1, optional=True),
    "summary_role": _one_of("user", "system", "assistant"),
    "placeholder": _Kind(_said, "a text that is not blank"),
    "exclude_tools": _Kind(_names, "names of tools, separated by commas"),
    "inner": _Kind(_said, "the name of a policy"),
}
