"""JUnit: the result of a command as the XML that CI servers read.

A finding is a <failure>, what keeps one from being found out an <error>: a red build has to say which of the two it is.
What was not put to the test is <skipped>, since it did not pass.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias
from xml.etree import ElementTree as ET

__all__ = ["Case", "Verdict", "junit"]

Verdict: TypeAlias = Literal["passed", "failure", "error", "skipped"]
_COUNTED: dict[Verdict, str] = {"failure": "failures", "error": "errors", "skipped": "skipped"}
_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML 1.0 file can hold, not even escaped (XML 1.0, production 2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One thing that was put to the test. `kind`, `message` and `text` are of what is not passed."""

    group: str
    name: str
    verdict: Verdict = "passed"
    kind: str = ""
    message: str = ""
    """One line."""
    text: str = ""
    file: str | None = None


def junit(suite: str, cases: Sequence[Case], seconds: float) -> str:
    """One test suite as XML. `seconds`: wall clock of the whole, since the cases share what was played."""
    counts = {name: str(sum(case.verdict == verdict for case in cases)) for verdict, name in _COUNTED.items()}
    root = ET.Element("testsuites")
    told = {"name": suite, "tests": str(len(cases)), **counts, "time": f"{seconds:.3f}"}
    below = ET.SubElement(root, "testsuite", told)
    for case in cases:
        _add(below, case)
    ET.indent(root)
    return f"{_HEAD}{ET.tostring(root, encoding='unicode')}\n"


def _add(suite: ET.Element, case: Case) -> None:
    named = {"classname": _clean(case.group), "name": _clean(case.name)}
    if case.file is not None:
        named["file"] = _clean(case.file)
    element = ET.SubElement(suite, "testcase", named)
    if case.verdict != "passed":
        detail = {"type": _clean(case.kind), "message": _clean(case.message)}
        ET.SubElement(element, case.verdict, detail).text = _clean(case.text) or None


def _clean(text: str) -> str:
    return _NOT_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
