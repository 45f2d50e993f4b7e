"""Hostile corpus files: whatever somebody puts into a file, it is refused at its place, in bounded time and memory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

import kit
from entries import entry
from fuzzturn.corpus import load_entry, save_entry, welcome
from fuzzturn.corpus.limits import MAX_ROWS
from fuzzturn.document.place import MAX_BYTES, MAX_NODES, MAX_PROBLEMS
from fuzzturn.errors import InputError
from fuzzturn.ports import environment
from fuzzturn.registry import Registered, Registry

Make = Callable[[str], str | bytes]
MEGABYTE = 1024 * 1024


def put(old: str, new: str) -> Make:
    """The entry with another text in one place."""

    def make(good: str) -> str:
        assert old in good
        return good.replace(old, new, 1)

    return make


def answers(pattern: str, most: int = 1) -> Make:
    return put("  turns:\n", f"  answers:\n    - asks: ['{pattern}']\n      user: b\n      max: {most}\n  turns:\n")


def turns(rows: str) -> Make:
    return lambda good: good[: good.index("  turns:\n")] + "  turns:\n" + rows


def always(content: str | bytes) -> Make:
    return lambda _: content


def after(more: str) -> Make:
    return lambda good: good + more


def statement(characters: int, times: int) -> Make:
    """A text that names a long statement many times."""

    def make(good: str) -> str:
        said = good.replace("statement: Never", f"statement: {'x' * characters} Never")
        return said.replace("user: Hello, I look for a lamp.", f"user: '{'{cap}' * times}'")

    return make


DANGLING = "".join(
    f"    - id: t{n}\n      user: x\n      after:\n" + "".join(f"        - no{n}x{m}\n" for m in range(20))
    for n in range(480)
)
BOMB = "a: &a [x, x, x]\n" + "".join(f"b{n}: &b{n} [*a, *a, *a]\n" for n in range(30_000))
HOSTILE: dict[str, tuple[Make, str]] = {
    "nothing": (always(""), ": the file is empty"),
    "another thing": (always("- a\n- b\n"), ":1:1: the document is a list; accepted: a mapping with"),
    "a picture": (always(b"\x89PNG\r\n\x1a\n\x00\x00"), ":1:1: not a text in UTF-8"),
    "UTF-16": (lambda good: good.encode("utf-16"), ":1:1: not a text in UTF-8"),
    "Latin-1": (lambda good: good.replace("lamp.", "lämp.").encode("latin-1"), ":72:34: not a text in UTF-8"),
    "NUL": (put("detail: spent", "detail: sp\0ent"), ":9:11: the character \\u0000"),
    "too many bytes": (after("# x\n" * MEGABYTE), ": the file is larger than 4 MiB; at most 4 MiB"),
    "deep brackets": (always("a: " + "[" * 200_000), ":1:1003: not YAML: nested too deep; at most 40 levels"),
    "deep blocks": (always("".join(" " * n + "a:\n" for n in range(2_000))), ":41:41: nested too deep"),
    "as many keys as fit": (always("".join(f"{n:x}a:\n" for n in range(500_000))), ":100000:"),
    "one key a million times": (always("a:\n" * 1_000_000), ":2:1: the key 'a' is given twice"),
    "more items than fit": (always("a:\n" + "- 1\n" * 200_000), ":100000:3: more values than a file may hold"),
    "aliases of aliases": (always(BOMB), ":1:4: &a is an anchor; leave it out"),
    "a tag that calls": (put("seed: 0", "seed: !!python/object/apply:os.system [id]"), "os.system is a tag; leave it"),
    "a directive": (lambda good: "%TAG ! tag:x,2000:\n" + good, ":2:1: not YAML:"),
    "a merge": (after("<<: {a: 1}\n"), ":93:1: << merges another mapping; write its keys out"),
    "a second document": (after("---\nschema: 1\n"), ":93:1: a second document begins here"),
    "a status twice": (after("status: fixed\n"), ":93:1: the key 'status' is given twice; it stands on line 3"),
    "an enormous number": (put("seed: 0", f"seed: {'9' * 3_000_000}"), ":37:9: a number of 3000000 characters"),
    "an infinite number": (put("low: 0.2", "low: 1e999"), ":18:8: 1e999 is too large a number"),
    "a word that is a boolean": (put("minimal: true", "minimal: yes"), ":20:10: yes without quotes is true"),
    "half a character": (put("detail: spent [90]", 'detail: "\\ud800"'), ":9:12: not YAML: found invalid Unicode"),
    "a way out as id": (put("finding: 0a1b2c3d", "finding: ../../x"), ":2:10: 'finding' is '../../x'; accepted: 8 hex"),
    "a way out as folder": (put("\n  scenario: lamp\n", "\n  scenario: ../etc\n"), ":34:13: 'scenario' is"),
    "an absolute folder": (put("\n  scenario: lamp\n", "\n  scenario: /etc\n"), ":34:13: 'scenario' is"),
    "code as environment": (put("environment: shop", "environment: os.system('id')"), ":58:16: 'environment' is"),
    "code as checker": (put("      checker: under_cap", "      checker: evil.py/build"), ":66:16: 'checker' is"),
    "unknown keys": (after("".join(f"zz{n}: 1\n" for n in range(20_000))), ":93:1: the key 'zz0' is not known here"),
    "a key of megabytes": (after(f"? '{'a' * 1_000_000}'\n: 1\n"), ":93:3: the key 'aaaa"),
    "wrong items": (put("    - pad\n", "    - 1\n" * 30_000), ":36:7: entry 1 of 'operators' is 1; accepted: a text"),
    "thousands of turns": (turns("    - {id: a, user: x}\n" * 5_000), f": 5000 turns; at most {MAX_ROWS}"),
    "names that are nobody's": (turns(DANGLING), ":74:11: no turn is called 'no0x0'; known: t0, t1"),
    "a statement a hundred thousand times": (statement(1_000_000, 100_000), ": a text with 100000 braces, each for"),
    "an endless pattern": (answers("(a+)+$"), ":71:14: '(a+)+$' repeats a group in which something is repeated"),
    "a pattern of choices": (answers("a?" * 30), " has more than 4 repetitions or 8 choices"),
    "a pattern of repetitions": (answers("a.*" * 9), " has more than 4 repetitions or 8 choices"),
    "answers without end": (answers("a", 10**9), ":73:12: 'max' is 1000000000; at most 100"),
    "a schema of another day": (put("schema: 1\n", "schema: 7\nfuzzturn: 3.0.0\nz: z\n"), "fuzzturn '3.0.0' wrote it"),
    "a count below one": (after("seen: 0\n"), ":93:7: 'seen' is 0; accepted: a whole number from 1"),
    "a mechanism of one's own": (put("mechanism: unknown", "mechanism: magic"), "accepted: never_reached_summariser"),
    "a merge conflict": (put("status: open", "<<<<<<< one\nstatus: open\n=======\nstatus: fixed\n>>>>>>> two"),
                         ":3:1: not YAML: a merge conflict begins here; settle it"),
    "a tab": (put("  scenario: lamp", "\tscenario: lamp"), "not YAML: this line is indented with a tab"),
}  # fmt: skip


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_entry(entry(), tmp_path_factory.mktemp("good")).read_text(encoding="utf-8")


def written(folder: Path, make: Make, good: str) -> Path:
    content, file = make(good), folder / "0a1b2c3d.yaml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def test_there_are_thirty_at_least(good: str, tmp_path: Path) -> None:
    assert len(HOSTILE) >= 30
    assert load_entry(written(tmp_path, always(good), good)) == entry(rubric_digest=kit.RUBRIC.digest)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_at_its_place_and_in_few_words(name: str, good: str, tmp_path: Path) -> None:
    make, said = HOSTILE[name]
    file = written(tmp_path, make, good)
    with pytest.raises(InputError) as refused:
        load_entry(file)
    problems = refused.value.problems
    assert any(said in str(problem) for problem in problems), str(refused.value)[:2000]
    assert all(problem.file == str(file) for problem in problems)
    whole = ("the file is empty", "the file is larger than 4 MiB")
    assert all(problem.line and problem.column for problem in problems if problem.what not in whole)
    assert max(len(str(problem)) for problem in problems) < 5_000
    assert len(str(refused.value)) < MEGABYTE


@pytest.mark.parametrize("name", ["aliases of aliases", "one key a million times"])
def test_what_a_hostile_file_takes_of_memory_is_bounded_by_what_a_file_may_hold(
    name: str, good: str, tmp_path: Path
) -> None:
    file = written(tmp_path, HOSTILE[name][0], good)
    assert file.stat().st_size < MAX_BYTES
    tracemalloc.start()
    try:
        with pytest.raises(InputError):
            load_entry(file)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 4 * MAX_BYTES + 1_500 * MAX_NODES


def test_all_of_them_together_are_refused_within_a_gigabyte_and_a_minute_of_processor_time(
    good: str, tmp_path: Path
) -> None:
    for n, (make, _) in enumerate(HOSTILE.values()):
        (folder := tmp_path / str(n)).mkdir()
        written(folder, make, good)
    program = (
        "import resource, sys\nfrom pathlib import Path\nfrom fuzzturn.corpus import load_entry\n"
        "from fuzzturn.errors import InputError\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))\nresource.setrlimit(resource.RLIMIT_CPU, (60, 60))\n"
        "refused = 0\n"
        "for file in sorted(Path(sys.argv[1]).glob('*/*.yaml')):\n"
        "    try:\n        load_entry(file)\n    except InputError:\n        refused += 1\n"
        "print(refused)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, str(len(HOSTILE))), done.stderr[-2000:]


def test_a_pipe_a_device_and_a_link_are_no_entries_and_nobody_waits_for_them(good: str, tmp_path: Path) -> None:
    real = written(tmp_path, always(good), good)
    os.mkfifo(pipe := tmp_path / "pipe.yaml")
    (link := tmp_path / "link.yaml").symlink_to(real)
    (device := tmp_path / "device.yaml").symlink_to("/dev/zero")
    (folder := tmp_path / "folder.yaml").mkdir()
    said = {pipe: "not a regular file", link: "a symbolic link", device: "a symbolic link", folder: "cannot be read"}
    for path, what in said.items():
        with pytest.raises(InputError) as refused:
            load_entry(path)
        assert str(refused.value).startswith(f"{path}: {what}")
    with pytest.raises(InputError, match="not a regular file"):
        load_entry(Path("/dev/zero"))


def test_an_entry_is_not_written_through_a_link_that_leads_out_of_the_corpus(tmp_path: Path) -> None:
    (outside := tmp_path / "outside").mkdir()
    (corpus := tmp_path / "corpus").mkdir()
    (corpus / "lamp").symlink_to(outside)
    with pytest.raises(InputError, match="leads out of the corpus"):
        save_entry(entry(), corpus)
    assert list(outside.iterdir()) == []


def test_a_file_that_is_a_link_is_replaced_and_not_written_through(tmp_path: Path) -> None:
    (outside := tmp_path / "precious.txt").write_text("mine")
    (tmp_path / "corpus" / "lamp").mkdir(parents=True)
    (tmp_path / "corpus" / "lamp" / "0a1b2c3d.yaml").symlink_to(outside)
    file = save_entry(entry(), tmp_path / "corpus")
    assert outside.read_text() == "mine"
    assert load_entry(file).finding == "0a1b2c3d"
    assert not file.is_symlink()


@environment("shop")
def shop(*, seed: int) -> kit.Shop:
    return kit.Shop()


def shops() -> Registry:
    return Registry([Registered(getattr(shop, "__fuzzturn_tag__"), shop, __file__)], fallback=kit.registry())  # noqa: B009


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "      checker: under_cap",
            "      checker: os.system",
            ":66:16: no checker is called 'os.system'; known: under_cap",
        ),
        ("environment: shop", "environment: evil", ":58:16: no environment is called 'evil'; known: shop"),
        ("  name: buyer", "  name: evil.py:build", ":28:9: 'evil.py:build' is a file of code; --agent names it"),
        ("  name: toy", "  name: ../evil:build", ":31:9: '../evil:build' is a file of code; --judge names it"),
    ],
)
def test_what_comes_from_elsewhere_names_no_code(good: str, tmp_path: Path, old: str, new: str, said: str) -> None:
    text = put("checker: under_cap\nturn", "checker: os.system\nturn")(good) if "os.system" in new else good
    file = written(tmp_path, put(old, new), str(text))
    with pytest.raises(InputError) as refused:
        welcome(file, shops())
    assert said in str(refused.value)


def test_a_good_file_from_elsewhere_is_welcome(good: str, tmp_path: Path) -> None:
    assert welcome(written(tmp_path, always(good), good), shops()).finding == "0a1b2c3d"


def test_problems_are_told_up_to_a_number_that_somebody_mends(good: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        load_entry(written(tmp_path, HOSTILE["unknown keys"][0], good))
    assert len(refused.value.problems) == MAX_PROBLEMS + 1


@pytest.mark.parametrize(
    "pattern",
    ["which (city|town)", "when .* travel", r"how (many|much)\??", "[+*?]+ (a|b)", r"\(a+\)+", "colou?r", "a{2,5}"],
)  # fmt: skip
def test_ordinary_questions_are_patterns_that_may_stand(pattern: str, good: str, tmp_path: Path) -> None:
    assert load_entry(written(tmp_path, answers(pattern), good)).finding == "0a1b2c3d"


@pytest.mark.parametrize(
    ("rate", "told"),
    [
        ("{k: 1, 'n': 1000000000, low: 0.2, high: 1.0}", "'n' is 1000000000"),
        ("{k: 0, 'n': 0, low: 0.2, high: 1.0}", "'n' is 0"),
        ("{k: -1, 'n': 1, low: 0.2, high: 1.0}", "'k' is -1"),
        ("{k: 5, 'n': 3, low: 0.2, high: 1.0}", "5 of 3 is no rate"),
        ("{k: 0, 'n': 3, low: 0.2, high: 1.0}", "0 of 3 is no rate"),
        ("{k: 1, 'n': 3, low: -5.0, high: 1.0}", "'low' is -5.0"),
    ],
)
def test_a_rate_that_is_none_is_refused_before_anything_is_played(rate: str, told: str, tmp_path: Path) -> None:
    path = save_entry(entry(), tmp_path)
    block = re.compile(r"^failing:\n(  .*\n)+", re.MULTILINE)
    path.write_text(block.sub(f"failing: {rate}\n", path.read_text()))
    with pytest.raises(InputError) as refused:
        load_entry(path)
    assert told in str(refused.value)
