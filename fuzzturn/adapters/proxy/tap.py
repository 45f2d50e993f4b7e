"""Tap: what the model calls of one session tell of its agent: contexts, tool calls, compactions. Pure, without I/O.

A session's calls are not all the agent's: a summariser, a title maker, a guardrail or a sub-agent may ask as well. They
are told apart by model, tools and system prompt. Only where the evidence is strong is a call taken for a summariser's:
no tools, most of what left the context in its input, and its output in the agent's next call. What the evidence leaves
open is None.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fuzzturn.adapters.proxy.compare import Change, Known, change
from fuzzturn.adapters.proxy.items import RESPONSES, answer_messages, request_messages
from fuzzturn.adapters.proxy.reading import (
    arguments_of,
    calls_of,
    covered,
    digest,
    is_system,
    parsed,
    text_of,
    unclocked,
)
from fuzzturn.calls.bill import Role
from fuzzturn.calls.keys import dumps
from fuzzturn.plain import plain
from fuzzturn.session import Chat, Compaction, ModelCall, ToolCall
from fuzzturn.tokens import messages_tokens

__all__ = ["POLICY", "Exchange", "Seen", "Tap"]

POLICY = "seen by the proxy"
SHORTENED = f"{POLICY}: messages shortened"
MOST = 0.5
"""Share of the text that left which a summariser must have read, if its output is no proof."""
PROOF = 40
"""Characters; an output as long as that does not stand word for word in place of what left by chance."""
FEWEST = 3
"""Messages that a conversation must have before a call that holds most of it is billed as a summariser's."""
MOST_OTHERS = 100
"""Calls of others that are remembered, between two of the agent's."""
SHORTEST_OUTPUT = 8
"""Characters; a shorter output ("ok", "safe") occurs anywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One model call as the proxy saw it, in order of arrival."""

    path: str
    body: Mapping[str, Any]
    answer: Mapping[str, Any] | None = None
    """The whole answer in its non-streamed shape; None = there was none."""
    usage: Mapping[str, Any] | None = None
    recorded: bool | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One model call of the agent's own, and what it tells."""

    call: ModelCall
    compaction: Compaction | None
    """What the context lost since the agent's call before."""
    executed: tuple[ToolCall, ...]
    """The tool calls that it asked for and whose results were seen later in the same turn."""


@dataclass(frozen=True, slots=True)
class _Signature:
    model: str
    tools: str
    system: str

    @classmethod
    def of(cls, exchange: Exchange, messages: Sequence[Chat]) -> _Signature:
        tools = exchange.body.get("tools") or exchange.body.get("functions")
        system = "\n".join(text_of(message) for message in messages if is_system(message))
        return cls(str(exchange.body.get("model")), dumps(tools) if tools else "", unclocked(system))

    def same_speaker(self, other: _Signature) -> bool:
        """The same system prompt, or the other's with something added to it."""
        alike = (self.model, self.tools) == (other.model, other.tools)
        begun = bool(self.system) and other.system.startswith(self.system)
        return alike and (self.system == other.system or begun)


@dataclass(frozen=True, slots=True)
class _Call:
    exchange: Exchange
    messages: tuple[Chat, ...]
    signature: _Signature

    @property
    def output(self) -> str:
        return " ".join(plain(text_of(message)) for message in self.said).strip()

    @property
    def said(self) -> list[Chat]:
        return answer_messages(self.exchange.path, self.exchange.answer)


