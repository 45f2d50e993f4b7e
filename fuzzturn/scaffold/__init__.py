"""Scaffold: a new project: the starter's content, a template of an agent with its test, schemas, an empty corpus."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from fuzzturn.errors import InputError, Problem
from fuzzturn.project import find_project, starter_root
from fuzzturn.schemas import KINDS, schema

__all__ = ["init"]

_COPIED = ("strategies", "scenarios/orbit", "rubrics")
_IGNORED = ".fuzzturn/"
_SCHEMAS = ".fuzzturn-schemas"
_TEMPLATE = Path(__file__).parent / "template"
_SETTINGS = f"""\
#:schema {_SCHEMAS}/config.json
# fuzzturn: this folder is a project. Keys are option names with underscores; the command line wins over them.

# agent = "orbit"                    # or "path/to/file.py:build", "package.module:build", "litellm/<model>", …
# agent_option = ["key=value"]
# judge = "reference"                # or "path/to/file.py:build", "litellm/<model>", "none"
# judge_context = ["full"]           # of agent, window, window+block, full
# seed = 0
# repeats = 1                        # runs of each script; more than one for an agent that does not repeat itself
# workers = 1                        # sessions at once; never changes a result
# batch = 8                          # variants played together; may change the cost, never what is minimal
# budget_sessions = 200              # per scenario
# budget_turns = 20000               # replies of the agent, in all
# max_minutes = 10
# budget_usd = 5.0                   # model calls, in all; needs the price of every model that is asked
# price = ["my-model=0.15/0.60"]     # US dollars per million prompt and completion tokens; known models need none
# api_base = "http://127.0.0.1:8080/v1"   # an OpenAI-compatible server, for litellm/ and proxy
# offline = true                     # refuse every model call that is not recorded in .fuzzturn/calls.sqlite
# redact = ["sk-[A-Za-z0-9]+"]       # regular expressions of what may reach no file; *_KEY, *_TOKEN variables never do
# normalise = ['\\d\\d:\\d\\d']     # what varies from run to run in model calls and means nothing, such as a clock
# normaliser = "path/to/file.py:name"     # the same as a function: the request's body in, what it is known by out
# rubric = "orbit-turn-quality-v3"
"""


def init(folder: Path) -> list[Path]:
    """Write a project into `folder` and return the files written, sorted.

    Raises InputError, and writes nothing, where a file that it would write exists already or the folder belongs to a
    project by its pyproject.toml. A .gitignore that has the line is left as it is.
    """
    files = dict(_files(folder))
    if clashes := [*_clashes(folder, files)]:
        raise InputError(clashes)
    try:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    except OSError as error:
        raise InputError(Problem(file=str(error.filename), what=f"cannot be written: {error.strerror}")) from error
    return sorted(files)


def _files(folder: Path) -> Iterator[tuple[Path, bytes]]:
    yield folder / "fuzzturn.toml", _SETTINGS.encode()
    if not _ignores(folder / ".gitignore"):
        yield folder / ".gitignore", f"{_IGNORED}\n.hypothesis/\n".encode()  # the second is what pytest leaves
    yield folder / "corpus" / ".gitkeep", b""
    for kind in KINDS:
        written = json.dumps(schema(kind), indent=2, ensure_ascii=False) + "\n"
        yield folder / _SCHEMAS / f"{kind}.json", written.encode()
    for file in _below(_TEMPLATE):
        yield folder / file.relative_to(_TEMPLATE), file.read_bytes()
    root = starter_root()
    for copied in _COPIED:
        for file in _below(root / copied):
            path = file.relative_to(root)
            yield folder / path, _header(path) + file.read_bytes()


def _below(root: Path) -> Iterator[Path]:
    for file in sorted(root.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            yield file


def _header(path: Path) -> bytes:
    """What tells an editor the schema of a scenario file; nothing for other files."""
    if path.suffix != ".yaml" or path.parts[0] != "scenarios":
        return b""
    return f"# yaml-language-server: $schema={os.path.relpath(_SCHEMAS, path.parent)}/scenario.json\n".encode()


def _ignores(gitignore: Path) -> bool:
    return gitignore.is_file() and _IGNORED in gitignore.read_text(encoding="utf-8", errors="replace").split()


def _clashes(folder: Path, files: Mapping[Path, bytes]) -> Iterator[Problem]:
    for path in files:
        if path.exists() or path.is_symlink():
            yield Problem(file=str(path), what="exists already", accepted=_instead(path))
    above = {parent for path in files for parent in path.parents if parent.exists() and not parent.is_dir()}
    for path in sorted(above):
        yield Problem(file=str(path), what="is a file", accepted="a folder of that name")
    settings = folder / "fuzzturn.toml"
    if not settings.exists() and find_project(folder).root == folder.resolve():
        yield Problem(file=str(folder / "pyproject.toml"), what="has [tool.fuzzturn], so this is a project already")


def _instead(path: Path) -> str:
    return f"add the line {_IGNORED} to it yourself" if path.name == ".gitignore" else "move it away, or another folder"
