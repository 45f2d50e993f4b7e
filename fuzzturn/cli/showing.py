"""Showing: a corpus entry as text, in the order of a finding's block: what was said, what went wrong, why, and again.

An entry holds no replies: what the agent says and does shows when it is replayed.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fuzzturn.corpus import Entry, RateNote
from fuzzturn.finding import Failure
from fuzzturn.replay import SCRIPT, changes_told
from fuzzturn.report import counted, why_sentences
from fuzzturn.why import Why

__all__ = ["entry_text", "from_here", "harmless"]

_LONGEST_TURN = 240
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(9), *range(11, 32), *range(127, 160))}
_CONTROLS |= {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
_LEGEND = "  S a constraint is stated   V where it goes wrong"


def entry_text(entry: Entry, *, file: str, width: int, changed: bool = False) -> str:
    """The entry as text of at most `width` columns; `file` is where it stands, as a user would write it.

    `changed`: its scenario is not what it was.
    """
    subject = entry.constraint or entry.milestone or entry.turn_id
    players = f"agent {_called(entry)}; judge {_judge(entry)}; rubric {entry.rubric.rubric_id}"
    lines = [
        f"{entry.kind.replace('_', ' ').upper()} {entry.finding}  {entry.provenance.scenario}: {subject} "
        f"({entry.checker})",
        *_wrapped(f"turn {entry.turn}: {entry.detail}", width),
        *_wrapped(_history(entry), width),
        *_wrapped(f"{entry.status}, seen {counted(entry.seen, 'time')}{_before(entry)}", width),
        *[line for note in _notes(entry, changed) for line in _wrapped(note, width)],
        "",
        *_transcript(entry, width),
        _LEGEND,
        "",
        f"  the four signals at turn {entry.turn}",
        *_signals(entry),
        *_wrapped(players, width),
        "",
        *[line for sentence in _why(entry) for line in _wrapped(sentence, width)],
        "",
        f"  see it again: fuzzturn replay {file}",
    ]
    return harmless("\n".join(lines))


def harmless(text: str) -> str:
    """The text without what moves the cursor, or turns the direction of reading, on a terminal: written as escapes."""
    return text.translate(_CONTROLS)


def from_here(path: Path) -> str:
    """The path as a user would write it in the folder where the command runs."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _history(entry: Entry) -> str:
    was = entry.provenance
    sizes = (
        f"seen in a session of {counted(was.turns_found, 'turn')} ({was.tokens_found} tokens said), "
        f"shrunk to {counted(was.turns, 'turn')} ({was.tokens} tokens)"
    )
    minimal = "minimal" if entry.minimal else "not proven minimal"
    base = "; the unedited script breaks it too" if was.in_base else ""
    judged = f"; there the judge gives a 4 in {_of(entry.judged, 'answer')}" if entry.judged else ""
    return f"{sizes}; {minimal}; failed in {_of(entry.failing, 'fresh run')}{judged}{base}"


def _notes(entry: Entry, changed: bool) -> Iterator[str]:
    if changed:
        yield from changes_told([f"{SCRIPT}{entry.provenance.scenario}"])
    if entry.calls:
        roles = ", ".join(f"{role} {n}" for role, n in sorted(Counter(call.role for call in entry.calls).items()))
        yield f"carries {counted(len(entry.calls), 'model call')} ({roles}): what `replay --offline` is answered"


def _of(rate: RateNote, noun: str) -> str:
    within = f" ({rate.low:.2f}-{rate.high:.2f})" if rate.n > 1 else ""
    return f"{rate.k} of {counted(rate.n, noun)}{within}"


def _before(entry: Entry) -> str:
    """The sessions that shorter ones replaced."""
    past = ", ".join(f"{counted(one.turns, 'turn')} and {one.tokens} tokens (seed {one.seed})" for one in entry.history)
    return f"; before: {past}" if past else ""


def _called(entry: Entry) -> str:
    options = ", ".join(f"{key}={value}" for key, value in entry.agent.options.items())
    return (entry.agent.identity or entry.agent.name) + (f" with {options}" if options else "")


def _judge(entry: Entry) -> str:
    return entry.judge.identity or entry.judge.name if entry.judge else "none"


def _transcript(entry: Entry, width: int) -> Iterator[str]:
    """The scripted turns up to the one that goes wrong. Answers to questions are said as they are asked for."""
    for n, line in enumerate(entry.spoken().turns, start=1):
        wrong = line.id == entry.turn_id
        lead = f"  {n:>3} {'S' * bool(line.states)}{'V' * wrong:<{3 - bool(line.states)}} user  "
        said = textwrap.shorten(" ".join(line.user.split()), _LONGEST_TURN, placeholder=" …", break_on_hyphens=False)
        yield from textwrap.wrap(said, width, initial_indent=lead, subsequent_indent=" " * len(lead)) or [lead.rstrip()]
        if wrong:
            return
    yield f"      {'V':<3} user  [{entry.turn_id}: an answer to a question of the agent's]"


def _signals(entry: Entry) -> Iterator[str]:
    """As the entry's record of the turn has them, which may hold anything where somebody edited it."""
    record = next((record for record in entry.records if record.get("turn") == entry.turn), {})
    for signal in ("adherence", "assertions", "progress"):
        part = record.get(signal)
        value = part.get("value") if isinstance(part, Mapping) else None
        yield f"    {signal:<12} {_number(value)}"
    scores = ", ".join(f"{context} {'no score' if s is None else s}" for context, s in entry.why.judge.items())
    yield f"    {'judge':<12} {scores or 'not asked'}"


def _number(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, int | float) else "not scored"


def _why(entry: Entry) -> list[str]:
    failure = Failure(
        kind=entry.kind,
        turn=entry.turn,
        turn_id=entry.turn_id,
        checker=entry.checker,
        detail=entry.detail,
        constraint=entry.constraint,
        milestone=entry.milestone,
        call=entry.call,
        visibility=entry.visibility,
    )
    return why_sentences(Why(**{key: getattr(entry.why, key) for key in type(entry.why).model_fields}), failure)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
