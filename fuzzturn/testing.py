"""Testing: a campaign as a test of one's own, and what there is to show where a test fails.

    @fuzzturn.fuzz("lisbon_offsite", agent="agents/my_agent.py:build", sessions=50)
    def test_no_session_breaks_a_constraint() -> None: ...

Loaded by a test that uses it, never by pytest alone.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias

from fuzzturn.adapters import PRIVATE, project_redaction
from fuzzturn.api import located, play
from fuzzturn.campaign import Campaign
from fuzzturn.cli.options import CONTEXTS, choose
from fuzzturn.cli.staging import Staging, label
from fuzzturn.cli.targeting import target_kinds
from fuzzturn.drive import Cast
from fuzzturn.errors import AgentError, InputError, Problem, UnknownName
from fuzzturn.outcome import Outcome
from fuzzturn.ports import Agent, Judge
from fuzzturn.project import OPTIONS, Project, find_project
from fuzzturn.report import Names, counted, finding_block
from fuzzturn.retold import trial_block
from fuzzturn.scenario import Scenario
from fuzzturn.search import search
from fuzzturn.trial import Trial

__all__ = ["FoundError", "Play", "Shown", "fuzz"]

Test: TypeAlias = Callable[..., object]
Build: TypeAlias = Callable[..., Agent]
SETTINGS = ("api_base", "batch", "judge_context", "offline", "repeats", "rubric", "seed", "target", "workers")
"""The options of the project's file that a test may set otherwise."""


class FoundError(AssertionError):
    """A campaign found something. The text is the findings, as the command line shows them."""


class Shown:
    """What the running test has played, for the report of a failure; and what pytest's command line asks for."""

    asked: Mapping[str, Any] = {}
    """Options of agent and judge. A test that names its own is not concerned."""
    text: Callable[[], str] | None = None
    """The last session with something wrong, or the last campaign that found something; None = there was none."""

    @classmethod
    def begin(cls, asked: Mapping[str, Any]) -> None:
        """Another test begins."""
        cls.asked, cls.text = asked, None


@dataclass(frozen=True, slots=True)
class Play:
    """`fuzzturn.play` in the project of the test's file, with the agent that pytest's command line asks for."""

    project: Project

    def __repr__(self) -> str:  # Hypothesis prints every argument of a failing test case
        return "play"

    def __call__(
        self,
        what: Any,
        *,
        agent: str | Build | None = None,
        options: Mapping[str, str] | None = None,
        judge: Judge | None = None,
        seed: int = 0,
    ) -> Trial:
        """As `fuzzturn.play`. Where the test fails, the report shows the last session with something wrong in it."""
        if agent is None:
            agent = Shown.asked.get("agent")
            options = {**choose(Shown.asked, {}, ()).agent_options, **(options or {})}
        trial = play(what, agent=agent, options=options, judge=judge, seed=seed, project=self.project)
        played = str(self.project.config.get("agent", "orbit")) if agent is None else agent
        if trial.failures:
            Shown.text = lambda: project_redaction(self.project.config).text(_told(trial, played, judge))
        return trial


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ask:
    """What a decorated test asks for. Agent and judge None = pytest's command line or the project says which."""

    scenario: str
    agent: str | Build | None
    options: Mapping[str, str]
    judge: str | Judge | None
    sessions: int
    settings: Mapping[str, Any]

    def staging(self, project: Project) -> Staging:
        """The project through the eyes of this test."""
        asked = Shown.asked if self.agent is None else {}
        agent = self.agent if isinstance(self.agent, str) else asked.get("agent")
        judge = self.judge if isinstance(self.judge, str) else Shown.asked.get("judge")
        own = [f"{key}={value}" for key, value in self.options.items()]
        given = {
            **self.settings,
            "agent": agent and located(agent, project),
            "agent_option": [*asked.get("agent_option", ()), *own],
            "judge": judge and located(judge, project),
        }
        return Staging(project, choose(given, project.config, CONTEXTS))


def fuzz(
    scenario: str | Path,
    *,
    agent: str | Build | None = None,
    options: Mapping[str, str] | None = None,
    judge: str | Judge | None = None,
    sessions: int = 50,
    **settings: Any,
) -> Callable[[Test], Test]:
    """Make a test of a campaign over `sessions` variants of a scenario, from 0. Same seed, same result.

    A test with an argument `outcome` is given the campaign's Outcome and judges it. Any other fails with the findings
    where there are some, where the agent raised, and where something was seen that did not show again; then its body
    is run. Nothing is written to the corpus.

    `agent` as on the command line, or a build function; None = pytest's `--fuzzturn-agent`, else the project's, with
    its options. `judge` a name, "none" or a judge; None likewise. `settings` are those of the project's file: seed,
    repeats, judge_context, target, workers, batch, rubric, offline, api_base. The project is the one around the test's
    file. Raises InputError for a setting that is none or has another type, and for an async test.
    """
    _check(settings)
    ask = _Ask(scenario=str(scenario), agent=agent, options=options or {}, judge=judge, sessions=sessions,
               settings=settings)  # fmt: skip

    def decorate(test: Test) -> Test:
        if inspect.iscoroutinefunction(test):
            what = f"{test.__name__} is async, and a campaign has an event loop of its own"
            raise InputError(Problem(what=what, accepted="a plain function"))
        signature = inspect.signature(test)
        takes = "outcome" in signature.parameters

        @wraps(test)
        def campaign(*args: Any, **kwargs: Any) -> object:
            outcome = _searched(ask, Path(inspect.getfile(test)), _again(test))
            if takes:
                return test(*args, **kwargs, outcome=outcome)
            _refuse(outcome)
            return test(*args, **kwargs)

        left = [parameter for name, parameter in signature.parameters.items() if name != "outcome"]
        campaign.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return campaign

    return decorate


