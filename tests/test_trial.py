"""Trial: while a batch runs the garbage collector comes more rarely; afterwards it is as it was."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from typing import Any

import pytest

from fuzzturn.trial import YOUNG_OBJECTS, together


@pytest.fixture(autouse=True)
def _collector() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 11, 12)
    yield
    gc.set_threshold(*before)


def _batch(*runs: Any) -> Any:
    return asyncio.run(_together(runs))


async def _together(runs: Any) -> Any:
    return await together(runs, None)


async def _thresholds() -> Any:
    await asyncio.sleep(0)
    return gc.get_threshold()


async def _failing() -> Any:
    await asyncio.sleep(0)
    raise ValueError("broken")


def test_while_a_batch_runs_the_collector_comes_more_rarely() -> None:
    assert _batch(_thresholds(), _thresholds()) == [(YOUNG_OBJECTS, 11, 12)] * 2
    assert gc.get_threshold() == (700, 11, 12)


def test_after_a_batch_that_fails_the_collector_is_as_it_was() -> None:
    with pytest.raises(ValueError, match="broken"):
        _batch(_failing(), _thresholds())
    assert gc.get_threshold() == (700, 11, 12)


@pytest.mark.parametrize("own", [0, YOUNG_OBJECTS + 1], ids=["off", "rarer"])
def test_whoever_has_switched_the_collector_off_or_set_it_rarer_keeps_it(own: int) -> None:
    gc.set_threshold(own, 11, 12)
    assert _batch(_thresholds()) == [(own, 11, 12)]
    assert gc.get_threshold() == (own, 11, 12)


def test_batches_beside_each_other_leave_the_collector_as_it_was() -> None:
    async def longer() -> Any:
        await asyncio.sleep(0.01)
        return gc.get_threshold()

    async def both() -> None:
        await asyncio.gather(together([_thresholds()], None), together([longer()], None))

    asyncio.run(both())
    assert gc.get_threshold() == (700, 11, 12)
