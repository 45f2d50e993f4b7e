"""LangChain agent: `create_agent` with the library's own `SummarizationMiddleware`, behind fuzzturn's public port.

    fuzzturn fuzz examples/lisbon_by_messages.yaml --agent examples/langchain_agent.py:build --agent-option words=200
    fuzzturn replay corpus/lisbon_by_messages --agent examples/langchain_agent.py:build

Agent loop, tool calls and compaction are LangChain's, unchanged. The two models (scripted_models.py beside this file)
are SIMULATED: rules that read nothing but the request they are given. So what the agent forgets, it forgets because
LangChain's compaction took it. With a provider's models in their place this is an adapter for a real agent.
"""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
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
    from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage, convert_to_openai_messages
    from langchain_core.tools import StructuredTool
    from langsmith import tracing_context
except ImportError as error:
    raise InputError(
        f"this agent needs LangChain, and {error.name or error} cannot be imported; "
        "`pip install 'langchain>=1.5,<2'` brings all of it"
    ) from error

from .scripted_models import Scripted, decide, summarise

__all__ = ["KEEP_MESSAGES", "TRIGGER_MESSAGES", "LangChainAgent", "build"]

TRIGGER_MESSAGES = 30
"""Compaction is due from so many messages on. A history between two turns is even, the library looks before a model
call when it is odd: in effect 31."""
KEEP_MESSAGES = 8


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

    def restore(self, snapshot: Any) -> None:
        """Go on from a snapshot of an agent that was built with the same options."""
        self._history = copy.deepcopy(snapshot)


class Listener(BaseCallbackHandler):
    """Writes down model and tool calls; the callback is the one place that sees a request exactly as the model does."""

    run_inline = True  # else LangChain calls it from threads, and the order of events is lost

    def __init__(self, events: list[Event]) -> None:
        self._events = events

    def on_chat_model_start(
        self,
        serialized: Mapping[str, Any],  # noqa: ARG002 - LangChain's signature
        messages: list[list[BaseMessage]],
        *,
        metadata: Mapping[str, Any] | None = None,
        **kwargs: Any,  # noqa: ARG002
    ) -> None:
        if (metadata or {}).get("lc_source") != "summarization":  # the summariser's calls are not the agent's
            self._events.append(ModelCall(_chat(messages[0])))

    def on_tool_start(
        self,
        serialized: Mapping[str, Any],
        input_str: str,  # noqa: ARG002 - the same as `inputs`, as text
        *,
        inputs: Mapping[str, Any] | None = None,
        **kwargs: Any,
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
    return convert_to_openai_messages(list(messages))  # type: ignore[return-value]


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
    "Transportation services remain subject to international conventions, governmental regulations and the operational "
    "requirements of participating carriers. Passengers are responsible for identification documents, immigration "
    "formalities and suitable accommodation. Reimbursement after cancellation requires documentary evidence, which is "
    "submitted electronically within reasonable time. Reservations and additional services constitute independent "
    "agreements between the operating carrier and its customers. "
)


def _terms(words: int) -> str:
    """So many words as real tools return them behind every result. Nothing in them matters to anybody."""
    return "\n" + " ".join(islice(cycle(_TERMS.split()), words)) if words else ""
