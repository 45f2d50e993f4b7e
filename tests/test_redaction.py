"""Redaction: what is secret never reaches a file, and taking it out twice is taking it out once."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzturn.errors import InputError
from fuzzturn.redaction import NOTHING, REDACTED, redaction

SECRETS = redaction([r"sk-[A-Za-z0-9]{4,}", r"\b\d{4} \d{4}\b", r"(?i)password: \S+"])
PIECES = st.sampled_from(
    ["sk-", "abcd1234", "1234 5678", "password: ", "hunter2", " ", "[", "]", "redacted", '"', "\\", "é"]
)
TEXTS = st.lists(PIECES, max_size=8).map("".join)
JSON = st.recursive(
    TEXTS | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(TEXTS)
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = SECRETS.text(text)
    assert SECRETS.text(once) == once


@given(JSON)
def test_nothing_secret_is_left_in_data_however_it_is_nested(data: object) -> None:
    once = SECRETS.data(data)
    assert SECRETS.data(once) == once
    assert "hunter2" not in json.dumps(once) or "password: hunter2" not in json.dumps(once)


def test_a_secret_inside_a_tool_calls_arguments_is_found_behind_its_escapes() -> None:
    found = redaction(['a"b-secret'])
    arguments = json.dumps({"note": 'say a"b-secret now'})
    assert json.loads(found.data({"arguments": arguments})["arguments"]) == {"note": f"say {REDACTED} now"}


def test_data_without_secrets_is_left_as_it_is() -> None:
    data = {"a": ["x", {"b": '{"c": "\\u00e9"}'}], "n": 1.5, "none": None}
    assert SECRETS.data(data) == data
    assert NOTHING.data(data) is data


def test_values_of_variables_with_telling_names_are_secret() -> None:
    environ = {"OPENAI_API_KEY": "abcdefghij", "MY_TOKEN": "yes", "PATH": "/usr/bin/secret", "DB_PASSWORD": "pa.s+word"}
    found = redaction((), environ)
    assert found.text("key abcdefghij, pa.s+word, paXssword, yes, /usr/bin/secret") == (
        f"key {REDACTED}, {REDACTED}, paXssword, yes, /usr/bin/secret"
    )


def test_a_secret_that_begins_with_another_one_leaves_nothing_of_itself() -> None:
    secrets = redaction(environ={"A_KEY": "hunter2hunter2", "B_TOKEN": "hunter2hunter2-and-more"})
    assert secrets.text("is hunter2hunter2-and-more or hunter2hunter2") == f"is {REDACTED} or {REDACTED}"


@pytest.mark.parametrize("pattern", [r"(?<=key=)\w*", r"(?=sk-)", r"x*(?<=y)"])
def test_a_pattern_that_also_matches_nothing_puts_nothing_there(pattern: str) -> None:
    secrets = redaction([pattern])
    once = secrets.text("key=hello, key=, sk-1, xy")
    assert once == secrets.text(once)
    assert once in ("key=[redacted], key=, sk-1, xy", "key=hello, key=, sk-1, xy")


def test_a_secret_number_is_found_where_it_stands_as_a_number_and_counts_stay() -> None:
    secrets = redaction([r"\d{4,}"])
    assert secrets.data({"card": 4111111111111111, "tokens": 4096, "price": 0.5, "yes": True}) == {
        "card": REDACTED, "tokens": 4096, "price": 0.5, "yes": True
    }  # fmt: skip


@pytest.mark.parametrize("pattern", ["(", "", ".*", "redacted", r"\w+"])
def test_a_pattern_that_cannot_be_used_is_refused_with_its_words(pattern: str) -> None:
    with pytest.raises(InputError) as raised:
        redaction([pattern])
    assert repr(pattern) in str(raised.value)
