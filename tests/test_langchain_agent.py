"""The LangChain agent keeps the public port: it tells what really happened, and goes on from a snapshot."""

from __future__ import annotations

import asyncio
import html
import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fuzzturn.drive import Cast, Meter, Stage, drive
from fuzzturn.errors import InputError
from fuzzturn.measure import Measured, measure
from fuzzturn.project import Project
from fuzzturn.scenario import Line, Scenario, System
from fuzzturn.scenario_file import load_scenario
from fuzzturn.session import Compaction, Message, Session, Turn
from fuzzturn.tokens import messages_tokens
from fuzzturn.variant import Edit, Insert, Pad, Variant

ROOT = Path(__file__).parent.parent
FILE = ROOT / "examples/langchain_agent.py"
PROJECT = Project(root=ROOT)
REGISTRY = PROJECT.load_scenarios_content()
SCRIPT = load_scenario(ROOT / "examples/lisbon_by_messages.yaml")
CEILING = "no leg may cost more than EUR 450"

needs_langchain = pytest.mark.skipif(
    importlib.util.find_spec("langchain") is None,
    reason="langchain is not installed; `pip install 'fuzzturn[test]'` brings it",
)


def cast(**options: str) -> Cast:
    make = REGISTRY.get("environment", "orbit").function
    build = PROJECT.load_callable(f"{FILE}:build")
    return Cast(build=build, make_environment=make, name="langchain_agent", options=options)


def example() -> ModuleType:
    return sys.modules[cast().build.__module__]


def varied(*edits: Edit) -> Scenario:
    return Variant(SCRIPT, edits).spoken


def pad(anchor: str = "book") -> Pad:
    return Pad(operator="t", anchor=anchor, tokens=12)


def porto(anchor: str) -> Insert:
    bank = next(one for one in SCRIPT.interruptions if one.id == "porto")
    return Insert(operator="t", anchor=anchor, name="porto", user=bank.user, mentions=bank.must_mention_any)


def play(spoken: Scenario, **options: str) -> Measured:
    return measure(spoken, asyncio.run(drive(cast(**options), spoken)), REGISTRY)


def turn_of(session: Session, id: str) -> Turn:
    return next(turn for turn in session.turns if turn.id == id)


def compactions(session: Session) -> list[Compaction]:
    return [event for turn in session.turns for event in turn.compactions]


def test_without_langchain_the_file_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("langchain_agent.py", "scripted_models.py"):
        shutil.copy(FILE.parent / name, tmp_path / name)
    monkeypatch.setitem(sys.modules, "langchain", None)
    with pytest.raises(InputError, match=r"needs LangChain.*pip install 'langchain"):
        PROJECT.load_callable(f"{tmp_path / 'langchain_agent.py'}:build")


@needs_langchain
@pytest.mark.parametrize("options", [{"compaction": "sometimes"}, {"words": "-1"}, {"words": "many"}])
def test_an_option_that_it_cannot_use_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(InputError, match="accepted"):
        play(SCRIPT, **options)


LONG = varied(pad("sea"), porto("trams"), *[pad() for _ in range(12)])


@needs_langchain
@pytest.mark.parametrize("words", ["50", "1000"])
def test_a_session_goes_on_from_any_snapshot_as_if_nothing_had_been(words: str) -> None:
    whole, resumed = asyncio.run(_twice(cast(words=words), LONG))
    assert sum(len(turn.compactions) for turn in whole) >= 1
    assert len(resumed) == len(whole)
    for after, turns in enumerate(resumed):
        assert turns == whole[after:]


async def _twice(plan: Cast, spoken: Scenario) -> tuple[list[Turn], list[list[Turn]]]:
    """The session in one go; and from every snapshot taken on the way, restored only when the first is over."""
    stage = Stage(plan, spoken, Meter())
    saved, whole = [], []
    for n, line in enumerate(spoken.turns, start=1):
        saved.append(await stage.save())
        whole.append(await stage.speak(line, n))
    resumed = []
    for after, state in enumerate(saved):
        assert state is not None
        again = Stage(plan, spoken, Meter())
        await again.restore(state)
        resumed.append([await again.speak(line, n) for n, line in enumerate(spoken.turns[after:], start=after + 1)])
    return whole, resumed


@needs_langchain
def test_a_snapshot_is_out_of_reach_of_what_happens_later() -> None:
    made = cast()

    async def through() -> list[str]:
        agent: Any = made.build(made.make_environment(seed=0))
        await agent.reply("The team looks forward to the sea.")
        saved = agent.snapshot()
        texts = []
        for _ in range(2):
            agent._history[0].content = "changed"
            agent.restore(saved)
            texts.append(agent._history[0].content)
        return texts

    assert asyncio.run(through()) == ["The team looks forward to the sea."] * 2


