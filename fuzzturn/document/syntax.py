"""Syntax: what is wrong with a text that is not YAML, said where the mistake is and not where the parser gave up.

The parser's own words differ between libyaml and the Python reader and are written for authors of parsers. So an
error is taken as a place to begin from; what is said comes from the text around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import yaml

from fuzzturn.document.place import MAX_DEPTH
from fuzzturn.errors import Problem

__all__ = ["explained"]

_TAB = re.compile(r" *\t")
_VALUE = re.compile(r"\s*(?:- )*(?:[^\s\"'{\[][^:]*: +|- +)(?P<value>\S.*)")
_SPECIAL = re.compile(r"(?:^|[:-])\s+([{\[&*!|>@`%])")
_KEY = re.compile(r"(\s*(?:- +)*)\S[^:]*:(?: |$)")
_LONGEST = 60
_A_KEY = "key: value, with a space after the colon"


class Said(NamedTuple):
    """One explanation; line and column from 1."""

    line: int
    column: int
    what: str
    accepted: str | None = None


class Quoted(NamedTuple):
    """A quoted text: where it begins and ends, from 0, and its quote."""

    start: tuple[int, int]
    end: tuple[int, int]
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Where the parser gave up; `line`, `column` and `begun` count from 0."""

    problem: str
    context: str
    line: int
    column: int
    begun: tuple[int, int] | None
    """Where the part began that it was reading; None = it does not say."""
    lines: list[str]
    quoted: tuple[Quoted, ...]
    unclosed: tuple[int, int] | None
    """The innermost bracket that is open there."""

    @property
    def text(self) -> str:
        return self.lines[self.line] if self.line < len(self.lines) else ""

    @property
    def above(self) -> tuple[int, str]:
        """The nearest line above that is no comment and not blank; (-1, "") = there is none."""
        for number in range(min(self.line, len(self.lines)) - 1, -1, -1):
            if self.lines[number].strip() and not self.lines[number].lstrip().startswith("#"):
                return number, self.lines[number]
        return -1, ""


Rule: TypeAlias = Callable[[Failure], "Said | None"]


def explained(error: yaml.MarkedYAMLError, text: str, file: str | None, loader: Any) -> Problem:
    """The error as a problem in plain words. `loader` is the class that raised it."""
    mark: Any = error.problem_mark or error.context_mark
    tokens = list(_tokens(text, loader, (mark.line, mark.column)))
    failure = Failure(
        problem=error.problem or "", context=error.context or "", line=mark.line, column=mark.column,
        begun=_place(error.context_mark) if error.context_mark else None, lines=text.splitlines(),
        quoted=tuple(_quoted(tokens)), unclosed=_unclosed(tokens),
    )  # fmt: skip
    said = next(filter(None, (rule(failure) for rule in _RULES)), None) or _as_it_is(failure)
    return Problem(file=file, line=said.line, column=said.column, what=f"not YAML: {said.what}", accepted=said.accepted)


def _place(mark: Any) -> tuple[int, int]:
    return mark.line, mark.column


def _tokens(text: str, loader: Any, until: tuple[int, int]) -> Iterator[Any]:
    """The tokens before a place, as far as the scanner gets."""
    try:
        for token in yaml.scan(text, Loader=loader):
            if _place(token.start_mark) >= until:
                return
            yield token
    except yaml.YAMLError:
        return


def _quoted(tokens: list[Any]) -> Iterator[Quoted]:
    for token in tokens:
        if isinstance(token, yaml.ScalarToken) and token.style in ("'", '"'):
            yield Quoted(_place(token.start_mark), _place(token.end_mark), str(token.style))


def _unclosed(tokens: list[Any]) -> tuple[int, int] | None:
    """The innermost bracket that no other closes."""
    begun = []
    for token in tokens:
        if isinstance(token, yaml.FlowMappingStartToken | yaml.FlowSequenceStartToken):
            begun.append(_place(token.start_mark))
        elif isinstance(token, yaml.FlowMappingEndToken | yaml.FlowSequenceEndToken) and begun:
            begun.pop()
    return begun[-1] if begun else None


