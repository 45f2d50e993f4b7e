"""fuzzturn proxy: a recording endpoint to put between an agent and its model by hand, telling of every call."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fuzzturn.cli.options import JsonOption, OfflineOption, OutOption, choose
from fuzzturn.errors import InputError, Problem

if TYPE_CHECKING:
    from fuzzturn.adapters.proxy import Caller, ProxyServer, Seen
    from fuzzturn.adapters.proxy.caller import Pending
    from fuzzturn.calls import Gateway
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.session import Compaction


def proxy(
    upstream: Annotated[
        str | None,
        typer.Option("--upstream", help="URL of the real server, up to /v1; default: the project's api_base"),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 = any free one")] = 0,
    offline: OfflineOption = False,
    out: OutOption = None,
    json_file: JsonOption = None,
) -> int:
    """Stand between an agent and its model: record every call, answer recorded ones, say what left the context.

    Point the agent's base URL (OPENAI_BASE_URL, for most) at what is printed. End it with Ctrl-C. A session's name is
    yours to choose; a new name begins anew, so that the same calls are answered from the record.

    Example: fuzzturn proxy --upstream http://127.0.0.1:11434/v1
    """
    from fuzzturn.adapters.proxy import ProxyServer
    from fuzzturn.cli.staging import Staging
    from fuzzturn.cli.terminal import Terminal
    from fuzzturn.project import find_project
    from fuzzturn.records import write_json

    project = find_project()
    chosen = choose({"api_base": upstream, "offline": offline}, project.config, ("window+block",))
    if chosen.api_base is None:
        what = "the proxy needs to know where the model is"
        raise InputError(Problem(what=what, accepted="--upstream http://…/v1, or api_base in the project's file"))
    gateway = Staging(project, chosen, out).gateway
    log = _Log(gateway, Terminal())
    server = ProxyServer(gateway, chosen.api_base, port=port)
    with suppress(KeyboardInterrupt):  # where signals cannot be handled in the loop
        asyncio.run(_serve(server, log))
    log.close()
    if json_file is not None:
        write_json(json_file, gateway.keys.redaction.data({"schema": 1, "calls": log.calls}))
    return 0


async def _serve(server: ProxyServer, log: _Log) -> None:
    """Until somebody ends it: that is how it is used, so it is no interruption."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    with suppress(NotImplementedError):
        for sign in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(sign, ended.set)
    try:
        await server.start()
        log.terminal.say(f"base URL: {server.welcome(log.session)}/<any session name>/v1")
        log.terminal.note("where HTTP_PROXY is set for the agent, it also needs NO_PROXY=127.0.0.1,localhost")
        log.terminal.note("Ctrl-C ends it")
        await ended.wait()
    finally:
        await server.stop()


class _Log:
    """What is said of the calls, one line each."""

    def __init__(self, gateway: Gateway, terminal: Terminal) -> None:
        self.gateway, self.terminal = gateway, terminal
        self.calls: list[dict[str, Any]] = []
        self._counts: Counter[str] = Counter()

    def session(self, name: str) -> Caller:
        from fuzzturn.adapters.proxy import Caller

        caller = Caller(name)
        caller.begin()
        caller.finished = lambda call: self._told(caller, call)
        return caller

    def _told(self, caller: Caller, call: Pending) -> None:
        from fuzzturn.adapters.proxy.items import request_messages
        from fuzzturn.calls import tokens_of
        from fuzzturn.tokens import messages_tokens

        exchange = call.exchange
        assert exchange is not None
        messages = request_messages(call.path, call.body, caller.tap.earlier)
        seen = caller.take(None)
        self._counts[caller.name] += 1
        told = {
            "session": caller.name,
            "call": self._counts[caller.name],
            "model": str(call.body.get("model")),
            "messages": None if messages is None else len(messages),
            "tokens": None if messages is None else messages_tokens(messages),
            "usage": None if exchange.usage is None else dict(exchange.usage),
            "recorded": exchange.recorded,
            "own": bool(seen),
            "notes": list(exchange.notes),
            "compaction": _compaction(seen),
        }
        self.calls.append(told)
        usage = tokens_of(exchange.usage)
        size = "messages not known" if messages is None else f"{told['messages']} messages, {told['tokens']} tokens"
        spent = "usage not told" if usage is None else f"{usage[0]} prompt and {usage[1]} completion tokens used"
        how = {True: "recorded", False: "live", None: "failed"}[exchange.recorded]
        other = "" if seen else ", not the agent's own"
        self.terminal.say(f"{told['session']} {told['call']}: {told['model']}, {size}; {spent}; {how}{other}")
        for note in exchange.notes:
            self.terminal.say(f"  {note}")
        for one in seen:
            if one.compaction is not None:
                self.terminal.say(f"  {_in_words(one.compaction)}")

    def close(self) -> None:
        from fuzzturn.cli.spending import bill_lines
        from fuzzturn.report import counted

        sessions = counted(len(self._counts), "session")
        self.terminal.say(f"{counted(len(self.calls), 'model call')} in {sessions}")
        for line in bill_lines(self.gateway.bill):
            self.terminal.say(line)
        self.gateway.close()


def _compaction(seen: list[Seen]) -> dict[str, Any] | None:
    found = next((one.compaction for one in seen if one.compaction is not None), None)
    if found is None:
        return None
    read = found.summariser_input
    return {
        "policy": found.policy, "before": found.before, "after": found.after, "dropped": len(found.dropped or ()),
        "summary": found.summary, "summariser_read": None if read is None else len(read),
    }  # fmt: skip


def _in_words(compaction: Compaction) -> str:
    from fuzzturn.report import counted
    from fuzzturn.tokens import text_tokens

    gone = f"{counted(len(compaction.dropped or ()), 'message')} disappeared"
    if compaction.summary is not None:
        place = f"a new one of {text_tokens(compaction.summary)} tokens stands in their place"
    else:
        place = (
            "nothing stands in their place" if compaction.summariser_input == () else "what stands for them is unclear"
        )
    read = len(compaction.summariser_input or ())
    return f"{gone}, {place}" + (f", written by a call that read {counted(read, 'message')}" if read else "")
