"""Document: the page that tells what was planted, how it was judged, and what came out."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

from .agents import BACKGROUND
from .campaigns import REPEATS, SESSIONS
from .parts import PARTS, TRIED
from .row import Row
from .tables import goals, judged, planted

__all__ = ["document"]

_TOP = """\
# Noise: what is found where agent and judge vary from run to run

Written by `python -m benchmarks.noise`; do not edit by hand. {campaigns} campaigns of {sessions} sessions, {cpu:.0f} \
minutes of CPU time. How a failure that comes and goes is decided is told in \
[decision 0012](decisions/0012-how-a-stochastic-failure-is-decided.md).

What that would cost with an agent of one's own is told beforehand:

```sh
fuzzturn fuzz lisbon_offsite --repeats 20 --dry-run
```

```text
--repeats 20: to decide and shrink one finding takes some thousands more agent turns
```

## What has to hold
"""
_PLANTED = """
## Planted faults that show in a share of the runs

{faults}

Each has every fourth seed. In a share *p* of the runs the planted mechanism takes effect, decided where it would do \
so for the first time; in {background} of all runs the order is above the ceiling though the rule is in view. Both are \
drawn from seed, sample and all that was said so far: two sessions that begin alike share what was drawn, any other \
two are independent. There is no judge, so that the two kinds of violation cannot be told apart by it.

{methods}

- **Carry the fault**: the noiseless agent (*p* = 1, nothing else wrong) shows it in the reported session.
- **True rate**: exact, from the two shares and from what the agent does in that session for each way in which the two \
draws may fall. The reported one is measured in {repeats} fresh runs.
- **Undecided**: failures seen in the search of which nothing is claimed in the end, as a share of those followed up.
- **Dismissed**: failures taken for what happens without a fault, likewise.
- **Turns**: replies started, medians. Those of shrinking are all from the first doubt until the result stood, \
fresh runs included.
- **Ended as Flaky**: the test ends with an error instead of an example; its last failing run counts as what it reports.
"""
_JUDGED = """
## Judges that err

- **lenient judge**: {lenient}. A blind spot would be the judge's slip, taken for a property of the agent.
- **flipping judge**: {flipping}. "The same failures" is over the campaigns that end in a finding with either judge. \
"Rates do not differ" is told by the difference of the two reported rates, less what truly differs between the two \
sessions. The share of fours is over runs that go wrong, for whatever reason: where the judge was not shown the rule a \
4 is right, else a 0.
- **record**: {record}. Its numbers come from no seed; so without its record a campaign would be another one.
"""


def document(rows: Sequence[Row], cpu: float) -> str:
    """The whole page. `cpu` in seconds."""
    methods = PARTS["planted"].methods.items()
    parts = [
        _TOP.format(campaigns=len(rows), sessions=SESSIONS, cpu=cpu / 60),
        goals(rows),
        _PLANTED.format(
            faults="\n".join(f"- **{fault.name}**: {fault.says}." for fault in TRIED),
            methods="\n".join(f"- **{name}**: {says}." for name, says in methods),
            background=f"{100 * BACKGROUND:.0f} %",
            repeats=REPEATS,
        ),
        planted(rows),
        _JUDGED.format(
            lenient=PARTS["lenient judge"].says,
            flipping=PARTS["flipping judge"].says,
            record=PARTS["record"].says,
        ),
        judged(rows),
    ]
    return "\n".join(_wrapped(line) for line in "\n".join(parts).split("\n"))


def _wrapped(line: str) -> str:
    """A paragraph in lines of 120 characters; a table's row and a heading as they are."""
    if line.startswith(("|", "#")):
        return line
    return fill(line, 120, subsequent_indent="  " * line.startswith("- "), break_on_hyphens=False)
