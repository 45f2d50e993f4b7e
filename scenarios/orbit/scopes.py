"""Scopes: which legs a constraint is about: those of one direction, or all but a part that another one took over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fuzzturn.errors import InputError, UnknownName

from .fares import DIRECTIONS

__all__ = ["checked", "in_scope"]

_KEYS = frozenset({"leg"})


def checked(leg: str | None, excluding: Sequence[Mapping[str, Any]]) -> None:
    """Raises UnknownName for a direction that there is not, InputError for a scope other than {"leg": direction}."""
    for scope in excluding:
        if scope.keys() != _KEYS:
            raise InputError(
                f"{dict(scope)!r} is no part of a rule about legs; {{leg: outbound}} or {{leg: return}} is"
            )
    for direction in (leg, *(scope["leg"] for scope in excluding)):
        if direction is not None and direction not in DIRECTIONS:
            raise UnknownName("direction", str(direction), DIRECTIONS)


def in_scope(direction: object, leg: str | None, excluding: Sequence[Mapping[str, Any]]) -> bool | None:
    """Whether a leg in that direction is looked at; None = its direction is not known, and it would decide that."""
    if leg is None and not excluding:
        return True
    if direction not in DIRECTIONS:
        return None
    return leg in (None, direction) and all(scope["leg"] != direction for scope in excluding)
