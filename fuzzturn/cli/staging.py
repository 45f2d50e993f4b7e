"""Staging: from options to everything that a campaign, a run or a replay needs from the project."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from fuzzturn.adapters import (
    HOSTED,
    NAMES,
    PRIVATE,
    Access,
    access,
    agent_build,
    judge_build,
    project_redaction,
)
from fuzzturn.calls import Bill, Gateway
from fuzzturn.check import check_scenario
from fuzzturn.cli.options import Chosen
from fuzzturn.corpus import FingerprintNote
from fuzzturn.drive import Cast
from fuzzturn.errors import InputError, PortError, blaming
from fuzzturn.ports import Judge, identity_of
from fuzzturn.project import Project
from fuzzturn.redaction import Redaction
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
    files: dict[str, Path] = field(default_factory=dict, compare=False)
    """Where each scenario was read from."""

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
        loaded = [load_scenario(path) for path in paths]
        self.files.update((scenario.scenario, path) for scenario, path in zip(loaded, paths, strict=True))
        return loaded

    @cached_property
    def redaction(self) -> Redaction:
        """What is kept out of every file."""
        return project_redaction(self.project.config)

    @cached_property
    def access(self) -> Access:
        """The way to models, with the record of calls that this project has."""
        chosen = {
            "api_base": self.chosen.api_base,
            "offline": self.chosen.offline,
            "budget_usd": self.chosen.budget_usd,
        }
        return access(self.project.config, self.home, self.project.load_callable, **chosen)

    @property
    def gateway(self) -> Gateway:
        return self.access.gateway

    @property
    def bill(self) -> Bill:
        """What model calls have cost so far."""
        return self.gateway.bill

    def cast(self, scenario: Scenario) -> Cast:
        """The agent that was asked for, in the scenario's environment."""
        player = partial(self.project.player, "agent")
        return Cast(
            build=agent_build(self.chosen.agent, self.chosen.agent_options, self.access, player),
            make_environment=self.registry.get("environment", scenario.environment).function,
            name=label(self.chosen.agent),
            options=self.chosen.agent_options,
            seed=self.chosen.seed,
            private=PRIVATE,
        )

    @cached_property
    def judge(self) -> Judge | None:
        """The judge that was asked for; None = none."""
        if self.chosen.judge == "none":
            return None
        name = label(self.chosen.judge)
        with blaming(f"the build of judge {name}"):
            judge = judge_build(self.chosen.judge, self.access, partial(self.project.player, "judge"))()
        if not callable(getattr(judge, "score", None)):
            raise PortError(f"the build of judge {name} returned {judge!r}, which has no score(prompt)")
        return judge

    @property
    def judge_name(self) -> str:
        return "none" if self.judge is None else label(self.chosen.judge)

    @property
    def agent_words(self) -> str:
        """What a replay has to be told to find the agent again; "" for a shipped one."""
        chosen = self.chosen
        adapted = chosen.agent in NAMES or chosen.agent.startswith(HOSTED)
        if not adapted and ":" not in chosen.agent:
            return ""
        words = ["--agent", chosen.agent]
        for key, value in chosen.agent_options.items():
            words += ["--agent-option", f"{key}={value}"] * (key in PRIVATE)
        if adapted and chosen.api_base is not None:
            words += ["--api-base", chosen.api_base]
        return "".join(f" {shlex.quote(word)}" for word in words)

    @property
    def judge_note(self) -> FingerprintNote | None:
        if self.judge is None:
            return None
        return FingerprintNote(name=label(self.chosen.judge), identity=identity_of(self.judge))


def label(spec: str) -> str:
    """How an agent or judge is called in records: a shipped name, else file stem or module, without any path."""
    source, _, name = spec.rpartition(":")
    if not source or spec.startswith(HOSTED):
        return spec
    stem = Path(source).stem if source.endswith(".py") else source
    return stem if name == "build" else f"{stem}:{name}"
