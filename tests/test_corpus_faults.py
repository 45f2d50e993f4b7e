"""Planted faults: campaigns with many seeds leave one or two entries a fault, however often each is found."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.compare.world import World
from benchmarks.faults.desk import REGISTRY, make_desk
from benchmarks.faults.planted import FAULTS
from fuzzturn.context import CONTEXTS
from fuzzturn.corpus import FingerprintNote, entry_files, keep_entry, load_entry, twins
from fuzzturn.keep import as_entry
from fuzzturn.ports import environment
from fuzzturn.registry import Registered, Registry
from fuzzturn.search import search

SEEDS = range(3)
SESSIONS = 20


@environment("desk")
def desk(*, seed: int) -> object:
    return make_desk(seed=seed)


NAMES = Registry([Registered(getattr(desk, "__fuzzturn_tag__"), desk, __file__)], fallback=REGISTRY)  # noqa: B009


@pytest.mark.parametrize("name", ["interruption", "after_hold"])
def test_many_findings_of_one_fault_are_one_or_two_entries_with_their_count(name: str, tmp_path: Path) -> None:
    fault = next(fault for fault in FAULTS if fault.name == name)
    found = 0
    for seed in SEEDS:
        campaign = replace(World(fault, seed).campaign(SESSIONS), contexts=CONTEXTS)
        for finding in asyncio.run(search(campaign)).found:
            entry = as_entry(finding, campaign.cast, FingerprintNote(name="reader"), campaign.rubric, NAMES)
            assert entry.signature_id == entry.finding
            keep_entry(entry, tmp_path)
            found += 1
    entries = {path: load_entry(path) for path in entry_files(tmp_path)}
    assert found > 2
    assert 1 <= len(entries) <= 2
    assert sum(entry.seen for entry in entries.values()) == found
    assert [twin.path for twin in twins(entries) if twin.merged is not None] == []  # nothing is left to be merged
    assert {entry.constraint for entry in entries.values()} == {fault.breaks}
