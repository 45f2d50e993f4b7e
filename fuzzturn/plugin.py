"""Plugin: pytest plays corpus entries as tests, offers the fixture `play`, and shows the session behind a failure.

Every pytest run of an environment with fuzzturn in it loads this module, so it imports the standard library and pytest;
anything else only once there is an entry, or a test that asks for it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from fuzzturn.testing import Play

__all__ = ["play"]

_OPTIONS = ("agent", "agent_option", "judge")
_FINDING = re.compile(rb"^finding\s*:", re.MULTILINE)
"""The key that every corpus entry has near its beginning, and no scenario."""
_HEAD = 4096


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("fuzzturn", "corpus entries, and agents under test")
    group.addoption("--fuzzturn-agent", help="as `fuzzturn replay --agent`; default: the project's, else the entry's")
    group.addoption("--fuzzturn-agent-option", action="append", default=[], help="key=value; repeatable")
    group.addoption("--fuzzturn-judge", help="as `fuzzturn replay --judge`; default likewise")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "fuzzturn: a corpus entry, played again")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".yaml" or not _is_entry(file_path, named=parent.session.isinitpath(file_path)):
        return None
    from fuzzturn.collected import CorpusFile

    return CorpusFile.from_parent(parent, path=file_path)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if (testing := sys.modules.get("fuzzturn.testing")) is not None:
        testing.Shown.begin(_asked(item.config))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Findings as text and without a trace; beside any other failure the session that the test had just played."""
    report = yield
    testing = sys.modules.get("fuzzturn.testing")
    if testing is None or call.when != "call" or call.excinfo is None or not report.failed:
        return report
    if isinstance(call.excinfo.value, testing.FoundError):
        report.longrepr = str(call.excinfo.value)
    elif testing.Shown.text is not None:
        report.sections.append(("fuzzturn", testing.Shown.text()))
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The open entries that passed. Whether they are mended is for people to say."""
    properties = [dict(report.user_properties) for report in terminalreporter.stats.get("xpassed", ())]
    mended = [told["fuzzturn_entry"] for told in properties if "fuzzturn_entry" in told]
    if mended:
        terminalreporter.section("fuzzturn: open entries that no longer fail")
        for name in mended:
            terminalreporter.write_line(f"fuzzturn corpus mark {name} --fixed")


@pytest.fixture(scope="module")  # one of a function's scope is refused under @given
def play(request: pytest.FixtureRequest) -> Play:
    """`fuzzturn.play`, bound to the project of the test's file and to pytest's `--fuzzturn-agent`."""
    from fuzzturn import testing
    from fuzzturn.project import find_project

    testing.Shown.begin(_asked(request.config))
    return testing.Play(find_project(request.path.parent))


def _asked(config: pytest.Config) -> dict[str, Any]:
    return {name: config.getoption(f"fuzzturn_{name}") for name in _OPTIONS}


def _is_entry(path: Path, *, named: bool) -> bool:
    """Whether the file is an entry: by what it says, and in a project's corpus by where it is, even if it is broken.

    `named`: on the command line. Elsewhere only folders called corpus are looked into.
    """
    corpora = [folder for folder in path.parents if folder.name == "corpus"]
    if not corpora and not named:
        return False
    if any(_is_project(corpus.parent) for corpus in corpora):
        return True
    with path.open("rb") as stream:
        return _FINDING.search(stream.read(_HEAD)) is not None


def _is_project(folder: Path) -> bool:
    if (folder / "fuzzturn.toml").is_file():
        return True
    settings = folder / "pyproject.toml"
    return settings.is_file() and b"[tool.fuzzturn" in settings.read_bytes()
