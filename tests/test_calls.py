"""Calls: keys, the record, prices and the bill."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzturn.calls import Answer, Bill, CallRecord, Keys, Price, Prices, Request, tokens_of
from fuzzturn.calls.keys import difference
from fuzzturn.calls.record import Place
from fuzzturn.errors import InputError, PortError
from fuzzturn.redaction import redaction

SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4)
JSON = st.recursive(
    SCALARS, lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(max_size=3), x, max_size=3), max_leaves=6
)
BODIES = st.dictionaries(st.sampled_from(["messages", "model", "tools", "seed", "stream"]), JSON, max_size=4)


def request(**body: Any) -> Request:
    return Request(role="agent", path="/chat/completions", body=body)


def key(keys: Keys | None = None, **body: Any) -> str:
    return (keys or Keys()).known(request(**body)).key


@given(BODIES)
def test_what_does_not_alter_the_answer_does_not_alter_the_key(body: dict[str, Any]) -> None:
    noise: dict[str, Any] = {"user": "u-1", "metadata": {"t": 1}, "store": True, "n": None}
    assert key(**body) == key(**dict(reversed(body.items()))) == key(**body, **noise)


@given(BODIES, BODIES)
def test_requests_differ_in_their_keys_exactly_where_a_difference_can_be_named(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    texts = [Keys().known(request(**body)).canonical for body in (one, other)]
    assert (key(**one) == key(**other)) == (texts[0] == texts[1])
    assert (difference(json.loads(texts[0]), json.loads(texts[1])) is None) == (texts[0] == texts[1])


def test_roles_share_a_record_of_equal_requests_but_paths_do_not() -> None:
    one = Request(role="agent", path="/chat/completions", body={"model": "m"})
    assert Keys().known(one).key == Keys().known(Request(role="judge", path=one.path, body=one.body)).key
    assert Keys().known(one).key != Keys().known(Request(role="agent", path="/responses", body=one.body)).key


def test_a_clock_in_the_system_prompt_is_taken_out_by_the_projects_pattern() -> None:
    keys = Keys.of(redaction(), [r"\d\d:\d\d"])
    assert key(keys, messages=["It is 10:31."]) == key(keys, messages=["It is 22:08."])
    assert key(messages=["It is 10:31."]) != key(messages=["It is 22:08."])


def test_a_normaliser_may_change_the_body_and_must_give_one() -> None:
    def without_ids(body: dict[str, Any]) -> dict[str, Any]:
        body["messages"] = [{**message, "id": None} for message in body["messages"]]
        return body

    keys = Keys(normaliser=without_ids)
    assert key(keys, messages=[{"id": "a1"}]) == key(keys, messages=[{"id": "b2"}])
    with pytest.raises(PortError, match="the normaliser returned None"):
        key(Keys(normaliser=lambda body: None), messages=[])
    with pytest.raises(PortError, match="the normaliser raised KeyError"):
        key(Keys(normaliser=lambda body: body["nothing"]), messages=[])


def test_the_key_is_that_of_the_redacted_request() -> None:
    keys = Keys(redaction(["s3cret"]))
    assert key(keys, messages=["my s3cret"]) == key(keys, messages=["my [redacted]"])


def test_a_bad_normalise_pattern_is_refused() -> None:
    with pytest.raises(InputError, match=r"normalise pattern '\(' is no regular expression"):
        Keys.of(redaction(), ["("])


def test_the_first_writer_wins_and_what_was_written_is_found_again(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "calls.sqlite"
    known = Keys().known(request(model="m"))
    place = Place(known.key, 0, 0)
    for body in (b"first", b"second"):
        record = CallRecord(file)
        record.keep(place, request(model="m"), known, Answer(body=body, usage={"prompt_tokens": 1}))
        record.close()
    found = CallRecord(file).find(place)
    assert found == Answer(body=b"first", usage={"prompt_tokens": 1})
    assert CallRecord(file).find(Place(known.key, 0, 1)) is None
    assert CallRecord(file).find(Place(known.key, 1, 0)) is None


def test_a_record_that_cannot_be_used_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "calls.sqlite").write_text("this is no database, but long enough to be looked at as one\n" * 20)
    with pytest.raises(InputError, match=r"calls\.sqlite: the record of model calls cannot be opened"):
        CallRecord(tmp_path / "calls.sqlite").find(Place("k", 0, 0))
    newer = sqlite3.connect(tmp_path / "newer.sqlite")
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(InputError, match="has version 99, and this fuzzturn reads version 1"):
        CallRecord(tmp_path / "newer.sqlite").find(Place("k", 0, 0))


def test_a_table_of_somebody_elses_is_no_record(tmp_path: Path) -> None:
    file = tmp_path / "calls.sqlite"
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE calls (x)")
    with pytest.raises(InputError, match="no such column: body; a record of fuzzturn's, or none"):
        CallRecord(file).find(Place("k", 0, 0))


def test_half_a_character_is_recorded_and_found_again(tmp_path: Path) -> None:
    keys, half = Keys(), request(model="m\ud83d", messages=["half: \ud83d"])
    known = keys.known(half)
    CallRecord(tmp_path / "calls.sqlite").keep(Place(known.key, 0, 0), half, known, Answer(body=b"{}"))
    record = CallRecord(tmp_path / "calls.sqlite")
    assert record.find(Place(known.key, 0, 0)) == Answer(body=b"{}")
    assert record.nearest(half, known) == "nothing: it was asked less often"


def test_a_miss_names_the_nearest_recorded_request_and_where_it_differs() -> None:
    record, keys = CallRecord(None), Keys()
    for text in ("Book it.", "Something else entirely"):
        kept = request(model="m", messages=[{"role": "user", "content": "Hello"}, {"role": "user", "content": text}])
        known = keys.known(kept)
        record.keep(Place(known.key, 0, 0), kept, known, Answer(body=b"{}"))
    asked = request(
        model="m", messages=[{"role": "user", "content": "Hello"}, {"role": "user", "content": "Book that."}]
    )
    near = record.nearest(asked, keys.known(asked))
    assert near == 'messages[1].content: recorded "Book it.", asked "Book that."'
    judge = Request(role="judge", path="/chat/completions", body={})
    assert record.nearest(judge, keys.known(judge)) is None


def test_prices_are_the_projects_own_first_and_litellms_otherwise() -> None:
    prices = Prices.of(["my/model:7b=0.15/0.60", "gpt-4o=1/2"])
    assert prices.of_model("openai/my/model:7b") == Price(0.15, 0.60)
    assert prices.of_model("gpt-4o") == Price(1, 2)
    shipped = Prices().of_model("gpt-4o-mini")
    assert shipped is not None
    assert shipped == Prices().of_model("openai/gpt-4o-mini")
    assert 0 < shipped.prompt < shipped.completion < 10
    assert Prices().of_model("no-such-model") is None
    assert Price(1.5, 6.0).usd(2_000_000, 500_000) == 6.0


@pytest.mark.parametrize("text", ["gpt", "gpt=1", "gpt=a/b", "=1/2", "gpt=-1/2"])
def test_a_price_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="model=prompt/completion in US dollars per million tokens"):
        Prices.of([text])


def test_usage_is_read_in_the_words_of_every_api_and_unknown_is_not_zero() -> None:
    assert tokens_of({"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}) == (3, 2)
    assert tokens_of({"input_tokens": 3, "output_tokens": 2}) == (3, 2)
    for unknown in (None, {}, {"prompt_tokens": None, "completion_tokens": 1}, {"prompt_tokens": True}, {"total": 3}):
        assert tokens_of(unknown) is None


def test_a_bill_adds_up_by_role_and_never_prices_what_it_cannot() -> None:
    bill = Bill(Prices.of(["m=1/10"]))
    bill.add("agent", "m", {"prompt_tokens": 1_000_000, "completion_tokens": 100_000})
    bill.add("judge", "m", {"input_tokens": 500_000, "output_tokens": 0})
    assert (bill.calls, bill.tokens, bill.usd) == (2, 1_600_000, 2.5)
    assert bill.by_role["agent"].usd == 2.0
    bill.add("judge", "unheard-of", {"prompt_tokens": 1, "completion_tokens": 1})
    assert bill.usd is None
    assert bill.by_role["agent"].unpriced == 0
    bill.add("agent", "m", None)
    assert bill.by_role["agent"].uncounted == 1


def test_a_cap_refuses_from_where_it_is_reached_and_where_it_cannot_be_held() -> None:
    bill = Bill(Prices.of(["m=1/10"]), cap_usd=1.0)
    assert bill.refusal() is None
    bill.add("agent", "m", {"prompt_tokens": 999_999, "completion_tokens": 0})
    assert bill.refusal() is None
    bill.add("agent", "m", {"prompt_tokens": 1, "completion_tokens": 0})
    assert "1.0 US dollars allowed are spent" in str(bill.refusal())
    free = Bill(Prices.of(["m=1/10"]), cap_usd=1.0)
    free.add("agent", "m", None)
    assert "what a call of model m costs is not known" in str(free.refusal())
