"""Noise: stochastic agents and judges that err, by campaigns whose truth is known.

    python -m benchmarks.noise [--parts a,b] [--p 0.3,0.6] [--campaigns 40 | --seeds 0-39] [--json FILE] [--doc FILE]

What FILE of --json holds already is not run again. The page goes to stdout, progress to stderr.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.seeds import seeds

from .campaigns import row
from .document import document
from .parts import PARTS, keys
from .results import load

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, then print the page and write what was asked for."""
    asked = _parser().parse_args(arguments)
    results = load(asked.json)
    wanted = list(keys(asked.parts, asked.p, asked.seeds or range(asked.campaigns)))
    for key in results.missing(wanted):
        begun = time.process_time()
        results.rows[key] = row(key)
        spent = time.process_time() - begun
        results.cpu += spent
        print(f"{key}: {len(results.rows[key].found)} found ({spent:.1f} s CPU)", file=sys.stderr, flush=True)
        if asked.json is not None:
            results.save(asked.json)
    text = document(results.chosen(wanted), results.cpu)
    print(text)
    if asked.doc is not None:
        asked.doc.write_text(text + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.noise", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--parts", type=_parts, default=list(PARTS), help=", ".join(PARTS))
    parser.add_argument("--p", type=_shares, help="shares of the runs in which a planted fault shows; all without it")
    parser.add_argument("--campaigns", type=int, default=40, help="for each part, method and share")
    parser.add_argument("--seeds", type=seeds, help="as in 0-39 or 0,3,7; instead of --campaigns")
    parser.add_argument("--json", type=Path, help="rows; read first, where it exists")
    parser.add_argument("--doc", type=Path, help="the page")
    return parser


def _shares(text: str) -> list[float]:
    return [float(one) for one in text.split(",")]


def _parts(text: str) -> list[str]:
    given = text.split(",")
    if unknown := [name for name in given if name not in PARTS]:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(PARTS)}")
    return given


if __name__ == "__main__":
    main()
