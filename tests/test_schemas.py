"""JSON schemas of the files: they accept what the loaders accept, key by key, and refuse what those refuse."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from fuzzturn.cli import run
from fuzzturn.corpus import load_entry
from fuzzturn.document import dump, load, parse
from fuzzturn.errors import InputError, UnknownName
from fuzzturn.project import OPTIONS
from fuzzturn.rubric_file import load_rubric
from fuzzturn.scenario_file import parse_scenario
from fuzzturn.schemas import KINDS, schema

ROOT = Path(__file__).parent.parent
SCENARIOS = sorted([*ROOT.glob("scenarios/*/*.yaml"), *ROOT.glob("examples/*.yaml")])
ENTRIES = sorted(ROOT.glob("corpus/*/*.yaml"))


def _plain(value: Any) -> Any:
    """Lists for tuples, which JSON schema does not know."""
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value


@cache
def _validator(kind: str) -> Any:
    return Draft202012Validator(schema(kind))


def _fits(kind: str, data: Any) -> bool:
    return bool(_validator(kind).is_valid(_plain(data)))


def _is_read(data: Any) -> bool:
    try:
        parse_scenario(parse(dump(_plain(data))))
    except InputError:
        return False
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_every_schema_is_one(kind: str) -> None:
    Draft202012Validator.check_schema(schema(kind))


@pytest.mark.parametrize("file", [*SCENARIOS, *ENTRIES], ids=lambda file: file.name)
def test_every_file_of_the_project_fits_its_schema(file: Path) -> None:
    assert _fits("corpus" if file in ENTRIES else "scenario", load(file).data)


def test_the_frozen_rubric_and_the_projects_settings_fit_their_schemas() -> None:
    for file in sorted((ROOT / "rubrics").glob("*-v*.json")):
        assert _fits("rubric", json.loads(file.read_text()))
    assert _fits("config", tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["fuzzturn"])


_EVERYTHING: dict[str, Any] = {
    "schema": 1,
    "scenario": "short",
    "title": "t",
    "environment": "e",
    "system": {"text": "Be kind."},
    "goal": {"says": "g", "milestones": [{"id": "m", "check": "m", "args": {"a": 1}, "needs": [], "latched": True}]},
    "constraints": [
        {
            "id": "k", "source": "user", "checker": "c", "args": {}, "state_at_turn": 1, "statement": "S.",
            "paraphrases": ["P."], "polarity": "requirement", "supersedes": None, "uses": 1,
            "examples": {"pass": [{"name": "a", "args": {}}], "fail": []},
        },
    ],
    "turns": [
        {"id": "one", "user": "{k}", "states": ["k"], "optional": False, "correction": True},
        {"id": "two", "user": "no", "lifts": ["k"], "after": ["one"]},
    ],
    "answers": [{"asks": ["which"], "user": "that", "max": 2}],
    "assertions": [
        {"turn": 1, "must_call": ["a", {"name": "b", "args": {}, "times": 2}], "state_invariants": ["i"]},
        {"turn": "two", "must_mention_any": ["x"], "must_not_call": ["c"]},
    ],
    "interruptions": [{"id": "i", "user": "u", "must_mention_any": ["y"]}],
}  # fmt: skip


def _places(data: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The address of every mapping whose keys the format knows."""
    if isinstance(data, list):
        return [place for index, item in enumerate(data) for place in _places(item, (*at, index))]
    if not isinstance(data, dict):
        return []
    inner = [place for key, item in data.items() if key != "args" for place in _places(item, (*at, key))]
    return [at, *inner]


def _changed(at: tuple[Any, ...], key: str, value: Any) -> Any:
    changed = json.loads(json.dumps(_EVERYTHING))
    part = changed
    for step in at:
        part = part[step]
    part[key] = value
    return changed


def test_a_file_with_every_key_is_read_and_fits() -> None:
    assert _is_read(_EVERYTHING)
    assert _fits("scenario", _EVERYTHING)


