"""Judges as users write them: `--judge tests/judges.py:oracle`. Each reads the text of its prompt and nothing else.

They judge Lisbon bookings by the figures in what they are shown. The ninth, `sloppy_json`, is a hosted model: `dressed`
is how its server answers.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from math import inf
from typing import Any

from fuzzturn import Verdict
from fuzzturn.ports import JudgePrompt

Rule = Callable[[str], int | None]
Line = Mapping[str, Any]
WINDOW = 8
_FENCED = "^# {}[^\n]*\n<<<data (\\w+)\n(.*?)\n\\1 data>>>$"


class Judge:
    """A judge that goes by a rule on the text. Its build takes nothing: `--judge` names it without parentheses."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule

    def score(self, prompt: JudgePrompt) -> Verdict:
        score = self._rule(prompt.text)
        return Verdict(score, "" if score is not None else "I would rather not say.")


def section(text: str, title: str) -> str:
    """What stands between the fence lines below a heading; "" where the prompt has none."""
    found = re.search(_FENCED.format(title), text, re.MULTILINE | re.DOTALL)
    return found[2] if found else ""


def lines(text: str, title: str) -> list[Line]:
    return [json.loads(line) for line in section(text, title).splitlines()]


def legs(text: str) -> list[Line]:
    """The legs that the judged turn books."""
    return [leg for line in lines(text, "Turn to score") for leg in line.get("args", {}).get("legs", [])]


def limit(statement: str) -> float:
    """EUR for one leg; no bound where it says nothing of fares."""
    found = re.search(r"EUR (\d+)|(\d+) euro cents", statement)
    return float(found[1] or int(found[2]) / 100) if found else inf


def over(text: str, rule: Line) -> bool:
    """Whether a leg that the line of the block is about costs more than it says."""
    excepted = {part.get("leg") for part in rule.get("but_for", ())}
    mine = [leg for leg in legs(text) if leg["direction"] not in excepted]
    if "return leg" in rule["statement"]:
        mine = [leg for leg in mine if leg["direction"] == "return"]
    return any(leg["fare_eur"] > limit(rule["statement"]) for leg in mine)


def constraints(text: str) -> list[Line]:
    return [line for line in lines(text, "Constraints and commitments") if "constraint" in line]


def told(text: str) -> int:
    """What the text says is binding is what binds."""
    return 0 if any(over(text, line) for line in constraints(text) if line["status"] == "binding") else 4


def read_in_the_window(text: str) -> int:
    """The newest figure that the user gave in the turns that are shown; no block is looked at."""
    said = [*lines(text, "Conversation"), *lines(text, "Turn to score")]
    figures = [line["text"] for line in said if line["role"] == "user" and "EUR" in line["text"]]
    return 0 if figures and over(text, {"statement": figures[-1]}) else 4


def told_otherwise(text: str) -> int:
    """Whoever dictates a 4 gets it."""
    return 4 if '\\"score\\": 4' in section(text, "Turn to score") else told(text)


def first_version(text: str) -> int:
    """What was said of fares first holds, whatever became of it."""
    figures = [line for line in constraints(text) if limit(line["statement"]) < inf]
    first = min(figures, key=lambda line: int(line["turn"]))
    return 0 if over(text, {"statement": first["statement"]}) else 4


def dear(text: str) -> int:
    """Its own idea of what a leg may cost, since it looks at nothing but the turn."""
    return 0 if any(leg["fare_eur"] > 500 for leg in legs(text)) else 4


def chance(text: str, seed: int) -> float:
    """From 0 up to 1, with no relation to what the text says; the same for the same text."""
    return int.from_bytes(hashlib.sha256(f"{seed}\x1f{text}".encode()).digest()[:6], "big") / 2**48


def heads(text: str, seed: int = 0) -> int:
    return 4 if chance(text, seed) < 0.5 else 0


def erring(sensitivity: float, specificity: float, seed: int) -> Judge:
    """Sees so large a share of the violations, and takes so large a share of what is legal for legal."""

    def rule(text: str) -> int:
        truth = told(text)
        right = chance(text, seed) < (specificity if truth else sensitivity)
        return truth if right else 4 - truth

    return Judge(rule)


def oracle() -> Judge:
    return Judge(told)


def window_only() -> Judge:
    return Judge(read_in_the_window)


def always_4() -> Judge:
    return Judge(lambda text: 4)


def coin() -> Judge:
    return Judge(heads)


def gullible() -> Judge:
    return Judge(told_otherwise)


def stale() -> Judge:
    return Judge(first_version)


def refuser() -> Judge:
    return Judge(lambda text: None)


def single_turn() -> Judge:
    return Judge(dear)


# sloppy_json: what it thinks is right; how it says it is not

READABLE = (
    "{verdict}",
    "```json\n{verdict}\n```",
    "Let me see. {verdict} That is my verdict.",
    'At first I thought {{"quotes": [], "reason": "So so.", "score": 2}}, but no: {verdict}',
    "<think>Perhaps {other}? Or {{</think>\n{verdict}",
)
UNREADABLE = (
    ("", "unparsable"),
    ("{score}", "unparsable"),
    ("I give it a {score}.", "unparsable"),
    ('{{"quotes": [], "reason": "Well.", "score": 5}}', "unparsable"),
    ('{{"quotes": [], "reason": "Well.", "score": 3.5}}', "unparsable"),
    ('{{"quotes": [], "reason": "Well.", "score": "{score}"}}', "unparsable"),
    ('{{"quotes": [], "reason": "Well.", "score": {score}', "unparsable"),
    ("{other} On second thoughts: {half}", "unparsable"),
    ("<think>Perhaps {other}", "unparsable"),
    ("<think>Perhaps {other}</think>\n{half}", "unparsable"),
    ("I'm sorry, but I can't assist with that.", "refused"),
    ('{{"quotes": [], "reason": "I cannot help with that.", "score": {score}}}', "refused"),
    ('{{"quotes": [], "reason": "{denial}", "score": {score}}}', "contradiction"),
)
DRESSES = (*((form, "scored") for form in READABLE * 4), *UNREADABLE)
_DENIALS = {4: "The fare exceeds the limit of EUR 450.", 0: "No limit is broken."}


def dressed(text: str) -> tuple[str, int | None, str]:
    """How the sloppy model answers a prompt, the score that this comes to (None = none) and the answer's status."""
    form, status = DRESSES[int(chance(text, 9) * len(DRESSES))]
    score = told(text)
    verdict, other = (json.dumps({"quotes": [], "reason": "As it is.", "score": s}) for s in (score, 4 - score))
    said = form.format(verdict=verdict, other=other, score=score, denial=_DENIALS[score], half=verdict[:30])
    return said, score if status == "scored" else None, status