@dataclass
class Tap:
    """What one session's calls have told so far. `copied()` is its snapshot."""

    main: _Signature | None = None
    """The agent's own; None = not known yet."""
    plainly: bool = False
    """Whether the agent passes the user's words on as they are."""
    last: _Call | None = None
    """The agent's last call."""
    others: list[_Call] = field(default_factory=list)
    """Calls since then that were not the agent's."""
    earlier: dict[str, tuple[Chat, ...]] = field(default_factory=dict)
    """By id of an answer of /responses: what stood up to it."""
    known: Known = field(default_factory=lambda: Known([], set(), set()))

    def copied(self) -> Tap:
        known = Known(list(self.known.users), set(self.known.answers), set(self.known.asked), self.known.told)
        return replace(self, others=list(self.others), earlier=dict(self.earlier), known=known)

    def role(self, path: str, body: Mapping[str, Any]) -> Role:
        """Whose call it seems to be when it arrives, by what is known until then. Only the bill needs to know."""
        messages = request_messages(path, body, self.earlier)
        if messages is None or self.last is None or self.main is None:
            return "agent"
        signature = _Signature.of(Exchange(path=path, body=body), messages)
        before = [message for message in self.last.messages if not is_system(message)]
        if signature.tools or len(before) < FEWEST or self.main.same_speaker(signature):
            return "agent"
        return "summariser" if (covered(before, messages) or 0.0) >= MOST else "agent"

    def take(self, user: str | None, exchanges: Sequence[Exchange]) -> list[Seen]:
        """What the calls of a turn tell, in order. `user`: what was said to the agent; None = not known.

        A tool call counts as executed where a later one of `exchanges` brings its result.
        """
        self.known.told = user is not None
        if user is not None and (said := " ".join(user.split())) not in self.known.users[-1:]:
            self.known.users.append(said)
        calls = [self._read(exchange) for exchange in exchanges]
        self._elect([call for call in calls if call is not None])
        seen = []
        for i, (exchange, call) in enumerate(zip(exchanges, calls, strict=True)):
            if call is None:
                notes = (*exchange.notes, "what this call saw is not known to the proxy")
                seen.append(Seen(call=_model_call(exchange, None, notes), compaction=None, executed=()))
            elif self._own(call):
                seen.append(self._seen(call, exchanges[i + 1 :]))
            else:
                self.others = [*self.others, call][-MOST_OTHERS:]
        return seen

    def _read(self, exchange: Exchange) -> _Call | None:
        messages = request_messages(exchange.path, exchange.body, self.earlier)
        if messages is None:
            return None
        call = _Call(exchange, tuple(messages), _Signature.of(exchange, messages))
        id = (exchange.answer or {}).get("id")
        if exchange.path == RESPONSES and isinstance(id, str):
            self.earlier[id] = (*call.messages, *call.said)
        return call

    def _elect(self, calls: Sequence[_Call]) -> None:
        """Who the agent is: whoever has tools, was told what the user said as a message of its own, and asks most."""
        if not calls or (self.main is not None and (self.main.tools or not any(c.signature.tools for c in calls))):
            return
        asking = [call.signature for call in calls]
        best = max(calls, key=lambda c: (bool(c.signature.tools), self._told(c), asking.count(c.signature)))
        self.main, self.plainly = best.signature, self._told(best)
        if not self._shares(best):
            self.last = None  # what was taken for the agent's before was somebody else's

    def _told(self, call: _Call, *, inside: bool = False) -> bool:
        """Whether the user's newest words are one of its messages, or stand `inside` one."""
        newest = self.known.users[-1] if self.known.users else None
        users = (" ".join(text_of(m).split()) for m in call.messages if m.get("role") == "user")
        return newest is not None and any(newest in text if inside else newest == text for text in users)

    def _own(self, call: _Call) -> bool:
        """Whether the agent made the call, by who speaks and, where that says too little, by what it goes on with."""
        if self.main is None:
            return True
        if self.main.same_speaker(call.signature):
            if self.main.tools or self.main.system or self._told(call):
                return True
            return not self.plainly if self.last is None else self._shares(call) or self._carries(call.messages)
        if self.last is None or not self._told(call):
            return False
        if (alike := (call.signature.model, call.signature.tools)) == (self.main.model, self.main.tools) and alike[1]:
            return True  # the same tools under another system prompt: it is written anew, with a summary in it, say
        if call.signature.tools:
            return self._shares(call)  # handed over to another agent, which goes on with the conversation
        return not self.main.tools and self._carries(m for m in call.messages if is_system(m))

    def _carries(self, messages: Iterable[Chat]) -> bool:
        """Whether an earlier call's output stands in messages that are not the assistant's, as a summary does."""
        texts = [text_of(message) for message in messages if message.get("role") != "assistant"]
        before = [*self.others, *([self.last] if self.last else [])]
        return any(len(other.output) >= PROOF and _standing(other, texts) is not None for other in before)

    def _shares(self, call: _Call) -> bool:
        """Whether a message of the agent's last call, other than the user's newest, or an answer, is in this one."""
        before = self.last.messages if self.last else ()
        said = {digest(message) for message in before if not is_system(message)} | self.known.answers
        newest = self.known.users[-1:]
        return any(digest(m) in said and " ".join(text_of(m).split()) not in newest for m in call.messages)

    def _seen(self, call: _Call, later: Sequence[Exchange]) -> Seen:
        notes = call.exchange.notes
        if self.others:
            notes = (*notes, f"{len(self.others)} model call(s) before this one were not the agent's own")
        executed, waiting = _asked(call, _results(later, self.earlier))
        if waiting:
            notes = (*notes, f"asked for {', '.join(waiting)}, and no result was seen in this turn")
        lost = change(self.last.messages, call.messages, self.known) if self.last else None
        self.known.answers |= {digest(message) for message in call.said}
        self.known.asked |= {id for message in call.said for id, _, _ in calls_of(message) if id}
        seen = Seen(call=_model_call(call.exchange, call.messages, notes), compaction=None, executed=executed)
        if lost is not None and lost.kept == 0 and self.known.told and not self._told(call, inside=True):
            return seen  # another conversation of the same speaker, not this one with less in it
        if lost is not None:
            seen = replace(seen, compaction=self._compaction(call, lost))
        self.last, self.others = call, []
        return seen

    def _compaction(self, call: _Call, lost: Change) -> Compaction:
        summariser = self._summariser(call, lost)
        before = self.last.messages if self.last else ()
        return Compaction(
            policy=SHORTENED if len(lost.cut) + len(lost.replaced) == len(lost.gone) else POLICY,
            before=messages_tokens([*before, *lost.went_on]),
            after=messages_tokens(call.messages),
            dropped=lost.gone,
            summary=summariser[1] if summariser else max(lost.standing, key=len, default=None),
            summariser_input=summariser[0].messages if summariser else None if lost.unknown_how else (),
        )

    def _summariser(self, call: _Call, lost: Change) -> tuple[_Call, str] | None:
        """The call whose output stands in place of what left, and that read it; with the text that stands there."""
        # a summary that says the same as the one before it is not new in the context, so all of it is looked through
        anywhere = [text_of(message) for message in call.messages if message.get("role") != "assistant"]
        own = [self.last] if self.last is not None else []
        for other in [*reversed(self.others), *own]:
            texts = lost.spoken if other is self.last else [*lost.standing, *anywhere]
            if other.signature.tools or (found := _standing(other, texts)) is None:
                continue
            read = covered(lost.gone, other.messages) or 0.0
            if read >= MOST or (read > 0 and len(other.output) >= PROOF):
                return other, found
        return None


