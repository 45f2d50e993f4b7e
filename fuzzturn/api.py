"""API: fuzzturn from Python, for tests of one's own. The command line does not go through here."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzzturn.adapters import Access, access, agent_build
from fuzzturn.context import CONTEXTS
from fuzzturn.drive import Cast, Meter
from fuzzturn.errors import AgentError
from fuzzturn.measure import Jury
from fuzzturn.ports import Agent, Judge
from fuzzturn.project import Project, find_project
from fuzzturn.registry import Registry
from fuzzturn.scenario import Scenario
from fuzzturn.scenario_file import load_scenario
from fuzzturn.tree import Tree
from fuzzturn.trial import Bench, Trial
from fuzzturn.variant import Variant

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["located", "play", "scenario", "variants"]


def scenario(name: str | Path, project: Project | None = None) -> Scenario:
    """A scenario by file or name, of the project; None = the one around the current folder. Raises InputError."""
    return load_scenario((project or find_project()).find_scenario(str(name)))


def variants(of: Scenario | str | Path) -> SearchStrategy[Variant]:
    """A Hypothesis strategy of the scenario's variants, for plain `@given`, from the project's operators.

    No base run has told where constraints are checked, so statements only move earlier; padding that only a search
    can size is left out, and so is what not every agent offers (`disturb`).
    """
    from fuzzturn import vary
    from fuzzturn.offers import marked

    found = of if isinstance(of, Scenario) else scenario(of)
    operators = find_project().load_strategies().of_kind("operator")
    return vary.variants(
        found, operators=[p for p in operators if p.tag.name != "pad_to_threshold" and not marked(p, "disturbs")]
    )


def play(
    what: Variant | Scenario | str | Path,
    *,
    agent: str | Callable[..., Agent] | None = None,
    options: Mapping[str, str] | None = None,
    judge: Judge | None = None,
    seed: int = 0,
    project: Project | None = None,
) -> Trial:
    """Speak a scenario or variant to an agent once and score every turn; `trial.failures` is what went wrong.

    `agent` as on the command line, or a build function; None = the project's, with its options. Without a judge
    nothing is judged; with one, the turns at which a checker failed are, in every context. `project` None = the one
    around the current folder. Raises AgentError where the agent raises: a test must not pass because of that. Not for
    use inside a running event loop.

    In a Hypothesis test its statistics count the sessions with a compaction, and with each constraint that was lost.
    """
    project = project or find_project()  # looked up once: under @given this runs for every example
    if not isinstance(what, Variant):
        what = Variant(what if isinstance(what, Scenario) else scenario(what, project))
    registry = project.load_scenarios_content()
    way = access(project.config, project.root or Path.cwd(), project.load_callable)
    cast = _cast(project, registry, what.scenario, agent, options or {}, way)
    try:
        trial = asyncio.run(_play(what, replace(cast, seed=seed), judge, project, registry))
    finally:
        way.gateway.close()
    _tell_hypothesis(trial)
    if (error := trial.measured.session.error) is not None:
        raise AgentError(f"the agent raised {error}")
    return trial


def located(spec: str, project: Project) -> str:
    """An agent or judge as it is found from any folder: a file of the project by its whole path."""
    file = spec.rpartition(":")[0]
    if project.root is None or not file.endswith(".py") or Path(file).is_file():
        return spec
    return f"{project.root}/{spec}" if (project.root / file).is_file() else spec


def _cast(
    project: Project,
    registry: Registry,
    of: Scenario,
    agent: str | Callable[..., Agent] | None,
    options: Mapping[str, str],
    way: Access,
) -> Cast:
    if agent is None:
        agent = str(project.config.get("agent", "orbit"))
        set_here = (option.partition("=") for option in project.config.get("agent_option", ()))
        options = {key: value for key, _, value in set_here} | dict(options)
    build: Callable[..., Any]
    if callable(agent):
        name, build = getattr(agent, "__name__", type(agent).__name__), agent
    else:
        name, build = agent, agent_build(located(agent, project), options, way, partial(project.player, "agent"))
    make = registry.get("environment", of.environment).function
    return Cast(build=build, make_environment=make, name=name, options=options)


async def _play(variant: Variant, cast: Cast, judge: Judge | None, project: Project, registry: Registry) -> Trial:
    meter = Meter()
    jury = Jury(judge, type(judge).__name__, project.find_rubric(), CONTEXTS, meter)
    tree = Tree(cast, variant.scenario, meter)
    return await Bench(tree, registry, jury, asyncio.Semaphore(1)).run(variant)


def _tell_hypothesis(trial: Trial) -> None:
    """An event for each compaction and each constraint that was gone when its checker looked, in a Hypothesis test."""
    hypothesis = sys.modules.get("hypothesis")  # where nobody has imported it, no test of its own is running
    if hypothesis is None or not hypothesis.currently_in_test_context():
        return
    for turn in trial.measured.session.turns:
        for _ in turn.compactions:
            hypothesis.event("compaction")
    checks = (check for scores in trial.measured.scores for check in scores.adherence.checks)
    for constraint in sorted({check.constraint for check in checks if check.visibility in ("absent", "stale")}):
        hypothesis.event(f"lost: {constraint}")
