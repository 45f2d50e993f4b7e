"""Unseen: faults written by somebody who had not read the engine, to see what its search was not made for.

They follow the rules of `planted`: one agent and one script each, clean as written, and no knowledge of an operator's
words, a turn's number or an id. What each reacts to is in its sentence below.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .clerk import Clerk, Said
from .memories import Summarised, beyond, everything, in_batches, keeping, losing_at_once, paged
from .planted import Committed, Fault
from .script import RULE_FIRST, RULE_LATE, RULE_WITH_TASK, TWO_RULES

__all__ = ["UNSEEN"]

_REQUEST = re.compile(r"^Please \w+\b")
_DIGIT = re.compile(r"\d")


class MixedUp(Clerk):
    """Takes a ceiling to be about what was searched for last, once a question has come between."""

    def ceiling(self, seen: Sequence[Said]) -> int | None:
        rules = [i for i, one in enumerate(seen) if one.states]
        if rules and _about_another(seen, rules[-1]):
            self.fired = True
            return None
        return super().ceiling(seen)


def _about_another(said: Sequence[Said], i: int) -> bool:
    """The last search before the rule was not for a lamp, and a question came aside since."""
    searches = [k for k in range(i) if _called(said[k]) == "find_offers"]
    if not searches or "lamp" in str(said[searches[-1]].chat["tool_calls"]):
        return False
    return any(one.asks_aside for one in said[searches[-1] : i])


def _called(one: Said) -> str | None:
    """The tool that is called here."""
    return one.call if one.chat["role"] == "assistant" else None


def _requests(one: Said) -> bool:
    return one.by_user and _REQUEST.match(one.text) is not None


def _then_brief(said: Sequence[Said], i: int) -> bool:
    """The user's next message after the rule is the one just spoken, and it is brief."""
    return said[-1].tokens < 12 and not any(one.by_user for one in said[i + 1 : -1])


def _four_calls(said: Sequence[Said], i: int) -> bool:
    return sum(_called(one) is not None for one in said[i:]) >= 4


def _last_three_of_user(said: Sequence[Said], i: int) -> bool:
    return said[i].by_user and sum(one.by_user for one in said[i:]) <= 3


def _last_six_of_role(said: Sequence[Said], i: int) -> bool:
    return len([one for one in said[i:] if one.chat["role"] == said[i].chat["role"]]) <= 6


def _not_long_done(said: Sequence[Said], i: int) -> bool:
    """No request that was carried out, or among the last two of those."""
    return not _requests(said[i]) or sum(_requests(one) for one in said[i:-1]) <= 2


def _said_before(said: Sequence[Said]) -> bool:
    return any(one.by_user and one.text == said[-1].text for one in said[:-1])


def _up_to_the_first(said: Sequence[Said], i: int) -> bool:
    return i <= next(k for k, one in enumerate(said) if one.by_user and one.text == said[-1].text)


def _idle(said: Sequence[Said]) -> bool:
    """In the last five turns of the user, the one just begun aside, no tool was called."""
    users = [i for i, one in enumerate(said) if one.by_user]
    return len(users) > 5 and not any(map(_called, said[users[-6] :]))


def _begun_with_question(said: Sequence[Said]) -> bool:
    return said[0].asks_aside and beyond(1200)(said)


def _first_or_last_four(said: Sequence[Said], i: int) -> bool:
    return i == 0 or i >= len(said) - 4


def _talks_of_number(one: Said) -> bool:
    return one.call is None and _DIGIT.search(one.text) is not None


def _last_number(said: Sequence[Said], i: int) -> bool:
    return _talks_of_number(said[i]) and not any(map(_talks_of_number, said[i + 1 :]))


def _begins_anew(said: Sequence[Said], i: int) -> bool:
    """No message of the user before it begins with the same word."""
    first = said[i].text.split()[:1]
    return not said[i].by_user or not any(one.by_user and one.text.split()[:1] == first for one in said[:i])


def _not_between_same_calls(said: Sequence[Said], i: int) -> bool:
    return not {_called(one) for one in said[:i]} & {_called(one) for one in said[i + 1 :]} - {None}


def _requested_beyond(said: Sequence[Said]) -> bool:
    return _requests(said[-1]) and beyond(1200)(said)


def _rule_but_the_newest_message(said: Sequence[Said], i: int) -> bool:
    """A rule that is not what the user said just before the message that is being worked on."""
    return said[i].states and any(one.by_user for one in said[i + 1 : -1])


def _resent(said: Sequence[Said]) -> bool:
    return any(_as_long(one, said[-1]) for one in said[:-1])


def _up_to_as_long(said: Sequence[Said], i: int) -> bool:
    return i <= next(k for k, one in enumerate(said) if _as_long(one, said[-1]))


def _as_long(one: Said, two: Said) -> bool:
    """Both long messages of the user, and within two tokens of one another."""
    return one.by_user and min(one.tokens, two.tokens) >= 100 and abs(one.tokens - two.tokens) <= 2