def _standing(call: _Call, texts: Sequence[str]) -> str | None:
    """A call's output as it stands in one of the texts: all of it, or a text that is a part of it. None = in none."""
    if len(call.output) < SHORTEST_OUTPUT:
        return None
    for text in texts:
        if call.output in plain(text):
            return "\n".join(text_of(message) for message in call.said)
        if len(text) >= PROOF and plain(text) in call.output:
            return text
    return None


def _asked(call: _Call, results: Mapping[str, Any]) -> tuple[tuple[ToolCall, ...], list[str]]:
    """The tool calls of an answer that have a result, and the names of those that have none."""
    executed, waiting = [], []
    for id, name, given in (asked for message in call.said for asked in calls_of(message)):
        arguments = arguments_of(given)
        if id is not None and id in results and isinstance(arguments, Mapping):
            executed.append(ToolCall(name, arguments, parsed(results[id]), id=id))
        else:
            waiting.append(name)
    return tuple(executed), waiting


def _results(later: Iterable[Exchange], earlier: Mapping[str, Sequence[Chat]]) -> dict[str, Any]:
    """By id of the call: the result of each tool that the next request brings it in. The last one of an id counts."""
    results: dict[str, Any] = {}
    for exchange in later:
        found = {}
        for message in request_messages(exchange.path, exchange.body, earlier) or ():
            if message.get("role") == "tool" and isinstance(id := message.get("tool_call_id"), str):
                content = message.get("content")
                found[id] = text_of(message) if isinstance(content, list) else content
        results = found | results
    return results


def _model_call(exchange: Exchange, context: Sequence[Chat] | None, notes: tuple[str, ...]) -> ModelCall:
    return ModelCall(context, exchange.usage, notes, exchange.recorded)
