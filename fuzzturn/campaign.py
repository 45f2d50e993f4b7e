"""Campaign: what to search and how, and what is played in which order after the unedited script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from fuzzturn.cells import Played, cells, play_cell
from fuzzturn.coverage import landmarks
from fuzzturn.drive import Cast, Meter
from fuzzturn.finding import KINDS, Kind
from fuzzturn.measure import Jury, called_tools, guarded_turns
from fuzzturn.offers import marked
from fuzzturn.openings import openings
from fuzzturn.ports import Judge
from fuzzturn.registry import Registered, Registry
from fuzzturn.rubric import Rubric
from fuzzturn.samples import SEARCH_SAMPLES, SEARCHED, Samples
from fuzzturn.scenario import Scenario
from fuzzturn.scores import JudgeContext
from fuzzturn.sequential import Rule
from fuzzturn.threshold import Gauge
from fuzzturn.tree import Tree
from fuzzturn.trial import Allowance, Bench, Trial
from fuzzturn.variant import Variant
from fuzzturn.vary import skipped, variants

__all__ = ["PAD_TO_THRESHOLD", "Campaign", "Plan", "campaign_bench"]

PAD_TO_THRESHOLD = "pad_to_threshold"
"""The one operator whose edits need to know the agent's threshold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """What to search and how. `sessions` bounds the variants played; `workers` only the speed."""

    scenario: Scenario
    cast: Cast
    registry: Registry
    operators: Sequence[Registered]
    judge: Judge | None
    judge_name: str
    rubric: Rubric
    contexts: Sequence[JudgeContext]
    sessions: int = 200
    batch: int = 8
    workers: int = 1
    kinds: Sequence[Kind] = KINDS
    repeats: int = 1
    """More than one = the agent does not repeat itself: what is found is decided by rule, and its rate is from so many
    fresh runs."""
    rule: Rule | None = None
    """How a candidate of such an agent is decided; None = by the rate of what it came from."""


def campaign_bench(campaign: Campaign, allowance: Allowance | None = None) -> Bench:
    """A fresh bench: nothing played yet. What it spends counts on the allowance's meter, where there is one."""
    meter = allowance.meter if allowance else Meter()
    jury = Jury(campaign.judge, campaign.judge_name, campaign.rubric, campaign.contexts, meter)
    tree = Tree(campaign.cast, campaign.scenario, meter)
    slots = asyncio.Semaphore(campaign.workers)
    return Bench(
        tree,
        campaign.registry,
        jury,
        slots,
        allowance=allowance,
        twins=_twins(campaign),
        gaps="block_gap" in campaign.kinds,
    )


def _twins(campaign: Campaign) -> bool:
    """A difference between two single runs of an agent that does not repeat itself says nothing."""
    return "metamorphic" in campaign.kinds and campaign.repeats == 1


class Plan:
    """What a campaign plays after the script: the openings, then cells. `gauge`: what is known of the agent so far.

    All that runs before the first draw runs here: an import in mid-campaign would change what Hypothesis draws.
    """

    def __init__(self, campaign: Campaign, bench: Bench, base: Trial, gauge: Gauge) -> None:
        session = base.measured.session
        self._campaign, self._gauge = campaign, gauge
        samples = Samples(bench)
        turns = range(SEARCHED, SEARCHED + SEARCH_SAMPLES)
        self._benches = [bench] if campaign.repeats == 1 else [samples.of(sample) for sample in turns]
        guarded = guarded_turns(campaign.scenario, session, campaign.registry)
        called = called_tools(session)
        able = [p for p in campaign.operators if bench.tree.can_disturb or not marked(p, "disturbs")]
        self._unable = {p.tag.name: "the agent offers no disturb()" for p in campaign.operators if p not in able}
        operators = [p for p in able if gauge.tells or p.tag.name != PAD_TO_THRESHOLD]
        often = [p for p in operators if not marked(p, "seldom")]
        scenario, seed = campaign.scenario, campaign.cast.seed
        self._skipped = dict(skipped(scenario, operators, guarded=guarded, called=called))
        plain = variants(scenario, operators=often, guarded=guarded, called=called)
        themed = variants(scenario, operators=operators, guarded=guarded, called=called, themed=True)
        self._strategies = [plain, themed]
        self._openings = openings(scenario, operators=often, guarded=guarded, seed=seed)
        self._known = landmarks(session, guarded)

    async def played(self, allowance: Allowance | None) -> AsyncIterator[Played]:
        """Every trial, in order. Raises OutOfAllowance where no further batch may start."""
        campaign, benches = self._campaign, self._benches
        opened = [Variant(campaign.scenario)]
        for variant in self._openings[: campaign.sessions]:
            bench = benches[(len(opened) - 1) % len(benches)]
            (trial,) = await replace(bench, threshold=self._gauge.threshold).run_all([variant])
            opened.append(variant)
            yield Played(trial, bench.tree)
        before = self._gauge.fork()  # a cell knows what was opened, and nothing of the other cells
        left = campaign.sessions + 1 - len(opened)
        planned = await cells(opened, self._known, self._strategies, campaign.cast.seed, left, allowance)
        for number, cell in enumerate(planned):
            async for played in play_cell(cell, benches, campaign.batch, before, growing=number == 0):
                yield played

    @property
    def skipped(self) -> dict[str, str]:
        """The operators that had nothing to vary, with the reasons."""
        known = self._skipped | self._unable
        padded = any(piece.tag.name == PAD_TO_THRESHOLD for piece in self._campaign.operators)
        if not padded or self._gauge.threshold is not None:
            return known
        return known | {PAD_TO_THRESHOLD: "no compaction was seen that padding could be measured against"}