@needs_langchain
@pytest.mark.parametrize("system", [None, "You book travel."])
def test_the_context_told_is_what_the_model_was_given(system: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    given = _overhear(monkeypatch, "decide")
    session = play(LONG.model_copy(update={"system": system and System(text=system)})).session
    told = [list(call.context or ()) for turn in session.turns for call in turn.model_calls]
    assert len(told) > 30
    assert told == given
    assert {context[0]["role"] for context in told} == {"user" if system is None else "system"}


@needs_langchain
@pytest.mark.parametrize("words", ["50", "1000"])
def test_the_summariser_input_told_is_what_it_was_given(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = _overhear(monkeypatch, "summarise")
    told = compactions(play(LONG, words=words).session)
    assert len(requests) == len(told) >= 1
    for (request,), compaction in zip(requests, told, strict=True):
        read = compaction.summariser_input or ()
        assert request["content"].count("<message type=") == len(read)
        assert all(message["content"] in html.unescape(request["content"]) for message in read)
    assert (CEILING in html.unescape(requests[0][0]["content"])) is (words == "50")


def _overhear(monkeypatch: pytest.MonkeyPatch, answering: str) -> list[list[Any]]:
    """Every request that the scripted model answering by that rule receives, from inside the model."""
    from langchain_core.messages import convert_to_openai_messages

    scripted = sys.modules[example().Scripted.__module__]
    plain = scripted.Scripted._generate
    heard: list[list[Any]] = []

    def generate(self: Any, messages: Any, *args: Any, **options: Any) -> Any:
        if self.answer is getattr(scripted, answering):
            heard.append(convert_to_openai_messages(messages))
        return plain(self, messages, *args, **options)

    monkeypatch.setattr(scripted.Scripted, "_generate", generate)
    return heard


@needs_langchain
def test_a_compaction_tells_sizes_and_contents_that_add_up() -> None:
    session = play(varied(pad())).session
    (compaction,) = compactions(session)
    book = turn_of(session, "book")
    before, after = (book.model_calls[i].context for i in (0, 1))
    assert before is not None
    assert after is not None
    assert compaction.dropped is not None
    assert list(compaction.dropped) == list(before[:23])
    assert list(after[1:7]) == list(before[23:])
    assert after[0]["content"] == compaction.summary
    assert compaction.after == messages_tokens(after)
    assert any(CEILING in message["content"] for message in compaction.dropped)
    assert not any(CEILING in message["content"] for message in after)


@needs_langchain
def test_what_the_adapter_overrides_of_the_library_is_still_there_and_still_called() -> None:
    from langchain.agents.middleware import SummarizationMiddleware

    own = {name for name in vars(example().TellingSummarization) if not name.startswith("__")} - {"_tell"}
    assert {name for name in own if hasattr(SummarizationMiddleware, name)} == own
    # A library that no longer called the private one would leave this empty, as if the summariser had not been called.
    (compaction,) = compactions(play(varied(pad())).session)
    assert compaction.summariser_input == compaction.dropped
    assert (compaction.summary or "").startswith(sys.modules[example().Scripted.__module__].SUMMARY_HEADING)


@needs_langchain
def test_a_tool_that_refuses_is_read_by_the_agent_and_does_not_end_the_turn() -> None:
    ask = Line(id="far", user="Please find a flight to Atlantis on 12 May 2026.")
    session = play(SCRIPT.model_copy(update={"turns": (ask, *SCRIPT.turns)})).session
    (call,) = session.turns[0].tool_calls
    assert session.error is None
    assert call.error is not None
    assert "Atlantis" in call.error
    assert session.turns[0].text == "I found no flight that is allowed."


@needs_langchain
def test_no_tracer_hears_the_session_whatever_the_shell_says(monkeypatch: pytest.MonkeyPatch) -> None:
    import langsmith.utils
    from langchain_core.tracers.context import _tracing_v2_is_enabled

    shell = {"LANGSMITH_ENDPOINT": "http://127.0.0.1:9"}
    shell |= dict.fromkeys(("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2"), "true")
    for name, value in shell.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(langsmith.utils, "get_env_var", langsmith.utils.get_env_var.__wrapped__)  # type: ignore[attr-defined]  # a cache
    scripted = sys.modules[example().Scripted.__module__].Scripted
    plain = scripted._generate
    traced: list[bool] = []

    def generate(self: Any, *args: Any, **options: Any) -> Any:
        traced.append(bool(_tracing_v2_is_enabled()))
        return plain(self, *args, **options)

    monkeypatch.setattr(scripted, "_generate", generate)
    assert _tracing_v2_is_enabled()
    session = play(varied(pad())).session
    assert len(traced) == sum(len(turn.model_calls) for turn in session.turns) + len(compactions(session))
    assert not any(traced)


@needs_langchain
@pytest.mark.parametrize(
    "remark", [f"One rule from finance: {CEILING}.", "I like window seats.", "Keep it short.", "The sea is nice."]
)
def test_the_summariser_keeps_requests_and_results_and_loses_remarks_whatever_they_say(remark: str) -> None:
    told = varied(pad())
    lines = tuple(Line(id=line.id, user=remark) if line.id == "sea" else line for line in told.turns)
    (compaction,) = compactions(play(told.model_copy(update={"turns": lines})).session)
    assert any(message["content"] == remark for message in compaction.summariser_input or ())
    assert compaction.summary is not None
    assert remark not in compaction.summary
    assert "Asked: Please find a flight to Lisbon on 12 May 2026." in compaction.summary
    assert compaction.summary.count("Done: search_flights") == 2


@needs_langchain
def test_summaries_nest() -> None:
    session = play(varied(*[pad() for _ in range(14)])).session
    first, second = compactions(session)
    assert second.summariser_input is not None
    assert second.summariser_input[0]["content"] == first.summary
    assert "Asked: Please find a flight to Lisbon on 12 May 2026." in (second.summary or "")
    assert [event.text for event in session.turns[-1].events if isinstance(event, Message)] == [
        turn_of(session, "book").text
    ]
