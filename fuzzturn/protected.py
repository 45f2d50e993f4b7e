"""Protected block: every constraint stated so far and every commitment made, chosen by rule, never by a model.

A summariser that decides what to protect fails in the same way as the one that dropped the constraint; a rule can
be wrong too, but only in ways that somebody can read here (essay, "The judge is an oracle and the agent is not").
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fuzzturn.errors import PortError
from fuzzturn.ledger import Entry, Ledger
from fuzzturn.registry import Registered
from fuzzturn.session import Commitment, Turn
from fuzzturn.tokens import text_tokens

__all__ = ["BUDGET_TOKENS", "Block", "commitments", "protect", "record_lines"]

BUDGET_TOKENS = 300
_ENCODE = json.JSONEncoder(ensure_ascii=False, default=str).encode  # made once: json.dumps makes an encoder a call


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The block of one turn. `lines` are JSON-able; binding constraints come first, then ended ones, then promises."""

    lines: tuple[Mapping[str, Any], ...]
    tokens: int
    overflow: int | None
    """The size in tokens where constraints alone exceed the budget (they are never left out); None = it fits."""
    left_out: tuple[Commitment, ...]
    """Commitments that did not fit, oldest first."""
    commitments_known: bool
    """False where no commitment rule exists for the language: then no commitments means unknown, not none."""

    def record(self) -> dict[str, Any]:
        """What a judge record says of the block."""
        return {
            "tokens": self.tokens,
            "overflow": self.overflow,
            "left_out": [{"turn": c.turn, "text": c.text} for c in self.left_out],
            "commitments": "known" if self.commitments_known else "unknown",
        }


def commitments(turn: Turn, rules: Sequence[Registered]) -> tuple[Commitment, ...]:
    """What the assistant promised in this turn, by every rule given. Raises PortError for a rule that misbehaves."""
    found: list[Commitment] = []
    for rule in rules:
        promises = rule.run(turn)
        if not isinstance(promises, list | tuple):
            raise PortError(f"commitment rule {rule.tag.name!r} returned {promises!r}; it returns a list of Commitment")
        for promise in promises:
            if not isinstance(promise, Commitment):
                raise PortError(
                    f"commitment rule {rule.tag.name!r} returned {promise!r}; it returns a list of Commitment"
                )
            if all(promise.text != known.text for known in found):
                found.append(promise)
    return tuple(found)


def protect(ledger: Ledger, promises: Sequence[Commitment] | None, *, budget: int = BUDGET_TOKENS) -> Block:
    """The block for one turn. `promises` None = no rule exists for this language."""
    constraints = [_constraint_line(e) for e in sorted(ledger.entries, key=lambda e: e.status != "binding")]
    kept = list(promises or ())
    left_out: list[Commitment] = []
    while kept and _size(constraints, kept) > budget:
        left_out.append(kept.pop(0))
    tokens = _size(constraints, kept)
    return Block(
        lines=(*constraints, *(_commitment_line(promise) for promise in kept)),
        tokens=tokens,
        overflow=tokens if tokens > budget else None,
        left_out=tuple(left_out),
        commitments_known=promises is not None,
    )


def _constraint_line(entry: Entry) -> dict[str, Any]:
    constraint = entry.constraint
    line: dict[str, Any] = {
        "constraint": constraint.id,
        "turn": entry.since,
        "status": entry.status,
        "source": constraint.source,
        "statement": constraint.statement,
    }
    if constraint.exception_to is not None:
        line["exception_to"] = constraint.exception_to
    if entry.parts:
        line["but_for"] = [{"constraint": id, **part} for id, part in entry.parts]
    return line


def _commitment_line(promise: Commitment) -> dict[str, Any]:
    return {"commitment": promise.text, "turn": promise.turn}


def _size(constraints: Iterable[Mapping[str, Any]], promises: Iterable[Commitment]) -> int:
    return text_tokens(record_lines([*constraints, *map(_commitment_line, promises)]))


def record_lines(records: Iterable[Mapping[str, Any]]) -> str:
    """One JSON object a line. No character of the data can end a line: JSON escapes most, the rest is escaped here."""
    return "\n".join(_one_line(record) for record in records)


def _one_line(record: Mapping[str, Any]) -> str:
    text = _ENCODE(record)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "".join(f"\\u{u:04x}" for u in _utf16(c)) for c in text)


def _utf16(character: str) -> list[int]:
    units = character.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(units[i : i + 2], "big") for i in range(0, len(units), 2)]
