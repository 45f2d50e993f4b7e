"""Rival: the same sessions through inspect_ai and its mock model. Run by an interpreter that has inspect_ai.

    PYTHON rival.py SESSIONS     one JSON object on stdout, {"microseconds": …, "version": …}, or {"skipped": reason}

inspect_ai is no dependency: `pip install inspect_ai` in an environment of its own. What its scorer and its log do is in
the figure, as signals and records are in ours. Its token counter would fetch a vocabulary, so a stand-in counts.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
import time
import types
from importlib.metadata import version
from tempfile import TemporaryDirectory
from typing import Any

TURNS = 12
TEXT = "Noted. I have looked that up and will keep to what you said."


def main(sessions: int) -> dict[str, Any]:
    """CPU microseconds a turn, after a warm-up of a few sessions."""
    if importlib.util.find_spec("inspect_ai") is None:
        return {"skipped": f"inspect_ai is not installed for {sys.executable}: pip install inspect_ai"}
    sys.modules["tiktoken"] = _offline_counter()
    _evaluate(4)
    begun = time.process_time()
    _evaluate(sessions)
    took = time.process_time() - begun
    return {"microseconds": 1e6 * took / (sessions * TURNS), "version": version("inspect_ai")}


def _offline_counter() -> types.ModuleType:
    """A `tiktoken` that counts four characters as a token."""
    encoding = types.SimpleNamespace(encode=lambda text, **_: [0] * (len(text) // 4 + 1), name="stand-in")
    module = types.ModuleType("tiktoken")
    module.__dict__.update(
        Encoding=type(encoding), get_encoding=lambda _: encoding, encoding_for_model=lambda _: encoding
    )
    return module


def _evaluate(sessions: int) -> None:
    parts = ("dataset", "model", "scorer", "solver", "tool")  # by name: nothing else of the project may need them
    dataset, model, scorer, solver, tool = (importlib.import_module(f"inspect_ai.{part}") for part in parts)
    inspect_ai: Any = importlib.import_module("inspect_ai")
    decorated: Any = tool.tool
    solving: Any = solver.solver

    @decorated  # type: ignore[untyped-decorator]
    def lookup_expense_code() -> Any:
        async def execute(topic: str) -> str:
            """Look up an expense code.

            Args:
                topic: What it is for.
            """
            return f'{{"code": "CX-402", "topic": "{topic}"}}'

        return execute

    @solving  # type: ignore[untyped-decorator]
    def conversation() -> Any:
        async def solve(state: Any, generate: Any) -> Any:  # noqa: ARG001 - its port
            tools = [lookup_expense_code()]
            for turn in range(TURNS):
                state.messages.append(model.ChatMessageUser(content=f"Turn {turn}. I will bring an umbrella."))
                for _ in range(2):  # the call, then the answer
                    state.output = await model.get_model().generate(state.messages, tools=tools)
                    state.messages.append(state.output.message)
                    if state.output.message.tool_calls:
                        done = await model.execute_tools(state.messages, tools)
                        state.messages.extend(done.messages)
            return state

        return solve

    call = model.ModelOutput.for_tool_call("mockllm/model", "lookup_expense_code", {"topic": "travel"})
    said = model.ModelOutput.from_content("mockllm/model", TEXT)
    outputs = (output for _ in range(sessions * TURNS) for output in (call, said))
    samples = [dataset.Sample(input=f"This is request {n}.", target="Noted") for n in range(sessions)]
    task = inspect_ai.Task(dataset=samples, solver=conversation(), scorer=scorer.includes())
    with TemporaryDirectory() as folder:
        mock = model.get_model("mockllm/model", custom_outputs=outputs)
        (log,) = inspect_ai.eval(task, model=mock, log_dir=folder, display="none", max_samples=1)
    if log.status != "success":
        raise SystemExit(f"inspect_ai ended with {log.status}: {log.error}")


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
