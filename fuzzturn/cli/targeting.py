"""Targeting: the kinds of finding that a target names."""

from __future__ import annotations

from fuzzturn.errors import InputError, Problem, closest
from fuzzturn.finding import KINDS, Kind

__all__ = ["target_kinds"]

TARGETS = ("any", *KINDS)


def target_kinds(target: str) -> tuple[Kind, ...]:
    """A blind spot is a violation, so `violation` names both. Raises InputError for a target that is none."""
    if target not in TARGETS:
        raise InputError(Problem(what=f"no target is called {target!r}", accepted=closest(target, TARGETS)))
    if target == "violation":
        return ("blind_spot", "violation")
    return tuple(kind for kind in KINDS if target in ("any", kind))
