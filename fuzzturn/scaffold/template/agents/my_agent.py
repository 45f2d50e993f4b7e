"""My agent: a template to replace by your own. SIMULATED: where a model would be called, `think` follows a few rules.

    fuzzturn run lisbon_offsite --agent agents/my_agent.py:build
    fuzzturn fuzz lisbon_offsite --agent agents/my_agent.py:build --agent-option keep=10

As it is, it remembers everything that was said. With keep=10 it keeps the newest ten messages of the user and sums up
the rest, dates and nothing else: what the user forbade early is then gone when it matters.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any, TypeAlias

from fuzzturn import Compaction, Environment, Message, ModelCall, Reply, ToolCall

Chat: TypeAlias = dict[str, Any]
MODEL_CALLS_MAX = 8


def build(environment: Environment, *, system: str | None = None, keep: str = "0", compaction: str = "keep") -> MyAgent:
    """A fresh agent for one session. What it names, it receives: `keep` comes from --agent-option keep=…

    fuzzturn itself asks for compaction="none" where it wants to know whether compaction is to blame.
    """
    return MyAgent(environment, system, 0 if compaction == "none" else int(keep))


class MyAgent:
    """A loop of model calls over a message list."""

    def __init__(self, environment: Environment, system: str | None, keep: int) -> None:
        self._environment = environment
        self._system: list[Chat] = [{"role": "system", "content": system}] if system else []
        self._messages: list[Chat] = []
        self._keep = keep
        self.identity = f"my_agent 1 (simulated, by rule; keep={keep or 'all'})"

    def reply(self, message: str) -> Reply:
        """Handle one user message; `async def` works too."""
        self._messages.append({"role": "user", "content": message})
        events: list[Any] = self._compacted()
        for _ in range(MODEL_CALLS_MAX):
            context = [*self._system, *self._messages]
            events.append(ModelCall(context))  # what the model sees: by this a finding explains itself
            answer = think(context)  # <- here a model would be called with `context` and `self._environment.tools`
            if isinstance(answer, str):
                self._messages.append({"role": "assistant", "content": answer})
                return Reply(events=[*events, Message(answer)])
            events.append(self._called(*answer))
        return Reply(events=[*events, Message("I could not finish that.")])

    def snapshot(self) -> object:
        """What there is to remember between two turns. Optional: without it every session is played from turn 1."""
        return tuple(self._messages)

    def restore(self, snapshot: Any) -> None:
        self._messages = list(snapshot)

    def _called(self, name: str, args: dict[str, Any]) -> ToolCall:
        try:
            call = ToolCall(name, args, self._environment.call(name, **args))
        except (ValueError, RuntimeError, OSError) as error:  # it refuses or is down: news for the model, not the end
            call = ToolCall(name, args, error=str(error))
        self._messages.append({"role": "assistant", "content": "", "tool_calls": [{"name": name, "arguments": args}]})
        self._messages.append({"role": "tool", "name": name, "content": json.dumps(call.error or call.result)})
        return call

    def _compacted(self) -> list[Any]:
        starts = [at for at, chat in enumerate(self._messages) if chat["role"] == "user"]
        if not self._keep or len(starts) <= self._keep:
            return []
        cut = starts[-self._keep]
        dropped, kept = self._messages[:cut], self._messages[cut:]
        summary = "Earlier: " + ", ".join(_DATE.findall(_said(dropped)))
        self._messages = [{"role": "system", "content": summary}, *kept]
        return [Compaction("keep", dropped=dropped, summary=summary, summariser_input=dropped)]


# Everything below stands in for a model. Delete it once `reply` calls one.

_DATE = re.compile(r"\d{1,2} [A-Z][a-z]+ \d{4}")
Call: TypeAlias = tuple[str, dict[str, Any]]


def think(context: list[Chat]) -> str | Call:
    """The next step, from the messages of one call and nothing else: a text for the user, or a tool call."""
    asked = max(at for at, chat in enumerate(context) if chat["role"] == "user")
    said, done = context[asked]["content"], [c for c in context[asked:] if c["role"] == "tool"]
    if failed := [chat["name"] for chat in done if isinstance(_result(chat), str)]:
        return f"Sorry, {failed[0]} did not work."
    if "confirm everything" in said:
        return _book(context, done)
    if "find flights" in said:
        return _search(context, done) or "I found " + ", ".join(f"{f['flight']} at EUR {f['fare_eur']}" for f in
                                                                _flights(done, 0) + _flights(done, 1))  # fmt: skip
    if "find a hotel" in said:
        return _hold_hotel(done)
    if "expense code" in said:
        return ("lookup_expense_code", {}) if not done else f"The expense code is {_result(done[0])['code']}."
    if name := re.search(r"add (.+) as the traveller", said):
        return f"{name[1]} travels." if done else ("add_traveller", {"name": name[1]})
    if "the car" in said:
        return "There is parking at the airport."
    return "There is wi-fi." if "wi-fi" in said else "Noted."


def _search(context: list[Chat], done: list[Chat]) -> Call | None:
    directions = ("outbound", "return")
    searched = sum(chat["name"] == "search_flights" for chat in done)
    if searched >= len(directions):
        return None
    day = datetime.strptime(_DATE.findall(_said(context))[searched], "%d %B %Y").date().isoformat()
    return "search_flights", {"destination": "Lisbon", "date": day, "direction": directions[searched]}


def _hold_hotel(done: list[Chat]) -> str | Call:
    if not done:
        return "search_hotels", {"city": "Lisbon"}
    hotel = _result(done[0])["hotels"][0]["hotel"]
    return f"I keep {hotel}." if len(done) > 1 else ("hold_booking", {"kind": "hotel", "hotel": hotel})


def _book(context: list[Chat], done: list[Chat]) -> str | Call:
    if search := _search(context, done):
        return search
    if done[-1]["name"] == "confirm_booking":
        return "All is booked."
    limit = min((int(n) for n in re.findall(r"EUR (\d+)", _said(context))), default=10**6)
    within = [[f for f in _flights(done, at) if f["fare_eur"] <= limit] for at in (0, 1)]
    if not all(within):
        return "No flight is within your limit, so nothing is booked."
    legs = [{"direction": direction, **_best(flights)} for direction, flights in
            zip(("outbound", "return"), within, strict=True)]  # fmt: skip
    found = [_result(chat) for chat in context if chat.get("name") == "search_hotels"]
    held = [result["hotels"][0]["hotel"] for result in found if isinstance(result, dict)]
    return "confirm_booking", {"legs": legs} | ({"hotel": held[-1]} if held else {})


def _best(flights: list[dict[str, Any]]) -> dict[str, Any]:
    """The fewest stops, then the lowest fare."""
    best = min(flights, key=lambda f: (f["stops"], f["fare_eur"]))
    return {"flight": best["flight"], "fare_eur": best["fare_eur"]}


def _flights(done: list[Chat], search: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _result([c for c in done if c["name"] == "search_flights"][search])["flights"]
    return found


def _result(chat: Chat) -> Any:
    return json.loads(chat["content"])


def _said(messages: list[Chat]) -> str:
    return "\n".join(chat["content"] for chat in messages if chat["role"] in ("user", "system"))
