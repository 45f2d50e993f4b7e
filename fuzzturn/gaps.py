"""Gaps: what the protected block does not do for the judge at a turn, told without asking one.

    overflow            the constraints alone are beyond its budget: it is shown whole all the same
    commitment_left_out a promise that did not fit
    commitment_missed   a sentence of the assistant's that reads like a promise, and that no rule took for one
    constraint_missing  a binding constraint that is not in the block, not word for word, or not as binding
    ended_as_binding    one that ended and is listed as binding
    confusable          letters that look like others, or characters that nobody sees, in what the block quotes
    long_statement      one entry that takes more than half of the budget

The first three and the last two are limits of a block of 300 tokens whose commitments are found by rule; the other two
would be faults of ours, and are looked for all the same.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fuzzturn.compaction import is_question, sentences
from fuzzturn.finding import GAPS, Failure
from fuzzturn.ledger import Ledger
from fuzzturn.measure import Measured
from fuzzturn.protected import BUDGET_TOKENS, Block, record_lines
from fuzzturn.session import Commitment, Turn
from fuzzturn.tokens import text_tokens

__all__ = ["gaps", "gaps_of"]

OVERFLOW, LEFT_OUT, MISSED, MISSING, ENDED, CONFUSABLE, LONG = GAPS
_PROMISE = re.compile(
    r"\b(?:I(?:'ll| will| shall| won't| promise| guarantee| commit|'m going to| am going to)|you have my word|"
    r"rest assured)\b",
    re.IGNORECASE,
)
_UNSEEN = ("Cf", "Cc", "Co", "Cs", "Zl", "Zp")
"""Unicode categories of characters that change what is read and are not seen: controls, marks of direction, joiners."""


def gaps(measured: Measured) -> Iterator[Failure]:
    """Every gap at every turn, each once: at the first turn at which it shows."""
    seen: set[tuple[str, str | None]] = set()
    for n in range(1, len(measured.session.turns) + 1):
        for failure in _at(measured, n):
            key = failure.checker, failure.constraint or failure.detail
            if key not in seen:
                seen.add(key)
                yield failure


def _at(measured: Measured, n: int) -> Iterator[Failure]:
    turn, ledger = measured.session.turns[n - 1], measured.ledgers[n - 1]
    found = [*gaps_of(measured.block(n), ledger), *_missed(turn, measured.promises or ())]
    for checker, constraint, detail in found:
        yield Failure(kind="block_gap", turn=n, turn_id=turn.id, checker=checker, constraint=constraint, detail=detail)


def gaps_of(block: Block, ledger: Ledger) -> Iterator[tuple[str, str | None, str]]:
    """Gaps of one block: which, of which constraint, and what."""
    if block.overflow is not None:
        yield OVERFLOW, None, f"constraints alone take {block.overflow} of {BUDGET_TOKENS} tokens"
    for promise in block.left_out:
        yield LEFT_OUT, None, f"left out: {promise.text}"
    listed = {line["constraint"]: line for line in _as_read(block) if isinstance(line.get("constraint"), str)}
    for entry in ledger.entries:
        constraint = entry.constraint
        line = listed.get(constraint.id, {})
        listed_as = line.get("statement"), line.get("status")
        if entry.status == "binding" and listed_as != (constraint.statement, "binding"):
            yield MISSING, constraint.id, f"{constraint.id} binds, and the block says {line or 'nothing of it'}"
        if entry.status != "binding" and line.get("status") == "binding":
            told = f"{constraint.id} has ended ({entry.status}), and the block lists it as binding"
            yield ENDED, constraint.id, told
        yield from _unreadable(constraint.id, constraint.statement, line)


def _as_read(block: Block) -> Iterator[Mapping[str, Any]]:
    """The block as a judge reads it: what a statement makes of its line, or of the next one, is in it."""
    for line in record_lines(block.lines).splitlines():
        try:
            read = json.loads(line)
        except ValueError:  # no record at all, so whatever it was to say is missing
            continue
        if isinstance(read, dict):
            yield read


def _unreadable(id: str, statement: str, line: Mapping[str, Any]) -> Iterator[tuple[str, str | None, str]]:
    if strange := _strange(statement):
        yield CONFUSABLE, id, f"the statement of {id} has {', '.join(strange)}"
    if line and (size := text_tokens(record_lines([line]))) > BUDGET_TOKENS // 2:
        yield LONG, id, f"{id} alone takes {size} of {BUDGET_TOKENS} tokens"


def _strange(text: str) -> list[str]:
    """Characters that are not seen, and words of letters from two scripts, as Latin with Cyrillic."""
    unseen = {c for c in text if unicodedata.category(c) in _UNSEEN and c not in "\n\t"}
    told = [f"U+{ord(c):04X} ({unicodedata.name(c, 'a control')})" for c in sorted(unseen)]
    for word in re.findall(r"[^\W\d_]+", text):
        scripts = {unicodedata.name(c, "").split(" ")[0] for c in word} - {""}
        if len(scripts) > 1:
            told.append(f"{json.dumps(word, ensure_ascii=False)} in {' and '.join(sorted(scripts)).title()} letters")
    return told


def _missed(turn: Turn, known: Sequence[Commitment]) -> Iterator[tuple[str, str | None, str]]:
    """Promises that no rule found. What one rule has of a sentence covers all of it."""
    own = [promise.text for promise in known if promise.turn == turn.n]
    for said in sentences(turn.text):
        known_here = any(text in said or said in text for text in own)
        if _PROMISE.search(said) and not is_question(said) and not known_here:
            yield MISSED, None, f"not taken for a promise: {said}"
