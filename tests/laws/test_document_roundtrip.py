"""Law: what is written as YAML is read back as equal data, however much it looks like something else."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fuzzturn.document import dump, parse, reading

_LOOKALIKES = """
    yes no on Off y N true True null ~ 1e3 1_000 1,000 007 0x1F .5 5. +5 12:30 .inf 2026-03-02 2026-03-02T10:00:00Z
    {x} {leg_ceiling} {} [] << = --- ... - ? : # *a &a !a %a @a ` | > ' " \\ \\n a:b #a
"""
_TRICKY = st.sampled_from([
    *_LOOKALIKES.split(), "", " ", "\n", "\t", "\r", "\x00", "\x07", "\x7f", "\x85", "\u2028", "\u2029", "\ufeff",
    "\xa0", "\ufffe", "\U0001f600", "a: b", "a #b", "- a", "? a", "--- a", " a", "a ", "\n a", "a\n", "a\n\n",
    "  a\n b\n", "a \nb",
])  # fmt: skip
_TEXT = st.one_of(
    _TRICKY, st.text(), st.lists(_TRICKY, max_size=3).map("".join), st.lists(_TRICKY, max_size=60).map(" ".join)
)
_SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), _TEXT)
_DATA = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4).map(tuple), st.dictionaries(_TEXT, inner, max_size=4)),
    max_leaves=10,
)


@given(_DATA)
def test_what_is_dumped_is_read_back_equal_in_value_type_and_order(data: Any) -> None:
    assert repr(parse(dump(data)).data) == repr(data)  # repr: 1 == 1.0 == True, and dicts ignore order


@given(_DATA)
def test_the_parser_written_in_python_reads_the_same(data: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "_PARSER", yaml.SafeLoader)
        assert repr(parse(dump(data)).data) == repr(data)


@given(_DATA)
def test_dumping_is_a_function_of_the_data_alone(data: Any) -> None:
    assert dump(parse(dump(data)).data) == dump(data)
