"""Tabulate: several runs of one script as a table for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from fuzzturn.evidence import CLIFF_RUNS_MIN, Rate
from fuzzturn.repeats import Fall, Repeats, Span, Spread, TurnSummary, Violation
from fuzzturn.report import counted

__all__ = ["repeats_json", "repeats_table"]

_SHORTEST_ID = 16


def repeats_table(repeats: Repeats, agent: str) -> str:
    """A row a turn: the mean of each signal, and its spread from run to run. Below it what is no signal, and cliffs."""
    contexts = [f"judge {context}" for context in repeats.turns[0].judge] if repeats.turns else []
    head = ("turn", "id", "adherence", "assertions", "progress", *(contexts or ["judge"]))
    rows = {summary.id: _cells(summary, repeats.runs) for summary in (*repeats.turns, *repeats.answers)}
    widths = [max(len(row[i]) for row in (head, *rows.values())) for i in range(len(head))]
    widths[1] = max(widths[1], _SHORTEST_ID)
    lines = [_alike(repeats), _row(head, widths), *_section(repeats.turns, rows, widths)]
    if repeats.answers:
        lines += ["  automatic answers, by the turn before them", *_section(repeats.answers, rows, widths)]
    lines.append("  mean ±spread between runs (runs that were scored, where not all); - is not scored")
    return "\n".join([*lines, *_beside(repeats, agent), *_cliffs(repeats)])


def repeats_json(repeats: Repeats) -> dict[str, Any]:
    """The same as JSON. A signal that no run scored is null."""
    return asdict(repeats) | {"cliffs": [_cliff_json(fall) for fall in repeats.cliffs]}


def _cliff_json(fall: Fall) -> dict[str, Any]:
    return {
        "signal": fall.signal,
        "constraint": fall.of if fall.signal == "adherence" else None,
        "context": fall.of if fall.signal == "judge" else None,
        "id": fall.id,
        **asdict(fall.cliff),
    }


def _alike(repeats: Repeats) -> str:
    told = {
        "everything": ", all the same: this agent repeats itself",
        "scores": ", all scored the same; what was said or done differs",
        None: "",
    }
    return f"  {counted(repeats.runs, 'run')}{told[repeats.alike]}"


def _section(
    summaries: Sequence[TurnSummary], rows: dict[str, tuple[str, ...]], widths: Sequence[int]
) -> Iterator[str]:
    for summary in summaries:
        yield _row(rows[summary.id], widths)
        for wrong in summary.wrong:
            told = f": {wrong.detail}" if wrong.detail else ""
            yield f"        ! {wrong.what} in {wrong.runs} of {counted(summary.runs, 'run')}{told}"
        if summary.falling:
            yield f"        ! progress falls in {summary.falling} of {counted(summary.runs, 'run')}"


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    turn, *others = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
    return "  ".join(["", turn.strip().rjust(widths[0]), *others]).rstrip()


def _cells(summary: TurnSummary, runs: int) -> tuple[str, ...]:
    idle = " idle" if summary.adherence is not None and not summary.exercised else ""
    return (
        "+" if summary.turn is None else str(summary.turn),
        summary.id,
        _cell(summary.adherence, runs) + idle,
        _cell(summary.assertions, runs),
        _cell(summary.progress, runs),
        *([_cell(spread, runs) for spread in summary.judge.values()] or ["-"]),
    )


def _cell(figure: Spread | None, runs: int) -> str:
    if figure is None:
        return "-"
    spread = "" if figure.spread is None else f" ±{figure.spread:.2f}"
    return f"{figure.mean:.2f}{spread}{'' if figure.runs == runs else f' ({figure.runs})'}"


def _beside(repeats: Repeats, agent: str) -> Iterator[str]:
    """What is no signal: it stands beside them."""
    after = "" if repeats.completed_after is None else f", after turn {_between(repeats.completed_after)}"
    calls = f"{_between(repeats.tool_calls)} {_plural('tool call', repeats.tool_calls)}"
    corrections = f"{_between(repeats.user_corrections)} {_plural('user correction', repeats.user_corrections)}"
    yield f"  goal reached in {_rate(repeats.completed)}{after}; {calls}, {corrections}"
    for violation in repeats.violations:
        yield f"  {_broken(violation)}"
    if repeats.off_script:
        yield f"  off script in {repeats.off_script} of {counted(repeats.runs, 'run')}"
    for error, times in repeats.errors.items():
        yield f"  {agent} raised {error} in {times} of {counted(repeats.runs, 'run')}"


def _broken(violation: Violation) -> str:
    if violation.broken is None:
        return f"{violation.constraint} was put to the test in no run"
    left_out = f"; {counted(violation.untested, 'run')} did not put it to the test" if violation.untested else ""
    return f"{violation.constraint} broken in {_rate(violation.broken)}{left_out}"


def _cliffs(repeats: Repeats) -> Iterator[str]:
    for fall in repeats.cliffs:
        yield f"  cliff: {_sentence(fall)}"
    if repeats.runs < CLIFF_RUNS_MIN:
        yield f"  no cliff is looked for in fewer than {CLIFF_RUNS_MIN} runs"
    elif repeats.alike == "everything":
        yield "  no cliff is looked for in runs that are all the same: there is no spread between them"
    elif not repeats.cliffs:
        yield "  no cliff: no signal is seen to fall by more than the spread between runs"


def _sentence(fall: Fall) -> str:
    found = fall.cliff
    of = {"adherence": f" to {fall.of}", "judge": f"'s score in {fall.of}"}.get(fall.signal, "")
    return (
        f"{fall.signal}{of} falls from {found.before:.2f} to {found.after:.2f} at turn {found.turn} ({fall.id}): "
        f"by {found.drop:.2f}, 95 % {found.low:.2f}-{found.high:.2f}, in {counted(found.runs, 'run')}"
    )


def _rate(found: Rate) -> str:
    return f"{found.k} of {counted(found.n, 'run')} ({found.low:.2f}-{found.high:.2f})"


def _between(span: Span) -> str:
    return str(span[0]) if span[0] == span[1] else f"{span[0]} to {span[1]}"


def _plural(noun: str, span: Span) -> str:
    return noun if span == (1, 1) else f"{noun}s"
