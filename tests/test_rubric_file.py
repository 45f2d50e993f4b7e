"""Rubrics on disk, and the lock that proves them frozen."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fuzzturn.errors import InputError
from fuzzturn.rubric_file import LOCK, freeze, load_lock, load_rubric, verify

_DATA: dict[str, Any] = {
    "schema": 1,
    "rubric_id": "some-rubric-v1",
    "frozen_on": "2026-03-02",
    "scale": {str(score): f"what {score} means" for score in range(5)},
}


def _write(folder: Path, name: str = "some-rubric-v1", **change: Any) -> Path:
    path = folder / f"{name}.json"
    path.write_text(json.dumps(_DATA | {"rubric_id": name} | change))
    return path


def test_a_rubric_is_read_from_its_file(tmp_path: Path) -> None:
    rubric = load_rubric(_write(tmp_path))
    assert (rubric.rubric_id, rubric.frozen_on) == ("some-rubric-v1", "2026-03-02")
    assert rubric.scale["0"] == "what 0 means"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rubric_id": "other"}, "the rubric 'other' stands in some-rubric-v1.json; other.json"),
        ({"frozen_on": "2026-02-30"}, "'frozen_on' is '2026-02-30'; accepted: a date as 2026-03-02"),
        ({"frozen_on": 20260302}, "'frozen_on' is 20260302; accepted: a date as 2026-03-02"),
        ({"scale": {"0": "a", "4": "b"}}, "'scale' has the anchors 0, 4; exactly 0, 1, 2, 3, 4"),
        ({"scale": _DATA["scale"] | {"5": "x"}}, "'scale' has the anchors 0, 1, 2, 3, 4, 5; exactly 0, 1, 2, 3, 4"),
        ({"scale": _DATA["scale"] | {"3": ""}}, "'3' is empty; accepted: a text"),
        ({"scale": []}, "'scale' is a list; accepted: a mapping"),
        ({"scale": 5}, "'scale' is 5; accepted: a mapping"),
        ({"schema": 2}, "'schema' is 2; accepted: 1"),
        ({"scales": 1}, "the key 'scales' is not known here; did you mean 'scale'?"),
        ({"x-note": 1}, "the key 'x-note' is not known here"),
    ],
)
def test_a_rubric_of_another_shape_is_refused_in_our_words(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    path = _write(tmp_path, **{"rubric_id": "some-rubric-v1"} | change)
    with pytest.raises(InputError) as caught:
        load_rubric(path)
    assert len(caught.value.problems) == 1
    assert re.fullmatch(rf"{re.escape(str(path))}:1:\d+: {re.escape(said)}.*", str(caught.value))


def test_every_problem_of_a_rubric_is_said_at_once(tmp_path: Path) -> None:
    path = tmp_path / "some-rubric-v1.json"
    path.write_text('{"rubric_id": "A", "frozen_on": "soon", "scale": {"7": "x"}}')
    with pytest.raises(InputError) as caught:
        load_rubric(path)
    assert {problem.what.split()[0] for problem in caught.value.problems} == {
        "the",
        "'frozen_on'",
        "'scale'",
        "'rubric_id'",
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"schema": 1,\n "x" 2}', ":2:6: not JSON: "),
        ('{"schema": 1, "schema": 1}', ":1:15: the key 'schema' is given twice"),
        ("[]", ":1:1: a rubric is a JSON object"),
        ("[" * 100_000, ": nested too deep"),
    ],
)
def test_a_file_that_is_no_json_object_is_refused_with_a_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "some-rubric-v1.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_rubric(path)
    assert str(caught.value).startswith(f"{path}{said}")


def test_freezing_adds_the_digest_to_the_lock_beside_the_rubric(tmp_path: Path) -> None:
    path = _write(tmp_path)
    digest = freeze(path)
    assert digest == load_rubric(path).digest
    assert json.loads((tmp_path / LOCK).read_text()) == {"schema": 1, "rubrics": {"some-rubric-v1": digest}}


def test_a_lock_keeps_its_rubrics_sorted_and_nothing_else_in_the_folder(tmp_path: Path) -> None:
    for name in ("b", "c", "a"):
        freeze(_write(tmp_path, name))
    assert list(load_lock(tmp_path / LOCK)) == ["a", "b", "c"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "b.json", "c.json", LOCK]


def test_a_frozen_rubric_passes(tmp_path: Path) -> None:
    path = _write(tmp_path)
    freeze(path)
    rubric = load_rubric(path)
    assert verify(rubric, load_lock(tmp_path / LOCK)) is rubric


def test_a_rubric_that_is_in_no_lock_is_refused(tmp_path: Path) -> None:
    rubric = load_rubric(_write(tmp_path))
    with pytest.raises(InputError, match=f"digest {rubric.digest}.* is not frozen.*freeze it"):
        verify(rubric, load_lock(tmp_path / LOCK))


def test_a_changed_rubric_is_refused_with_both_digests_and_what_to_do(tmp_path: Path) -> None:
    old = freeze(_write(tmp_path))
    changed = load_rubric(_write(tmp_path, frozen_on="2026-03-03"))
    with pytest.raises(InputError, match=f"its digest is {changed.digest}, {LOCK} has {old}; .* a new id"):
        verify(changed, load_lock(tmp_path / LOCK))


def test_an_id_is_frozen_once_even_with_an_equal_digest(tmp_path: Path) -> None:
    path = _write(tmp_path)
    freeze(path)
    with pytest.raises(InputError, match=r"frozen already, with this very digest .*nothing is left to do"):
        freeze(path)


def test_a_frozen_id_is_not_frozen_again_with_another_digest(tmp_path: Path) -> None:
    old = freeze(_write(tmp_path))
    lock = (tmp_path / LOCK).read_bytes()
    with pytest.raises(InputError, match=f"frozen already, with digest {old}, and this one has .* a new id"):
        freeze(_write(tmp_path, frozen_on="2026-03-03"))
    assert (tmp_path / LOCK).read_bytes() == lock


@pytest.mark.parametrize("text", ["[]", '{"schema": 2, "rubrics": {}}', '{"schema": 1, "rubrics": []}'])
def test_a_lock_of_another_shape_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / LOCK).write_text(text)
    with pytest.raises(InputError, match="not a rubric lock"):
        load_lock(tmp_path / LOCK)


@pytest.mark.parametrize("digest", ["1", '"abc"', "null"])
def test_a_digest_that_is_none_is_named_at_its_place(tmp_path: Path, digest: str) -> None:
    (tmp_path / LOCK).write_text(f'{{"schema": 1,\n "rubrics": {{"a": {digest}}}}}')
    with pytest.raises(InputError, match=r":2:19: the digest of 'a' is .*; 64 hexadecimal digits"):
        load_lock(tmp_path / LOCK)


def test_json_that_is_no_yaml_is_read_all_the_same(tmp_path: Path) -> None:
    path = _write(tmp_path)
    path.write_text(path.read_text().replace("what 0 means", r"a \/ b \ud83d\ude00").replace(", ", ",\t"))
    assert load_rubric(path).scale["0"] == "a / b \U0001f600"


def test_the_rubric_that_comes_with_the_project_is_frozen() -> None:
    folder = Path(__file__).parent.parent / "rubrics"
    rubric = verify(load_rubric(folder / "orbit-turn-quality-v3.json"), load_lock(folder / LOCK))
    assert rubric.frozen_on == "2026-03-02"
