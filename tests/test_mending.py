"""Mending: whatever a model answers, what goes on is sound: mended and noted, or refused and told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzturn.adapters.mending import Said, mend, plain_text
from fuzzturn.ports import Tool

TOOLS = (
    Tool("book", "", {"type": "object", "properties": {"price": {"type": "number"}}, "required": ["price"],
                      "additionalProperties": False}),
    Tool("look"),
)  # fmt: skip


def call(name: Any, arguments: Any, id: Any = "c1") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def mended(*calls: Any, text: str | None = None, finish: str | None = None) -> Any:
    return mend(Said(text=text, calls=calls, finish=finish), TOOLS, number=7)


def test_a_sound_answer_is_left_as_it_is() -> None:
    got = mended(call("book", '{"price": 40}'), call("look", "", "c2"), text="One moment.")
    assert [(c.id, c.name, dict(c.args), c.refusal) for c in got.calls] == [
        ("c1", "book", {"price": 40}, None), ("c2", "look", {}, None)
    ]  # fmt: skip
    assert (got.text, got.notes) == ("One moment.", ())


@pytest.mark.parametrize("arguments", ['"{\\"price\\": 40}"', {"price": 40}, '{"price": 40.0}'])
def test_arguments_encoded_twice_or_not_at_all_are_read(arguments: Any) -> None:
    (only,) = mended(call("book", arguments)).calls
    assert (dict(only.args), only.refusal) == ({"price": 40}, None)


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("bok", "{}", "no tool is called 'bok'; did you mean 'book'? (known: book, look)"),
        (None, "{}", "no tool is called 'None'; known: book, look"),
        ("book", '{"price": ', 'the arguments are not JSON (Expecting value: line 1 column 11 (char 10)): {"price": '),
        ("book", "[1]", "the arguments are [1], not an object"),
        ("book", '{"price": "forty"}', "price: 'forty' is not of type 'number'"),
        ("book", "{}", "'price' is a required property"),
        ("book", '{"price": 1, "stops": 2}', "Additional properties are not allowed ('stops' was unexpected)"),
    ],
)
def test_a_call_that_cannot_be_run_is_refused_in_words_for_the_model(name: Any, arguments: str, why: str) -> None:
    got = mended(call(name, arguments))
    (only,) = got.calls
    assert only.refusal == why
    assert got.notes == (f"the call of {name} was refused: {why}",)


def test_a_call_cut_off_by_the_token_limit_is_dropped_and_the_whole_ones_stay() -> None:
    got = mended(call("look", "{}"), call("book", '{"price": 4', "c2"), finish="length")
    assert [c.name for c in got.calls] == ["look"]
    assert got.notes == ("the call of book was cut off by the token limit; it was dropped",)
    assert mended(text="And so", finish="length").notes == ("the answer was cut off by the token limit",)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "book", "arguments": {"price": 40}}',
        ' [{"name": "book", "parameters": {"price": 40}}]\n',
        '```json\n{"name": "book", "arguments": "{\\"price\\": 40}"}\n```',
        '<tool_call>\n{"name": "book", "arguments": {"price": 40}}\n</tool_call>',
        '<tool_call>{"name": "book", "arguments": {"price": 40}}',
    ],
)
def test_a_bare_call_in_the_text_is_taken_for_a_call_and_noted(text: str) -> None:
    got = mended(text=text)
    assert [(c.id, c.name, dict(c.args)) for c in got.calls] == [("call_7", "book", {"price": 40})]
    assert got.text == ""
    assert got.notes == ("the call of book stood in the text, without its markup; it was taken for a call",)


@pytest.mark.parametrize(
    "text",
    [
        'You could call {"name": "book", "arguments": {"price": 40}}.',
        '{"name": "Alice", "arguments": {}}',
        '{"name": "book", "price": 40}',
        '{"name": "book"}',
        '{"name": "book", "arguments": {"price": 40}',
        "[]",
        "```json\n{}\n```",
        '```json\n{"name": "book", "arguments": {}}\n``` as an example',
    ],
)
def test_text_that_is_not_plainly_a_call_stays_text(text: str) -> None:
    got = mended(text=text)
    assert (got.calls, got.text, got.notes) == ((), text, ())


def test_calls_without_ids_or_with_the_same_one_can_be_told_apart() -> None:
    got = mended(call("look", "{}", None), call("look", "{}", "a"), call("look", "{}", "a"))
    assert [c.id for c in got.calls] == ["call_7", "a", "a_2"]


def test_an_environments_broken_schema_refuses_nobody() -> None:
    tool = Tool("odd", "", {"type": "no such type"})
    (only,) = mend(Said(calls=[call("odd", '{"x": 1}')]), [tool], number=1).calls
    assert only.refusal is None


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"price": {"$ref": "#/$defs/gone"}}},
        {"properties": {"price": {"$ref": "http://127.0.0.1:9/never-fetched"}}},
        {"properties": {"price": {"pattern": r"^\p{L}+$"}}},
        {"$ref": "#"},
    ],
    ids=["dangling", "remote", "another dialect's pattern", "endless"],
)
def test_a_schema_that_only_fails_when_it_is_used_refuses_nobody_either(schema: dict[str, Any]) -> None:
    tool = Tool("buy", "Buy.", {"type": "object", **schema})
    (asked,) = mend(Said(calls=[call("buy", '{"price": "forty"}')]), [tool], number=1).calls
    assert asked.refusal is None


def test_content_in_parts_is_one_text() -> None:
    assert plain_text([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]) == "ab"
    assert plain_text("a") == "a"
    assert plain_text(None) is plain_text([]) is plain_text(7) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda x: st.lists(x, max_size=3) | st.dictionaries(st.sampled_from(["name", "arguments", "price", "function"]), x),
    max_leaves=8,
)
RAW = st.fixed_dictionaries({}, optional={
    "id": st.none() | st.text(max_size=3),
    "function": st.none() | st.fixed_dictionaries({}, optional={
        "name": st.sampled_from(["book", "look"]) | st.text(max_size=3) | st.none(),
        "arguments": JSON | JSON.map(json.dumps) | st.text(max_size=8),
    }),
})  # fmt: skip


@given(
    st.lists(RAW, max_size=4),
    st.none() | st.text(max_size=20) | JSON.map(json.dumps),
    st.sampled_from([None, "length"]),
)
def test_whatever_comes_every_call_that_goes_on_fits_its_tool_and_has_an_id_of_its_own(
    calls: list[Any], text: str | None, finish: str | None
) -> None:
    got = mend(Said(text=text, calls=calls, finish=finish), TOOLS, number=1)
    assert len({c.id for c in got.calls}) == len(got.calls)
    for c in got.calls:
        json.dumps(c.args)
        if c.refusal is None:
            assert c.name in ("book", "look")
            assert c.name == "look" or isinstance(c.args["price"], int | float)
        else:
            assert any(c.refusal in note for note in got.notes)
