"""Records: the run folder `.fuzzturn/runs/<id>/`, one JSON object a line, written as results come.

    run.json         what was asked for and what was spent
    sessions.jsonl   every session played, losslessly
    scores.jsonl     every signal of every turn, one record a signal
    findings.jsonl   every finding

Model contexts repeat almost all of the context before, so a context is written as how many leading messages it shares
with the one before and what it adds.

Whatever an agent or an environment hands over is written: half a surrogate pair as JSON's own escape, which reads back
as it was; what JSON cannot hold (keys that are no texts, numbers that are not finite, other objects) as text.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from fuzzturn.errors import InputError, Problem
from fuzzturn.measure import Measured
from fuzzturn.redaction import NOTHING, Redaction
from fuzzturn.registry import Registry
from fuzzturn.scenario import Scenario
from fuzzturn.scores import TurnScores
from fuzzturn.session import Chat, Compaction, Event, Message, ModelCall, Session, ToolCall, Turn, in_common
from fuzzturn.variant import Variant, edit_to_json

__all__ = [
    "SCHEMA", "Run", "digest", "scenario_digest", "score_records", "session_from_json", "session_to_json", "write_json",
]  # fmt: skip

SCHEMA = 1
_DEEPEST = 60
"""Levels; what is nested deeper, or holds itself, is written as text."""
_EVENTS: Mapping[str, type[Event]] = {
    "message": Message, "model_call": ModelCall, "tool_call": ToolCall, "compaction": Compaction,
}  # fmt: skip
_EVENT_NAMES = {cls: name for name, cls in _EVENTS.items()}
# Made once: json.dumps makes an encoder a call. What holds itself is nested too deep as well, so nobody looks for it.
_LINE = json.JSONEncoder(allow_nan=False, ensure_ascii=False, check_circular=False).encode
_INDENTED = json.JSONEncoder(allow_nan=False, ensure_ascii=False, indent=2).encode
_CANONICAL = json.JSONEncoder(allow_nan=False, sort_keys=True, check_circular=False).encode


class Run:
    """One run's folder, open for appending. The folder's name is the run's id."""

    def __init__(self, folder: Path, redaction: Redaction = NOTHING) -> None:
        self.folder = folder
        self._redaction = redaction
        self.id = folder.name
        self._files: dict[str, IO[str]] = {}

    @classmethod
    def create(cls, root: Path, command: str, redaction: Redaction = NOTHING) -> Run:
        """The next free `<command>-NNNN` below `.fuzzturn/runs`. Raises InputError where nothing can be written."""
        runs = root / ".fuzzturn" / "runs"
        try:
            runs.mkdir(parents=True, exist_ok=True)
            number = max(_numbers(runs, command), default=0)
            while True:
                number += 1
                folder = runs / f"{command}-{number:04d}"
                try:
                    folder.mkdir()
                    return cls(folder, redaction)
                except FileExistsError:  # another process was quicker
                    continue
        except OSError as error:
            raise _unwritable(Path(error.filename or runs), error) from error

    def append(self, name: str, record: Mapping[str, Any]) -> None:
        """One line more in `<name>.jsonl`."""
        self._write(name, [record])

    def _write(self, name: str, records: Iterable[Mapping[str, Any]]) -> None:
        if name not in self._files:
            path = self.folder / f"{name}.jsonl"
            self._files[name] = path.open("a", encoding="utf-8", errors="backslashreplace")
        lines = [_dumps(self._redaction.data(record), _LINE) for record in records]
        self._files[name].write("\n".join([*lines, ""]))

    def session(self, id: str, variant: Variant, measured: Measured, registry: Registry, **fixed: Any) -> None:
        """A session and all its scores."""
        edits = [edit_to_json(edit) for edit in variant.edits]
        head = {"schema": SCHEMA, "id": id, "run": self.id, "edits": edits, **fixed}
        self.append("sessions", head | session_to_json(measured.session))
        self._write("scores", score_records(measured, registry, schema=SCHEMA, run=self.id, session=id))

    def close(self, summary: Mapping[str, Any]) -> None:
        """Write run.json and close everything."""
        for file in self._files.values():
            file.close()
        write_json(self.folder / "run.json", {"schema": SCHEMA, "run": self.id, **summary}, self._redaction)


def write_json(path: Path, data: Mapping[str, Any], redaction: Redaction = NOTHING) -> None:
    """Write one JSON file, indented. Raises InputError where it cannot be written."""
    text = _dumps(redaction.data(data), _INDENTED) + "\n"
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise _unwritable(path, error) from error


def digest(value: object) -> str:
    """First 16 hex of the sha256 of canonical JSON."""
    return hashlib.sha256(_dumps(value, _CANONICAL).encode()).hexdigest()[:16]


def scenario_digest(scenario: Scenario) -> str:
    """Tells two versions of a scenario apart, whatever their file looks like."""
    return digest(scenario.model_dump(mode="json", by_alias=True))


def session_to_json(session: Session) -> dict[str, Any]:
    """A session as JSON-able data; contexts as differences."""
    last: list[Sequence[Chat]] = [()]
    return {
        "scenario": session.scenario,
        "initial_state": session.initial_state,
        "off_script_at": session.off_script_at,
        "turns": [_turn_to_json(turn, last) for turn in session.turns],
    }


def session_from_json(data: Mapping[str, Any]) -> Session:
    """The inverse of `session_to_json`."""
    last: list[Sequence[Chat]] = [()]
    return Session(
        scenario=data["scenario"],
        initial_state=data["initial_state"],
        off_script_at=data["off_script_at"],
        turns=tuple(_turn_from_json(turn, last) for turn in data["turns"]),
    )


