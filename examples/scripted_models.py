"""Scripted models: what stands in place of the agent's model and of the summariser's in langchain_agent.py.

SIMULATED: each answer is a pure function of the text of one request, so nothing is remembered that a request does not
show. Forms of sentences decide, never topics: no rule here knows what a scenario is about to forbid.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_openai_messages,
)
from langchain_core.outputs import ChatGeneration, ChatResult

__all__ = ["SUMMARY_HEADING", "Scripted", "decide", "summarise"]

SUMMARY_HEADING = "Here is a summary of the conversation to date:"
"""How LangChain opens its summary, which is a user message like any other."""


class Scripted(BaseChatModel):
    """A chat model that answers by rule. Bound tools do not matter to it: the rules know the tools' names."""

    answer: Callable[[Sequence[BaseMessage]], AIMessage]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, *, tool_choice: Any = None, **_: Any) -> Any:  # noqa: ARG002
        return self

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:  # noqa: ARG002
        return ChatResult(generations=[ChatGeneration(message=self.answer(messages))])

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> ChatResult:
        return self._generate(messages, stop, run_manager)  # without it LangChain would call _generate in a thread


@dataclass(frozen=True, slots=True)
class Step:
    """A tool call of the current turn and the first line of its result, parsed; None = not JSON."""

    name: str
    args: Mapping[str, Any]
    result: Any


def decide(request: Sequence[BaseMessage]) -> AIMessage:
    """The agent's next message, from one request alone.

    It carries out the newest user message: a search by one search, a booking by search, hold and confirm. Of the
    flights found it takes the most convenient one, unless system prompt, users or summary name a highest fare.
    """
    asked = " ".join(filter(_is_request, _sentences(_newest(request))))
    steps = _steps(request)
    if not asked:
        return AIMessage("Noted.")
    if "search_flights" not in steps:
        query = _query(asked)
        if query is None:
            return AIMessage("To which city, and on which day?")
        return _call(request, "search_flights", query)
    leg = _best(steps["search_flights"], _limit(request))
    if leg is None:
        return AIMessage("I found no flight that is allowed.")
    said = f"{leg['flight']} at EUR {leg['fare_eur']}"
    if not _BOOKING.search(asked):
        found = steps["search_flights"].args
        return AIMessage(f"The best {found['direction']} flight for {found['destination']} is {said}.")
    return _book(request, steps, leg)


def _book(request: Sequence[BaseMessage], steps: Mapping[str, Step], leg: Mapping[str, Any]) -> AIMessage:
    """Hold the leg, then confirm what is held, whatever has become of the context in between."""
    if "hold_booking" not in steps:
        return _call(request, "hold_booking", {"kind": "flights", "legs": [leg]})
    held = steps["hold_booking"].args["legs"]
    if "confirm_booking" not in steps:
        return _call(request, "confirm_booking", {"legs": held})
    return AIMessage(f"Confirmed: {held[0]['flight']} at EUR {held[0]['fare_eur']}.")


def summarise(request: Sequence[BaseMessage]) -> AIMessage:
    """A summary by rule: what was asked for and what was done. Remarks go, whatever they are about.

    The request is one message: the library's prompt, which holds the conversation as escaped XML.
    """
    lines: list[str] = []
    calls: list[str] = []
    for role, body in _MESSAGE.findall(str(request[-1].text)):
        text = html.unescape(body)
        if role == "human" and text.startswith(SUMMARY_HEADING):
            lines += [line for line in text.splitlines() if line.startswith(("Asked: ", "Done: "))]
        elif role == "human":
            lines += [f"Asked: {sentence}" for sentence in _sentences(text) if _is_request(sentence)]
        elif role == "ai":
            calls = [f"{name} {html.unescape(args)}" for name, args in _TOOL_CALL.findall(body)]
        elif role == "tool":
            lines.append(f"Done: {calls.pop(0) if calls else 'a call'} -> {_fact(_parsed(text))}")
    return AIMessage("\n".join(lines) or "Nothing was asked for.")


