"""YAML as plain data with places: what is read, what is refused, and where it says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from fuzzturn.document import Document, complaints, dump, load, parse, prune, writing
from fuzzturn.errors import InputError


def _refused(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        parse(text, file="a.yaml")
    return [str(problem) for problem in caught.value.problems]


def _refusal(text: str) -> str:
    problems = _refused(text)
    assert len(problems) == 1, problems
    return problems[0]


def test_mappings_become_dicts_and_lists_tuples() -> None:
    assert parse("a: [1, {b: x}]\nc:\n  - true\n  - null\n").data == {"a": (1, {"b": "x"}), "c": (True, None)}


def test_places_are_lines_and_columns_from_one() -> None:
    document = parse("a: 1\nb:\n  - x\n  - c: z\n")
    assert document.places[()] == (1, 1)
    assert document.places[("b", 1, "c")] == (4, 8)
    assert document.keys[("b", 1, "c")] == (4, 5)


def test_a_problem_at_a_missing_part_stands_at_the_nearest_part_around_it() -> None:
    problem = parse("a: 1\nb:\n  c: 2\n", file="a.yaml").problem(("b", "missing", 3), "no")
    assert str(problem) == "a.yaml:3:3: no"


def test_a_part_keeps_the_places_of_its_file() -> None:
    part = parse("a:\n  b:\n    c: 1\n", file="a.yaml").part("a", "b")
    assert part.data == {"c": 1}
    assert str(part.problem(("c",), "no", key=True)) == "a.yaml:3:5: no"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("450", 450), ("-1", -1), ("0", 0), ("450.50", 450.5), ("1e3", 1000.0), ("-2.5E-1", -0.25),
        ("true", True), ("false", False), ("null", None), ("~", None), ("", None),
        ("2026-03-02", "2026-03-02"), ("2026-03-02T10:00:00Z", "2026-03-02T10:00:00Z"),
        ("2026-03-02 10:00:00", "2026-03-02 10:00:00"), ("CX-402", "CX-402"), ("1.2.3", "1.2.3"),
        ("450 EUR", "450 EUR"),
        ("'450'", "450"), ('"no"', "no"), ("'true'", "true"), ("'{x}'", "{x}"), ("nan", "nan"), ("=", "="),
    ],
)  # fmt: skip
def test_an_unquoted_word_means_what_json_and_every_reader_take_it_for(written: str, value: object) -> None:
    found = parse(f"a: {written}\n").data["a"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("word", ["yes", "no", "on", "off", "y", "n", "Y", "NO", "True", "FALSE", "Null"])
def test_a_word_that_some_readers_take_for_a_boolean_has_to_be_quoted(word: str) -> None:
    assert _refusal(f"a: 1\nb: {word}\n").startswith(f"a.yaml:2:4: {word} without quotes is ")


@pytest.mark.parametrize(
    "number",
    ["1_000", "1,000", "1'000.5", "007", "0o17", "0x1F", "0b101", "+5", "5.", ".5", "12:30", "1:2:3", ".inf", ".NaN"],
)  # fmt: skip
def test_an_odd_number_is_never_silently_a_text(number: str) -> None:
    assert _refusal(f"a: {number}\n").startswith(f"a.yaml:1:4: {number} without quotes is a number")


def test_a_number_that_no_float_holds_is_refused() -> None:
    assert "too large" in _refusal("a: 1e999\n")


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    assert "a number of 5000 characters" in _refusal(f"a: {'9' * 5000}\n")


def test_an_unquoted_placeholder_says_that_it_has_to_be_quoted() -> None:
    what = "a.yaml:1:7: {leg_ceiling} is a mapping without a value; a text that begins with { has to be quoted"
    assert _refusal("user: {leg_ceiling}\n") == what


def test_text_after_an_unquoted_placeholder_says_so_too() -> None:
    assert all("a text that begins with { has to be quoted" in problem for problem in _refused("user: {x} per leg\n"))


def test_a_key_without_a_value_in_a_flow_mapping_is_refused() -> None:
    assert _refusal("- {id: a, uses: }\n").startswith("a.yaml:1:11: the key 'uses' has no value")


def test_a_duplicate_key_names_the_line_of_the_first() -> None:
    assert _refusal("a: 1\nb: 2\na: 3\n") == "a.yaml:3:1: the key 'a' is given twice; it stands on line 1 already"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: &x 1\n", "1:4: &x is an anchor"),
        ("a: *x\n", "1:4: *x is an alias"),
        ("a: !!str 5\n", "1:4: tag:yaml.org,2002:str is a tag"),
        ("a: !!python/object/apply:os.system [x]\n", "1:4: tag:yaml.org,2002:python/object/apply:os.system is a tag"),
        ("<<: {a: 1}\n", "1:1: << merges another mapping"),
        ("a: 1\n---\nb: 2\n", "2:1: a second document begins here"),
        ("1: a\n", "1:1: the key 1 is not a text"),
        ("null: a\n", "1:1: the key null is not a text"),
        ("yes: a\n", "1:1: yes without quotes is true"),
        ("? [a]\n: b\n", "1:3: a key is a list, a mapping or an alias"),
    ],
)
def test_what_plain_data_has_no_need_of_is_refused(text: str, said: str) -> None:
    assert _refused(text)[0].startswith(f"a.yaml:{said}")


def test_an_alias_is_not_expanded_before_it_is_refused() -> None:
    bomb = "a: &a [x, x, x]\n" + "".join(f"b{n}: &b{n} [*a, *a, *a]\n" for n in range(500))
    assert len(_refused(bomb)) == 1 + 4 * 500


@pytest.mark.parametrize(("depth", "fine"), [(40, True), (41, False)])
def test_forty_levels_are_read_and_no_more(depth: int, fine: bool) -> None:
    text = "[" * depth + "]" * depth
    if fine:
        assert parse(text).data != ()
    else:
        assert _refusal(text) == "a.yaml:1:41: nested too deep; at most 40 levels"


def test_every_problem_is_said_in_one_pass_and_in_file_order() -> None:
    problems = _refused("a: no\nb: &x 1_000\na: 2\n")
    assert [problem.split(": ")[0] for problem in problems] == ["a.yaml:1:4", "a.yaml:2:4", "a.yaml:2:4", "a.yaml:3:1"]


@pytest.mark.parametrize("text", ["a: [1,\n", "a: 'b\n", "- a\nb: c\n", "a:\n\tb: c\n", "a: b: c\n", "a: @x\n"])
def test_a_syntax_error_has_a_place(text: str) -> None:
    file, line, column, what = _refusal(text).split(":", 3)
    assert (file, what.strip()[:8]) == ("a.yaml", "not YAML")
    assert int(line) >= 1
    assert int(column) >= 1


@pytest.mark.parametrize("text", ["", "# nothing\n"])
def test_an_empty_file_is_said_to_be_empty(text: str) -> None:
    assert _refusal(text) == "a.yaml: the file is empty; one YAML document"


@pytest.mark.parametrize(("raw", "code"), [("\x00", "0000"), ("\x85", "0085"), ("\u2028", "2028"), ("\ufeff", "feff")])
def test_a_character_that_yaml_would_change_has_to_be_escaped(raw: str, code: str) -> None:
    assert _refusal(f'a: 1\nb: "x{raw}"\n').startswith(f"a.yaml:2:6: the character \\u{code}")
    assert parse(f'b: "x\\u{code}"\n').data == {"b": f"x{raw}"}


def test_a_file_that_is_not_utf_8_says_on_which_line(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"a: 1\nb: \xff\xfe\n")
    with pytest.raises(InputError, match=r"a\.yaml:2:4: not a text in UTF-8; save it as UTF-8"):
        load(file)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert load(file).data == {"a": 1}


def test_a_file_over_four_mebibytes_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"[" * (4 * 1024 * 1024 + 1))
    with pytest.raises(InputError, match="the file is larger than 4 MiB"):
        load(file)


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path / name)


def test_a_document_is_written_in_block_style_and_in_the_order_given() -> None:
    data = {"b": 1, "a": ["x", {"z": None, "w": True}], "empty": [], "none": {}}
    assert dump(data) == "b: 1\na:\n  - x\n  - z: null\n    w: true\nempty: []\nnone: {}\n"


def test_long_text_is_folded_at_about_a_hundred_columns() -> None:
    text = "No leg may cost more than EUR 450: that is the limit. " * 10
    lines = dump({"turns": [{"user": text}]}).splitlines()
    assert max(len(line) for line in lines) <= 110
    assert len(lines) > 5


def test_text_of_several_lines_is_written_as_such() -> None:
    assert dump({"text": "one\ntwo: three\n"}) == "text: |\n  one\n  two: three\n"


def test_letters_of_all_languages_are_written_as_they_are() -> None:
    assert dump({"city": "São Paulo 東京 \U0001f600"}) == "city: São Paulo 東京 \U0001f600\n"


def test_the_same_object_twice_is_written_twice() -> None:
    shared = {"a": 1}
    assert dump([shared, shared]) == "- a: 1\n- a: 1\n"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"a": {1, 2}}, "at a is not JSON-able data"),
        ({"a": [float("nan")]}, "nan at a.0 is not a finite number"),
        ({"a": {1: 2}}, "the key 1 at a is not a text"),
        ({"a": "\ud83d"}, "at a is a text with half a surrogate pair"),
        ({"a": 10**500}, "a number at a is longer than 400 digits"),
    ],
)
def test_what_cannot_be_read_back_is_not_written(data: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        dump(data)


def test_data_nested_too_deep_to_be_read_is_not_written() -> None:
    data: Any = "x"
    for _ in range(41):
        data = [data]
    with pytest.raises(InputError, match="nested deeper than 40 levels"):
        dump(data)


def test_data_too_large_to_be_read_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MAX_BYTES", 10)
    with pytest.raises(InputError, match="makes a file of 11 bytes; at most 10 can be read back"):
        dump({"a": "abcdefg"})


class _Inner(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    name: str
    times: int = 1


class _Outer(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    title: str
    inner: tuple[_Inner, ...] = ()


def _complaints(document: Document) -> list[str]:
    data, problems = prune(document, _Outer)
    with pytest.raises(ValidationError) as caught:
        _Outer.model_validate(data)
    return [str(problem) for problem in (*problems, *complaints(caught.value, _Outer, document, {}))]


def test_a_missing_key_is_said_at_the_mapping_that_misses_it() -> None:
    assert _complaints(parse("title: x\ninner:\n  - times: 2\n")) == ["3:5: 'name' is missing; it takes a text"]


def test_a_value_of_another_type_is_quoted_with_what_is_accepted() -> None:
    document = parse("title: 5\ninner:\n  - {name: x, times: often}\n  - 7\n")
    assert _complaints(document) == [
        "1:8: 'title' is 5; accepted: a text, in quotes",
        "3:22: 'times' is 'often'; accepted: a whole number",
        "4:5: entry 2 of 'inner' is 7; accepted: a mapping with name, times",
    ]


def test_an_unknown_key_is_answered_with_the_closest_one() -> None:
    document = parse("title: x\ninner: [{name: b, tmies: 2}]\nx-note: fine\n")
    data, problems = prune(document, _Outer)
    assert data == {"title": "x", "inner": ({"name": "b"},)}
    assert [str(p) for p in problems] == [
        "2:19: the key 'tmies' is not known here; did you mean 'times'? (known: name, times)"
    ]


def test_reserved_keys_are_kept_and_never_proposed() -> None:
    document = parse("title: x\nlater: 1\nlatr: 2\n")
    data, problems = prune(document, _Outer, {_Outer: ("short",)}, {_Outer: ("later",)})
    assert data == {"title": "x", "later": 1}
    assert [str(p) for p in problems] == ["3:1: the key 'latr' is not known here; known: inner, short, title"]