def score_records(measured: Measured, registry: Registry, **fixed: Any) -> Iterator[dict[str, Any]]:
    """One record a signal and turn, `fixed` first; adherence one a binding constraint more. Nothing is blended."""
    for scores in measured.scores:
        place = {**fixed, "turn": scores.n, "turn_id": scores.turn}
        for record in (*_signal_records(scores), *_check_records(scores, registry), *_judge_records(scores)):
            yield place | record


def _signal_records(scores: TurnScores) -> Iterator[dict[str, Any]]:
    a, p = scores.adherence, scores.progress
    details: dict[str, tuple[float | None, object]] = {
        "adherence": (
            a.value,
            {"bound": len(a.checks), "exercised": len(a.exercised), "passed": len(a.checks) - len(a.failed)},
        ),
        "assertions": (scores.assertions.value, [asdict(failure) for failure in scores.assertions.failures]),
        "progress": (
            p.value,
            {"satisfied": sorted(p.satisfied), "trend": p.trend, "breaches": [asdict(b) for b in p.breaches]},
        ),
    }
    for signal, (value, detail) in details.items():
        yield {"signal": signal, "value": value, "detail": detail, "component": signal, "version": 1, "owner": None}


def _check_records(scores: TurnScores, registry: Registry) -> Iterator[dict[str, Any]]:
    for check in scores.adherence.checks:
        tag = registry.get("checker", check.checker).tag
        yield {
            "signal": "adherence.check",
            "value": float(check.result.passed),
            "detail": check.result.detail,
            "component": f"checker {check.checker}",
            "version": tag.version,
            "owner": tag.owner,
            "constraint": check.constraint,
            "exercised": check.result.exercised,
            "visibility": check.visibility,
            "seen": list(check.seen),
        }


def _judge_records(scores: TurnScores) -> Iterator[dict[str, Any]]:
    for j in scores.judge.values():
        yield {
            "signal": "judge",
            "value": j.score,
            "detail": j.reason,
            "status": j.status,
            "component": f"judge {j.judge}",
            "version": j.prompt_version,
            "owner": None,
            "context": j.context,
            "model": j.judge,
            "identity": j.identity,
            "form": j.form,
            "prompt_version": j.prompt_version,
            "rubric": j.rubric,
            "rubric_digest": j.rubric_digest,
            "frozen_on": j.frozen_on,
            "quotes": list(j.quotes),
            "block": j.block,
            "sample": j.sample,
        }


def _turn_to_json(turn: Turn, last: list[Sequence[Chat]]) -> dict[str, Any]:
    return {
        "n": turn.n,
        "id": turn.id,
        "user": turn.user,
        **({"time": turn.time} if turn.time is not None else {}),
        "auto": turn.auto,
        "events": [_event_to_json(event, last) for event in turn.events],
        "state": turn.state,
        "state_digest": digest(turn.state),
        "error": turn.error,
    }


def _event_to_json(event: Event, last: list[Sequence[Chat]]) -> dict[str, Any]:
    if isinstance(event, ModelCall):
        return _call_to_json(event, last)
    return {"event": _EVENT_NAMES[type(event)], **{field: getattr(event, field) for field in type(event).__slots__}}


def _call_to_json(call: ModelCall, last: list[Sequence[Chat]]) -> dict[str, Any]:
    """Most agents have nothing to say of notes and recorded: then neither is there."""
    data: dict[str, Any] = {"event": "model_call", "context": None, "usage": call.usage}
    if call.context is not None:
        same = in_common(last[0], call.context)
        data["context"] = {"same": same, "then": list(call.context[same:])}
        last[0] = call.context
    if call.notes:
        data["notes"] = list(call.notes)
    if call.recorded is not None:
        data["recorded"] = call.recorded
    return data


def _turn_from_json(data: Mapping[str, Any], last: list[Sequence[Chat]]) -> Turn:
    return Turn(
        n=data["n"],
        id=data["id"],
        user=data["user"],
        time=data.get("time"),
        auto=data["auto"],
        events=tuple(_event_from_json(event, last) for event in data["events"]),
        state=data["state"],
        error=data["error"],
    )


def _event_from_json(data: Mapping[str, Any], last: list[Sequence[Chat]]) -> Event:
    fields = {key: value for key, value in data.items() if key != "event"}
    if data["event"] == "model_call":
        fields["notes"] = tuple(fields.get("notes", ()))
        if (context := fields["context"]) is not None:
            fields["context"] = last[0] = [*last[0][: context["same"]], *context["then"]]
    return _EVENTS[data["event"]](**fields)


def _dumps(value: object, encode: Callable[[Any], str]) -> str:
    """JSON, whatever it is."""
    try:
        return encode(value)
    except (TypeError, ValueError, RecursionError):  # only then is it gone through: nearly always it is JSON already
        return encode(_plain(value, 0))


def _plain(value: Any, depth: int) -> Any:
    """The same in JSON's types. A set has no order of its own, so it is given one."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth == _DEEPEST:
        return f"nested deeper than {_DEEPEST} levels"
    if isinstance(value, Mapping):
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, Set):
        return [_plain(item, depth + 1) for item in sorted(value, key=repr)]
    return [_plain(item, depth + 1) for item in value] if isinstance(value, list | tuple) else str(value)


def _numbers(runs: Path, command: str) -> Iterator[int]:
    """The numbers that are taken. A folder of another name, as a copy has, takes none."""
    found = (re.fullmatch(rf"{command}-([0-9]+)", path.name) for path in runs.iterdir())
    return (int(match[1]) for match in found if match)


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(Problem(file=str(path), what=f"cannot be written: {error.strerror}"))
