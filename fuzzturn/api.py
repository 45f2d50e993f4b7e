"""API: fuzzturn from Python, for tests of one's own. The command line does not go through here."""

from __future__ import annotations

import asyncio
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

__all__ = ["play", "scenario", "variants"]


def scenario(name: str | Path) -> Scenario:
    """A scenario by file or name, of the project around the current folder. Raises InputError."""
    return load_scenario(find_project().find_scenario(str(name)))


def variants(of: Scenario | str | Path) -> SearchStrategy[Variant]:
    """A Hypothesis strategy of the scenario's variants, for plain `@given`, from the project's operators.

    No base run has told where constraints are checked, so statements only move earlier; padding that only a search
    can size is left out.
    """
    from fuzzturn import vary

    found = of if isinstance(of, Scenario) else scenario(of)
    operators = find_project().load_strategies().of_kind("operator")
    return vary.variants(found, operators=[piece for piece in operators if piece.tag.name != "pad_to_threshold"])


def play(
    what: Variant | Scenario | str | Path,
    *,
    agent: str | Callable[..., Agent] | None = None,
    options: Mapping[str, str] | None = None,
    judge: Judge | None = None,
    seed: int = 0,
) -> Trial:
    """Speak a scenario or variant to an agent once and score every turn; `trial.failures` is what went wrong.

    `agent` as on the command line, or a build function; None = the project's, with its options. Without a judge
    nothing is judged; with one, the turns at which a checker failed are, in every context. Raises AgentError where the
    agent raises: a test must not pass because of that. Not for use inside a running event loop.
    """
    variant = what if isinstance(what, Variant) else Variant(what if isinstance(what, Scenario) else scenario(what))
    project = find_project()  # looked up once: under @given this runs for every example
    registry = project.load_scenarios_content()
    way = access(project.config, project.root or Path.cwd(), project.load_callable)
    cast = _cast(project, registry, variant.scenario, agent, options or {}, way)
    try:
        trial = asyncio.run(_play(variant, replace(cast, seed=seed), judge, project, registry))
    finally:
        way.gateway.close()
    if (error := trial.measured.session.error) is not None:
        raise AgentError(f"the agent raised {error}")
    return trial


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
        name, build = agent, agent_build(agent, options, way, partial(project.player, "agent"))
    make = registry.get("environment", of.environment).function
    return Cast(build=build, make_environment=make, name=name, options=options)


async def _play(variant: Variant, cast: Cast, judge: Judge | None, project: Project, registry: Registry) -> Trial:
    meter = Meter()
    jury = Jury(judge, type(judge).__name__, project.find_rubric(), CONTEXTS, meter)
    tree = Tree(cast, variant.scenario, meter)
    return await Bench(tree, registry, jury, asyncio.Semaphore(1)).run(variant)
