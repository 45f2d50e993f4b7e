"""Lookup: what a name means in a project. The project is asked first, then the starter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from fuzzturn.errors import InputError, Problem, UnknownName
from fuzzturn.project.callables import attribute, load_callable
from fuzzturn.project.content import load_module, pieces, starter_root
from fuzzturn.project.settings import find_settings
from fuzzturn.registry import Registry
from fuzzturn.rubric import Rubric
from fuzzturn.rubric_file import LOCK, load_lock, load_rubric, verify

__all__ = ["Project", "find_project"]


@dataclass(frozen=True, slots=True)
class Project:
    """A project's folder and options. Nothing is loaded before it is asked for."""

    root: Path | None = None
    """None = no project here; the starter then answers alone."""
    config: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """The options that the project's file sets, by option name with underscores."""

    @property
    def roots(self) -> tuple[Path, ...]:
        """The folders that are asked for a name, in order."""
        starter = starter_root()
        return (starter,) if self.root is None or self.root.resolve() == starter else (self.root, starter)

    def load_scenarios_content(self) -> Registry:
        """Environments, checkers, milestone checks, …: all that a replay needs. Hypothesis is not among it."""
        return self._registry("scenarios")

    def load_strategies(self) -> Registry:
        """The operators. They are Hypothesis strategies, so this imports Hypothesis."""
        return self._registry("strategies")

    def _registry(self, folder: str) -> Registry:
        own, *starter = self.roots
        fallback = Registry(pieces(starter[0], folder)) if starter else None
        return Registry(pieces(own, folder), fallback=fallback)

    def scenario_paths(self) -> tuple[Path, ...]:
        """Every scenario file of the project, sorted; of the starter where there is no project."""
        return _scenario_files(self.roots[0])

    def find_scenario(self, name: str) -> Path:
        """The scenario file of that path or name. Raises UnknownName, or InputError where two files share the name."""
        if Path(name).is_file():
            return Path(name)
        for root in self.roots:
            found = [path for path in _scenario_files(root) if path.stem == name]
            if len(found) > 1:
                what = f"two scenarios are called {name!r}: {found[0]} and {found[1]}"
                raise InputError(Problem(what=what, accepted="the path of one of them"))
            if found:
                return found[0]
        known = [path.stem for root in self.roots for path in _scenario_files(root)]
        looked = " and ".join(str(root / "scenarios") for root in self.roots)
        raise UnknownName("scenario", name, known, file=looked)

    def find_rubric(self, id: str | None = None) -> Rubric:
        """A frozen rubric; without an id the one that was frozen last. Raises UnknownName, or InputError."""
        for root in self.roots:
            files = {path.stem: path for path in sorted((root / "rubrics").glob("*.json"))}
            if id is None and files:
                return verify(_newest([load_rubric(path) for path in files.values()]), _lock(root))
            if id is not None and id in files:
                return verify(load_rubric(files[id]), _lock(root))
        known = [path.stem for root in self.roots for path in (root / "rubrics").glob("*.json")]
        if id is None:
            raise InputError(Problem(what="there is no rubric", accepted="rubrics/<rubric_id>.json"))
        raise UnknownName("rubric", id, known)

    def load_callable(self, spec: str) -> Callable[..., Any]:
        """The function that `path/to/file.py:name` or `package.module:name` names. Raises InputError."""
        return load_callable(spec, self.roots)

    def player(self, kind: Literal["agent", "judge"], spec: str) -> Callable[..., Any]:
        """The build of an agent or judge by shipped name or spec. A path that the project's file names begins there."""
        if spec.endswith(".py"):
            what = f"{spec!r} names a file and no function"
            raise InputError(Problem(what=what, accepted=f"{spec}:build or another name"))
        if ":" not in spec:
            return self.shipped(kind, spec)
        if self.root is not None and self.config.get(kind) == spec and (self.root / spec.rpartition(":")[0]).is_file():
            return self.load_callable(f"{self.root}/{spec}")
        return self.load_callable(spec)

    def shipped(self, kind: Literal["agent", "judge"], name: str) -> Callable[..., Any]:
        """The `build` of an agent or judge that comes with a scenario folder. Raises UnknownName.

        An agent is called after its folder, `scenarios/<name>/agent.py`; a judge by `NAME` in its judge.py.
        """
        known = []
        for root in self.roots:
            for file in sorted((root / "scenarios").glob(f"*/{kind}.py")):
                called = file.parent.name if kind == "agent" else getattr(load_module(root, file), "NAME", None)
                if called == name:
                    return attribute(load_module(root, file), "build")
                known += [called] if called else []
        raise UnknownName(kind, name, known)


def find_project(start: Path | None = None) -> Project:
    """The project that `start` (the current folder by default) is in. Raises InputError for bad settings."""
    found = find_settings(start or Path.cwd())
    return Project(*found) if found else Project()


def _scenario_files(root: Path) -> tuple[Path, ...]:
    return tuple(sorted((root / "scenarios").rglob("*.yaml")))


def _lock(root: Path) -> Mapping[str, str]:
    return load_lock(root / "rubrics" / LOCK)


def _newest(rubrics: list[Rubric]) -> Rubric:
    last = max(rubric.frozen_on for rubric in rubrics)
    newest = [rubric for rubric in rubrics if rubric.frozen_on == last]
    if len(newest) > 1:
        ids = " and ".join(rubric.rubric_id for rubric in newest)
        raise InputError(Problem(what=f"{ids} are both frozen on {last}", accepted="name the one you mean"))
    return newest[0]
