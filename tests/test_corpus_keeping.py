"""Keeping: a finding that is found again, entries that look alike, versions, and two branches that both add entries."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any, get_args

import pytest

import kit
from entries import entry
from fuzzturn import why
from fuzzturn.corpus import (
    Entry,
    Kept,
    Past,
    amend,
    entry_files,
    entry_path,
    keep_entry,
    load_entry,
    migrate,
    pieces_of,
    save_entry,
    twins,
    write_entry,
)
from fuzzturn.corpus.entry import Counterfactual, Mechanism
from fuzzturn.corpus.limits import MAX_ROWS
from fuzzturn.corpus.versions import STEPS, OtherVersion
from fuzzturn.errors import InputError
from fuzzturn.redaction import redaction
from fuzzturn.scenario_file import scenario_to_data

ROOT = Path(__file__).parent.parent


def sized(turns: int, tokens: int = 50, seed: int = 0, **fields: Any) -> Entry:
    """The finding in a session of that size; what the user says first names it, so that sessions differ."""
    script = scenario_to_data(kit.scenario())
    script["turns"][0]["user"] = f"Hello, I look for a lamp, in {turns} turns, {tokens} tokens, seed {seed}."
    provenance = {"turns": turns, "tokens": tokens, "seed": seed}
    return entry(provenance=provenance, scenario=script, **fields)


def signed(**fields: Any) -> Entry:
    """An entry whose id is that of its signature, as a campaign writes it."""
    made = sized(**({"turns": 7} | fields))
    return made.model_copy(update={"finding": made.signature_id})


def kept(found: Entry, folder: Path, **how: Any) -> Kept:
    return keep_entry(found, folder, **how)


def test_a_new_finding_is_new_and_goes_to_its_scenario_s_folder(tmp_path: Path) -> None:
    new = kept(sized(7), tmp_path)
    assert (new.event, new.told) == ("new", "new")
    assert new.path == tmp_path / "lamp" / "0a1b2c3d.yaml" == entry_path(sized(7), tmp_path)
    assert "seen" not in new.path.read_text()


@pytest.mark.parametrize("found", [sized(7), sized(9), sized(7, 51)])
def test_a_known_finding_in_no_smaller_session_changes_one_line(found: Entry, tmp_path: Path) -> None:
    file = kept(sized(7), tmp_path).path
    file.write_text(file.read_text().replace("status: open", "status: open  # asked Ida\nx-ticket: 12"))
    before = file.read_text().splitlines()
    again = kept(found, tmp_path)
    assert (again.event, again.told, again.longer) == ("known", "known, seen 2 times", found.size > (7, 50))
    assert [line for line in file.read_text().splitlines() if line not in before] == ["seen: 2"]
    assert kept(found, tmp_path).told == "known, seen 3 times"
    after = file.read_text().splitlines()
    assert [line for line in after if line not in before] == ["seen: 3"]
    assert [line for line in before if line not in after] == []


def test_a_shorter_session_replaces_the_longer_one_and_keeps_its_history(tmp_path: Path) -> None:
    file = kept(sized(6, seed=3), tmp_path).path
    shorter = kept(sized(4, seed=5), tmp_path)
    assert (shorter.path, shorter.told) == (file, "shorter than before: 4 turns for 6; seen 2 times")
    assert kept(sized(4, 40), tmp_path).told == "shorter than before: 40 tokens for 50; seen 3 times"
    now = load_entry(file)
    assert (now.size, now.seen) == ((4, 40), 3)
    assert now.history == (Past(turns=6, tokens=50, seed=3), Past(turns=4, tokens=50, seed=5))
    assert now.spoken().turns[0].user.endswith("in 4 turns, 40 tokens, seed 0.")


def test_what_people_added_with_x_stays_when_a_shorter_session_takes_the_place(tmp_path: Path) -> None:
    file = kept(sized(6), tmp_path).path
    with file.open("a") as end:
        end.write("x-ticket: LAMP-7\nx-seen-by:\n  - Ida\n")
    kept(sized(4), tmp_path)
    assert file.read_text().endswith("x-ticket: LAMP-7\nx-seen-by:\n  - Ida\n")
    written = file.read_bytes()
    write_entry(load_entry(file), file)
    assert file.read_bytes() == written


def test_what_is_marked_fixed_is_never_touched_and_what_fails_again_goes_beside_it(tmp_path: Path) -> None:
    file = kept(sized(6), tmp_path).path
    amend(file, "status", "fixed")
    guard = file.read_bytes()
    again = kept(sized(4), tmp_path)
    assert (again.event, again.path.name, again.regressed) == ("new", "0a1b2c3d-again.yaml", file)
    third = kept(sized(3), tmp_path)
    assert (third.event, third.path, third.regressed) == ("shorter", again.path, file)
    amend(again.path, "status", "fixed")
    assert kept(sized(3), tmp_path).path.name == "0a1b2c3d-again-again.yaml"
    assert file.read_bytes() == guard


def test_agents_with_other_options_have_entries_of_their_own(tmp_path: Path) -> None:
    first = kept(sized(6, agent={"options": {"keep": "4", "memory": "200"}}), tmp_path)
    other = kept(sized(4, agent={"options": {"keep": "12", "memory": "200"}}), tmp_path)
    assert other.path.parent == first.path.parent
    assert other.path.stem.startswith("0a1b2c3d-")
    assert other.beside == first.path
    assert other.told == "new beside one of an agent with other options: keep=12, there keep=4"
    assert load_entry(first.path).size == (6, 50)
    assert kept(sized(3, agent={"options": {"keep": "12", "memory": "200"}}), tmp_path).path == other.path
    assert kept(sized(5, agent={"options": {"keep": "4", "memory": "200"}}), tmp_path).path == first.path
    assert [load_entry(path).size for path in (first.path, other.path)] == [(5, 50), (3, 50)]
    assert len(entry_files(tmp_path)) == 2


def test_the_name_of_an_entry_of_other_options_depends_on_them_alone(tmp_path: Path) -> None:
    names = set()
    for folder, first in ((tmp_path / "one", {"a": "1"}), (tmp_path / "two", {"b": "1"})):
        kept(sized(6, agent={"options": first}), folder)
        names.add(kept(sized(6, agent={"options": {"c": "1"}}), folder).path.name)
    assert len(names) == 1


def test_a_redacted_option_is_the_same_option_when_it_is_found_again(tmp_path: Path) -> None:
    secret = redaction(["s3cr3t[0-9]+"], {})
    found = sized(6, agent={"options": {"header": "s3cr3t99"}})
    first = kept(found, tmp_path, redaction=secret)
    assert "s3cr3t" not in first.path.read_text()
    assert kept(found, tmp_path, redaction=secret).event == "known"


def test_a_damaged_file_is_written_anew_and_one_of_another_version_is_left_alone(tmp_path: Path) -> None:
    file = kept(sized(6), tmp_path).path
    file.write_text("schema: [")
    anew = kept(sized(6), tmp_path)
    assert (anew.event, anew.path, list(anew.unreadable)) == ("new", file, [file])
    file.write_text(newer := "schema: 9\nfuzzturn: 7.0.0\nfinding: 0a1b2c3d\n")
    beside = kept(sized(6), tmp_path)
    assert beside.path != file
    assert file.read_text() == newer


def test_what_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    script = scenario_to_data(kit.scenario())
    rows = [{"id": f"t{n}", "user": "x"} for n in range(MAX_ROWS)]
    script["turns"] = rows + script["turns"]
    with pytest.raises(InputError, match=f"{MAX_ROWS + 7} turns; at most {MAX_ROWS}"):
        save_entry(entry(scenario=script), tmp_path)
    assert list(tmp_path.rglob("*.*")) == []


def test_a_copy_counts_once_and_another_machine_s_sightings_are_added(tmp_path: Path) -> None:
    file = kept(sized(6), tmp_path).path
    before = file.read_bytes()
    assert kept(load_entry(file), tmp_path, again=False).told == "known, nothing is new"
    assert file.read_bytes() == before
    assert kept(sized(6, seed=9, seen=4), tmp_path, again=False).told == "known, seen 5 times"
    amend(file, "status", "fixed")
    assert kept(load_entry(file).model_copy(update={"status": "open"}), tmp_path, again=False).path == file


def test_the_signature_of_a_kept_finding_gives_its_id_and_its_file_is_written_as_it_is(tmp_path: Path) -> None:
    files = entry_files(ROOT / "corpus")
    assert files
    for file in files:
        read = load_entry(file)
        assert read.signature_id == read.finding
        assert save_entry(read, tmp_path).read_bytes() == file.read_bytes()


def test_the_words_for_why_are_those_of_why() -> None:
    assert get_args(Mechanism) == get_args(why.Mechanism)
    assert get_args(Counterfactual) == get_args(why.Counterfactual)


# Look-alikes


def shelf(folder: Path, **files: Entry) -> dict[Path, Entry]:
    return {folder / "lamp" / f"{name}.yaml": one for name, one in files.items()}


def plan(folder: Path, **files: Entry) -> list[tuple[str, str, bool, str]]:
    return [(t.path.stem, t.like.stem, t.merged is not None, t.why) for t in twins(shelf(folder, **files))]


def test_a_copy_under_another_name_is_merged_into_the_file_that_has_the_finding_s_name(tmp_path: Path) -> None:
    one = signed()
    assert plan(tmp_path, aaa=one, **{one.finding: one}) == [("aaa", one.finding, True, "a copy")]


def test_the_smaller_session_of_one_finding_takes_the_place_with_its_history(tmp_path: Path) -> None:
    one = signed(turns=6)
    (twin,) = twins(shelf(tmp_path, other=sized(4), **{one.finding: one}))
    assert twin.why == "the same finding in a session that is shorter, so it takes the place: 4 turns and 50 tokens, " \
        "there 6 turns and 50 tokens"  # fmt: skip
    assert twin.merged is not None
    assert (twin.merged.finding, twin.merged.size, twin.merged.seen) == (one.finding, (4, 50), 2)
    assert twin.merged.history == (Past(turns=6, tokens=50, seed=0),)


def test_three_of_one_finding_become_one(tmp_path: Path) -> None:
    found = twins(shelf(tmp_path, a=sized(5), b=sized(4), c=sized(6)))
    assert [(t.path.stem, t.like.stem) for t in found] == [("a", "b"), ("c", "b")]
    assert found[-1].merged is not None
    assert (found[-1].merged.size, found[-1].merged.seen) == ((4, 50), 3)


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        (sized(6), sized(6, agent={"options": {"keep": "9"}}),
         "the same finding, but the agent's options are keep=9, there none"),
        (sized(6), sized(4, status="fixed"), "the same finding, but open and there fixed: the fixed one is a guard"),
        (sized(6, status="fixed"), sized(4, status="fixed"),
         "the same finding in another session, and both are marked fixed: each guards its own"),
        (sized(6), sized(6, judge_context="window", blind_in=("window",)),
         "the same session, but another finding: judge_context window, there agent"),
        (sized(6), sized(6, agent={"name": "seller"}),
         "the same session, but another agent, or one with other options"),
        (sized(6), sized(6, status="fixed", call="look"),
         "the same session and the same thing wrong, but one is marked fixed: call look, there buy"),
    ],
)  # fmt: skip
def test_what_only_looks_alike_is_kept_and_the_reason_said(one: Entry, other: Entry, why: str, tmp_path: Path) -> None:
    said = plan(tmp_path, a=one, b=other)
    assert [(merged, reason) for _, _, merged, reason in said] == [(False, why)]


def test_one_session_told_otherwise_is_merged_since_no_replay_looks_at_that(tmp_path: Path) -> None:
    told = {"mechanism": "visible_ignored", "no_compaction": "clean", "restated": "clean", "judge": {"agent": 4}}
    said = plan(tmp_path, a=sized(6), b=sized(6, why=told))
    reason = "the same session and the same thing wrong, told otherwise: mechanism visible_ignored, there unknown"
    assert said == [("b", "a", True, reason)]


def test_other_sessions_of_other_findings_are_nobody_s_twins(tmp_path: Path) -> None:
    assert plan(tmp_path, a=sized(6), b=sized(5, call="look")) == []
    rule = scenario_to_data(kit.scenario(constraints=({"id": "cap", "checker": "under_cap", "args": {"cap": 9},
                                                       "statement": kit.CAP},)))  # fmt: skip
    assert plan(tmp_path, a=entry(), b=entry(scenario=rule, call="look")) == []


# Versions


def older(data: dict[str, Any]) -> dict[str, Any]:
    """The step from a version that never was: it called the detail a message."""
    return {("detail" if key == "message" else key): value for key, value in data.items()}


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(STEPS, 0, older)
    file = save_entry(sized(6), tmp_path)
    text = file.read_text().replace("schema: 1\n", "schema: 0\n", 1).replace("\ndetail: ", "\nmessage: ")
    file.write_text(text + "x-note: mine\n")
    return file


def test_an_older_version_is_refused_with_the_command_that_migrates_it(old: Path) -> None:
    with pytest.raises(OtherVersion) as refused:
        load_entry(old)
    said = f"{old}:1:9: schema 0 is older than 1, which this fuzzturn reads; fuzzturn corpus migrate {old}"
    assert str(refused.value) == said


def test_migrating_makes_an_older_file_one_of_now_and_leaves_one_of_now_alone(old: Path) -> None:
    assert migrate(old, by="5.0") == 0
    read = load_entry(old)
    assert (read.detail, read.size, read.fuzzturn) == ("spent [90]", (6, 50), "5.0")
    assert old.read_text().endswith("x-note: mine\n")
    written = old.read_bytes()
    assert migrate(old, by="6.0") is None
    assert old.read_bytes() == written


def test_a_file_that_no_step_makes_readable_stays_as_it_is(old: Path) -> None:
    old.write_text(text := old.read_text().replace("turn_id: buy", "turn_id: by"))
    with pytest.raises(InputError, match="has no turn 'by'"):
        migrate(old)
    assert old.read_text() == text


def test_a_newer_version_says_which_fuzzturn_wrote_it_and_no_command_touches_it(tmp_path: Path) -> None:
    file = save_entry(sized(6), tmp_path)
    file.write_text(text := "schema: 2\nfuzzturn: 4.1.0\n" + file.read_text().removeprefix("schema: 1\n"))
    for read in (load_entry, migrate):
        with pytest.raises(OtherVersion, match=r":1:9: schema 2 is newer than 1, .*; fuzzturn '4.1.0' wrote it"):
            read(file)
    assert file.read_text() == text


def test_a_version_that_nobody_knows_a_way_from_is_no_schema(tmp_path: Path) -> None:
    file = save_entry(sized(6), tmp_path)
    file.write_text(file.read_text().replace("schema: 1\n", "schema: -3\n", 1))
    with pytest.raises(InputError, match="'schema' is -3; accepted: 1"):
        load_entry(file)


# Amending


def test_a_file_in_one_line_can_be_marked_and_one_without_a_line_for_it_is_told(tmp_path: Path) -> None:
    (file := tmp_path / "a.yaml").write_text('{status: "open", finding: 0a1b2c3d}\n')
    amend(file, "status", "fixed")
    assert file.read_text() == "{status: fixed, finding: 0a1b2c3d}\n"
    with pytest.raises(InputError, match="'seen' does not stand in a line of its own; the line seen: 2, in column 1"):
        amend(file, "seen", 2)


def test_a_byte_order_mark_and_comments_survive_an_amendment(tmp_path: Path) -> None:
    file = save_entry(sized(6), tmp_path)
    text = "\ufeff# kept for the audit\n" + file.read_text().replace("status: open", "status: 'open'   # for now")
    file.write_text(text, encoding="utf-8")
    amend(file, "status", "fixed")
    assert file.read_text(encoding="utf-8") == text.replace("'open'   #", "fixed   #")


# Merging


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
def test_two_branches_that_each_add_entries_merge_without_a_conflict(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", *who, *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    corpus, both = tmp_path / "corpus", signed(turns=6)
    git("init", "-q", "-b", "main")
    keep_entry(both, corpus)
    git("add", ".")
    git("commit", "-qm", "first")
    for branch, call in (("one", "look"), ("two", "wait")):
        git("checkout", "-qb", branch, "main")
        keep_entry(signed(turns=6, seed=8), corpus)  # found again, here and there
        keep_entry(signed(call=call), corpus)
        keep_entry(signed(turns=6, agent={"options": {"keep": call}}), corpus)
        git("add", ".")
        git("commit", "-qm", branch)
    git("checkout", "-q", "main")
    git("merge", "-q", "one", "-m", "one")
    git("merge", "-q", "two", "-m", "two")
    entries = [load_entry(path) for path in entry_files(corpus)]
    assert len(entries) == 5
    assert sorted(entry.seen for entry in entries) == [1, 1, 1, 1, 2]


def test_pieces_are_the_names_that_a_replay_looks_up() -> None:
    from test_corpus_hostile import shops

    assert sorted(pieces_of(kit.scenario(), shops())) == [
        "checker under_cap", "environment shop", "milestone something_bought",
    ]  # fmt: skip
