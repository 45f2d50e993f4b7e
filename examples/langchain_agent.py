"""LangChain agent: `create_agent` with the library's own `SummarizationMiddleware`, behind fuzzturn's public port.

    fuzzturn fuzz examples/lisbon_by_messages.yaml --agent examples/langchain_agent.py:build --agent-option words=200

Agent loop, tool calling and compaction are LangChain's; the two models are SIMULATED, by rule, and read nothing but
the request they are given. So what the agent forgets it forgets because LangChain's compaction took it.

The upper half is what an adapter of your own needs; below the line stand the rules in place of models.
"""

from __future__ import annotations

import copy
import hashlib
import html
import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

from fuzzturn.errors import InputError
from fuzzturn.ports import Environment, Reply, Tool
from fuzzturn.session import Chat, Compaction, Event, Message, ModelCall, ToolCall
from fuzzturn.tokens import messages_tokens

try:
    import langchain
    from langchain.agents import create_agent
    from langchain.agents.middleware import SummarizationMiddleware
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import (
        AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage, convert_to_openai_messages,
    )  # fmt: skip
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import StructuredTool
    from langsmith import tracing_context
except ImportError as error:
    raise InputError(
        f"this agent needs LangChain, and {error.name or error} cannot be imported; "
        "`pip install 'langchain>=1.5,<2'` brings all of it"
    ) from error

__all__ = ["KEEP_MESSAGES", "TRIGGER_MESSAGES", "LangChainAgent", "build", "decide", "summarise"]

TRIGGER_MESSAGES = 30
"""Compaction is due from so many messages on. A history between two turns is even, the library looks before a model
call when it is odd: in effect 31."""
KEEP_MESSAGES = 8
SUMMARY_HEADING = "Here is a summary of the conversation to date:"
"""How the library opens its summary, which is a user message like any other."""


def build(
    environment: Environment,
    *,
    seed: int = 0,  # noqa: ARG001 - offered to every agent; nothing is drawn here, so every seed is the same agent
    session_id: str = "",
    system: str | None = None,
    compaction: str = "summarization",
    words: str = "50",
) -> LangChainAgent:
    """A fresh agent over the environment's tools.

    compaction: summarization or none. words: how many words of terms and conditions follow every tool result, a whole
    number from 0 up. Raises InputError otherwise.
    """
    if compaction not in ("summarization", "none"):
        raise InputError(f"agent option compaction is {compaction!r}; accepted: summarization, none")
    if not str(words).isdecimal():
        raise InputError(f"agent option words is {words!r}; a whole number from 0 up is accepted")
    events: list[Event] = []
    graph = create_agent(
        Scripted(answer=decide),
        [_tool(environment, tool, _terms(int(words))) for tool in environment.tools],
        system_prompt=system,
        middleware=[] if compaction == "none" else [TellingSummarization(Scripted(answer=summarise), events)],
    )
    config = {"callbacks": [Listener(events)], "metadata": {"session_id": session_id}}
    return LangChainAgent(graph, config, events)


class LangChainAgent:
    """One session. All it remembers is the message list, so no checkpointer is needed."""

    identity = f"simulated model, LangChain {langchain.__version__}"

    def __init__(self, graph: Any, config: Mapping[str, Any], events: list[Event]) -> None:
        self._graph, self._config, self._events = graph, config, events
        self._history: list[BaseMessage] = []

    async def reply(self, message: str) -> Reply:
        """Handle one user message."""
        self._events.clear()
        # Whatever the user's shell says: with tracing on, LangChain uploads the whole session.
        with tracing_context(enabled=False):
            state = await self._graph.ainvoke({"messages": [*self._history, HumanMessage(message)]}, self._config)
        self._history = state["messages"]
        return Reply(events=[*self._events, Message(str(self._history[-1].text))])

    def snapshot(self) -> object:
        """The state between two turns. A deep copy, since LangChain writes ids into messages that it is given."""
        return copy.deepcopy(self._history)

    def restore(self, snapshot: object) -> None:
        """Go on from a snapshot of an agent that was built with the same options."""
        assert isinstance(snapshot, list)
        self._history = copy.deepcopy(snapshot)