def _too_deep(failure: Failure) -> Said | None:
    """libyaml counts brackets before it says what stands in them."""
    if "nesting depth" not in failure.problem:
        return None
    return Said(failure.line + 1, failure.column + 1, "nested too deep", f"at most {MAX_DEPTH} levels")


def _conflict(failure: Failure) -> Said | None:
    marks = (number for number, line in enumerate(failure.lines, 1) if line.startswith(("<<<<<<< ", ">>>>>>> ")))
    line = next(marks, None)
    return None if line is None else Said(line, 1, "a merge conflict begins here", "settle it")


def _tab(failure: Failure) -> Said | None:
    if tab := _TAB.match(failure.text):
        return Said(failure.line + 1, tab.end(), "this line is indented with a tab", "indent with spaces")
    if failure.text[failure.column : failure.column + 1] == "\t":
        return Said(failure.line + 1, failure.column + 1, "a tab stands here", "spaces")
    return None


def _never_closed(failure: Failure) -> Said | None:
    if failure.begun is None or "quoted" not in failure.context or "unexpected" not in failure.problem:
        return None
    line, column = failure.begun
    quote = failure.lines[line][column : column + 1]
    return Said(
        line + 1, column + 1, "the quote that begins here is never closed", f"close it with {quote} where the text ends"
    )


def _unknown_escape(failure: Failure) -> Said | None:
    if "unknown escape" not in failure.problem:
        return None
    column = failure.text.rfind("\\", 0, failure.column + 1)
    escape = failure.text[column : column + 2]
    accepted = f"\\{escape} for a backslash, or single quotes around the text"
    return Said(failure.line + 1, column + 1, f"{escape} means nothing inside double quotes", accepted)


def _text_after_quote(failure: Failure) -> Said | None:
    """More text where a quoted one has ended: it is closed too early, or was meant to be closed lines before."""
    for quoted in reversed(failure.quoted):
        line, column = quoted.end
        if line != failure.line or not 0 <= failure.column - column <= len(failure.text):
            continue
        if failure.text[column : failure.column].strip():
            return None
        begun = quoted.start[0]
        if begun == line:
            inside = "''" if quoted.quote == "'" else '\\"'
            accepted = f"quote all of it, and write a {quoted.quote} inside it as {inside}"
            return Said(line + 1, failure.column + 1, "text follows the closing quote", accepted)
        what = f"the quote that begins here is closed only on line {line + 1}, where another text follows"
        return Said(begun + 1, quoted.start[1] + 1, what, f"close it with {quoted.quote} where the text ends")
    return None


def _second_colon(failure: Failure) -> Said | None:
    if "mapping values are not allowed" not in failure.problem:
        return None
    value = _VALUE.match(failure.text)
    if value is None or value.start("value") >= failure.column or _KEY.match(value["value"]) is None:
        return _not_a_key(failure)
    what = "there is a second ': ' in this line, so the text before it would be a key"
    text = value["value"] if len(value["value"]) <= _LONGEST else f"{value['value'][:_LONGEST]}…"
    quote = "'" if '"' in text else '"'
    return Said(failure.line + 1, value.start("value") + 1, what, f"quote the whole text: {quote}{text}{quote}")


def _not_a_key(failure: Failure) -> Said | None:
    """A key where a text goes on: the line above has a value already, or is no key at all."""
    number, above = failure.above
    if number < 0:
        return None
    if (key := _KEY.match(above)) is None:
        column = len(above) - len(above.lstrip()) + 1
        return Said(
            number + 1, column, f"{above.strip()[:_LONGEST]!r} is no key", "key: value, with a space after the colon"
        )
    indent, column = len(failure.text) - len(failure.text.lstrip()), len(key[1])
    if indent <= column:
        return None
    what = "this line is indented deeper than the one above it, whose value it would go on with"
    return Said(failure.line + 1, indent + 1, what, f"begin it in column {column + 1}")


