"""Travel rules: what stands in place of a model in http_agent.py and function_agent.py, and a compaction of its own.

SIMULATED: `decide` is a pure function of the messages of one call, so what it does not see it does not know. Forms of
sentences decide what a summary keeps, never topics: requests and results stay, remarks go, whatever they are about.
Nothing here is fuzzturn's, as nothing of an agent elsewhere would be.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["Chat", "Step", "called", "decide", "fresh_ids", "shortened", "tokens"]

Chat: TypeAlias = Mapping[str, Any]
_HEADING = "[Summary of the conversation so far]"
_DIRECTIONS = ("outbound", "return")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Step:
    """A tool call; `result` None = it is still to be made."""

    name: str
    args: Mapping[str, Any]
    result: Any = None


def decide(messages: Sequence[Chat]) -> list[Step] | str:
    """The next action: tools to call, or what to say at the end of the turn."""
    newest = max(i for i, m in enumerate(messages) if m["role"] == "user")
    told = [m["content"] for m in messages if m["role"] in ("system", "user")]
    steps = [step for m in messages[newest:] for step in _steps(m, messages)]
    asked = " ".join(filter(_is_request, _sentences(messages[newest]["content"])))
    everything = [step for m in messages for step in _steps(m, messages)]
    for rule in (_search, _look_for_hotel, _hold_flights, _add, _confirm):
        if calls := rule(asked, steps, told, everything):
            return calls
    return _report(asked, steps, told, messages[newest]["content"])


def called(steps: Sequence[Step], ids: Sequence[str]) -> list[Chat]:
    """Finished calls as messages: one of the assistant's that asks for all, and a tool message for each result."""
    asked = [
        {"id": id, "type": "function", "function": {"name": step.name, "arguments": json.dumps(step.args)}}
        for id, step in zip(ids, steps, strict=True)
    ]
    results = [
        {"role": "tool", "tool_call_id": id, "content": json.dumps(step.result)}
        for id, step in zip(ids, steps, strict=True)
    ]
    return [{"role": "assistant", "content": "", "tool_calls": asked}, *results]


def fresh_ids(messages: Sequence[Chat], count: int) -> list[str]:
    """Ids for so many calls that no call in these messages has. Servers without a memory name calls so."""
    taken = [str(call["id"]) for message in messages for call in message.get("tool_calls") or ()]
    last = max((int(id.removeprefix("call_")) for id in taken if re.fullmatch(r"call_\d+", id)), default=0)
    return [f"call_{last + i}" for i in range(1, count + 1)]


