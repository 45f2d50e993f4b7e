"""HTTP agent: a travel agent behind a URL, which fuzzturn speaks to by POST (docs/wire-protocol.md).

    python examples/http_agent.py 8700 &
    fuzzturn fuzz scenarios/orbit/lisbon_offsite.yaml --agent http --agent-option url=http://127.0.0.1:8700/

SIMULATED: travel_rules stands where a model would be. The server needs nothing but the standard library.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from travel_rules import (  # type: ignore[import-not-found]  # beside this file, which is run as a script
    Chat,
    Step,
    called,
    decide,
    shortened,
    tokens,
)

__all__ = ["Server", "Session"]

_OPTIONS = {"threshold": "900", "keep": "4"}


class Session:
    """One conversation: a message list, and what has happened in the turn so far."""

    def __init__(self, opening: Mapping[str, Any]) -> None:
        if unknown := opening["options"].keys() - _OPTIONS.keys():
            raise ValueError(f"no option {sorted(unknown)[0]!r}; known: {', '.join(_OPTIONS)}")
        options = {**_OPTIONS, **opening["options"]}
        self._threshold, self._keep = int(options["threshold"]), int(options["keep"])
        self._system: list[Chat] = [{"role": "system", "content": opening["system"]}] if opening["system"] else []
        self._messages: list[Chat] = []
        self._made = 0
        self._events: list[dict[str, Any]] = []
        self._asked: list[tuple[str, Step]] = []
        limits = f"threshold={self._threshold}, keep={self._keep}"
        self.ready = {
            "type": "ready",
            "identity": f"http travel agent 1 (simulated, by rule; {limits})",
            "snapshots": True,
        }

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one message of the harness but the first and the last."""
        if message["type"] == "snapshot":
            return {"type": "snapshot", "state": {"messages": self._messages, "made": self._made}}
        if message["type"] == "restore":
            self._messages, self._made = message["state"]["messages"], message["state"]["made"]
            return self.ready
        if message["type"] == "say":
            self._events = []
            self._messages = [*self._messages, {"role": "user", "content": message["message"]}]
        else:
            self._take(message["results"])
        return self._next()

    def _next(self) -> dict[str, Any]:
        """One model call: either it asks for tools, or it ends the turn."""
        self._compact()
        context = [*self._system, *self._messages]
        self._events.append({"type": "model_call", "context": context})
        action = decide(context)
        if isinstance(action, str):
            self._messages = [*self._messages, {"role": "assistant", "content": action}]
            return {"type": "reply", "events": [*self._events, {"type": "message", "text": action}]}
        self._asked = [(f"c{self._made + i}", step) for i, step in enumerate(action, start=1)]
        self._made += len(action)
        return {"type": "call", "calls": [{"id": id, "name": s.name, "args": s.args} for id, s in self._asked]}

    def _take(self, results: list[Mapping[str, Any]]) -> None:
        """Telling of a call shows the harness where it belongs."""
        given = {one["id"]: one["result"] if "result" in one else {"error": one["error"]} for one in results}
        done = [Step(step.name, step.args, given[id]) for id, step in self._asked]
        ids = [id for id, _ in self._asked]
        self._messages = [*self._messages, *called(done, ids)]
        self._events += [{"type": "tool_call", "id": id, "name": s.name, "args": s.args} for id, s in self._asked]

    def _compact(self) -> None:
        if (less := shortened(self._messages, self._threshold, self._keep)) is None:
            return
        before = tokens(self._messages)
        self._messages, dropped, summary = less
        self._events.append(
            {
                "type": "compaction",
                "policy": "summary",
                "before": before,
                "after": tokens(self._messages),
                "dropped": dropped,
                "summary": summary,
                "summariser_input": dropped,
            }
        )


class Server(ThreadingHTTPServer):
    """Holds the sessions that are open, by id. One session's messages come one after another."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.sessions: dict[str, Session] = {}

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to any message of the harness. What fails becomes an answer, too."""
        id = message["session_id"]
        try:
            if message["type"] == "open":
                self.sessions[id] = Session(message)
                return self.sessions[id].ready
            if message["type"] == "close":
                self.sessions.pop(id, None)
                return {}
            return self.sessions[id].answer(message)
        except Exception as error:  # noqa: BLE001 - a server says what went wrong and serves on
            return {"type": "error", "message": f"{type(error).__name__}: {error}"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # the connection is kept, which is much faster
    disable_nagle_algorithm = True
    server: Server

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(self.server.answer(message)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Not a line for each message."""


if __name__ == "__main__":
    server = Server(int(sys.argv[1]) if len(sys.argv) > 1 else 8700)
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()
