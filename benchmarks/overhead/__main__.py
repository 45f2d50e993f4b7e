"""Overhead: what the harness itself costs, in CPU time.

    python -m benchmarks.overhead [--sessions 20] [--repeats 30] [--crowd 1000] [--profile] [--inspect [PYTHON]]

Three agents are spoken the Lisbon script: a plain one (a constant text, one tool call a turn), the same telling what
its model saw, and the shipped simulated one, which tells and compacts. What agent and environment take by themselves is
measured beside and is in no figure of the harness; the project's own checks are in the signals. The least of the
repeats is printed: the load of others only adds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from .crowd import crowd
from .generated import generated, profiled
from .parts import Parts, least
from .plain import PlainAgent, TellingAgent
from .stage import distinct, played_by

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what was asked for and print it."""
    asked = _parser().parse_args(arguments)
    variants = distinct(asked.sessions)
    agents = {"plain": PlainAgent, "telling": TellingAgent, "simulated": None}
    parts = {name: least(played_by(build), variants, asked.repeats) for name, build in agents.items()}
    _print_parts(parts)
    milliseconds, count = generated(16, 5)
    print(f"generated  {milliseconds:.2f} ms CPU a distinct variant ({count} of them)")
    if asked.profile:
        for place, share in profiled(16).most_common(12):
            print(f"  {share:6.1%}  {place}")
    if asked.crowd:
        _print_crowd(asked.crowd)
    if asked.inspect is not None:
        _print_rival(asked.inspect, parts["telling"])
    print(f"load {_load()}, {os.cpu_count()} cores")


def _print_parts(parts: Mapping[str, Parts]) -> None:
    print(f"{'microseconds CPU a turn':32}" + "".join(f"{name:>11}" for name in parts))
    rows = {
        "drive": "drive, snapshots included",
        "signals": "three deterministic signals",
        "records": "records",
        "campaign": "these three together",
        "judge": "judge asked at every turn, too",
        "players": "beside: agent and environment",
    }
    for part, label in rows.items():
        print(f"{label:32}" + "".join(f"{getattr(of, part):11.1f}" for of in parts.values()))


def _print_crowd(sessions: int) -> None:
    one = crowd(sessions)
    print(
        f"crowd      {one.sessions} sessions at once: {one.wall:.2f} s, ideal {one.ideal:.2f} s, "
        f"{one.wall / one.ideal:.2f} x; {one.cpu:.2f} s CPU, {one.cpu / one.ideal:.2f} x; "
        f"{one.writing:.2f} s CPU more for writing (load {_load()})"
    )


def _print_rival(python: str, ours: Parts) -> None:
    """In an interpreter of its own: it is no dependency, and its imports would be in our figures."""
    rival = Path(__file__).with_name("rival.py")
    done = subprocess.run([python, str(rival), "200"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"inspect_ai failed: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
        return
    told = json.loads(done.stdout.splitlines()[-1])
    if "skipped" in told:
        print(f"inspect_ai skipped: {told['skipped']}")
        return
    theirs, own = told["microseconds"], ours.harness + ours.players
    print(
        f"inspect_ai {told['version']}: {theirs:.0f} microseconds CPU a turn; ours {own:.0f}, {theirs / own:.0f} x less"
    )


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead", description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=20, help="of 12 turns, for each figure")
    parser.add_argument("--repeats", type=int, default=30, help="the least of them counts")
    parser.add_argument("--crowd", type=int, default=1000, help="slow sessions at once; 0 = leave it out")
    parser.add_argument("--profile", action="store_true", help="where generating spends its time")
    parser.add_argument("--inspect", nargs="?", const=sys.executable, metavar="PYTHON", help="an interpreter with it")
    return parser


if __name__ == "__main__":
    main()