def _no_colon(failure: Failure) -> Said | None:
    if failure.begun is None or "could not find expected ':'" not in failure.problem:
        return None
    line, column = failure.begun
    above = failure.lines[line - 1].rstrip() if line else ""
    if above.endswith((": |", ": >")):
        return Said(line + 1, column + 1, "this text is not indented deeper than its key", "two spaces more")
    what = f"{failure.lines[line][column:].strip()[:_LONGEST]!r} is no key"
    return Said(line + 1, column + 1, what, _A_KEY)


def _special_start(failure: Failure) -> Said | None:
    start = _SPECIAL.search(failure.text)
    if start is None or start.start(1) > failure.column:
        return None
    what = f"a value that begins with {start[1]} is no plain text to YAML"
    return Said(failure.line + 1, start.start(1) + 1, what, f"a text that begins with {start[1]} has to be quoted")


def _flow(failure: Failure) -> Said | None:
    if failure.unclosed is None or "flow" not in failure.context:
        return None
    line, column = failure.unclosed
    opening = failure.lines[line][column]
    closing = "}" if opening == "{" else "]"
    if line == failure.line:
        what = f"a comma or {closing} is missing here"
        return Said(line + 1, failure.column + 1, what, "quote a text with a comma, a colon or a bracket in it")
    what = f"the {opening} that begins here is not closed before line {failure.line + 1}, or a comma is missing"
    return Said(line + 1, column + 1, what, f"close it with {closing} where it ends")


def _no_value(failure: Failure) -> Said | None:
    if "node content" not in failure.problem and "cannot start any token" not in failure.problem:
        return None
    found = failure.text[failure.column : failure.column + 1]
    if not found:
        return Said(failure.line + 1, failure.column + 1, "the file ends where a value should stand")
    accepted = f"a text that begins with {found} has to be quoted"
    return Said(failure.line + 1, failure.column + 1, f"{found} stands where a value should", accepted)


def _two_beginnings(failure: Failure) -> Said | None:
    """The text was over, to the parser, before this line: the first line of all is indented, or is no key."""
    if "document start" not in failure.problem:
        return None
    lines = enumerate(failure.lines, start=1)
    number, first = next((n, line) for n, line in lines if line.strip() and not line.lstrip().startswith("#"))
    indent = len(first) - len(first.lstrip())
    if indent:
        return Said(number, indent + 1, "the first key of the file is indented, those below it are not", "column 1")
    what = f"what begins on line {number} is over here, so the file holds two things"
    return Said(failure.line + 1, failure.column + 1, what, "one mapping, its keys in column 1")


def _list_in_line(failure: Failure) -> Said | None:
    if "sequence entries are not allowed" not in failure.problem:
        return None
    accepted = "entries on lines of their own below the key, or a quoted text"
    return Said(failure.line + 1, failure.column + 1, "a list begins in the line of its key", accepted)


def _indentation(failure: Failure) -> Said | None:
    if not failure.context.endswith(("block mapping", "block collection")) or failure.text[: failure.column].strip():
        return None
    what = "this line begins in a column in which nothing above it begins"
    if failure.begun is not None and failure.begun[1] == failure.column:
        what = "this line is no part of the list above it"
    return Said(
        failure.line + 1, failure.column + 1, what, "the keys of one mapping, and the - of one list, share a column"
    )


def _as_it_is(failure: Failure) -> Said:
    """The parser's words, where nothing better is known."""
    said = " ".join(filter(None, (failure.problem, failure.context)))
    begun = f" (begun on line {failure.begun[0] + 1})" if failure.begun else ""
    return Said(failure.line + 1, failure.column + 1, f"{said}{begun}")


_RULES: tuple[Rule, ...] = (
    _too_deep, _conflict, _tab, _never_closed, _unknown_escape, _text_after_quote, _second_colon, _no_colon, _flow,
    _special_start, _no_value, _two_beginnings, _list_in_line, _indentation,
)  # fmt: skip
