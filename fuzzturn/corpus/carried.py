"""Carried: the model calls in an entry, as notes in its file and as answers under a replay.

An answer is a text that the agent is given in place of its model's; nothing of it is ever run here. It is redacted as
the record of calls redacts it, so that it keeps its shape, and its key is a digest, which holds no secret.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import ValidationError

from fuzzturn.calls import Answer, Place, Role
from fuzzturn.calls.streams import without_secrets
from fuzzturn.corpus.entry import CallNote
from fuzzturn.errors import InputError, Problem
from fuzzturn.redaction import Redaction

__all__ = ["answers_of", "notes_of", "redacted_body"]


def notes_of(noted: Mapping[Place, tuple[Role, Answer]]) -> tuple[CallNote, ...]:
    """The answers that were given, in an order that does not depend on who asked first.

    Raises InputError for an answer that is no text, or that no server should give.
    """
    notes = [_note(place, role, answer) for place, (role, answer) in noted.items()]
    return tuple(sorted(notes, key=lambda note: (note.sample, note.role, note.key, note.nth)))


def answers_of(notes: Iterable[CallNote]) -> dict[Place, Answer]:
    """The answers by place, for a record to begin with."""
    return {
        Place(note.key, note.sample, note.nth): Answer(
            body=note.body.encode(), status=note.status, content_type=note.content_type
        )
        for note in notes
    }


def redacted_body(body: str, content_type: str, redaction: Redaction) -> str:
    """A body as the record would write it."""
    answer = Answer(body=body.encode(errors="surrogatepass"), content_type=content_type)
    return without_secrets(answer, redaction).body.decode(errors="replace")


def _note(place: Place, role: Role, answer: Answer) -> CallNote:
    try:
        body = answer.body.decode()
    except UnicodeDecodeError as error:
        what = f"an answer of the {role}'s model is no text in UTF-8"
        raise InputError(Problem(what=what, accepted="JSON, or server-sent events")) from error
    try:
        return CallNote(
            key=place.key, role=role, sample=place.sample, nth=place.nth, status=answer.status,
            content_type=answer.content_type, body=body,
        )  # fmt: skip
    except ValidationError as error:
        what = f"an answer of the {role}'s model has the state {answer.status} and the type {answer.content_type!r}"
        raise InputError(Problem(what=what, accepted="100 to 599, and a media type")) from error
