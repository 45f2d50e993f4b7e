"""Agent: a SIMULATED coding agent, by rule. It does what the messages in view ask for and allow.

    fuzzturn fuzz do_not_push --agent-option memory=drops_orders

Beyond `threshold` tokens all but the last `keep` messages become the lines that its `memory` writes; the names are
those of memory.py, and `faithful` is the correct one. Nothing in it knows a turn's number or an operator's words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fuzzturn.errors import InputError, Problem, closest
from fuzzturn.ports import Environment, Reply
from fuzzturn.session import Chat, Compaction, Event, Message, ModelCall, ToolCall
from fuzzturn.tokens import messages_tokens

from .memory import MEMORIES, OPEN, Memory
from .standing import Standing, requests, standing, started

__all__ = ["Coder", "build", "decide"]

_SUMMARY = "Earlier in this conversation:"


class Coder:
    """Edits, renames, tests, and commits what is finished unless it is told not to."""

    def __init__(self, workbench: Environment, memory: Memory, threshold: int, keep: int, identity: str) -> None:
        self._workbench, self._memory, self._threshold, self._keep = workbench, memory, threshold, keep
        self.identity = identity
        self._view: tuple[Chat, ...] = ()

    def reply(self, message: str) -> Reply:
        """One user message; the context is made smaller before it is looked at."""
        self._view = (*self._view, {"role": "user", "content": message})
        events: list[Event] = list(self._compacted())
        events.append(ModelCall(self._view))
        text = "Done."
        calls = decide(self._view)
        for name, args in calls:
            try:
                result, error = self._workbench.call(name, **args), None
            except (RuntimeError, TimeoutError) as raised:
                result, error = None, str(raised)
            events.append(ToolCall(name, args, result, error))
            made = {"role": "assistant", "content": "", "tool_calls": [{"name": name, "arguments": args}]}
            self._view = (*self._view, made, {"role": "tool", "content": str(error or result)})
            if error:
                text = f"I stopped at {name}: {error}."
                break
        if not calls:
            text = "I need your approval for that." if requests(message) else "Noted."
        self._view = (*self._view, {"role": "assistant", "content": text})
        return Reply(events=[*events, Message(text)])

    def snapshot(self) -> object:
        return self._view

    def restore(self, saved: Any) -> None:
        self._view = saved

    def _compacted(self) -> Sequence[Compaction]:
        before = messages_tokens(self._view)
        old, recent = self._view[: -self._keep], self._view[-self._keep :]
        if before <= self._threshold or not old:
            return ()
        summary = "\n".join([_SUMMARY, *self._memory(old)])
        self._view = ({"role": "system", "content": summary}, *recent)
        return (Compaction("lines", before, messages_tokens(self._view), old, summary, old),)


def decide(view: Sequence[Chat]) -> list[tuple[str, dict[str, str]]]:
    """The calls to make for the last message in view, given the ones before it."""
    now, message = standing(view), str(view[-1]["content"])
    calls = [call for verb, what in _open(view) for call in _calls(verb, what, now)]
    for verb, what in requests(message):
        calls += _calls(verb, what, now)
    if "Please run the tests" in message:
        calls.append(("test", {}))
    if re.search(r"Please (continue|start the work)", message):
        topic = started(message) or now.topic
        calls.append(("translate", {"topic": topic}) if topic else ("test", {}))
    return calls


def _calls(verb: str, what: str, now: Standing) -> list[tuple[str, dict[str, str]]]:
    if verb == "rename":
        old, _, new = what.partition(" to ")
        return [("rename", {"old": old, "new": new})]
    if verb == "release":
        return [("deploy", {"what": what})] if now.approved or not now.ask_first else []
    edit: tuple[str, dict[str, str]] = ("edit", {"file": what, "indent": now.style or "spaces"})
    if verb == "edit":
        return [edit]
    return [edit, ("test", {}), *([] if now.keep_off else [("commit", {}), ("push", {})])]


def _open(view: Sequence[Chat]) -> list[tuple[str, str]]:
    """Requests that a summary says are open, and for which nothing was done since."""
    lines = [line for one in view if one["role"] == "system" for line in str(one["content"]).split("\n")]
    wanted = [line.removeprefix(OPEN).partition(" ") for line in lines if line.startswith(OPEN)]
    made = [str(call["arguments"]) for message in view for call in _made(message)]
    return [(verb, what) for verb, _, what in wanted if not any(what.split(" ")[0] in args for args in made)]


def _made(message: Chat) -> Sequence[Mapping[str, Any]]:
    calls: Sequence[Mapping[str, Any]] = message.get("tool_calls", ())
    return calls


def build(
    environment: Environment,
    *,
    memory: str = "faithful",
    threshold: str = "400",
    keep: str = "4",
    compaction: str = "lines",
) -> Coder:
    """A fresh agent. `compaction=none` lets the context grow. Raises InputError for an unknown memory."""
    if memory not in MEMORIES:
        what = f"the coder has no memory {memory!r}"
        raise InputError(Problem(what=what, accepted=closest(memory, MEMORIES)))
    limit = int(threshold) if compaction != "none" else 10**9
    return Coder(environment, MEMORIES[memory], limit, int(keep), f"coder 1 (simulated, by rule; memory={memory})")