def _number_rule_brief(said: Sequence[Said], i: int) -> bool:
    """Just before the rule a question was answered with a number, and just after it comes a brief message."""
    after = [one for one in said[i + 1 :] if one.by_user][:1]
    asked = [k for k in range(i) if said[k].by_user][-1:]
    answered = any(said[k].asks_aside and any(map(_talks_of_number, said[k + 1 : i])) for k in asked)
    return answered and any(one.tokens < 12 for one in after)


def _older_in_summary(said: Sequence[Said], i: int) -> bool:
    """A summary has a ceiling already, which is taken for the one that holds."""
    return not said[i].summary and any(one.summary and one.states for one in said[:i])


UNSEEN: tuple[Fault, ...] = (
    Fault(
        name="brief_next",
        says="the statement is lost when the user's very next message is shorter than 12 tokens",
        memory=losing_at_once(_then_brief),
        minimum=4,
    ),
    Fault(
        name="last_of_user",
        says="beyond 1,500 tokens only the user's last three messages are kept",
        memory=keeping("user only", beyond(1500), _last_three_of_user),
        minimum=4,
    ),
    Fault(
        name="per_role",
        says="the agent goes by its own promise, and of each role only the last six messages are kept",
        memory=keeping("per role", lambda _: True, _last_six_of_role, matters=lambda one: "I will stay" in one.text),
        clerk=Committed,
        scenario=RULE_LATE,
        minimum=5,
    ),
    Fault(
        name="done_and_gone",
        says="beyond 1,500 tokens requests that were carried out are dropped but for the last two, and with them what "
        "else they said",
        memory=keeping("done", beyond(1500), _not_long_done),
        scenario=RULE_WITH_TASK,
        minimum=5,
    ),
    Fault(
        name="four_calls",
        says="the statement is lost once four tools were called since",
        memory=losing_at_once(_four_calls),
        minimum=6,
        pads=(12,),
    ),
    Fault(
        name="rolled_back",
        says="a message that comes a second time is taken for a retry: all since the first time is dropped",
        memory=keeping("roll back", _said_before, _up_to_the_first),
        minimum=5,
    ),
    Fault(
        name="idle",
        says="once no tool was called in five turns running, the next message begins a new conversation",
        memory=keeping("idle", _idle, lambda said, i: False),  # noqa: ARG005 - the shape of a `Keeps`
        minimum=7,
        pads=(12,),
    ),
    Fault(
        name="first_question",
        says="if the first message is a question, it is taken for what this is about: beyond 1,200 tokens only it and "
        "the last four messages are kept",
        memory=keeping("first", _begun_with_question, _first_or_last_four),
        minimum=5,
    ),
    Fault(
        name="last_number",
        says="beyond 1,200 tokens of all talk only the last message with a number in it is kept",
        memory=keeping("number", beyond(1200), _last_number),
        minimum=5,
    ),
    Fault(
        name="begins_alike",
        says="beyond 1,000 tokens a message that begins with the same word as an earlier one is dropped as repeated",
        memory=keeping("repetition", beyond(1000), _begins_anew),
        minimum=5,
    ),
    Fault(
        name="between_same_calls",
        says="beyond 1,200 tokens all between two calls of the same tool is dropped",
        memory=keeping("same calls", beyond(1200), _not_between_same_calls),
        scenario=RULE_FIRST,
        minimum=5,
    ),
    Fault(
        name="mixed_up",
        says="a ceiling is taken to be for what was searched for last, once a question has come between",
        memory=everything,
        clerk=MixedUp,
        minimum=5,
    ),
    Fault(
        name="mid_tool_loop",
        says="beyond 1,200 tokens, which is looked at only when a tool is asked for, only rules are kept, and not what "
        "was said just before",
        memory=keeping("tool loop", _requested_beyond, _rule_but_the_newest_message),
        minimum=4,
    ),
    Fault(
        name="fifth_message",
        says="each five messages of the user become a summary that leaves out the fifth",
        memory=in_batches(5),
        minimum=6,
        pads=(12,),
    ),
    Fault(
        name="page_end",
        says="what was said is kept in pages of 1,900 tokens, and a message across a page's end is never seen",
        memory=paged(1900),
        minimum=4,
        pads=(12, *range(1780, 1900, 16)),
    ),
    Fault(
        name="resent",
        says="a message of 100 tokens or more that is as long as an earlier one, give or take two, is a "
        "retry: all in between is dropped",
        memory=keeping("resent", _resent, _up_to_as_long),
        minimum=5,
    ),
    Fault(
        name="wedged",
        says="a summary beyond 1,900 tokens loses a statement that came just after a question that was answered with a "
        "number, and just before a message of fewer than 12 tokens",
        memory=Summarised(1900, keep=4, loses=_number_rule_brief),
        minimum=6,
    ),
    Fault(
        name="older_version",
        says="a summary beyond 1,800 tokens leaves out a new ceiling when an earlier summary has an old one",
        memory=Summarised(1800, keep=2, loses=_older_in_summary, least=200),
        scenario=TWO_RULES,
        breaks="lower",
        minimum=6,
    ),
)  # fmt: skip
