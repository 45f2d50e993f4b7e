"""Troubles: for each operator a planted fault, found with all operators and not found without those that expose it.

    python -m benchmarks.troubles [--sessions 300] [--seed 0] [--only a,b] [--json FILE]

Every campaign has all the other operators and looks for every kind of finding. The table goes to stdout, the same as
data to FILE (benchmarks/troubles.json), progress to stderr. Nothing in it depends on the machine.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .campaigns import Result, campaign, run
from .planted import TROUBLES, Trouble

__all__ = ["main", "table"]

_JSON = Path(__file__).resolve().parents[1] / "troubles.json"
_HEAD = ("trouble", "agent", "first found: session", "turns", "kind", "shrunk to", "operators left", "without them")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaigns. 1 = a fault was not found, was found without its operators, or the correct agent failed."""
    asked = _parser().parse_args(arguments)
    correct = run(campaign(sessions=asked.sessions, seed=asked.seed))
    print(f"the correct agent: {_clean(correct)}", file=sys.stderr, flush=True)
    rows = [_row(trouble, asked.sessions, asked.seed) for trouble in TROUBLES if trouble.operator in asked.only]
    print(table(rows))
    print(f"\nThe correct agent: {_clean(correct)}.")
    data = {"schema": 1, "sessions": asked.sessions, "seed": asked.seed, "correct": asdict(correct), "troubles": rows}
    asked.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    good = all(row["with"]["user_turns"] and row["without"]["first_session"] is None for row in rows)
    return 0 if good and not correct.others else 1


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The rows in Markdown."""
    lines = [_HEAD, tuple("---" for _ in _HEAD), *map(_cells, rows)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _row(trouble: Trouble, sessions: int, seed: int) -> dict[str, Any]:
    found = run(campaign(trouble.agent, sessions=sessions, seed=seed), trouble)
    lacking = run(campaign(trouble.agent, sessions=sessions, seed=seed, without=trouble.exposed_by), trouble)
    row = {
        "operator": trouble.operator,
        "agent": trouble.name,
        "says": trouble.says,
        "exposed_by": list(trouble.exposed_by),
        "breaks": list(trouble.breaks),
        "with": asdict(found),
        "without": asdict(lacking),
    }
    print(" | ".join(_cells(row)), *found.others, file=sys.stderr, flush=True)
    return row


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    found, lacking = row["with"], row["without"]
    shrunk = f"{found['user_turns']} turns{'' if found['minimal'] else ', not proven minimal'}"
    missing = f"nothing in {lacking['sessions']}"
    if lacking["first_session"] is not None:
        missing = f"found in session {lacking['first_session']}"
    elif lacking["others"]:
        missing = f"other: {', '.join(lacking['others'])}"
    if found["user_turns"] is None:
        return row["operator"], row["agent"], "not found", "", "", "", "", missing
    first = str(found["first_session"]), str(found["first_turns"]), found["kind"]
    return row["operator"], row["agent"], *first, shrunk, ", ".join(found["operators"]) or "none", missing


def _clean(correct: Result) -> str:
    return f"{', '.join(correct.others) or 'no finding of any kind'} in {correct.sessions} sessions"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.troubles", description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    names = [trouble.operator for trouble in TROUBLES]
    parser.add_argument("--only", type=lambda text: text.split(","), default=names, help="operators, with commas")
    parser.add_argument("--json", type=Path, default=_JSON)
    return parser


if __name__ == "__main__":
    sys.exit(main())
