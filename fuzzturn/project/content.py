"""Content: the Python files of a project, loaded by path under a private name.

`strategies` and `scenarios` are folders in everybody's project, so they must not be packages of that name: of two
installed ones, one would silently stand in for the other. Here each root is a package of its own, called after its
path, in which relative imports between neighbours work.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import fuzzturn
from fuzzturn.errors import InputError, Problem, said
from fuzzturn.registry import Registered, collect

__all__ = ["below", "load_module", "pieces", "starter_root"]


def starter_root() -> Path:
    """The project that comes with fuzzturn: inside the installed package, or the checkout that the package is in."""
    package = Path(fuzzturn.__file__ or "").resolve().parent
    starter = package / "starter"
    return starter if starter.is_dir() else package.parent


def pieces(root: Path, folder: str) -> Iterator[Registered]:
    """Everything tagged in `root/folder`, file by file in sorted order. Raises InputError where a file fails."""
    for file in sorted((root / folder).rglob("*.py")):
        if not any(part.startswith(("_", ".")) for part in file.relative_to(root).parts):
            yield from collect(load_module(root, file))


def load_module(root: Path, file: Path) -> ModuleType:
    """The module of a file below `root`; the same file is loaded once. Raises InputError where it fails to load."""
    place, root = below(root, file), root.resolve()
    if place is None:
        raise ValueError(f"{file} is not below {root}")
    file = root / place
    name = "_fuzzturn_" + hashlib.sha256(str(root).encode()).hexdigest()[:8]
    *folders, stem = place.with_suffix("").parts
    if dotted := next((part for part in (*folders, stem) if "." in part), None):
        raise InputError(Problem(file=str(file), what=f"{dotted!r} has a dot", accepted="a name without dots"))
    _package(name, root)
    for depth, folder in enumerate(folders, start=1):
        name = f"{name}.{folder}"
        _package(name, root.joinpath(*folders[:depth]))
    return _imported(f"{name}.{stem}", root, file)


def below(root: Path, file: Path) -> Path | None:
    """Where the file lies below `root`: as it is named, since a folder may be a link, or really. None = elsewhere."""
    for base, path in ((os.path.abspath(root), os.path.abspath(file)), (root.resolve(), file.resolve())):
        if Path(path).is_relative_to(base):
            return Path(path).relative_to(base)
    return None


def _package(name: str, folder: Path) -> None:
    """A package that is nothing but a place to look in, whatever files of that name lie around."""
    if name not in sys.modules:
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        sys.modules[name] = importlib.util.module_from_spec(spec)


def _imported(name: str, root: Path, file: Path) -> ModuleType:
    if name not in sys.modules:
        importlib.invalidate_caches()  # the file may be newer than the last look at its folder
    try:
        return importlib.import_module(name)
    except Exception as error:
        sys.modules.pop(name, None)
        raise InputError(_failure(error, root, file)) from error


def _failure(error: Exception, root: Path, file: Path) -> Problem:
    """Where in the project's own code it failed: the innermost line below `root`."""
    place, line = str(file), None
    if isinstance(error, SyntaxError) and error.filename:
        place, line = error.filename, error.lineno
    else:
        for frame in traceback.extract_tb(error.__traceback__):
            if Path(frame.filename).is_relative_to(root):
                place, line = frame.filename, frame.lineno
    return Problem(file=place, line=line, what=f"cannot be loaded: {said(error)}")
