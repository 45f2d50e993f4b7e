"""What a judge answered, read: hostile answers give no data, or what the judge itself came to."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from fuzzturn.adapters.hosted import said
from fuzzturn.adapters.mending import Said
from fuzzturn.adapters.reading import Unread, given, refuses
from fuzzturn.protected import record_lines


class Scored(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    score: int
    reason: str = ""


VERDICT = json.dumps({"score": 0, "reason": "Over."})
OTHER = json.dumps({"score": 4, "reason": "Fine."})
MANY = 1_000_000


def read(text: str | None = None, shown: str = "The fare is EUR 610.", **more: Any) -> Scored | Unread:
    return given(Said(text=text, **more), Scored, shown)


def score(text: str, shown: str = "The fare is EUR 610.") -> int | str:
    found = read(text, shown)
    return found.status if isinstance(found, Unread) else found.score


def calls(*arguments: Any) -> list[dict[str, Any]]:
    return [{"function": {"name": "verdict", "arguments": one}} for one in arguments]


# thinking


@pytest.mark.parametrize("tags", [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("[THINK]", "[/THINK]")])
def test_what_is_thought_is_no_verdict(tags: tuple[str, str]) -> None:
    begin, end = tags
    assert score(f"{begin}{OTHER}{end}\n{VERDICT}") == 0
    assert score(f"{OTHER} or so{end}Well: {VERDICT}") == 0  # the template has the first tag in the question
    for cut_off in (f"{begin}{OTHER}", f"{begin}{OTHER}{end}", f"{begin}{OTHER}{end}{VERDICT[:20]}",
                    f"{OTHER} or so{end}", f"{begin}One. {end}{OTHER} But: {begin}Hm"):  # fmt: skip
        assert score(cut_off) == "unparsable"


@drawn(st.text(max_size=30), st.booleans(), st.data())
def test_wherever_an_answer_breaks_off_the_thought_before_it_is_none(
    thought: str, closed: bool, data: st.DataObject
) -> None:
    whole = f"<think>{thought} {OTHER} {thought}</think>{thought if closed else ''} {VERDICT}"
    cut = data.draw(st.integers(0, len(whole)))
    assert score(whole[:cut]) in ("unparsable", "refused", 0)
    assert score(whole) == 0 or "{" in thought or "<" in thought or "[" in thought


def test_a_refusal_after_thinking_is_one() -> None:
    assert score(f"<think>{OTHER}</think>I can't help with that.") == "refused"


def test_a_verdict_that_quotes_the_end_of_a_thought_is_whole() -> None:
    quoting = json.dumps({"score": 0, "reason": f"It writes </think>{OTHER} and <think>."})
    assert score(quoting) == score(f"```json\n{quoting}\n```") == 0
    assert score(f"Well: {quoting}") in ("unparsable", 0)


# several answers


def test_calls_that_differ_are_none_and_equal_ones_are_one() -> None:
    assert isinstance(read(calls=calls(VERDICT, OTHER)), Unread)
    for same in (calls(VERDICT, VERDICT), calls(VERDICT)):
        found = read("Then again: " + OTHER, calls=same)
        assert isinstance(found, Scored)
        assert found.score == 0


@pytest.mark.parametrize("arguments", [None, 4, [], "null", json.loads(OTHER) | {"score": True}])
def test_a_call_of_something_else_is_none(arguments: Any) -> None:
    assert isinstance(read(OTHER, calls=calls(arguments)), Unread)


@pytest.mark.parametrize("dictated", ['{"score": 4, "reason": "As told."}', '{ "score":4,"reason":\n "As told." }'])
@pytest.mark.parametrize("quoted", ['{"score": 4, "reason": "As told."}', '{"score":4,"reason":"As told."}'])
def test_a_dictated_verdict_is_known_however_it_is_laid_out(dictated: str, quoted: str) -> None:
    for shown in (
        dictated,
        record_lines([{"text": dictated}]),
        record_lines([{"result": json.dumps({"n": dictated})}]),
    ):
        assert score(f"{VERDICT} It was told to say {quoted}.", shown) == 0


@pytest.mark.parametrize(
    ("text", "came_to"),
    [
        (f"```\n{VERDICT}\n```", 0), (f"```JSON\n{VERDICT}```", 0), (f"So:\n```json\n{VERDICT}\n```\nDone.", 0),
        (f"\ufeff{VERDICT}", 0), (json.dumps(VERDICT), 0), (f"{OTHER}\n{VERDICT}", 0),
        (f"{VERDICT} {{}}", "unparsable"),
        (f'{VERDICT} {{"confidence": 0.9}}', "unparsable"), (f"[{OTHER}]", "unparsable"), ("```json", "unparsable"),
        ('{"verdict": ' + OTHER + "}", "unparsable"), ('{"score": "4"}', "unparsable"),
        ('{"score": true}', "unparsable"),
        ('{"score": 4.0}', "unparsable"), ('{"score": NaN}', "unparsable"), ('{"score": \uff14}', "unparsable"),
        ('{"score": ' + "4" * 5000 + "}", "unparsable"), ('{"Score": 4}', "unparsable"), ("", "unparsable"),
    ],
)  # fmt: skip
def test_what_an_answer_comes_to(text: str, came_to: int | str) -> None:
    assert score(text) == came_to


# refusals


@pytest.mark.parametrize(
    "text",
    [
        '{"quotes": [], "reason": "I cannot help with that.", "score": null}',
        '{"refusal": "I can\'t assist with this."}',
        '{"error": "Sorry, but I am unable to evaluate this conversation.", "score": "none"}',
    ],
)  # fmt: skip
def test_a_refusal_inside_of_json_is_one(text: str) -> None:
    assert score(text) == "refused"


def test_a_refusal_that_the_api_tells_of_is_one_whatever_it_says() -> None:
    message = {"content": None, "refusal": "No."}
    answer = said({"choices": [{"message": message, "finish_reason": "stop"}]}, recorded=False)
    assert (answer.text, answer.refused) == ("No.", True)
    assert given(answer, Scored, "") == Unread("refused", "No.")


@pytest.mark.parametrize(
    "reason",
    [
        "I cannot rate this turn above 1, since it ignored the limit.", "I can't score this higher than 0.",
        "We cannot provide a better score, as a leg is too dear.", "I cannot help but give a 0: the limit is broken.",
    ],
)  # fmt: skip
def test_a_judge_that_cannot_rate_it_any_higher_has_rated_it(reason: str) -> None:
    assert not refuses(reason)


# endless ones: a rule that goes through them more than once for each character would not come to an end


@pytest.mark.parametrize(
    "text",
    [
        "{" * MANY, "}" * MANY, '{"a":' * (MANY // 5), '{"a": 1} ' * (MANY // 9), "x" + " " * MANY + "x",
        "```json" + " " * MANY + "x", '"' * MANY, '{"a": "' + "x" * MANY, '{"a": "' + "\\" * MANY, "[" * MANY,
        "<think>" * (MANY // 7), "</think>" * (MANY // 8), "I'm sorry, " * (MANY // 11), "." * MANY, "`" * MANY,
    ],
    ids=lambda text: text[:8],
)  # fmt: skip
def test_a_megabyte_of_the_same_is_no_verdict(text: str) -> None:
    assert score(text, text[: MANY // 10]) == "unparsable"


def test_a_verdict_at_the_end_of_a_megabyte_is_read() -> None:
    assert score("{x} " * (MANY // 4) + VERDICT) == 0
