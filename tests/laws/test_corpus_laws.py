"""Law: an entry written, read and written again is the same entry in the same bytes, whatever was said in it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import kit
from fuzzturn.corpus import Entry, load_entry, save_entry
from fuzzturn.scenario_file import scenario_to_data
from fuzzturn.scores import SERIOUSNESS

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
broken_texts = st.text(max_size=10) | st.lists(st.sampled_from(["\ud83d", "\udc00", "a"]), max_size=4).map("".join)
names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
scores = st.none() | st.integers(0, 4)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
contexts = st.sampled_from(SERIOUSNESS)
WHAT_BROKE: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.fixed_dictionaries(
        {"kind": st.just("blind_spot"), "constraint": st.just("cap"), "checker": st.just("under_cap"),
         "judge_context": contexts, "blind_in": st.lists(contexts, unique=True).map(tuple)}
    ),
    st.just({"kind": "violation", "constraint": "cap", "checker": "under_cap"}),
    st.fixed_dictionaries(
        {"kind": st.just("progress"), "milestone": st.just("bought"),
         "checker": st.sampled_from(["before_its_needs", "lost_under_dependants"])}
    ),
    st.sampled_from(["must_mention_any", "must_not_call: look", "must_call: buy"]).map(
        lambda checker: {"kind": "assertion", "checker": checker}
    ),
)  # fmt: skip
ASKS = {"turn": "buy", "must_mention_any": ("ok",), "must_not_call": ("look",), "must_call": ({"name": "buy"},)}


@st.composite
def scenarios(draw: st.DrawFn) -> dict[str, Any]:
    chats = [
        {"id": f"chat{i}", "user": user or "…", "optional": draw(st.booleans())}
        for i, user in enumerate(draw(st.lists(texts, max_size=3)))
    ]
    turns: list[dict[str, Any]] = [
        {"id": "cap", "user": kit.CAP, "states": ("cap",)},
        *chats,
        {"id": "buy", "user": draw(texts) or "Buy."},
    ]
    constraint = {"id": "cap", "checker": "under_cap", "statement": kit.CAP}
    args = draw(st.dictionaries(names, values, max_size=3))
    return scenario_to_data(kit.scenario(turns, constraints=({**constraint, "args": args},), assertions=(ASKS,)))


@st.composite
def entries(draw: st.DrawFn, said: st.SearchStrategy[str] = texts) -> Entry:
    counts, share = st.integers(0, 999), st.floats(0, 1)
    return Entry.model_validate(
        {
            "finding": draw(st.from_regex(r"[0-9a-f]{8}", fullmatch=True)),
            "status": draw(st.sampled_from(["open", "fixed"])),
            "turn": draw(counts),
            "turn_id": "buy",
            "detail": draw(said),
            "call": draw(st.none() | names),
            "visibility": draw(st.sampled_from(["verbatim", "in_summary", "absent", "stale", "unknown"])),
            "failing": {"k": draw(counts), "n": draw(counts), "low": draw(share), "high": draw(share)},
            "minimal": draw(st.booleans()),
            "why": {
                "mechanism": draw(names), "lost_at": draw(st.none() | counts), "no_compaction": draw(names),
                "restated": draw(names), "judge": draw(st.dictionaries(contexts, scores)),
            },
            "agent": {
                "name": draw(texts), "options": draw(st.dictionaries(names, texts, max_size=2)),
                "identity": draw(st.none() | said),
            },
            "judge": draw(st.none() | st.fixed_dictionaries({"name": texts})),
            "provenance": {
                "scenario": draw(names), "operators": tuple(draw(st.lists(names, max_size=2))), "seed": draw(counts),
                "turns_found": draw(counts), "tokens_found": draw(counts), "turns": draw(counts),
                "tokens": draw(counts), "in_base": draw(st.booleans()),
            },
            "pieces": draw(st.dictionaries(texts, texts, max_size=2)),
            "rubric": kit.RUBRIC.model_dump(by_alias=True),
            "rubric_digest": kit.RUBRIC.digest,
            "scenario": draw(scenarios()),
            "records": tuple(draw(st.lists(st.dictionaries(said, values, max_size=2), max_size=2))),
        }
        | draw(WHAT_BROKE)
    )  # fmt: skip


@given(entries())
def test_an_entry_written_is_the_entry_read(entry: Entry) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first = save_entry(entry, Path(folder))
        written = first.read_bytes()
        read = load_entry(first)
        assert read == entry
        assert read.spoken() == entry.spoken()
        assert save_entry(read, Path(folder)) == first
        assert first.read_bytes() == written


@given(entries(broken_texts))
def test_what_was_replaced_once_stays_as_it_is(entry: Entry) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first = save_entry(entry, Path(folder))
        written, read = first.read_bytes(), load_entry(first)
        assert (read.status, read.finding, read.pinned()) == (entry.status, entry.finding, entry.pinned())
        assert save_entry(read, Path(folder)).read_bytes() == written
        assert load_entry(first) == read
