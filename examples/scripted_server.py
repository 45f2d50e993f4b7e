"""Scripted server: an OpenAI-compatible model server without a model, to try `litellm/` and `proxy` on with no key.

    python examples/scripted_server.py 8701 &
    fuzzturn fuzz scenarios/orbit/lisbon_offsite.yaml --agent litellm/scripted --api-base http://127.0.0.1:8701/v1 \\
        --agent-option compaction=summary_keep_recent
    fuzzturn fuzz scenarios/orbit/lisbon_offsite.yaml --agent proxy --api-base http://127.0.0.1:8701/v1 \\
        --agent-option target=process --agent-option "command=node examples/node_agent.mjs"

SIMULATED: travel_rules stands where a model would be; it reads nothing but the messages of the request.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from travel_rules import (  # type: ignore[import-not-found]  # beside this file, which is run as a script
    called,
    decide,
    fresh_ids,
    tokens,
)

__all__ = ["Server", "completion"]


def completion(body: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a chat completion request."""
    messages = [{**message, "content": message.get("content") or ""} for message in body["messages"]]
    action = decide(messages)
    message: dict[str, Any] = {"role": "assistant", "content": action if isinstance(action, str) else None}
    if not isinstance(action, str):
        message["tool_calls"] = called(action, fresh_ids(messages, len(action)))[0]["tool_calls"]
    counts = {"prompt_tokens": tokens(messages), "completion_tokens": tokens([{**message, "content": str(action)}])}
    finish = "tool_calls" if "tool_calls" in message else "stop"
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "chatcmpl-scripted", "object": "chat.completion", "created": 0, "model": body.get("model", ""),
            "choices": [choice], "usage": {**counts, "total_tokens": sum(counts.values())}}  # fmt: skip


class Handler(BaseHTTPRequestHandler):
    """POST /v1/chat/completions."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        known = self.path == "/v1/chat/completions" and not body.get("stream")
        answer = completion(body) if known else {"error": {"message": f"only chat completions, not {self.path}"}}
        sent = json.dumps(answer).encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: Any) -> None:
        """Nothing: stdout tells the URL."""


class Server(ThreadingHTTPServer):
    """Port 0 = any free one."""

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/v1"


if __name__ == "__main__":
    server = Server(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    print(server.url, flush=True)
    server.serve_forever()
