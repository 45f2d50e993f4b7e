"""Tags, and the registry that collects them."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from fuzzturn.errors import InputError, UnknownName
from fuzzturn.registry import Registered, Registry, Tag, collect, tagger


def _piece(kind: str, name: str, file: str = "a.py") -> Registered:
    return Registered(Tag(kind=kind, name=name), lambda: None, file)


def _module(source: str, name: str = "some_project") -> ModuleType:
    module = ModuleType(name)
    module.__file__ = f"{name}.py"
    exec(source, vars(module))
    return module


_SOURCE = """
from fuzzturn.registry import tagger

@tagger("checker", "first", version=2, owner="travel", language="en")
def b(): return 1

@tagger("checker", "second")
def a(): return 2

def untagged(): return 3
"""


def test_a_decorated_function_is_returned_unchanged() -> None:
    def function() -> int:
        return 5

    assert tagger("checker", "five")(function) is function
    assert function() == 5


@pytest.mark.parametrize("name", ["", None, len])
def test_a_decorator_without_a_name_says_how_it_is_written(name: str) -> None:
    with pytest.raises(InputError, match=r'@checker\("some_name"\)'):
        tagger("checker", name)


def test_collecting_finds_tagged_functions_in_order_of_definition() -> None:
    found = list(collect(_module(_SOURCE)))
    assert [piece.tag.name for piece in found] == ["first", "second"]
    assert [piece.file for piece in found] == ["some_project.py"] * 2


def test_a_tag_keeps_version_owner_and_what_only_its_kind_has() -> None:
    first, second = (piece.tag for piece in collect(_module(_SOURCE)))
    assert (first.version, first.owner, first.option("language")) == (2, "travel", "en")
    assert (second.version, second.owner, second.option("language")) == (1, None, None)


def test_a_function_imported_from_a_neighbour_is_not_collected_twice() -> None:
    neighbour = _module(_SOURCE, "neighbour")
    module = ModuleType("importer")
    vars(module)["a"] = vars(neighbour)["a"]
    assert list(collect(module)) == []


def test_a_duplicate_name_names_both_files() -> None:
    with pytest.raises(InputError, match=r"'x' is defined twice, in a\.py and in b\.py"):
        Registry([_piece("checker", "x", "a.py"), _piece("checker", "x", "b.py")])


def test_one_name_may_stand_for_pieces_of_two_kinds() -> None:
    registry = Registry([_piece("checker", "hotel_held"), _piece("milestone", "hotel_held")])
    assert registry.get("milestone", "hotel_held").tag.kind == "milestone"


def test_an_unknown_name_is_answered_with_the_closest_of_both_registries() -> None:
    registry = Registry([_piece("checker", "mine")], fallback=Registry([_piece("checker", "no_leg_over")]))
    with pytest.raises(UnknownName, match="did you mean 'no_leg_over'"):
        registry.get("checker", "no_leg_ovr")


def test_an_own_piece_hides_the_one_of_the_same_name_in_the_fallback() -> None:
    own, shipped = _piece("checker", "x", "own.py"), _piece("checker", "x", "shipped.py")
    registry = Registry([own], fallback=Registry([shipped, _piece("checker", "y", "shipped.py")]))
    assert registry.get("checker", "x") is own
    assert registry.get("checker", "y").file == "shipped.py"
    assert registry.names("checker") == ("x", "y")


def test_pieces_of_a_kind_come_by_name() -> None:
    registry = Registry([_piece("checker", "b"), _piece("guard", "c"), _piece("checker", "a")])
    assert [piece.tag.name for piece in registry.of_kind("checker")] == ["a", "b"]


def test_a_digest_tells_two_versions_of_the_defining_file_apart(tmp_path: Path) -> None:
    file = tmp_path / "checkers.py"
    file.write_text("one")
    piece = _piece("checker", "x", str(file))
    before = piece.digest()
    file.write_text("two")
    assert len(before) == 16
    assert piece.digest() != before