class Listener(BaseCallbackHandler):
    """Writes down model and tool calls; the callback is the one place that sees a request exactly as the model does."""

    run_inline = True  # else LangChain calls it from threads, and the order of events is lost

    def __init__(self, events: list[Event]) -> None:
        self._events = events

    def on_chat_model_start(
        self,
        _serialized: Any,
        messages: list[list[BaseMessage]],
        *,
        metadata: Mapping[str, Any] | None = None,
        **_: Any,
    ) -> None:
        if (metadata or {}).get("lc_source") != "summarization":  # the summariser's calls are not the agent's
            self._events.append(ModelCall(_chat(messages[0])))

    def on_tool_start(
        self, serialized: Mapping[str, Any], _input: str, *, inputs: Mapping[str, Any] | None = None, **kwargs: Any
    ) -> None:
        # Marks the place; the harness has recorded the call itself, with its result.
        self._events.append(ToolCall(serialized["name"], dict(inputs or {}), id=kwargs.get("tool_call_id")))


class TellingSummarization(SummarizationMiddleware):
    """The library's middleware with nothing changed; it only tells what it did."""

    def __init__(self, model: BaseChatModel, events: list[Event]) -> None:
        super().__init__(model, trigger=("messages", TRIGGER_MESSAGES), keep=("messages", KEEP_MESSAGES))
        self._events = events
        self._read: list[AnyMessage] = []

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Called before every model call; an agent that is invoked synchronously needs the same in before_model."""
        before, self._read = list(state["messages"]), []
        update = await super().abefore_model(state, runtime)
        if update is not None:
            self._tell(before, update["messages"][1:])  # the first one only says that all are replaced
        return update

    def _trim_messages_for_summary(self, messages: list[AnyMessage]) -> list[AnyMessage]:
        # Private, but nothing public says what the summariser is given: the library cuts its input too, from the
        # start and down to 4,000 tokens, and where nothing is left it does not call the model at all.
        self._read = super()._trim_messages_for_summary(messages)
        return self._read

    def _tell(self, before: Sequence[BaseMessage], after: Sequence[BaseMessage]) -> None:
        left = {message.id for message in after}
        self._events.append(
            Compaction(
                policy="SummarizationMiddleware",
                before=messages_tokens(_chat(before)),
                after=messages_tokens(_chat(after)),
                dropped=_chat(message for message in before if message.id not in left),
                summary=str(after[0].text),
                summariser_input=_chat(self._read),
            )
        )


def _chat(messages: Iterable[BaseMessage]) -> list[Chat]:
    """Without LangChain's message ids: they are random, and no model sees them."""
    return convert_to_openai_messages(list(messages))  # type: ignore[return-value]  # a list in, a list out


def _tool(environment: Environment, tool: Tool, terms: str) -> StructuredTool:
    async def run(**args: Any) -> str:
        try:
            result = environment.call(tool.name, **args)
            result = await result if inspect.isawaitable(result) else result
        except (ValueError, OSError, RuntimeError) as error:  # raised on, it would end the turn instead of being read
            result = {"error": str(error)}
        return json.dumps(result, ensure_ascii=False) + terms

    # A coroutine: LangChain runs plain functions in threads, away from the loop that the environment lives on.
    schema = {"type": "object", "properties": {}, **tool.schema}
    return StructuredTool(name=tool.name, description=tool.description, args_schema=schema, coroutine=run)


_TERMS = (
    "The carrier may change schedules, aircraft and routing without notice. Passengers are responsible for valid "
    "travel documents, visas and onward transportation. Checked luggage is carried according to the general "
    "conditions of carriage, which are available on request. Refunds, where applicable, are returned to the original "
    "method of payment within a reasonable period. Claims concerning damage or delay have to be submitted in writing. "
)


def _terms(words: int) -> str:
    """So many words as real tools return them behind every result. Nothing in them matters to anybody."""
    return "\n" + " ".join(islice(cycle(_TERMS.split()), words)) if words else ""


# ---------------------------------------------------------------------------------------------------------------------
# What stands in place of models. With a model of a provider, everything below goes.


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
        return AIMessage("To which city, and on which day?") if query is None else _call(request, "search_flights", query)
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
    seen = json.dumps(_chat(request), ensure_ascii=False, default=str)
    id = hashlib.sha256(seen.encode()).hexdigest()[:12]
    return AIMessage("", tool_calls=[{"name": name, "args": dict(args), "id": f"call_{id}", "type": "tool_call"}])


def _fact(result: Any) -> str:
    """What was found is only counted, what was done keeps its id."""
    rows = next((v for v in result.values() if isinstance(v, list)), None) if isinstance(result, Mapping) else None
    return f"{len(rows)} found" if rows is not None else json.dumps(result, ensure_ascii=False)
