"""Row: what one method did on one fault with one seed; a plain record that goes to JSON as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Row"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Turns are agent turns: replies started. None = not applicable, or nothing was found to shrink."""

    fault: str
    seed: int
    method: str
    found: bool
    """Whether the search saw a failure within its sessions."""
    find_turns: int | None
    """Until the first failure was seen, the unedited script included; without one, all spent."""
    find_sessions: int | None
    start_turns: int | None = None
    """The session that shrinking begins with, cut after the failing turn."""
    shrink_turns: int | None = None
    """As the method is used: see `Method`. The starting run excluded, its beginnings free."""
    shrink_turns_without_pads: int | None = None
    """The same where filler turns are not made smaller; None = the method cannot tell the two apart."""
    shrink_turns_plain: int | None = None
    """If every session were played from its first turn."""
    shrink_turns_cached: int | None = None
    """If no beginning were played twice."""
    judge_calls: int | None = None
    """While shrinking."""
    final_turns: int | None = None
    final_tokens: int | None = None
    """Tokens of all that the user says in the final session."""
    at_minimum: bool | None = None
    same_fault: bool | None = None
    """Played afresh, the final session fails as pinned, and the planted mechanism took effect in it."""
    bound: int | None = None
    """The final session once, and one run per single deletion, beginnings reused."""
    by_pass: Mapping[str, int] = field(default_factory=dict)
    """Shrink turns of each pass of fuzzturn's reducer."""
