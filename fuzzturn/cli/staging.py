"""Staging: from options to everything that a campaign, a run or a replay needs from the project."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from fuzzturn.check import check_scenario
from fuzzturn.cli.options import Chosen
from fuzzturn.corpus import FingerprintNote
from fuzzturn.drive import Cast
from fuzzturn.errors import InputError, blaming
from fuzzturn.ports import Judge
from fuzzturn.project import Project
from fuzzturn.registry import Registry
from fuzzturn.rubric import Rubric
from fuzzturn.scenario import Scenario
from fuzzturn.scenario_file import load_scenario

__all__ = ["Staging"]


@dataclass(frozen=True)
class Staging:
    """A project seen through the options of one command."""

    project: Project
    chosen: Chosen
    out: Path | None = None

    @property
    def home(self) -> Path:
        """Where corpus/ and .fuzzturn/ go."""
        return self.out or self.project.root or Path.cwd()

    @cached_property
    def registry(self) -> Registry:
        return self.project.load_scenarios_content()

    @cached_property
    def rubric(self) -> Rubric:
        return self.project.find_rubric(self.chosen.rubric)

    def scenarios(self, names: list[str] | None) -> list[Scenario]:
        """The scenarios named, else all of the project. Raises InputError with everything `check` calls an error."""
        paths = [self.project.find_scenario(name) for name in names] if names else list(self.project.scenario_paths())
        if not paths:
            raise InputError("there is no scenario here; `fuzzturn init` makes a project with one")
        problems = [problem for path in paths for problem in check_scenario(path, self.registry).errors]
        if problems:
            raise InputError(problems)
        return [load_scenario(path) for path in paths]

    def cast(self, scenario: Scenario) -> Cast:
        """The agent that was asked for, in the scenario's environment."""
        return Cast(
            build=self._callable("agent", self.chosen.agent),
            make_environment=self.registry.get("environment", scenario.environment).function,
            name=label(self.chosen.agent),
            options=self.chosen.agent_options,
            seed=self.chosen.seed,
        )

    @cached_property
    def judge(self) -> Judge | None:
        """The judge that was asked for; None = none."""
        if self.chosen.judge == "none":
            return None
        with blaming(f"the build of judge {label(self.chosen.judge)}"):
            built: Judge = self._callable("judge", self.chosen.judge)()
        return built

    @property
    def judge_name(self) -> str:
        return "none" if self.judge is None else label(self.chosen.judge)

    @property
    def agent_words(self) -> str:
        """What a replay has to be told to find the agent again; "" for a shipped one."""
        return f" --agent {self.chosen.agent}" if ":" in self.chosen.agent else ""

    @property
    def judge_note(self) -> FingerprintNote | None:
        if self.judge is None:
            return None
        identity = getattr(self.judge, "identity", None)
        return FingerprintNote(name=label(self.chosen.judge), identity=identity if isinstance(identity, str) else None)

    def _callable(self, kind: Literal["agent", "judge"], spec: str) -> Any:
        return self.project.player(kind, spec)


def label(spec: str) -> str:
    """How an agent or judge is called in records: a shipped name, else file stem or module, without any path."""
    source, _, name = spec.rpartition(":")
    if not source:
        return spec
    stem = Path(source).stem if source.endswith(".py") else source
    return stem if name == "build" else f"{stem}:{name}"
