"""House rules that no tool checks: sizes, names, docstrings, and the public face."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import fuzzturn

ROOT = Path(__file__).parent.parent
MODULES = [
    path for folder in ("fuzzturn", "strategies", "scenarios", "examples") for path in (ROOT / folder).rglob("*.py")
]
FOREIGN = re.compile(r"https?://(?!json-schema\.org|www\.w3\.org|127\.0\.0\.1|localhost)\w|/work/|/root/")
FORBIDDEN = {"utils", "util", "helpers", "common", "misc", "types", "core", "internal"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_is_small_has_one_job_and_says_so(path: Path) -> None:
    source = path.read_text()
    tree = ast.parse(source)
    assert len(source.splitlines()) <= 300
    assert path.stem not in FORBIDDEN
    assert ast.get_docstring(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 70, node.name


def test_every_public_name_can_be_imported_and_there_is_no_other() -> None:
    assert fuzzturn.__all__ == sorted(fuzzturn.__all__)
    assert len({id(getattr(fuzzturn, name)) for name in fuzzturn.__all__}) == len(fuzzturn.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'fuz'"):
        fuzzturn.fuz  # noqa: B018


def test_nothing_committed_names_a_host_to_download_from_or_a_place_on_one_machine() -> None:
    texts = [path for path in ROOT.rglob("*") if path.suffix in (".py", ".md", ".toml", ".yaml", ".txt", ".json")]
    kept_out = {".venv", ".fuzzturn", ".hypothesis", ".pytest_cache"}
    own = [path for path in texts if not kept_out & set(path.relative_to(ROOT).parts)]
    wrong = [str(path) for path in own if FOREIGN.search(path.read_text(errors="replace"))]
    assert [path for path in wrong if not path.endswith("test_house.py")] == []