def tokens(messages: Sequence[Chat]) -> int:
    """Four characters a token and four tokens more a message."""
    return sum(-(-len(m["content"] + json.dumps(m.get("tool_calls", ""))) // 4) + 4 for m in messages)


def shortened(messages: Sequence[Chat], threshold: int, keep: int) -> tuple[list[Chat], list[Chat], str] | None:
    """The messages with all but the newest `keep` summarised, what was dropped, and the summary.

    None = nothing is to be done: there are `threshold` tokens or fewer, or they would not become less. The newest user
    message and what follows it stays, as does a call with its result.
    """
    cut = min(max(len(messages) - keep, 0), max(i for i, m in enumerate(messages) if m["role"] == "user"))
    while cut > 0 and messages[cut]["role"] == "tool":
        cut -= 1
    dropped = list(messages[:cut])
    lines = [line for m in dropped for line in _lines(m, dropped)]
    summary = "\n".join(reversed(dict.fromkeys(reversed(lines)))) or "(nothing was asked or done)"
    kept: list[Chat] = [{"role": "user", "content": f"{_HEADING}\n{summary}"}, *messages[cut:]]
    fits = tokens(messages) <= threshold or tokens(kept) >= tokens(messages)
    return None if fits else (kept, dropped, summary)


def _lines(message: Chat, messages: Sequence[Chat]) -> Iterator[str]:
    if message["content"].startswith(_HEADING):
        yield from message["content"].split("\n")[1:]
    elif message["role"] == "user":
        yield from (f"Asked: {said}" for said in _sentences(message["content"]) if _is_request(said))
    else:
        for step in _steps(message, messages):
            rows = next((value for value in step.result.values() if isinstance(value, list)), None)
            shown = step.result if rows is None else f"{len(rows)} found"
            yield f"Done: {step.name} {json.dumps(step.args)} -> {json.dumps(shown)}"


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+|\n+", text.strip())


def _is_request(sentence: str) -> bool:
    return re.match(r"(?:please|can you|could you)\b", sentence, re.I) is not None or sentence.endswith("?")


def _steps(message: Chat, messages: Sequence[Chat]) -> Iterator[Step]:
    """The calls that a message of the assistant's asks for, or that a summary tells of."""
    if message["content"].startswith(_HEADING):
        for name, args, result in re.findall(r"^Done: (\w+) (\{.*\}) -> (.*)$", message["content"], re.M):
            yield Step(name, json.loads(args), json.loads(result))
    for call in message.get("tool_calls", ()):
        result = next(m["content"] for m in messages if m.get("tool_call_id") == call["id"])
        yield Step(call["function"]["name"], json.loads(call["function"]["arguments"]), json.loads(result))


def _did(steps: Sequence[Step], name: str, **args: Any) -> Step | None:
    """The newest such call that worked."""
    found = (s for s in reversed(steps) if s.name == name and args.items() <= dict(s.args).items())
    return next((step for step in found if isinstance(step.result, dict) and "error" not in step.result), None)


_Texts: TypeAlias = Sequence[str]
_Steps: TypeAlias = Sequence[Step]


def _search(asked: str, steps: _Steps, told: _Texts, _: _Steps) -> list[Step]:
    if not re.search(r"\b(?:find|check)\b.*\b(?:flights|fares)\b", asked) or _did(steps, "search_flights"):
        return []
    text = "\n".join(told)
    city = re.findall(r"\b[Tt]o ([A-Z][a-z]+), out on\b", text)
    days = [re.findall(rf"\b{cue} on (\d+) ([A-Z][a-z]{{2}})[a-z]* (\d{{4}})", text) for cue in ("out", "back")]
    if not city or not all(days):
        return []
    dates = (
        f"{year}-{_MONTHS.index(month) + 1:02}-{int(day):02}" for day, month, year in (found[-1] for found in days)
    )
    return [
        Step("search_flights", {"destination": city[-1], "date": date, "direction": direction})
        for direction, date in zip(_DIRECTIONS, dates, strict=True)
    ]


def _look_for_hotel(asked: str, steps: _Steps, *_: Any) -> list[Step]:
    city = re.findall(r"\bin ([A-Z][a-z]+)", asked)
    if not re.search(r"\b(?:find|hold)\b.*\bhotel\b", asked) or not city:
        return []
    found = _did(steps, "search_hotels")
    if found is None:
        return [Step("search_hotels", {"city": city[-1]})]
    cheapest = min(found.result["hotels"], key=lambda row: row["night_eur"])
    return [] if _did(steps, "hold_booking") else [Step("hold_booking", {"kind": "hotel", "hotel": cheapest["hotel"]})]


def _limit(told: _Texts) -> float:
    """The highest fare of a leg that user or system prompt name last."""
    cue = r"\b(?:more than|most|above|below|over|under|limit|ceiling)\b"
    named = [said for text in told for said in _sentences(text) if re.search(cue, said, re.I)]
    return next((float(m[1]) for said in reversed(named) if (m := re.search(r"\bEUR (\d+)", said))), float("inf"))


def _best(steps: _Steps, told: _Texts, direction: str) -> Mapping[str, Any] | None:
    """Fewest stops, then the lowest fare, of what the limit leaves."""
    search = _did(steps, "search_flights", direction=direction)
    rows = [row for row in search.result["flights"] if row["fare_eur"] <= _limit(told)] if search else []
    best = min(rows, key=lambda row: (row["stops"], row["fare_eur"]), default=None)
    return best and {"flight": best["flight"], "direction": direction, "fare_eur": best["fare_eur"]}


def _hold_flights(asked: str, steps: _Steps, told: _Texts, _: _Steps) -> list[Step]:
    legs = [_best(steps, told, direction) for direction in _DIRECTIONS]
    if not re.search(r"\bhold\b.*\bflights\b", asked) or None in legs or _did(steps, "hold_booking"):
        return []
    return [Step("hold_booking", {"kind": "flights", "legs": legs})]


def _add(asked: str, steps: _Steps, *_: Any) -> list[Step]:
    name = re.search(r"\badd ([A-Z][\w-]+ [A-Z][\w-]+)", asked)
    calls = [Step("add_traveller", {"name": name[1]})] if name else []
    calls += [Step("lookup_expense_code", {})] if "expense code" in asked else []
    return [call for call in calls if not _did(steps, call.name)]


def _confirm(asked: str, steps: _Steps, _: _Texts, everything: _Steps) -> list[Step]:
    flights = _did(steps, "hold_booking", kind="flights")
    if not re.search(r"\bconfirm\b", asked) or flights is None or _did(steps, "confirm_booking"):
        return []
    room = _did(everything, "hold_booking", kind="hotel")
    hotel = {"hotel": room.args["hotel"]} if room else {}
    return [Step("confirm_booking", {"legs": flights.args["legs"], **hotel})]


_FACTS = (
    (r"\bpark|\bcar\b", "Long-stay parking is a short shuttle ride from the terminal."),
    (r"\bwi-?fi\b", "Wi-fi is free throughout the airport."),
)


def _report(asked: str, steps: _Steps, told: _Texts, said: str) -> str:
    lines = [_told(step) for step in steps]
    if _did(steps, "search_flights") and not _did(steps, "hold_booking"):
        legs = [_best(steps, told, direction) for direction in _DIRECTIONS]
        lines += [f"I found {_leg(leg)}." if leg else "I found no flight that is allowed." for leg in legs]
    if asked.endswith("?") and not steps:
        known = (fact for topic, fact in _FACTS if re.search(topic, asked, re.I))
        lines.append(next(known, "I do not know that, sorry."))
    return " ".join(filter(None, lines)) or ("Understood." if _limit([said]) < float("inf") else "Noted.")


def _told(step: Step) -> str:
    args, result = step.args, step.result
    if "error" in result:
        return f"{step.name} failed: {result['error']}."
    if step.name == "confirm_booking":
        things = [*map(_leg, args["legs"]), *([args["hotel"]] if "hotel" in args else [])]
        return f"Confirmed as {result['id']}: {', '.join(things)}."
    if step.name == "hold_booking" and "hotel" in args:
        return f"{args['hotel']} is on hold as {result['id']}; I'll keep it until you confirm."
    if step.name == "add_traveller":
        return f"{args['name']} is on the trip."
    return f"The expense code is {result['code']}." if step.name == "lookup_expense_code" else ""


def _leg(leg: Mapping[str, Any]) -> str:
    return f"{leg['direction']} {leg['flight']} at EUR {leg['fare_eur']}"
