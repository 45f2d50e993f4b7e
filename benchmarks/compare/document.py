"""Document: the page that tells what was compared, how it was counted, and what came out."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.faults.sets import EVERY

from .methods import METHODS, SLOW
from .row import Row
from .tables import by_fault, by_method, by_pass, goals

__all__ = ["document"]

_TOP = """\
# Benchmarks: finding and shrinking, counted in agent turns

Written by `python -m benchmarks.compare`; do not edit by hand. {scope}

Each agent turn of a real agent is paid for, so the measure is agent turns: replies started.

## What is compared
"""
_COUNTED = """
**Same for all:** the faults, the edits that the operators of `strategies/` offer, the judge (asked in the agent's own
context), the predicate (same constraint, checker and kind), one run of the unedited script, and a session that ends at
the turn that fails. `pad_to_threshold` is fuzzturn's own: the sizes that it solves to are among those that `pad_turns`
offers to everybody.

**Turns to first failure** include the run of the unedited script and, for fuzzturn, the check of snapshots and the
whole batch in which the failure was seen. A search without a failure in 2,000 sessions counts all that it spent. For
`ddmin+cache` and fuzzturn a beginning that was played before is free; for the others no turn is. fuzzturn's openings do
not depend on the seed, so its figures on a fault that they show are the same for every seed.

**Turns to minimal** exclude the starting run, and its beginnings are free for every method. fuzzturn, ddmin and failmin
begin with the same session: the first failing one of the uniform search (fuzzturn's, where that found none). Hypothesis
can only shrink what it found itself. fuzzturn and `ddmin+cache` reuse all beginnings, the others the starting run's.
fuzzturn's reducer is given what 25 sessions of the campaign have told of the agent's threshold: a campaign shrinks when
its sessions are played (200 by default), so that costs nothing more. ddmin and failmin have no use for it.
*Without shrinking pads:* with the reducer's pass for that left out; ddmin and failmin never make filler shorter.

**Judge calls** are those while shrinking; for fuzzturn and `ddmin+cache` the same question is asked once.

**At the minimum:** as many user turns as the fewest that show the fault. That number comes from
`python -m benchmarks.faults.minimum`, which tries every session with fewer turns: scripted turns in every allowed
order, the bank's interruptions, filler of 12 to 2,700 tokens in steps of 16. (`many_messages` counts messages and no
tokens, so one size of filler and one interruption stand for all.)

**Same fault:** played afresh, the final session fails as pinned, and the planted mechanism took effect in it.

**Bound:** the final session once and one run per single deletion, beginnings reused; no method can prove less by runs.
(fuzzturn leaves out the run without the only statement of what is broken: there nothing binds. It is in the bound.)

Figures are median / 90th percentile (nearest rank) over all faults and seeds; those of shrinking are over the runs that
found something to shrink. {slow}

What a campaign of one's own would cost is told in the same unit:

```sh
fuzzturn fuzz lisbon_offsite --dry-run
```

```text
about … agent turns in all; …
```
"""
_FAILMIN = """
failmin takes a session as a trace of user messages with dependencies. What the agent says and does is no event: it
follows from the messages and is replayed. It is used as a library, where it is installed.
"""


def document(rows: Sequence[Row], seeds: Sequence[int], cpu: float, svg: str | None) -> str:
    """The whole page. `cpu` in seconds; `svg` is the figure's file name, None = there is none."""
    parts = [
        _TOP.format(
            scope=f"Seeds {seeds[0]} to {seeds[-1]}, {len({row.fault for row in rows})} planted faults, "
            f"{cpu / 60:.0f} minutes of CPU time."
        ),
        *(f"- **{name}**: {says}" for name, says in METHODS.items()),
        _COUNTED.format(slow=_slow(rows)) + _FAILMIN,
        "## All faults\n",
        by_method(rows),
        "" if svg is None else f"\n![Turns to minimal and final turns of each method]({svg})",
        "\n## Against the goals\n",
        goals(rows),
        "\n## Fault by fault\n\nMedian turns to first failure · median turns to minimal · median final turns.\n",
        by_fault(rows),
        "\n## Where fuzzturn's turns to minimal go\n\nMean agent turns of each pass.\n",
        by_pass(rows),
        "\n## The faults\n",
        *map(_told, dict.fromkeys(row.fault for row in rows)),
    ]
    return "\n".join(part for part in parts if part)


def _slow(rows: Sequence[Row]) -> str:
    """Which methods have other seeds than the rest, so that nobody takes their runs for the same ones."""
    seeds = {method: sorted({row.seed for row in rows if row.method == method}) for method in SLOW}
    told = [f"`{method}` has the seeds {own[0]} to {own[-1]}" for method, own in seeds.items() if own]
    return f"Slow methods have fewer runs, on seeds that may be others: {', '.join(told)}." if told else ""


def _told(name: str) -> str:
    fault = EVERY[name]
    return f"- **{name}** (minimum {fault.minimum} turns{_how(fault.argued)}): {fault.says}."


def _how(argued: str | None) -> str:
    return "" if argued is None else f", argued and not searched: {argued}"
