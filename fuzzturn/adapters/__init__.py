"""Adapters: what `--agent` and `--judge` may name besides a build of the user's: models, processes, servers, functions.

litellm/<model>   a hosted model in our tool loop
process           a program that speaks NDJSON on its standard streams
http              a server that takes JSON
proxy             any other agent, its model calls seen and recorded
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from fuzzturn.adapters.access import Access, access, project_redaction
from fuzzturn.errors import InputError, Problem, UnknownName
from fuzzturn.ports import Judge

__all__ = ["HOSTED", "NAMES", "PRIVATE", "Access", "access", "agent_build", "judge_build", "project_redaction"]

HOSTED = "litellm/"
NAMES = ("http", "process", "proxy")
PRIVATE = frozenset({"command", "url", "target", "upstream", "base_url", "api_base", "extra"})
"""Options that say what to start or where to call, as `extra` can: litellm takes an address and fallbacks from it.

A kept file neither holds them nor is believed when it does.
"""


def agent_build(
    spec: str, options: Mapping[str, str], access: Access, player: Callable[[str], Callable[..., Any]]
) -> Callable[..., Any]:
    """The build of an agent. `player` finds what is none of the adapters. Raises InputError or UnknownName."""
    if spec.startswith(HOSTED):
        from fuzzturn.adapters.model_agent import builder

        return builder(_model(spec), access.gateway, access.api_base)
    if spec == "process":
        from fuzzturn.adapters.process import build

        return build
    if spec == "http":
        from fuzzturn.adapters.http import build as served

        return served
    if spec == "proxy":
        return _proxied(options, access, player)
    try:
        found = player(spec)
    except UnknownName as error:
        if ":" in spec:
            raise
        raise UnknownName("agent", spec, {*error.known, *NAMES, f"{HOSTED}<model>"}) from error
    return _function(found)


def judge_build(spec: str, access: Access, player: Callable[[str], Callable[..., Any]]) -> Callable[..., Judge]:
    """The build of a judge, likewise."""
    if not spec.startswith(HOSTED):
        built: Callable[..., Judge] = player(spec)
        return built
    from fuzzturn.adapters.model_judge import HostedJudge

    model = _model(spec)
    return lambda: HostedJudge(model, access.gateway, access.api_base)


def _model(spec: str) -> str:
    model = spec.removeprefix(HOSTED)
    if not model:
        raise InputError(Problem(what=f"{spec!r} names no model", accepted="litellm/<model>, as litellm/gpt-4o-mini"))
    return model


_NOBODY = "http://127.0.0.1:9/v1"
"""Where no call goes: offline, all that is answered is answered from the record."""


def _proxied(
    options: Mapping[str, str], access: Access, player: Callable[[str], Callable[..., Any]]
) -> Callable[..., Any]:
    from fuzzturn.adapters.proxy import wrap

    target, upstream = options.get("target"), options.get("upstream") or access.api_base
    if not target or target == "proxy":
        what = "the agent proxy needs to know which agent it stands before"
        raise InputError(Problem(what=what, accepted="--agent-option target=<any other agent>"))
    if not upstream and access.gateway.offline:
        upstream = _NOBODY
    if not upstream:
        what = "the agent proxy needs to know where its agent's model is"
        raise InputError(Problem(what=what, accepted="--api-base or --agent-option upstream=http://…/v1"))
    return wrap(agent_build(target, options, access, player), gateway=access.gateway, upstream=upstream)


def _function(found: Callable[..., Any]) -> Callable[..., Any]:
    """A plain function is told by its first parameter: `messages` answers a list, `message` answers one turn."""
    try:
        first = next(iter(inspect.signature(found).parameters), None)
    except ValueError:  # a callable without a signature, such as some of C's
        return found
    if first == "messages":
        from fuzzturn.adapters.function_model import builder

        return builder(found)
    if first == "message":
        from fuzzturn.replying import fold

        return fold(found)
    return found
