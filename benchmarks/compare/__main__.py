"""Compare: fuzzturn against what else one would take, on planted faults, counted in agent turns.

    python -m benchmarks.compare [--set NAME | --faults a,b] [--seeds 0-19] [--methods a,b] [--json FILE] [--doc FILE]
                                 [--svg FILE]

What FILE of --json holds already is not run again, but for the methods of --again. Tables go to stdout, progress to
stderr.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.faults.sets import EVERY, SETS
from benchmarks.seeds import seeds

from .document import document
from .figure import figure
from .methods import MACHINE_SEEDS, METHODS, available, rows
from .results import Results, load
from .row import Row
from .world import World

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, then print the tables and write what was asked for."""
    asked = _parser().parse_args(arguments)
    asked.faults = asked.faults or [fault.name for fault in SETS[asked.set]]
    results = load(asked.json)
    results.forget(asked.faults, asked.seeds, asked.again)
    for name in asked.faults:
        for seed in asked.seeds:
            _run(World(EVERY[name], seed), _methods(asked, seed), results)
            if asked.json is not None:
                results.save(asked.json)
    chosen = results.chosen(asked.faults, asked.seeds, asked.methods)
    text = document(
        chosen,
        asked.seeds,
        results.cpu_seconds(asked.faults, asked.seeds),
        None if asked.svg is None else asked.svg.name,
    )
    print(text)
    if asked.doc is not None:
        asked.doc.write_text(text + "\n", encoding="utf-8")
    if asked.svg is not None:
        asked.svg.write_text(figure(chosen), encoding="utf-8")


def _methods(asked: argparse.Namespace, seed: int) -> list[str]:
    """The state machine is slow: it gets the first few seeds only."""
    few = asked.seeds.index(seed) < MACHINE_SEEDS
    return [method for method in available(asked.methods) if few or method != "machine"]


def _run(world: World, methods: Sequence[str], results: Results) -> None:
    missing = results.missing(world.fault.name, world.seed, methods)
    if not missing:
        return
    begun = time.process_time()
    done: list[Row] = list(rows(world, missing))
    results.add(done)
    key = f"{world.fault.name} {world.seed}"
    results.cpu[key] = round(results.cpu.get(key, 0.0) + time.process_time() - begun, 1)
    print(f"{key}: {', '.join(missing)} ({results.cpu[key]} s CPU)", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=seeds, default=seeds("0-19"), help="as in 0-19 or 0,3,7")
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--set", choices=list(SETS), default="planted", help="all faults of one set (default: planted)")
    chosen.add_argument("--faults", type=_among(list(EVERY)), help="these faults, of whichever set")
    parser.add_argument("--methods", type=_among(list(METHODS)), default=list(METHODS))
    parser.add_argument("--again", type=_among(list(METHODS)), default=[], help="methods to run though there are rows")
    parser.add_argument("--json", type=Path, help="rows; read first, where it exists")
    parser.add_argument("--doc", type=Path, help="the tables as a page")
    parser.add_argument("--svg", type=Path, help="the figure, to lie beside the page")
    return parser


def _among(known: Sequence[str]) -> Callable[[str], list[str]]:
    """Names with commas between them, each one of `known`."""

    def names(text: str) -> list[str]:
        given = text.split(",")
        if unknown := [name for name in given if name not in known]:
            raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(known)}")
        return given

    return names


if __name__ == "__main__":
    main()
