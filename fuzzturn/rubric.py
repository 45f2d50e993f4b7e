"""Rubric: frozen anchors for the judge's 0-4 scale, and the digest that proves them frozen.

A score is a function from a turn to a number; comparing two runs compares the runs only when that function
is the same on both sides (essay, "The judge rubric supplies the rest"). So the anchors are written before the
results, and the id and digest stand in every judge record.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

__all__ = ["ANCHORS", "Rubric"]

ANCHORS = ("0", "1", "2", "3", "4")

Anchor = Annotated[str, StringConstraints(min_length=1)]


class Rubric(BaseModel):
    """`scale` maps each score to the sentence that says what it means; the lowest applicable anchor wins."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", populate_by_name=True)

    schema_: Literal[1] = Field(default=1, alias="schema")
    rubric_id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
    frozen_on: Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    scale: Mapping[Literal["0", "1", "2", "3", "4"], Anchor]

    @cached_property
    def digest(self) -> str:
        """sha256 over id, date and anchors in canonical JSON: one changed letter gives another digest."""
        content = {"rubric_id": self.rubric_id, "frozen_on": self.frozen_on, "scale": dict(self.scale)}
        canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def anchors(self) -> tuple[tuple[int, str], ...]:
        """(score, anchor) from 4 down to 0."""
        return tuple((int(score), self.scale[score]) for score in ("4", "3", "2", "1", "0"))
