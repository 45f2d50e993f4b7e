"""Sets: the planted faults by who wrote them, and every one by its name."""

from __future__ import annotations

from collections.abc import Mapping

from .planted import FAULTS, Fault
from .unseen import UNSEEN

__all__ = ["EVERY", "SETS"]

SETS: Mapping[str, tuple[Fault, ...]] = {"planted": FAULTS, "unseen": UNSEEN}
"""`planted` were there while the search was made; `unseen` came after it, from somebody who had not read it."""
EVERY: Mapping[str, Fault] = {fault.name: fault for faults in SETS.values() for fault in faults}
