"""Options: what several commands take, spelled once; and how command line, project file and defaults combine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_args

import typer

from fuzzturn.errors import InputError, Problem, closest
from fuzzturn.scores import JudgeContext

__all__ = [
    "AgentOption", "AgentOptionOption", "ApiBaseOption", "BatchOption", "Chosen", "ContextOption", "JsonOption",
    "JudgeOption", "JunitOption", "NdjsonOption", "OfflineOption", "OutOption", "RepeatsOption", "RubricOption",
    "SeedOption", "WorkersOption", "choose",
]  # fmt: skip

AgentOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--agent",
        help="path/to/file.py:build or :function, package.module:build, litellm/<model>, process, http, proxy, "
        "or a shipped name (orbit)",
    ),
]
AgentOptionOption: TypeAlias = Annotated[
    list[str] | None, typer.Option("--agent-option", help="key=value for the agent's build; repeatable")
]
JudgeOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--judge", help="path/to/file.py:build, package.module:build, litellm/<model>, reference, or none"),
]
ContextOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--judge-context", help="agent, window, window+block or full; repeatable, or with commas"),
]
RubricOption: TypeAlias = Annotated[
    str | None, typer.Option("--rubric", help="id of a frozen rubric; default: the one frozen last")
]
SeedOption: TypeAlias = Annotated[
    int | None, typer.Option("--seed", help="of the search and of the environment; same seed, same result")
]
RepeatsOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--repeats",
        min=1,
        help="more than 1 for an agent that does not repeat itself: runs of a script, or that a rate is measured by; "
        "default: 1, and replay as many as the entry's rate was measured by",
    ),
]
WorkersOption: TypeAlias = Annotated[
    int | None, typer.Option("--workers", min=1, help="sessions at once; never changes a result")
]
OfflineOption: TypeAlias = Annotated[
    bool, typer.Option("--offline", help="refuse every model call that is not recorded in .fuzzturn/calls.sqlite")
]
ApiBaseOption: TypeAlias = Annotated[
    str | None, typer.Option("--api-base", help="URL of an OpenAI-compatible server, for litellm/ and proxy")
]
BatchOption: TypeAlias = Annotated[int | None, typer.Option("--batch", min=1, help="candidates tried together")]


def _folder(folder: Path | None) -> Path | None:
    """A folder that is there or can be made; refused before anything is played rather than after."""
    above = None if folder is None else next(p for p in (folder.absolute(), *folder.absolute().parents) if p.exists())
    if above is not None and not (above.is_dir() and os.access(above, os.W_OK)):
        why = "may not be written to" if above.is_dir() else "is not a folder"
        raise InputError(Problem(file=str(folder), what=f"--out: {above} {why}", accepted="a folder, or a new one"))
    return folder


def _file(option: typer.CallbackParam, file: Path | None) -> Path | None:
    """A file that is there or can be made, likewise."""
    if file is None:
        return None
    name = option.opts[0]
    if file.is_dir():
        raise InputError(Problem(file=str(file), what=f"{name}: this is a folder", accepted="the name of a file"))
    if not (folder := file.absolute().parent).is_dir():
        what, accepted = f"{name}: its folder does not exist", "an existing one"
        raise InputError(Problem(file=str(file), what=what, accepted=accepted))
    if not os.access(file if file.exists() else folder, os.W_OK):
        raise InputError(Problem(file=str(file), what=f"{name}: it may not be written", accepted="another place"))
    return file


OutOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--out", callback=_folder, help="where corpus/ and .fuzzturn/ go; default: the project, else here"),
]
JsonOption: TypeAlias = Annotated[
    Path | None, typer.Option("--json", callback=_file, help="write the result as JSON to this file")
]
JunitOption: TypeAlias = Annotated[
    Path | None, typer.Option("--junit", callback=_file, help="write the result as JUnit XML to this file")
]
NdjsonOption: TypeAlias = Annotated[
    Path | None, typer.Option("--ndjson", callback=_file, help="write each event to this file as it happens, as JSON")
]

CONTEXTS: tuple[JudgeContext, ...] = get_args(JudgeContext)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The common options once all sources are combined."""

    agent: str
    agent_options: Mapping[str, str]
    judge: str
    contexts: tuple[JudgeContext, ...]
    seed: int
    workers: int
    batch: int
    rubric: str | None
    judge_given: bool
    """False where the judge is only the default."""
    agent_given: bool
    """False where the agent is only the default."""
    repeats_given: bool = False
    """False where their number is only the default."""
    api_base: str | None = None
    offline: bool = False
    budget_usd: float | None = None
    repeats: int = 1


def choose(given: Mapping[str, Any], config: Mapping[str, Any], contexts: Sequence[JudgeContext]) -> Chosen:
    """The command line wins over the project's file, that over the defaults. `contexts` are the command's default."""

    def pick(key: str, default: Any) -> Any:
        return given[key] if given.get(key) not in (None, []) else config.get(key, default)

    agent = pick("agent", "orbit")
    # the project's options are those of the project's agent
    ours = config.get("agent_option", ()) if agent == config.get("agent", "orbit") else ()
    return Chosen(
        agent=agent,
        agent_options=_pairs([*ours, *(given.get("agent_option") or ())]),
        judge=pick("judge", "reference"),
        contexts=_contexts(pick("judge_context", contexts)),
        seed=pick("seed", 0),
        workers=pick("workers", 1),
        batch=pick("batch", 8),
        rubric=pick("rubric", None),
        judge_given=given.get("judge") is not None or "judge" in config,
        repeats_given=given.get("repeats") is not None or "repeats" in config,
        agent_given=given.get("agent") is not None or "agent" in config,
        api_base=_address(pick("api_base", None)),
        offline=bool(given.get("offline")) or config.get("offline", False),
        budget_usd=pick("budget_usd", None),
        repeats=pick("repeats", 1),
    )


def _address(url: str | None) -> str | None:
    if url is not None and not url.startswith(("http://", "https://")):
        raise InputError(Problem(what=f"--api-base {url!r} is no URL", accepted="http://… or https://…, up to /v1"))
    if url is not None and "@" in url:  # it would be printed, in the line that says how to replay
        raise InputError(Problem(what="--api-base holds a user or password", accepted="the key in its variable"))
    return url


def _pairs(options: Sequence[str]) -> dict[str, str]:
    problems = [
        Problem(what=f"--agent-option {option!r} has no value", accepted="key=value")
        for option in options
        if not option.partition("=")[1] or not option.partition("=")[0]
    ]
    if problems:
        raise InputError(problems)
    return {key: value for key, _, value in (option.partition("=") for option in options)}


def _contexts(given: Sequence[str]) -> tuple[JudgeContext, ...]:
    names = [name.strip() for text in given for name in text.split(",")]
    unknown = [name for name in names if name not in CONTEXTS]
    if unknown:
        raise InputError(
            [Problem(what=f"no judge context is called {name!r}", accepted=closest(name, CONTEXTS)) for name in unknown]
        )
    return tuple(context for context in CONTEXTS if context in names)
