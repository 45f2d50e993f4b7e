"""Model calls in an entry: alike whoever asked first, redacted as in the record, and refused where hostile."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entries import entry
from fuzzturn.calls import Answer, CallRecord, Gateway, Keys, Line, Place, Request, Role
from fuzzturn.corpus import (
    Entry,
    answers_of,
    keep_entry,
    load_entry,
    meet,
    notes_of,
    parse_entry,
    save_entry,
    twins,
    write_entry,
)
from fuzzturn.corpus.limits import MAX_CALL_BYTES, MAX_CALLS
from fuzzturn.document import dump, load
from fuzzturn.errors import InputError
from fuzzturn.redaction import redaction
from kit import wait

KEYS = [f"{n:x}" * 64 for n in range(10)]
STREAM = "text/event-stream; charset=utf-8"


def noted(*bodies: str, role: Role = "agent", kind: str = "application/json") -> dict[Place, tuple[Role, Answer]]:
    """An answer to each of several requests."""
    answers = [Answer(body=body.encode(), content_type=kind) for body in bodies]
    return {Place(KEYS[n], 0, 0): (role, answer) for n, answer in enumerate(answers)}


def carrying(calls: Mapping[Place, tuple[Role, Answer]] | None = None, **fields: Any) -> Entry:
    return entry(calls=notes_of(noted('{"a": 1}', '{"b": 2}') if calls is None else calls), **fields)


def test_calls_stand_last_and_read_back_as_they_were(tmp_path: Path) -> None:
    once = carrying()
    file = save_entry(once, tmp_path)
    assert list(load(file).data)[-1] == "calls"
    assert load(file).data["calls"][0] == {"key": KEYS[0], "role": "agent", "sample": 0, "nth": 0, "body": '{"a": 1}'}
    assert load_entry(file).calls == once.calls
    assert answers_of(once.calls)[Place(KEYS[1], 0, 0)] == Answer(body=b'{"b": 2}')
    assert "calls" not in save_entry(entry(), tmp_path / "none").read_text()


@given(st.permutations([(key, sample, nth) for key in KEYS[:2] for sample in (0, 1) for nth in (0, 1)]))
def test_the_order_of_calls_does_not_depend_on_who_asked_first(places: list[tuple[str, int, int]]) -> None:
    asked: dict[Place, tuple[Role, Answer]] = {Place(*place): ("judge", Answer(body=b"1")) for place in places}
    assert notes_of(asked) == notes_of(dict(sorted(asked.items(), key=lambda item: str(item[0]))))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=3), st.booleans())
def test_every_answer_reads_back_to_the_byte(texts: list[str], ascii: bool) -> None:
    whole = noted(*(json.dumps({"said": text}, ensure_ascii=ascii) for text in texts))
    streams = noted(*texts, role="judge", kind=STREAM)
    given = {**whole, **{Place(place.key, 1, 0): told for place, told in streams.items()}}
    once = carrying(given)
    data = {"calls": [call.model_dump(exclude_defaults=True) for call in once.calls]}
    text = dump(entry().model_dump(by_alias=True, mode="json", exclude_none=True) | data)
    assert answers_of(parse_entry(text).calls) == {place: answer for place, (_, answer) in given.items()}


@pytest.mark.parametrize(("status", "kind"), [(200, "text/\u00e9"), (200, "a\r\nb"), (200, "x" * 300), (999, "a/b")])
def test_an_answer_that_no_file_may_hold_is_not_carried(status: int, kind: str) -> None:
    with pytest.raises(InputError, match=r"an answer of the judge's model has the state .*; 100 to 599, and a media"):
        notes_of({Place(KEYS[0], 0, 0): ("judge", Answer(body=b"1", status=status, content_type=kind))})


def test_an_answer_that_is_no_text_is_not_carried() -> None:
    with pytest.raises(InputError, match="an answer of the summariser's model is no text in UTF-8"):
        notes_of({Place(KEYS[0], 0, 0): ("summariser", Answer(body=b"\xff"))})


def test_redaction_keeps_an_answer_in_its_shape_and_every_digest_whole(tmp_path: Path) -> None:
    secret = redaction([r"\d{5,}", "hidden.*"], {})
    said = json.dumps({"text": "hidden 55555", "number": 12345, "then": "not 77"})
    file = save_entry(
        carrying(noted(said), pieces={"checker under_cap": "12345678deadbeef"}), tmp_path, redaction=secret
    )
    read = load_entry(file)
    assert json.loads(read.calls[0].body) == {"text": "[redacted]", "number": 12345, "then": "not 77"}
    assert (read.calls[0].key, read.rubric_digest) == (KEYS[0], read.rubric.digest)
    assert read.pieces == {"checker under_cap": "12345678deadbeef"}
    before = file.read_bytes()
    write_entry(read, file, redaction=secret)
    assert file.read_bytes() == before


ROW = f"  - key: '{KEYS[0]}'\n    role: agent\n    sample: 0\n    nth: 0\n    body: '1'\n"
HOSTILE: dict[str, tuple[str, str]] = {
    "no list": ("calls: 1\n", ":93:8: 'calls' is 1; accepted: a list"),
    "no calls": ("calls:\n  - 1\n", ":94:5: entry 1 of 'calls' is 1; accepted: a mapping"),
    "a way out as key": ("calls:\n" + ROW.replace(KEYS[0], "../../x"), ":94:10: 'key' is '../../x'; accepted: 64 hex"),
    "a role of one's own": ("calls:\n" + ROW.replace("agent", "root"), ":95:11: 'role' is 'root'; accepted: agent or "),
    "a sample below zero": ("calls:\n" + ROW.replace("sample: 0", "sample: -1"), ":96:13: 'sample' is -1"),
    "a sample beyond counting": ("samples: [10000000000]\n", ":93:11: entry 1 of 'samples' is 10000000000"),
    "a state that is none": ("calls:\n" + ROW + "    status: 7\n", ":99:13: 'status' is 7"),
    "a header of two lines": (
        "calls:\n" + ROW + '    content_type: "a\\r\\nSet-Cookie: b"\n',
        ":99:19: 'content_type' is 'a\\r\\nSet-Cookie: b'; accepted: a media type",
    ),
    "a body that is data": ("calls:\n" + ROW.replace("'1'", "[1]"), ":98:11: 'body' is a list; accepted: a text"),
    "a body that is no JSON": ("calls:\n" + ROW.replace("'1'", "x"), ":98:11: 'body' is no JSON"),
    "a body of brackets": ("calls:\n" + ROW.replace("'1'", f"'{'[' * 100_000}'"), ":98:11: 'body' is no JSON"),
    "a number without end": ("calls:\n" + ROW.replace("'1'", f"'{'9' * 100_000}'"), ":98:11: 'body' is no JSON"),
    "one place twice": ("calls:\n" + 2 * ROW, ":99:5: call 2 has the key, sample and nth of call 1"),
    "too many": ("calls:\n" + ROW * (MAX_CALLS + 1), f":93:1: {MAX_CALLS + 1} model calls; at most {MAX_CALLS}, with"),
    "too long": (
        "calls:\n" + ROW.replace("'1'", f"'\"{'x' * MAX_CALL_BYTES}\"'"),
        f":93:1: model calls whose answers have {MAX_CALL_BYTES + 2} bytes; at most {MAX_CALLS}, with",
    ),
    "samples without calls": ("samples: [5]\n", ":93:1: there are samples and no calls; both, or neither"),
    "more samples than runs": ("samples: [5, 6]\ncalls:\n" + ROW, ":93:1: 2 samples for 1 runs; one for each run"),
    "code to load": ("calls:\n" + ROW + "    agent: evil.py:build\n", ":99:5: the key 'agent' is not known here"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_calls_are_refused_at_their_place(name: str, tmp_path: Path) -> None:
    more, said = HOSTILE[name]
    file = save_entry(entry(), tmp_path)
    assert len(file.read_text().splitlines()) == 92
    with file.open("a") as end:
        end.write(more)
    with pytest.raises(InputError) as refused:
        load_entry(file)
    assert f"{file}{said}" in str(refused.value)[:5_000]
    assert len(str(refused.value)) < 10_000


def test_a_copy_with_calls_gives_them_to_the_one_without(tmp_path: Path) -> None:
    path = keep_entry(entry(), tmp_path).path
    again = keep_entry(carrying(), tmp_path)
    assert (again.path, again.told) == (path, "known, seen 2 times")
    assert load_entry(path).calls == carrying().calls
    before = path.read_text()
    keep_entry(carrying(noted('{"c": 3}')), tmp_path)
    assert path.read_text() == before.replace("seen: 2", "seen: 3"), "those that it has it keeps"


def test_the_calls_of_another_session_are_not_taken() -> None:
    other = carrying(provenance={"turns": 9})
    assert meet(entry(), other).entry.calls == ()


def test_a_shorter_session_brings_its_own_calls_or_none() -> None:
    longer, shorter = carrying(provenance={"turns": 9}), entry(provenance={"turns": 5})
    assert meet(longer, shorter).entry.calls == ()


def test_files_that_differ_in_calls_alone_are_copies() -> None:
    (twin,) = twins({Path("a.yaml"): entry(), Path("b.yaml"): carrying()})
    assert (twin.why, twin.merged and twin.merged.calls) == ("a copy", carrying().calls)


# Under a replay


def request(text: str) -> Request:
    return Request(role="agent", path="/chat/completions", body={"model": "m", "messages": [text]})


async def nobody() -> Answer:
    raise AssertionError("a call was made")


def test_carried_answers_go_before_the_record_and_are_not_written_to_it(tmp_path: Path) -> None:
    file, key = tmp_path / "calls.sqlite", Keys().known(request("a")).key
    known = Keys().known(request("b"))
    CallRecord(file).keep(Place(known.key, 0, 0), request("b"), known, Answer(body=b'"record"'))
    CallRecord(file).keep(Place(key, 0, 0), request("a"), Keys().known(request("a")), Answer(body=b'"record"'))
    gate = Gateway(CallRecord(file, {Place(key, 0, 0): Answer(body=b'"entry"')}), offline=True)
    bodies = [wait(gate.ask(request(text), Line(), nobody)).answer.body for text in ("a", "b")]
    assert bodies == [b'"entry"', b'"record"']
    found = CallRecord(file).find(Place(key, 0, 0))
    assert found is not None
    assert found.body == b'"record"'


def test_a_gateway_notes_what_it_answered_and_to_whom() -> None:
    async def one() -> Answer:
        return Answer(body=b"1")

    gate = Gateway()
    wait(gate.ask(request("before anybody wants to know"), Line(), one))
    gate.noted = {}
    line = Line(sample=3)
    for _ in range(2):
        wait(gate.ask(request("a"), line, one))
    form = Request(role="judge", path="litellm", body={"model": "m"})
    assert not gate.refused(form)
    key = Keys().known(request("a")).key
    assert gate.noted == {Place(key, 3, nth): ("agent", Answer(body=b"1")) for nth in (0, 1)}
    gate.refuse(form)
    assert gate.refused(form)
    assert gate.noted[Place(Keys().known(form).key, 0, 0)] == ("judge", Answer(body=b"null", status=400))