_MESSAGE = re.compile(r'<message type="(\w+)">(.*?)</message>', re.S)
_TOOL_CALL = re.compile(r'<tool_call id="[^"]*" name="([^"]*)">(.*?)</tool_call>', re.S)
_REQUEST = re.compile(r"(?:.*\bplease )?(?:find|look up|search|check|hold|book|confirm)\b", re.I)
_BOOKING = re.compile(r"\b(?:hold|book|confirm)\b", re.I)
_CITY = re.compile(r"\b(?:to|from|in) ([A-Z][a-z]+)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAY = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(_MONTHS)})[a-z]* (\d{{4}})\b", re.I)
_HIGHEST = re.compile(r"\b(?:more than|most|above|over|below|under|limit|ceiling)\b", re.I)
_EURO = re.compile(r"\bEUR (\d+)\b")


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+", text.strip())


def _is_request(sentence: str) -> bool:
    """An imperative. What shall hold from now on ("no …", "every …", "keep …") is a remark by this rule."""
    return _REQUEST.match(sentence) is not None


def _newest(request: Sequence[BaseMessage]) -> str:
    """What the user said last; "" where compaction has taken it, which it can where a turn is long."""
    humans = [str(m.text) for m in request if isinstance(m, HumanMessage)]
    return humans[-1] if humans and not humans[-1].startswith(SUMMARY_HEADING) else ""


def _steps(request: Sequence[BaseMessage]) -> Mapping[str, Step]:
    """The tool calls since the newest user message that have a result, by name."""
    begun = max((i for i, m in enumerate(request) if isinstance(m, HumanMessage)), default=0)
    turn = request[begun:]
    results = {m.tool_call_id: _parsed(str(m.text)) for m in turn if isinstance(m, ToolMessage)}
    calls = [call for m in turn if isinstance(m, AIMessage) for call in m.tool_calls]
    return {c["name"]: Step(c["name"], c["args"], results[c["id"]]) for c in calls if c["id"] in results}


def _parsed(content: str) -> Any:
    """The JSON in the first line of a tool result; None where the library's cut has left something else."""
    try:
        return json.loads(content.partition("\n")[0])
    except ValueError:
        return None


def _query(asked: str) -> Mapping[str, str] | None:
    """What to search for; None where city or day is not said."""
    city, day = _CITY.search(asked), _DAY.search(asked)
    if city is None or day is None:
        return None
    date = f"{day[3]}-{_MONTHS.index(day[2].lower()) + 1:02}-{int(day[1]):02}"
    direction = "return" if re.search(r"\b(?:return|back)\b", asked, re.I) else "outbound"
    return {"destination": city[1], "date": date, "direction": direction}


def _limit(request: Sequence[BaseMessage]) -> float:
    """The highest fare per leg in EUR that is named last. Assistant and tools lay nothing down."""
    told = [str(m.text) for m in request if isinstance(m, HumanMessage | SystemMessage)]
    limits = [s for text in told for s in _sentences(text) if _HIGHEST.search(s) and _EURO.search(s)]
    return float(_EURO.findall(limits[-1])[-1]) if limits else float("inf")


def _best(search: Step, limit: float) -> Mapping[str, Any] | None:
    """Fewest stops, then the lowest fare, among those within the limit; None = none."""
    rows = search.result.get("flights", ()) if isinstance(search.result, Mapping) else ()
    allowed = [row for row in rows if row["fare_eur"] <= limit]
    best = min(allowed, key=lambda row: (row["stops"], row["fare_eur"]), default=None)
    keys = {"direction": search.args["direction"]}
    return None if best is None else {"flight": best["flight"], **keys, "fare_eur": best["fare_eur"]}


def _call(request: Sequence[BaseMessage], name: str, args: Mapping[str, Any]) -> AIMessage:
    """A tool call whose id comes from the request: a number counted in the context would repeat after compaction."""
    seen = json.dumps(convert_to_openai_messages(list(request)), ensure_ascii=False)
    id = hashlib.sha256(seen.encode()).hexdigest()[:12]
    return AIMessage("", tool_calls=[{"name": name, "args": dict(args), "id": f"call_{id}", "type": "tool_call"}])


def _fact(result: Any) -> str:
    """What was found is only counted, what was done keeps its id."""
    rows = next((v for v in result.values() if isinstance(v, list)), None) if isinstance(result, Mapping) else None
    return f"{len(rows)} found" if rows is not None else json.dumps(result, ensure_ascii=False)
