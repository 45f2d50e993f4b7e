"""Callables: what a spec such as `path/to/file.py:build` or `package.module:build` names."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from fuzzturn.errors import InputError, Problem, UnknownName, said
from fuzzturn.project.content import below, load_module

__all__ = ["attribute", "load_callable"]

_FORMS = "path/to/file.py:name or package.module:name"
_CONTENT = ("scenarios", "strategies")


def load_callable(spec: str, roots: Iterable[Path]) -> Callable[..., Any]:
    """The function that a spec names; a relative path is relative to the current folder.

    A file in the content folders of one of `roots` is the same module as where the project loads it. Raises
    InputError for a spec of another form, a file or module that cannot be loaded and a name that is not callable;
    UnknownName for a name that is not there.
    """
    source, _, name = spec.rpartition(":")
    if not source or not name.isidentifier():
        raise InputError(Problem(what=f"{spec!r} names no function", accepted=_FORMS))
    module = _from_file(Path(source), roots) if source.endswith(".py") else _from_package(source)
    return attribute(module, name)


def attribute(module: ModuleType, name: str) -> Callable[..., Any]:
    """The callable called `name` in a module. Raises UnknownName with the closest match, or InputError."""
    own = {key for key, value in vars(module).items() if callable(value) and not key.startswith("_")}
    if not hasattr(module, name):
        raise UnknownName("function", name, own, file=module.__file__)
    found = getattr(module, name)
    if not callable(found):
        what = f"{name!r} is {found!r}, which is not callable"
        raise InputError(Problem(file=module.__file__, what=what, accepted="a function or a class"))
    return found  # type: ignore[no-any-return]


def _from_file(file: Path, roots: Iterable[Path]) -> ModuleType:
    if not file.is_file():
        raise InputError(Problem(file=str(file), what="there is no such file", accepted=_FORMS))
    places = ((root, below(root, file)) for root in roots)
    within = (root for root, place in places if place is not None and place.parts[0] in _CONTENT)
    if (folder := str(file.resolve().parent)) not in sys.path:
        sys.path.append(folder)  # as for a script: an agent is seldom one file
    return load_module(next(within, file.parent), file)


def _from_package(name: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise InputError(Problem(what=f"{name!r} is neither a Python file nor a module", accepted=_FORMS))
    if name.partition(".")[0] in _CONTENT:
        what = f"{name!r} is project content, which is loaded by path and never imported"
        raise InputError(Problem(what=what, accepted=f"{name.replace('.', '/')}.py:name"))
    try:
        return importlib.import_module(name)
    except Exception as error:
        what = f"the module {name!r} cannot be imported: {said(error)}"
        raise InputError(Problem(what=what, accepted="an installed module, or path/to/file.py:name")) from error