@pytest.mark.parametrize("at", _places(_EVERYTHING), ids=lambda at: ".".join(map(str, at)) or "root")
def test_schema_and_loader_know_the_same_keys(at: tuple[Any, ...]) -> None:
    for key in ("x-note", "when", "expires", "language", "speaker", "only_if", "advance", "zzz"):
        for value in (None, "v"):
            changed = _changed(at, key, value)
            assert _fits("scenario", changed) is _is_read(changed), (at, key, value)


@pytest.mark.parametrize(
    ("at", "key", "value"),
    [
        ((), "schema", 2), ((), "title", ""), ((), "turns", []), ((), "environment", "a b"),
        (("goal", "milestones", 0), "latched", "no"), (("constraints", 0), "uses", 2),
        (("constraints", 0), "polarity", "maybe"), (("constraints", 0), "state_at_turn", 0),
        (("constraints", 0), "args", []), (("system",), "file", "policy.md"), ((), "system", {}),
        (("turns", 0), "user", ["a", "b"]), (("assertions", 0), "must_call", [5]), (("assertions", 0), "turn", 0),
        (("assertions", 0, "must_call", 1), "times", 0), (("answers", 0), "asks", []),
    ],
)  # fmt: skip
def test_what_the_loader_refuses_in_one_value_the_schema_refuses_too(at: tuple[Any, ...], key: str, value: Any) -> None:
    changed = _changed(at, key, value)
    assert not _is_read(changed)
    assert not _fits("scenario", changed)


def test_a_system_prompt_from_a_file_fits() -> None:
    assert _fits("scenario", _EVERYTHING | {"system": {"file": "policy.md"}})


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({"x-note": 1}, True), ({"findings": 1}, False), ({"turn": "four"}, False), ({"kind": "bug"}, False),
        ({"scenario": {}}, False), ({"rubric": {"scale": {}}}, False),
    ],
)  # fmt: skip
def test_a_changed_corpus_entry_fits_as_far_as_it_is_read(tmp_path: Path, change: dict[str, Any], fits: bool) -> None:
    data = load(ENTRIES[0]).data | change
    file = tmp_path / "entry.yaml"
    file.write_text(dump(data))
    assert _fits("corpus", data) is fits
    if fits:
        load_entry(file)
    else:
        with pytest.raises(InputError):
            load_entry(file)


@pytest.mark.parametrize("change", [{"x-note": 1}, {"scale": {"0": "a"}}, {"frozen_on": "soon"}, {"schema": 2}])
def test_a_changed_rubric_that_is_not_read_does_not_fit(tmp_path: Path, change: dict[str, Any]) -> None:
    file = tmp_path / "orbit-turn-quality-v3.json"
    data = json.loads((ROOT / "rubrics" / file.name).read_text()) | change
    file.write_text(json.dumps(data))
    assert not _fits("rubric", data)
    with pytest.raises(InputError):
        load_rubric(file)


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_takes_the_same_values_in_schema_and_settings(option: str) -> None:
    values: tuple[Any, ...] = ("orbit", ["a", "b"], [1], 0, 1, 7, -1, 0.5, -0.5, True, {})
    for value in values:
        assert _fits("config", {option: value}) is OPTIONS[option].fits(value), value


def test_a_key_that_is_no_option_does_not_fit() -> None:
    assert not _fits("config", {"sed": 7})
    assert _fits("config", {"x-note": "anything"})


def test_what_the_docstrings_say_stands_in_the_schema() -> None:
    told = schema("scenario")["$defs"]["Constraint"]["properties"]
    assert told["statement"]["description"] == "The words as spoken, verbatim."
    assert "1 = a one-shot approval" in told["uses"]["description"]


def test_the_command_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "scenario"]) == 0
    assert json.loads(capsys.readouterr().out) == schema("scenario")
    assert run(["schema", "scenarios"]) == 2
    assert "no schema is called 'scenarios'; did you mean 'scenario'?" in capsys.readouterr().err


def test_an_unknown_kind_is_answered_with_the_closest_one() -> None:
    with pytest.raises(UnknownName, match="did you mean 'corpus'"):
        schema("korpus")
