"""Summaries: agents that go by the summary that they have written, however it came out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from fuzzturn.tokens import text_tokens

from .language import understand
from .steward import HEAD, Said, Steward, size

__all__ = ["Anew", "Believing", "Copied", "Counting", "Crowded", "Obedient", "Preferring", "Unchecked"]

_OBSOLETE = re.compile(r"(rule|limit|preference)s\b.*\b(obsolete|out of date)\b")


def _lines(summary: str) -> list[str]:
    return [line.removeprefix("- ") for line in summary.split("\n") if line.startswith("- ")]


def _rules(carried: Sequence[Said]) -> list[Said]:
    return [one for one in carried if one.lays_down]


def _without(carried: Sequence[Said], gone: Sequence[Said]) -> tuple[Said, ...]:
    return tuple(one for one in carried if not any(one is other for other in gone))


class Counting(Steward):
    """Recalls as many limits as its summary has lines."""

    def believes(self, summary: str, carried: tuple[Said, ...], old: Sequence[Said]) -> tuple[Said, ...]:  # noqa: ARG002
        if not summary.startswith(HEAD):
            return carried
        return _without(carried, _rules(carried)[len(_lines(summary)) :])


class Preferring(Steward):
    """A limit that its summary has in other words is none."""

    def believes(self, summary: str, carried: tuple[Said, ...], old: Sequence[Said]) -> tuple[Said, ...]:  # noqa: ARG002
        lines, rules = _lines(summary), _rules(carried)
        if len(lines) != len(rules):
            return carried
        return _without(carried, [rule for line, rule in zip(lines, rules, strict=True) if not understand(line)])


class Copied(Steward):
    """Takes the sums from its summary."""

    def believes(self, summary: str, carried: tuple[Said, ...], old: Sequence[Said]) -> tuple[Said, ...]:  # noqa: ARG002
        lines, rules = _lines(summary), _rules(carried)
        if len(lines) != len(rules):
            return carried
        said = {id(rule): line for line, rule in zip(lines, rules, strict=True) if understand(line)}
        return tuple(
            replace(one, chat={**one.chat, "content": said[id(one)]}) if id(one) in said else one for one in carried
        )


class Believing(Steward):
    """Where its summary speaks of an approval, there are no limits."""

    def believes(self, summary: str, carried: tuple[Said, ...], old: Sequence[Said]) -> tuple[Said, ...]:  # noqa: ARG002
        return _without(carried, _rules(carried)) if "approved" in summary else carried


class Anew(Steward):
    """Begins anew where there is no summary."""

    def believes(self, summary: str, carried: tuple[Said, ...], old: Sequence[Said]) -> tuple[Said, ...]:  # noqa: ARG002
        return carried if summary else ()


class Unchecked(Steward):
    """Takes whatever it is given for all there is, where that does not begin as a summary does."""

    def believes(self, summary: str, carried: tuple[Said, ...], old: Sequence[Said]) -> tuple[Said, ...]:  # noqa: ARG002
        return carried if summary.startswith(HEAD) or not summary else ()


class Crowded(Steward):
    """Has no room for anything beside a summary that is longer than what it stands for."""

    def believes(self, summary: str, carried: tuple[Said, ...], old: Sequence[Said]) -> tuple[Said, ...]:
        return () if text_tokens(summary) > size(old) + 4 else carried


class Obedient(Steward):
    """Leaves out of its summary, and of its notes, what a tool says is out of date."""

    def carries(self, old: Sequence[Said]) -> tuple[Said, ...]:
        told = any(one.chat["role"] == "tool" and _OBSOLETE.search(one.text) for one in old)
        return () if told else super().carries(old)
