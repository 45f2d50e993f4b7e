"""Versions: what was stated of one kind of rule, and which of it is in force for a thing.

The newest statement that is in force and covers the thing decides alone. What is lasting takes the place of all that
was stated before about the same legs; what is temporary (until a time, under a condition, once) is set over it and
lets go of it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from .terms import ALWAYS, Scene, Terms

__all__ = ["Rule", "Statement", "Thing", "Versions", "in_force", "stated", "unused"]

Thing: TypeAlias = Mapping[str, Any]
"""What is held or bought: a leg, which has a `flight`, or a `hotel`; with all that is known of it."""


class Rule(Protocol):
    """What a statement lays down."""

    @property
    def quote(self) -> str:
        """The sentence that says it."""

    @property
    def figure(self) -> object:
        """The figure by which a version is told from others of its kind; None = they have none."""

    def forbids(self, thing: Thing) -> bool | None:
        """Whether it forbids the thing; None = too little is known of that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One thing said about one kind of rule."""

    kind: str
    rule: Rule | None
    """None = nothing of the kind is forbidden any more."""
    terms: Terms = ALWAYS
    once: bool = False
    """It serves once."""
    figure: object = None
    """For what takes something back: which version, by its figure; None = all of them."""
    bare: bool = False
    """Only a version that stands already gives it a meaning."""


Versions: TypeAlias = tuple[Statement, ...]
"""Oldest first; what can never be in force again is left out."""


def stated(versions: Versions, said: Statement) -> Versions:
    """The versions once that was said too."""
    if said.rule is None and said.terms == ALWAYS:
        return tuple(v for v in versions if said.figure is not None and (not v.rule or v.rule.figure != said.figure))
    if said.once or said.terms.temporary:
        return (*versions, said)
    leg = said.terms.leg
    return (*(v for v in versions if leg is not None and v.terms.leg != leg), said)


def in_force(versions: Sequence[Statement], thing: Thing, scene: Scene) -> Iterator[Statement | None]:
    """The version in force for the thing, or each that may be, newest first; None at the end = perhaps none is."""
    for version in reversed(versions):
        known = (version.terms.covers(thing), version.terms.hold(scene))
        if False in known:
            continue
        yield version
        if None not in known:
            return
    yield None


def unused(versions: Versions, things: Sequence[Thing]) -> Versions:
    """The versions after a turn in which these were held or bought: what serves once has served if it may have."""
    used = [served for thing in things if (served := _served(versions, thing)) is not None]
    return tuple(v for v in versions if v not in used)


def _served(versions: Versions, thing: Thing) -> Statement | None:
    """What serves once and is the newest for the thing, but for what may have been over or asleep in that turn."""
    for version in reversed(versions):
        covers = version.terms.covers(thing)
        if covers is not False and version.once:
            return version
        if covers and not version.terms.temporary:
            return None
    return None
