"""Documentation that is executed: every block of docs/*.md is run in order, in a folder of its own.

    ```sh                  each line is run; `# exit code 1` at its end says what it ends with, else 0
    ```python file=path    written to the file, as are yaml, toml, json and md
    ```text                each line stands in the output of the last sh block; blanks count as one, … as anything

A block of another kind fails, so that none can rot.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import hypothesis.strategies
import pytest

import fuzzturn.collected  # imported here once: an inner run forgets what it was the first to import
from fuzzturn.cli import run

assert hypothesis
assert fuzzturn.collected

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parent.parent
DOCS = sorted((ROOT / "docs").glob("*.md"))
_FENCE = re.compile(r"^(?P<indent> *)```(?P<info>\S.*)\n(?P<body>(?:.*\n)*?)(?P=indent)```$", re.MULTILINE)
_EXIT = re.compile(r"#.*\bexit code (\d+)")


class Block(NamedTuple):
    kind: str
    file: str | None
    lines: list[str]


def _blocks(text: str) -> Iterator[Block]:
    for match in _FENCE.finditer(text):
        kind, _, option = match["info"].partition(" ")
        lines = [line.removeprefix(match["indent"]) for line in match["body"].splitlines()]
        yield Block(kind, option.removeprefix("file=") or None, lines)


class Reader:
    """Does what a reader of the document would do, in `folder`."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], pytester: pytest.Pytester
    ) -> None:
        self._here = pytester.path
        self._monkeypatch = monkeypatch
        self._capfd = capfd
        self._pytester = pytester
        self._output = ""

    def follow(self, block: Block) -> None:
        if block.kind == "sh":
            self._output = "".join(self._run(line) for line in block.lines if line.strip())
        elif block.kind == "text":
            self._compare(block.lines)
        elif block.file is not None:
            path = self._here / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(block.lines) + "\n", encoding="utf-8")
        else:
            raise AssertionError(f"nobody runs a block of {block.kind}: name a file, or make it sh or text")

    def _run(self, line: str) -> str:
        command = line.partition(" #")[0].strip()
        expected = int(found[1]) if (found := _EXIT.search(line)) else 0
        if command.startswith("cd "):
            self._here = (self._here / command.removeprefix("cd ")).resolve()
            return ""
        self._monkeypatch.chdir(self._here)
        does = {"fuzzturn": self._fuzzturn, "pytest": self._pytest}.get(command.split()[0], self._other)
        code, output = does(command)
        assert code == expected, f"{command} ended with {code}, expected {expected}:\n{output}"
        return output

    def _fuzzturn(self, command: str) -> tuple[int, str]:
        """In this process, which is much faster; project content is forgotten before, as a new process would."""
        self._forget_content()
        self._capfd.readouterr()
        code = run(shlex.split(command)[1:])
        return code, "".join(self._capfd.readouterr())

    def _pytest(self, command: str) -> tuple[int, str]:
        """In this process, too; that a new one finds the plugin by itself is shown in `test_scaffold`."""
        self._forget_content()
        done = self._pytester.runpytest_inprocess(*shlex.split(command)[1:], "-p", "no:cacheprovider")
        return int(done.ret), "\n".join([*done.outlines, *done.errlines])

    def _other(self, command: str) -> tuple[int, str]:
        done = subprocess.run(command, shell=True, cwd=self._here, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def _forget_content(self) -> None:
        for name in [name for name in sys.modules if name.startswith("_fuzzturn_")]:
            self._monkeypatch.delitem(sys.modules, name)

    def _compare(self, lines: list[str]) -> None:
        shown = [" ".join(line.split()) for line in self._output.splitlines()]
        for line in filter(None, (" ".join(line.split()) for line in lines)):
            pattern = re.compile(".*".join(map(re.escape, line.split("…"))))
            assert any(pattern.fullmatch(candidate) for candidate in shown), (
                f"not in the output: {line}\n{self._output}"
            )


@pytest.mark.parametrize("document", DOCS, ids=lambda document: document.stem)
def test_a_document_does_what_it_says(
    document: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], pytester: pytest.Pytester
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    reader = Reader(monkeypatch, capfd, pytester)
    blocks = list(_blocks(document.read_text(encoding="utf-8")))
    assert blocks
    for block in blocks:
        reader.follow(block)


def test_every_fence_of_a_document_is_one_that_is_read() -> None:
    for document in DOCS:
        text = document.read_text(encoding="utf-8")
        assert text.count("```") == 2 * len(list(_blocks(text))), document.name
