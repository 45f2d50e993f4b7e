"""Laws: an entry written, read and written again is the same entry in the same bytes; an amended file differs in one
line; of sessions that meet the smallest is kept, in whatever order they come."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

import kit
from entries import entry as toy_entry
from fuzzturn.corpus import Entry, Past, amend, load_entry, meet, save_entry
from fuzzturn.corpus.entry import Counterfactual, Mechanism
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
HISTORY = st.fixed_dictionaries({key: st.integers(1, 999) for key in ("turns", "tokens", "seed")})
MECHANISMS = st.sampled_from(get_args(Mechanism))
COUNTERFACTUALS = st.sampled_from(get_args(Counterfactual))
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
    runs = draw(st.integers(1, 999))
    return Entry.model_validate(
        {
            "finding": draw(st.from_regex(r"[0-9a-f]{8}", fullmatch=True)),
            "status": draw(st.sampled_from(["open", "fixed"])),
            "turn": draw(counts),
            "turn_id": "buy",
            "detail": draw(said),
            "call": draw(st.none() | names),
            "visibility": draw(st.sampled_from(["verbatim", "in_summary", "absent", "stale", "unknown"])),
            "failing": {"k": draw(st.integers(1, runs)), "n": runs, "low": draw(share), "high": draw(share)},
            "minimal": draw(st.booleans()),
            "why": {
                "mechanism": draw(MECHANISMS), "lost_at": draw(st.none() | counts),
                "no_compaction": draw(COUNTERFACTUALS), "restated": draw(COUNTERFACTUALS),
                "judge": draw(st.dictionaries(contexts, scores)),
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
            "fuzzturn": draw(st.none() | texts),
            "judged": draw(st.none() | st.just({"k": 3, "n": 9, "low": 0.1, "high": 0.6})),
            "seen": draw(st.integers(1, 99)),
            "history": tuple(draw(st.lists(HISTORY, max_size=3))),
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


@settings(max_examples=40)
@given(entries(), st.sampled_from([("status", "open"), ("status", "fixed"), ("seen", 7)]), st.data())
def test_an_amended_file_differs_in_one_line_from_what_it_was(
    entry: Entry, change: tuple[str, str | int], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = save_entry(entry, Path(folder))
        lines = file.read_text(encoding="utf-8").split("\n")
        keys = [n for n, line in enumerate(lines) if line[:1].isalpha()]
        for n in sorted(data.draw(st.sets(st.sampled_from(keys), max_size=4)), reverse=True):
            lines.insert(n, "# somebody's remark: 'seen' and status:")
        end = data.draw(st.sampled_from(["\n", "\r\n"]))
        before = end.join(lines).encode()
        file.write_bytes(before)
        amend(file, *change)
        assert getattr(load_entry(file), change[0]) == change[1]
        was, now = before.split(b"\n"), file.read_bytes().split(b"\n")
        assert len(now) - len(was) in (0, 1)
        assert sum(line not in was for line in now) <= 1
        assert sum(line not in now for line in was) <= 1
        amend(file, *change)
        assert file.read_bytes().split(b"\n") == now


def folded(met: Sequence[Entry]) -> Entry:
    return reduce(lambda known, found: meet(known, found).entry, met)


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=6), st.randoms(use_true_random=False)
)
def test_of_sessions_that_meet_in_any_order_the_smallest_is_kept_and_all_are_counted(
    sizes: list[tuple[int, int]], chance: Any
) -> None:
    met = [toy_entry(provenance={"turns": turns, "tokens": tokens}) for turns, tokens in sizes]
    chance.shuffle(met)
    kept = folded(met)
    assert kept.size == min(sizes)
    assert kept.seen == len(sizes)
    passed = [(past.turns, past.tokens) for past in kept.history]
    assert all(kept.size < size for size in passed)
    assert passed == sorted(set(passed), reverse=True)
    assert set(passed) <= set(sizes)


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=2, max_size=5, unique=True),
    st.randoms(use_true_random=False),
)
def test_two_branches_that_are_merged_have_the_history_of_both(sizes: list[tuple[int, int]], chance: Any) -> None:
    met = [toy_entry(provenance={"turns": turns, "tokens": tokens}) for turns, tokens in sizes]
    split = chance.randint(1, len(met) - 1)
    one, other = folded(met[:split]), folded(met[split:])
    merged, reverse = meet(one, other).entry, meet(other, one).entry
    assert merged.size == reverse.size == min(sizes)
    assert merged.seen == reverse.seen == len(sizes)
    if merged.size == other.size:  # the other one takes the place, and nothing of either is forgotten
        passed: set[Past] = set(merged.history)
        assert {*one.history, *other.history} <= passed