def _check(settings: Mapping[str, Any]) -> None:
    for key, value in settings.items():
        if key not in SETTINGS:
            raise UnknownName("setting of a campaign", key, SETTINGS)
        if not OPTIONS[key].fits(value):
            raise InputError(Problem(what=f"{key} is {value!r}", accepted=f"accepted: {OPTIONS[key].words}"))


def _searched(ask: _Ask, file: Path, again: str) -> Outcome:
    """The campaign, carried out; what it found is what a failure of this test shows."""
    staging = ask.staging(find_project(file.resolve().parent))
    try:
        campaign = _campaign(ask, staging, staging.scenarios([ask.scenario])[0])
        outcome = asyncio.run(search(campaign))
    finally:
        staging.gateway.close()
    if outcome.found:
        Shown.text = lambda: staging.redaction.text(_blocks(outcome, campaign, again))
    return outcome


def _campaign(ask: _Ask, staging: Staging, scenario: Scenario) -> Campaign:
    chosen, config = staging.chosen, staging.project.config
    own = None if isinstance(ask.judge, str) else ask.judge
    return Campaign(
        scenario=scenario,
        cast=_cast(ask.agent, ask.options, staging, scenario) if callable(ask.agent) else staging.cast(scenario),
        registry=staging.registry,
        operators=staging.project.load_strategies().of_kind("operator"),
        judge=own or staging.judge,
        judge_name=type(own).__name__ if own else staging.judge_name,
        rubric=staging.rubric,
        contexts=chosen.contexts,
        sessions=ask.sessions,
        batch=chosen.batch,
        workers=chosen.workers,
        kinds=target_kinds(ask.settings.get("target") or config.get("target", "any")),
        repeats=chosen.repeats,
    )


def _cast(build: Build, options: Mapping[str, str], staging: Staging, scenario: Scenario) -> Cast:
    return Cast(
        build=build,
        make_environment=staging.registry.get("environment", scenario.environment).function,
        name=_name(build),
        options=options,
        seed=staging.chosen.seed,
        private=PRIVATE,
    )


def _name(build: Build) -> str:
    return getattr(build, "__name__", type(build).__name__)


def _refuse(outcome: Outcome) -> None:
    """Raise where the outcome is no pass. What is not known is none."""
    if outcome.found:
        assert Shown.text is not None
        raise FoundError(Shown.text())
    if outcome.agent_errors:
        raise AgentError("the agent raised " + "; ".join(outcome.agent_errors))
    if outcome.undecided:
        what = f"{counted(outcome.undecided, 'failure')} did not show again, so nothing is known of it"
        raise FoundError(f"{what}; repeats=20 decides by evidence where an agent does not repeat itself")


def _again(test: Test) -> str:
    """The command that runs the test again, which is the same campaign again."""
    running = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    return f"pytest {running}" if running else f"{test.__module__}.{test.__qualname__}"


def _blocks(outcome: Outcome, campaign: Campaign, again: str) -> str:
    def names(identity: str | None) -> Names:
        return Names(agent=campaign.cast.name, agent_identity=identity, judge=campaign.judge_name,
                     rubric=campaign.rubric.rubric_id)  # fmt: skip

    blocks = [finding_block(found, names=names(found.identity), again=again) for found in outcome.found]
    return "\n\n".join(blocks)


def _told(trial: Trial, agent: str | Build, judge: Judge | None) -> str:
    """Each thing that went wrong in a session once."""
    first = {failure.about: failure for failure in reversed(trial.failures)}
    name = label(agent) if isinstance(agent, str) else _name(agent)
    rubric = next((j.rubric for scores in trial.measured.scores for j in scores.judge.values()), "none")
    names = Names(agent=name, agent_identity=None, judge=type(judge).__name__ if judge else "none", rubric=rubric)
    running = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    shown = sorted(first.values(), key=lambda failure: failure.turn)
    return "\n\n".join(trial_block(trial, failure, names=names, again=f"pytest {running}") for failure in shown)
