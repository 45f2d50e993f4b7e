"""Records are written whatever an agent or an environment hands over, and say what it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fuzzturn.errors import InputError
from fuzzturn.records import Run, digest, write_json


def written(tmp_path: Path, record: dict[str, Any]) -> Any:
    run = Run.create(tmp_path, "run")
    run.append("sessions", record)
    run.close({})
    return json.loads((run.folder / "sessions.jsonl").read_text(encoding="utf-8"))


def test_half_a_surrogate_pair_reads_back_as_it_was(tmp_path: Path) -> None:
    record = {"said": "a \ud83d b", "\udc00": [1]}
    assert written(tmp_path, record) == record


def test_keys_that_are_no_texts_become_texts(tmp_path: Path) -> None:
    record = {"state": {("LIS", 2): "held", 7: None, None: 1}}
    assert written(tmp_path, record) == {"state": {"('LIS', 2)": "held", "7": None, "None": 1}}


def test_numbers_that_json_lacks_become_texts(tmp_path: Path) -> None:
    assert written(tmp_path, {"fare": float("nan"), "most": [float("inf"), 1.5]}) == {
        "fare": "nan",
        "most": ["inf", 1.5],
    }


def test_a_state_that_holds_itself_is_written_to_a_depth(tmp_path: Path) -> None:
    state: dict[str, Any] = {}
    state["me"] = state
    assert "nested deeper than 60 levels" in json.dumps(written(tmp_path, {"state": state}))


def test_a_set_has_one_digest_whatever_its_order() -> None:
    names = [f"guest {i}" for i in range(50)]
    backwards = names[::-1]
    assert digest({"guests": set(names)}) == digest({"guests": set(backwards)})
    assert digest({"guests": set(names)}) != digest({"guests": set(names[1:])})
    assert digest({1: "a", "b": 2}) == digest({"b": 2, 1: "a"})


def test_a_folder_of_another_name_takes_no_number(tmp_path: Path) -> None:
    for name in ("fuzz-0002", "fuzz-1-old", "fuzz-9x", "run-0007"):
        (tmp_path / ".fuzzturn" / "runs" / name).mkdir(parents=True)
    assert Run.create(tmp_path, "fuzz").id == "fuzz-0003"


def test_where_nothing_can_be_written_the_place_is_said(tmp_path: Path) -> None:
    (tmp_path / ".fuzzturn").write_text("a file")
    with pytest.raises(InputError, match="cannot be written"):
        Run.create(tmp_path, "run")
    with pytest.raises(InputError, match=r"no/such/a\.json: cannot be written: No such file"):
        write_json(tmp_path / "no" / "such" / "a.json", {})
